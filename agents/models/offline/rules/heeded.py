"""Recognises, by classes of words, what is always to be heeded: limits of health, diet and faith, and standing wishes.

Rules read forms of sentences. Whoever tells a limit leaves most of the form out: "pregnant, 14 weeks", "nuts = hospital for me".
So a sentence that says whose it is, or leaves that out, and names a limit is kept in its own words.
"""

import re
from functools import cache
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec import Struct

TABLE: Final = Path(__file__).with_suffix(".json")
MOST_WORDS: Final = 10  # of a wish without a word for always
SHORTEST_WORDS: Final = 3
FIRST_WORDS: Final = 8  # of a sentence without a subject, which begins with what it is about
LONGEST_WORDS: Final = 24  # nobody tells a limit at such length: what is longer tells a story
BETWEEN: Final = r"\W+(?:[\w'’-]+\W+){0,5}?"  # up to five words
NUMBER: Final = (
    r"(?:\d+|one|two|three|four|five|half|ein\w*|zwei|drei|vier|fünf"
    r"|une?|deux|trois|quatre|cinq|una?|dos|tres|cuatro|cinco)"
)
SUBJECTS: Final = ("User", "Der Nutzer", "L'utilisateur", "El usuario")
SPEAKERS: Final = (["ich"], ["wir"])  # behind a verb: "zeige ich" is no order
Sort = Literal["limit", "wish"]


