"""Finds what users ask to have forgotten: in their own words alone, in the languages with rules, never in an idiom."""

import re
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from itertools import islice
from typing import Final

from msgspec import Struct

from agents.models.dates.dates import local
from agents.models.offline.rules.english_wishes import ENGLISH
from agents.models.offline.rules.framing import SAYS, is_hearsay, is_unreal, own_part
from agents.models.offline.rules.french_wishes import FRENCH
from agents.models.offline.rules.german_wishes import GERMAN
from agents.models.offline.rules.injection import instructs
from agents.models.offline.rules.reading import read
from agents.models.offline.rules.spanish_wishes import SPANISH
from agents.models.offline.rules.wish_phrases import Kind, Phrases, spoken
from agents.models.offline.statements import TONGUES, beginning, safe_sentences
from schemas.extraction.requests import SliceMessage

LANGUAGES: Final = (ENGLISH, GERMAN, FRENCH, SPANISH)
# Nearly every message has none of these words, so that no pattern is tried on it.
TRIGGER: Final = re.compile(
    r"forget|delet|eras|remov|wipe|clear|drop|purge|scratch|strike|disregard|unlearn|don't|do not|stop"
    r"|vergiss|vergess|lösch|entfern|merk|speicher|oubli|effac|supprim|vide|retien|retene|garde|mémori|olvid|borr"
    r"|elimin|guard"
    r"|recuerd|memori|ignore|back|scrap|never|zurück|retir",
    re.IGNORECASE,
)
POLITE_ASKING: Final = re.compile(
    r"^\W*(?:\w+[\s,]+){0,4}?(?:can|could|would|will|kannst|könntest|würdest|können|könnten|würden|peux|pouvez"
    r"|pourrais|pourriez"
    r"|puedes|podrías|puede|podría)\b",
    re.IGNORECASE,
)
INNER_BREAK: Final = re.compile(r"[,;–—]\s+| - |\b(?:so|also|daher|donc|alors|así que)\s+(?=\w)", re.IGNORECASE)
# Behind it whoever is named speaks.
OTHERS_WORDS: Final = re.compile(rf"\b{SAYS}(?: (?:to )?(?:me|us|him|her|them|mir|uns))?[\s,:;–—-]*$", re.IGNORECASE)
OWN: Final = re.compile(
    r"\b(?:I|my|we|our|ich|wir|mein\w*|unser\w*|je|nous|mon|ma|mes|notre|yo|mi|mis|nosotros|nuestr[oa]s?)\b|\bj'",
    re.IGNORECASE,
)
# Says of what was said before that it should not have been.
REGRET: Final = re.compile(
    r"\b(?:sorry|mistakes?|mistaken|wrong|oops|typo|nonsense|shouldn't have|should not have|didn't mean|did not mean"
    r"|fehler|falsch"
    r"|quatsch|unsinn|hätte\w* nicht|erreur|trompée?|faux|pardon|n'aurais pas|error|equivoqu\w+|perdón|no debí)\b",
    re.IGNORECASE,
)
MOST_BREAKS: Final = 8  # of a sentence, behind which a wish is looked for
MOST_SAID_CHARS: Final = 2_000  # of the words before a wish, the latest
LEAST_WORDS: Final = 3  # of a statement
# A memory that says that something is to be forgotten is none.
FORGETTING: Final = re.compile(
    r"\b(?:forg[eo]t\w*|delet\w+|eras\w+|remov\w+|vergess\w*|vergiss\w*|lösch\w*|oubli\w*|effac\w*|supprim\w*|olvid\w*"
    r"|borr\w*|elimin\w*)",
    re.IGNORECASE,
)


class Asked(Struct, frozen=True, kw_only=True):
    """A wish as a message says it. `everything` about the speaker; or what is named, as a `statement` about the user or as a
    `topic`; or neither, for what was said just before: by `said`, words of the same message before it, else by the message
    before that one."""

    everything: bool = False
    statement: str | None = None
    topic: str | None = None
    said: str | None = None


class Told(Struct, frozen=True):
    """What a message asks to have forgotten, and what else it says."""

    wishes: tuple[Asked, ...]
    rest: str

    @property
    def says_more(self) -> bool:
        return len(self.rest.split()) >= LEAST_WORDS


