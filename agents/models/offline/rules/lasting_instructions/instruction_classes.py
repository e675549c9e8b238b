"""Word classes of standing instructions and limits by language (`instructions.json`), and their patterns."""

import re
from functools import cache
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

BETWEEN: Final = r"\W++(?:\w[\w-]*+\W++){0,5}?"  # up to five words; possessive, so that "1-1-1-…" is read one way only
ANY_LETTERS: Final = r"[\w'’-]{0,30}"  # bounded: a search in a long run of letters takes linear time
TABLE: Final = Path(__file__).with_name("instructions.json")
# Words of the patterns alone: new words in the JSON table would require training the classifier again.
STATES: Final = {
    "en": "hiv* heart_(?:condition|disease|failure) high_cholesterol osteoporosis glaucoma bipolar* sickle_cell"
    " only_one_(?:arm|hand|eye|leg|ear|lung)",
    "de": "hiv* heuschnupfen hoh(?:er|en)_blutdruck herz(?:fehler|krank*|insuffizienz) osteoporose multiple_sklerose"
    " nur_(?:noch_)?eine?n?_(?:niere|auge|ohr|arm|bein|hand)",
    "fr": "hiv séropositi* insuffisance_cardiaque maladie_cardiaque sclérose_en_plaques ostéoporose",
    "es": "vih seropositiv* insuficiencia_cardíaca enfermedad_cardíaca esclerosis_múltiple osteoporosis",
}
REACTIONS: Final = {
    "en": "cannot_(?:walk|stand|sit)_(?:very_)?(?:far|long|for_long) cannot_(?:see|hear)_(?:very_)?well cannot_hear_on_my"
    " cannot_use_my_(?:\\w+_)?(?:hand|arm|leg) gets?_sick_from"
    " reacts?_(?:\\w+_)?to_(?:nuts?|peanuts?|eggs?|milk|dairy|gluten|wheat|soy|fish|shellfish|latex|pollen|penicillin)",
    "de": "kann_nicht_(?:sehr_)?(?:weit|lange)_(?:gehen|laufen|stehen|sitzen) kann_nicht_gut_(?:sehen|hören)"
    " reagier(?:e|t|en)_(?:\\w+_)?auf_(?:nüsse|erdnüsse|eier|milch|gluten|weizen|soja|fisch|latex|pollen|penicillin)",
    "fr": "peux_pas_(?:marcher|rester_debout)_(?:très_)?(?:loin|longtemps) (?:digère*|tolère*)_pas",
    "es": "puedo_(?:caminar|andar|estar_de_pie)_(?:mucho|lejos|muy_lejos)",
}
MEDICINES: Final = {
    "en": "nsaids? metformin thyroxine levothyroxine *lapril *napril *ipril *opril *epril eliquis xarelto",
    "de": "marcumar* eliquis xarelto *formin *lapril *napril *ipril *opril *epril "
    "*sartan *prazol l-thyrox* levothyrox* sertralin methotrexat",
    "fr": "préviscan eliquis xarelto *formine *lapril *napril *ipril *opril *epril "
    "*sartan *prazole levothyrox sertraline méthotrexate",
    "es": "sintrom eliquis xarelto *formina *lapril *napril *ipril *opril *epril "
    "*sartán *prazol levotiroxina sertralina metotrexato",
}


class Classes(Struct, frozen=True, forbid_unknown_fields=True):
    """The words of one language by class, separated by spaces; `_` stands for a space within a word, `*` for any letters.

    The names, except `templates` and `predicates`, are features of the classifier: renaming one requires training it again.

    - `has` are verbs before a state. `bars` forbid the things of `barred`. `does` and `they` mention other people, and
      `loose` words are small talk.
    - `money` is a limit with `capped`, and `hours` with `timed`.
    - A wish is lasting with `lasting`, or if it is about `replies` in general. With `at_hand` (the current task) or
      `foreign` (other people or things) it is not. `asked` are verbs of requests.
    - `aside` (relatives, tastes, the past) and `general` truths are no limits of the speaker.
    - `refusals` begin a refusal that is lasting with `refused_when`, except with `no_refusal`. `predicates` are states after
      "is".
    - `templates` of memories are separated by `|`: for a limit, a wish, a wish that begins with its verb, a state with more
      words, and a state alone.
    """

    states: str
    has: str
    reactions: str
    aids: str
    medicines: str
    takes: str
    limits: str
    intake: str
    bars: str
    barred: str
    orders: str
    mine: str
    others: str
    does: str
    they: str
    loose: str
    money: str
    capped: str
    hours: str
    timed: str
    once: str
    always: str
    henceforth: str
    when: str
    asked: str
    style: str
    address: str
    polite: str
    manner: str
    pointing: str
    shape: str
    refusals: str
    refused_when: str
    no_refusal: str
    predicates: str
    templates: str = msgspec.field(name="told")
    lasting: str
    replies: str
    at_hand: str
    foreign: str
    aside: str
    general: str


class LimitPattern:
    """A pattern of limits in folded texts. Each match has one of the `needed` words, which are faster to search."""

    def __init__(self, pattern: str, needed: str = "") -> None:
        self.pattern = re.compile(pattern)
        self._needed = re.compile(alternatives(needed)) if needed else None

    def is_in(self, text: str) -> bool:
        is_possible = self._needed is None or self._needed.search(text) is not None
        return is_possible and self.pattern.search(text) is not None


@cache
def table() -> dict[str, Classes]:
    return msgspec.json.decode(TABLE.read_bytes(), type=dict[str, Classes])


def alternatives(*listed: str) -> str:
    """A pattern for any whole word of the lists; `_` and `*` as in Classes."""
    words = (each.replace("_", " ").replace("*", ANY_LETTERS) for part in listed for each in part.split())
    return rf"(?<![\w-])(?:{'|'.join(words)})(?![\w-])"


def near(one: str, other: str) -> str:
    """A pattern for two patterns within a few words of each other, in either order."""
    return f"{one}{BETWEEN}{other}|{other}{BETWEEN}{one}"


def starting_with_word(listed: str) -> re.Pattern[str]:
    return re.compile(rf"\W*{alternatives(listed)}", re.IGNORECASE)


def any_word(listed: str) -> re.Pattern[str]:
    return re.compile(alternatives(listed), re.IGNORECASE)