class Classes(Struct, frozen=True, forbid_unknown_fields=True):
    """The words of one language by class, divided by spaces: `_` stands for a space within one, `*` for any letters.

    `has` is what states are had by, `bars` what forbids `barred`; `does` and `they` tell that somebody else is spoken of, and
    `loose` that no more than talk is made. `told` are the forms of a limit, of a wish, and of a wish that begins with its verb,
    with `|` between them.
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
    told: str


class Language:
    """What is looked for in sentences of one language."""

    def __init__(self, classes: Classes) -> None:
        amount = f"{alternatives(classes.limits)}{BETWEEN}{NUMBER}"
        ways = (
            alternatives(classes.aids, classes.reactions),
            near(alternatives(classes.takes), alternatives(classes.medicines)),
            f"{alternatives(classes.medicines)}{BETWEEN}{NUMBER}",
            near(f"(?:{amount}|{NUMBER}{BETWEEN}{alternatives(classes.limits)})", alternatives(classes.intake)),
            f"{NUMBER}{BETWEEN}{alternatives(classes.intake)}{BETWEEN}{alternatives(classes.limits)}",
            near(alternatives(classes.bars), alternatives(classes.barred)),
            f"{alternatives(classes.orders)}{BETWEEN}{alternatives(classes.bars, classes.limits)}",
        )
        self._limits = tuple(re.compile(way, re.IGNORECASE) for way in ways)
        self._states = anywhere(classes.states)
        self._has_state = re.compile(
            f"{alternatives(classes.has)}{BETWEEN}{alternatives(classes.states)}", re.IGNORECASE
        )
        self._mine, self._loose, self._once = map(anywhere, (classes.mine, classes.loose, classes.once))
        self._standing, self._address = anywhere(classes.always), anywhere(classes.address)
        self._style, self._henceforth = anywhere(classes.style), anywhere(classes.henceforth)
        self._when, self._self = starting(classes.when), starting(classes.mine)
        self._others, self._verb = starting(classes.others), starting(classes.asked)
        self._manner, self._pointing = anywhere(classes.manner), anywhere(classes.pointing)
        self._ends_politely = re.compile(rf"[ ,]+{alternatives(classes.polite)}$", re.IGNORECASE)
        self._shape = starting(classes.shape)
        self._polite = re.compile(rf"\W*(?:{alternatives(classes.polite)}[ ,]+)+", re.IGNORECASE)
        things = (classes.barred, classes.intake, classes.states, classes.bars, classes.orders)
        self._they, self._thing = anywhere(classes.they), starting(" ".join(things))
        self._acts = re.compile(rf"\W*[\w'’-]+ (?:[\w'’-]+ ){{0,2}}?{alternatives(classes.does)}", re.IGNORECASE)
        self._orders = anywhere(classes.orders)
        self._limit_form, self._wish_form, self._order_form = classes.told.split("|")

    def _leaves_out_whose(self, text: str) -> bool:
        """ "No dairy, ever", but not "Tom eats no dairy" nor "no dairy for him"."""
        if len(text.split()) < SHORTEST_WORDS or self._others.match(text) or self._they.search(text):
            return False
        if self._acts.match(text) and not self._thing.match(text):
            return False
        return self.names_limit(" ".join(text.split()[:FIRST_WORDS]))

    def has_limit(self, text: str) -> bool:
        """Whether a statement names a limit of whomever it is about, and not only a thing: "is vegan", not "likes vegan food"."""
        return any(each.search(text) for each in (self._has_state, *self._limits))

    def names_limit(self, sentence: str) -> bool:
        return any(each.search(sentence) for each in (self._states, *self._limits))

    def sort_of(self, sentence: str, plain: str) -> Sort | None:
        """What a sentence of a user tells for good; None for what holds once, is asked, or is about others.

        `plain` is the sentence without contractions.
        """
        if len(sentence.split()) > LONGEST_WORDS or self.holds_once(plain):
            return None
        if self.is_wish(plain):
            return "wish"
        asked = sentence.rstrip(' "”»)').endswith("?")
        own = self._mine.search(plain) or self._leaves_out_whose(plain)
        told = own and not asked and not self._loose.search(plain) and not self._polite.match(plain)
        return "limit" if told and self.names_limit(plain) else None

    def holds_once(self, text: str) -> bool:
        """ "Today", but not "from today"."""
        return self._once.search(self._henceforth.sub(" ", text)) is not None

    def is_ordered(self, sentence: str) -> bool:
        """Whether a doctor says it, which is no hearsay."""
        return self._orders.search(sentence) is not None

    def is_wish(self, sentence: str) -> bool:
        """Asked of the assistant for every time, or about how it answers. Who speaks of themselves asks for nothing."""
        polite = self.unpolished(sentence)
        said = polite.rstrip(" ,.!?")
        if sentence.rstrip().endswith("?") and polite == sentence:
            return False
        if self._address.search(said) or self._asks_for_manner(said, is_polite=polite != sentence):
            return True
        condition, _, rest = said.partition(",")
        if self._when.match(condition) and self._mine.search(condition):
            order = self.unpolished(rest.strip())
            return self._verb.match(order) is not None and order.split()[1:2] not in SPEAKERS
        if self._henceforth.search(said):
            without = self._henceforth.sub(" ", said)
            is_order = self._verb.match(without) or self._henceforth.match(said.lstrip())
            return bool(is_order) and not self._self.match(without) and not self._others.match(without)
        without = self._standing.sub(" ", said)
        is_asked = self._verb.match(without) or (self._style.search(without) and not self._self.match(said))
        return without != said and bool(is_asked)

    def _asks_for_manner(self, said: str, *, is_polite: bool) -> bool:
        """ "Be blunt", "British spelling please": how the assistant is to answer, where nothing at hand is pointed at."""
        if len(said.split()) > MOST_WORDS or self._pointing.search(said) or not self._manner.search(said):
            return False
        if self._shape.match(said):
            return True
        is_polite = is_polite or said != (self._ends_politely.sub("", said))
        starts = (self._self, self._others, self._verb)
        return is_polite and not any(each.match(said) for each in starts)

    def unpolished(self, sentence: str) -> str:
        """Without the words of politeness at its beginning."""
        polite = self._polite.match(sentence)
        return sentence[polite.end() :] if polite else sentence

    def told(self, sort: Sort, said: str, reworded: str) -> str:
        """The memory's text: in the third person where that begins with the user, else in the user's own words."""
        if sort == "limit" and reworded.startswith(SUBJECTS):
            return reworded
        if sort == "limit":
            return self._limit_form.format(said)
        if self._verb.match(said):
            return self._order_form.format(reworded[:1].lower() + reworded[1:])
        return self._wish_form.format(said)


def has_limit(text: str, code: str | None = None) -> bool:
    """Whether a statement tells of a limit, whoever has it. Without a language that is known it is looked for in each."""
    known = table()
    codes = [code] if code is not None and code in known else list(known)
    return any(language(each).has_limit(text) for each in codes)


@cache
def language(code: str) -> Language:
    return Language(table()[code])


@cache
def table() -> dict[str, Classes]:
    return msgspec.json.decode(TABLE.read_bytes(), type=dict[str, Classes])


def alternatives(*listed: str) -> str:
    words = (each.replace("_", " ").replace("*", r"[\w'’-]*") for part in listed for each in part.split())
    return rf"(?<![\w-])(?:{'|'.join(words)})(?![\w-])"


def near(one: str, other: str) -> str:
    """One within a few words of the other, in any order."""
    return f"{one}{BETWEEN}{other}|{other}{BETWEEN}{one}"


def starting(listed: str) -> re.Pattern[str]:
    return re.compile(rf"\W*{alternatives(listed)}", re.IGNORECASE)


def anywhere(listed: str) -> re.Pattern[str]:
    return re.compile(alternatives(listed), re.IGNORECASE)