class Match(Struct, frozen=True):
    """A wish in a sentence, from `start` to `end`."""

    kind: Kind
    phrases: Phrases
    start: int
    end: int
    topic: str
    clause: str


def wishes_in(message: SliceMessage) -> Told:
    """The wishes of a message; none unless a user said it, and none where it instructs the model besides."""
    content = message.content
    if message.role != "user" or TRIGGER.search(content) is None or instructs(beginning(content)):
        return Told((), content)
    said_at = local(message.timestamp, message.time_zone)
    wishes: list[Asked] = []
    before: list[str] = []
    for sentence in safe_sentences(own_part(beginning(content))):
        match = wish_in(sentence)
        if match is None or is_of_others(sentence, match):
            before.append(sentence)
            continue
        found = list(asked(match, said_before([*before, sentence[: match.start]]), said_at))
        wishes += found
        before += [sentence[: match.start], sentence[match.end :]] if found else [sentence]
    return Told(tuple(dict.fromkeys(wishes)), " ".join(" ".join(before).split()) if wishes else content)


def wish_in(sentence: str) -> Match | None:
    """The first wish of a sentence, at its beginning or behind a comma or a conjunction."""
    if TRIGGER.search(sentence) is None:
        return None
    if sentence.rstrip(' "”»)').endswith("?") and not POLITE_ASKING.match(sentence):
        return None
    for start in (0, *(found.end() for found in islice(INNER_BREAK.finditer(sentence), MOST_BREAKS))):
        for phrases in LANGUAGES:
            for kind, pattern in patterns(phrases):
                match = pattern.match(sentence, start)
                if match is not None and denial(phrases).search(sentence[start:]) is None:
                    groups = match.groupdict()
                    topic, clause = (groups.get("topic") or "", groups.get("clause") or "")
                    return Match(kind, phrases, start, match.end(), topic.strip(" ,"), clause.strip(" ,"))
    return None


def is_of_others(sentence: str, match: Match) -> bool:
    """Whether it is in somebody else's words, or of a dream or a game; `what I just said` is in the speaker's own."""
    before, named = sentence[: match.start], f"{match.topic} {match.clause}"
    return OTHERS_WORDS.search(before) is not None or is_hearsay(named) or is_unreal(f"{before} {named}")


@cache
def patterns(phrases: Phrases) -> tuple[tuple[Kind, re.Pattern[str]], ...]:
    return spoken(phrases)


@cache
def denial(phrases: Phrases) -> re.Pattern[str]:
    return re.compile(phrases.denied, re.IGNORECASE)


def asked(match: Match, said: str | None, said_at: datetime) -> Iterator[Asked]:
    if match.kind == "everything" or re.fullmatch(match.phrases.me, match.topic, re.IGNORECASE):
        yield Asked(everything=True)
    elif match.kind in ("that", "stated"):
        if match.kind == "that" or said is not None:
            yield Asked(said=said)
    elif match.topic:
        yield Asked(topic=match.topic)
    else:
        yield from (Asked(statement=each) for each in statements(match.clause, match.phrases.code, said_at))


def statements(clause: str, code: str, said_at: datetime) -> list[str]:
    """What a clause states about the user, as the rules would remember it."""
    tongue = TONGUES[code]
    clause = with_verb_second(clause) if code == "de" else clause
    clause = clause[:1].upper() + clause[1:]
    return [found.text for found in read(tongue, clause, said_at)] or [tongue.reword(tongue.normalise(clause))]


def with_verb_second(clause: str) -> str:
    """`ich in Berlin wohne`, as a German clause behind `dass` has it, as a sentence."""
    subject = re.match(r"(?:ich|wir|(?:mein|unser)\w* \w+) ", clause, re.IGNORECASE)
    rest, _, verb = clause[subject.end() :].rpartition(" ") if subject else ("", "", "")
    return f"{subject.group()}{verb} {rest}" if subject and rest else clause


def said_before(before: list[str]) -> str | None:
    """The words of a message before its wish, if they state something; not those that only regret what was said earlier."""
    stated = [
        each for each in before if len(each.split()) >= LEAST_WORDS and OWN.search(each) and not REGRET.search(each)
    ]
    return " ".join(stated)[-MOST_SAID_CHARS:] or None


def tells_of_forgetting(text: str) -> bool:
    """Whether a memory says that something is to be forgotten."""
    return FORGETTING.search(text) is not None
