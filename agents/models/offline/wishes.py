"""Finds users' wishes to forget, in the languages with rules; idioms ("forget it") are no wishes."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from itertools import islice, zip_longest
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from agents.models.dates.dates import local
from agents.models.offline.new_values import gives_new_value
from agents.models.offline.rules.engine.injection import instructs
from agents.models.offline.rules.engine.sentences import is_question
from agents.models.offline.rules.findings.sentence_findings import apply_rules
from agents.models.offline.rules.framing.frame_patterns import REPORTING_VERBS
from agents.models.offline.rules.framing.framing import is_hearsay, is_unreal, own_part
from agents.models.offline.rules.tables.german_third_person import is_first_person
from agents.models.offline.rules.wishes.english import ENGLISH
from agents.models.offline.rules.wishes.french import FRENCH
from agents.models.offline.rules.wishes.german import GERMAN
from agents.models.offline.rules.wishes.phrases import THANKS, Kind, Phrases, wish_patterns
from agents.models.offline.rules.wishes.spanish import SPANISH
from agents.models.offline.statements import LANGUAGE_RULES, readable_beginning, safe_sentences
from schemas.extraction.requests import SliceMessage

LANGUAGES: Final = (ENGLISH, GERMAN, FRENCH, SPANISH)
# Words of every wish: nearly all messages have none, and then no pattern is tried.
TRIGGER: Final = re.compile(
    r"forget|delet|eras|remov|wipe|clear|drop|purge|scratch|strike|disregard|unlearn|don't|do not|stop"
    r"|vergiss|vergess|lösch|entfern|merk|speicher|oubli|effac|supprim|vide|retien|retene|garde|mémori|olvid|borr"
    r"|elimin|guard|streich|enregistr"
    r"|recuerd|memori|ignore|back|scrap|never|rather|zurück|retir",
    re.IGNORECASE,
)
POLITE_ASKING: Final = re.compile(
    r"^\W*(?:\w+[\s,]+){0,4}?(?:can|could|would|will|kannst|könntest|würdest|können|könnten|würden|peux|pouvez"
    r"|pourrais|pourriez"
    r"|puedes|podrías|puede|podría)\b",
    re.IGNORECASE,
)
INNER_BREAK: Final = re.compile(r"[,;–—]\s+| - |\b(?:so|also|daher|donc|alors|así que)\s+(?=\w)", re.IGNORECASE)
# Phrases before another person's words.
REPORTS_SPEECH: Final = re.compile(
    rf"\b{REPORTING_VERBS}(?: (?:to )?(?:me|us|him|her|them|mir|uns))?(?: to)?[\s,:;–—-]*$", re.IGNORECASE
)
OWN: Final = re.compile(
    r"\b(?:I|my|we|our|ich|wir|mein\w*|unser\w*|je|nous|mon|ma|mes|notre|yo|mi|mis|nosotros|nuestr[oa]s?)\b|\bj'",
    re.IGNORECASE,
)
# Regret about the words before.
REGRET: Final = re.compile(
    r"\b(?:sorry|mistakes?|mistaken|wrong|oops|typo|nonsense|shouldn't have|should not have|didn't mean|did not mean"
    r"|fehler|falsch"
    r"|quatsch|unsinn|hätte\w*(?: ich)? nicht|erreur|trompée?|faux|pardon|n'aurais pas|error|equivoqu\w+|perdón|no debí)\b",
    re.IGNORECASE,
)
# Wishes that begin as fiction or a dictation does: "Pretend I never told you", "Off the record: ...".
UNSAID_OPENING: Final = re.compile(
    r"\W{0,3}(?:[\w'’]{1,30}[\s,]{1,3}){0,6}?(?:off the record|(?:just )?between us|unter uns|entre nous|entre nosotros"
    r"|(?:do not|don't) (?:write|note|take|put|save|record)\b|schreib\w* (?:das|dir das) nicht"
    r"|(?:I|we|you|ich|wir|du|je|tu|vous|yo|nosotros|tú)\b[^.!?]{0,15}?(?:never|n't|not|nie|nicht|jamais|nunca|no)\b"
    r"[^.!?]{0,20}?\b(?:said|told|heard|mentioned|wrote|erzählt|gesagt|gehört|erwähnt|dit|entendu|raconté|dicho|dije|oído|contado|conté)\b)",
    re.IGNORECASE,
)
# No quotation has its own opening mark, or a text of many such marks would take quadratic time.
QUOTATION: Final = re.compile(r'"[^"]*"|“[^“”]*”|„[^„“”]*[“”]|«[^«»]*»')
# Words behind a wish that add nothing: thanks, or the wish again.
AFTERTHOUGHT: Final = re.compile(
    rf"^(?:[\s,;–—-]*(?:and |und |et |y )?"
    rf"(?:{THANKS}|(?:please )?(?:do not|don't) (?:remember|save|store|keep) (?:that|this|it))\b)+",
    re.IGNORECASE,
)
# Words of a wish that is about what was said or is known, whatever its topic.
OF_MEMORY: Final = re.compile(
    r"\b(?:forget|unlearn|told|said|mentioned|know|vergiss|vergessen|gesagt|erzählt|weißt|oubli\w+|dit|raconté|sais|olvid\w+|dije|dicho"
    r"|conté|sabes)\b",
    re.IGNORECASE,
)
MAX_BREAKS: Final = 8  # places in a sentence after which a wish is searched for
MAX_STATED_CHARS: Final = 2_000  # the latest characters before a wish
MIN_WORDS: Final = 3  # of a statement
# A wish to forget is no memory.
FORGETTING: Final = re.compile(
    r"\b(?:forg[eo]t\w*|delet\w+|eras\w+|remov\w+|vergess\w*|vergiss\w*|lösch\w*|oubli\w*|effac\w*|supprim\w*|olvid\w*"
    r"|borr\w*|elimin\w*)",
    re.IGNORECASE,
)


# What the messages before a wish must be, or it may mean something else: "delete that" a draft, "don't remember my weight" that
# the user does not know it.
Need: TypeAlias = Literal["statement", "no_draft", "no_question"]
NEEDS: Final[Mapping[Kind, Need]] = {"stated": "statement", "fact": "no_draft", "unasked": "no_question"}


class ForgetWish(Struct, frozen=True, kw_only=True):
    """A wish to forget: `everything` about the speaker, a `statement` about the user, a `topic`, or else the statements before
    the wish: `stated_before` in the same message; if that is None, those of the previous message. With `needs` it is a wish only
    after such messages. Nothing tells what an `unclear` one means."""

    everything: bool = False
    statement: str | None = None
    topic: str | None = None
    stated_before: str | None = None
    needs: Need | None = None
    unclear: bool = False

    @property
    def means_previous_message(self) -> bool:
        """Whether the wish names nothing, and its message states nothing before it: "forget that"."""
        return not (self.everything or self.statement or self.topic or self.stated_before or self.unclear)


class MessageWishes(Struct, frozen=True):
    """The wishes of a message, and the rest of its text; of a correction ("scratch that, it's 40") the words behind the phrase.
    `says_more`: the rest may have statements."""

    wishes: tuple[ForgetWish, ...]
    rest: str

    @property
    def says_more(self) -> bool:
        return len(self.rest.split()) >= MIN_WORDS


class Match(Struct, frozen=True):
    """A wish in a sentence, from `start` to `end`."""

    kind: Kind
    phrases: Phrases
    start: int
    end: int
    topic: str
    clause: str


def wishes_in(message: SliceMessage) -> MessageWishes:
    """The wishes of a user's message; none if the message also instructs a model."""
    content = message.content
    if message.role != "user" or TRIGGER.search(content) is None or instructs(readable_beginning(content)):
        return MessageWishes((), content)
    said_at = local(message.timestamp, message.time_zone)
    wishes: list[ForgetWish] = []
    before: list[str] = []
    own = list(safe_sentences(own_part(readable_beginning(content))))
    for sentence, following in zip_longest(own, own[1:], fillvalue=""):
        match = wish_in(sentence)
        if match is None or is_anothers_wish(sentence, match):
            before.append(sentence)
            continue
        said, around = statements_before([*before, sentence[: match.start]]), without_match(sentence, match)
        if said is None and is_correction(sentence, match, following):
            before += around
            continue
        found = list(meant_wishes(match, said, said_at, is_alone(own, sentence, around)))
        wishes += found
        before += around if found else [sentence]
    rest = content if before == own else " ".join(" ".join(before).split())
    return MessageWishes(tuple(dict.fromkeys(wishes)), rest)


def without_match(sentence: str, match: Match) -> tuple[str, str]:
    """The parts of a sentence before and behind a wish."""
    return sentence[: match.start], AFTERTHOUGHT.sub("", sentence[match.end :])


def wish_in(sentence: str) -> Match | None:
    """The first wish of a sentence, at its beginning, or after a comma or a conjunction."""
    if TRIGGER.search(sentence) is None:
        return None
    if is_question(sentence) and not POLITE_ASKING.match(sentence):
        return None
    for start in (0, *(found.end() for found in islice(INNER_BREAK.finditer(sentence), MAX_BREAKS))):
        for phrases in LANGUAGES:
            for kind, pattern in wish_patterns(phrases):
                found = pattern.match(sentence, start)
                if found is not None and denial_pattern(phrases).search(sentence[start:]) is None:
                    match = match_of(kind, phrases, found)
                    return None if is_task(match, found.group()) else match
    return None


def match_of(kind: Kind, phrases: Phrases, found: re.Match[str]) -> Match:
    groups = {name: (value or "").strip(" ,") for name, value in found.groupdict().items()}
    topic = ending_pattern(phrases.memory).sub("", groups.get("topic", ""))
    return Match(kind, phrases, found.start(), found.end(), topic.strip(" ,"), groups.get("clause", ""))


def is_task(match: Match, phrase: str) -> bool:
    """Whether a phrase is about another place than the assistant's memory: "delete everything about prices from the slides"."""
    if ending_pattern(match.phrases.elsewhere).search(match.topic) is None:
        return False
    return OF_MEMORY.search(phrase.partition(match.topic)[0]) is None


def is_anothers_wish(sentence: str, match: Match) -> bool:
    """Whether the wish is another person's, or part of a dream or a game."""
    before, named = sentence[: match.start], f"{match.topic} {match.clause}"
    return REPORTS_SPEECH.search(before) is not None or is_hearsay(named) or is_unreal(f"{before} {named}")


def is_correction(sentence: str, match: Match, following: str) -> bool:
    """Whether the phrase of a wish takes the previous message back for another value, in the same sentence or the one
    `following`: "scratch that, it's 40 people, not 30"."""
    behind = without_match(sentence, match)[1].strip(" .!,:;–—-")
    phrase = sentence[match.start : match.end]
    return match.kind in ("that", "stated") and gives_new_value(phrase, behind or following, is_next=not behind)


def is_no_wish(content: str) -> bool:
    """Whether the words of a wish in a message are certainly not the speaker's: in a quotation, in fiction, or another person's;
    or whether they ask to remember ("don't forget")."""
    text = readable_beginning(content)
    own = QUOTATION.sub(" ", text if UNSAID_OPENING.match(text) else own_part(text))
    trigger = TRIGGER.search(own)
    if not own.strip() or (trigger is None and TRIGGER.search(text) is not None):
        return True
    if trigger is not None and REPORTS_SPEECH.search(own[: trigger.start()]) is not None:
        return True
    asking = list(filter(TRIGGER.search, safe_sentences(own)))
    matches = [(sentence, match) for sentence in asking if (match := wish_in(sentence)) is not None]
    if matches:
        return all(is_anothers_wish(sentence, match) for sentence, match in matches)
    return any(map(is_denied, asking))


def is_denied(sentence: str) -> bool:
    """Whether the sentence asks for an exception only, or to remember ("don't forget")."""
    return any(denial_pattern(phrases).search(sentence) is not None for phrases in LANGUAGES)


@cache
def denial_pattern(phrases: Phrases) -> re.Pattern[str]:
    return re.compile(phrases.denied, re.IGNORECASE)


@cache
def ending_pattern(words: str) -> re.Pattern[str]:
    """The pattern of words at the end of a topic."""
    return re.compile(rf"\s+{words}$", re.IGNORECASE)


def is_alone(sentences: Sequence[str], sentence: str, around: Iterable[str]) -> bool:
    """Whether the message says nothing besides a wish, in `sentence`, but exclamations and regret."""
    others = (*(each for each in sentences if each != sentence), *around)
    longer = (each for each in others if len(each.split()) >= MIN_WORDS)
    return all(REGRET.search(each) and not is_question(each) for each in longer)


def meant_wishes(match: Match, said: str | None, said_at: datetime, is_alone: bool) -> Iterator[ForgetWish]:
    """The wishes of a match, after the statements `said` in the same message. None for "delete that" without such statements
    unless the message says nothing else: it may be about something else."""
    if match.kind == "everything" or re.fullmatch(match.phrases.me, match.topic, re.IGNORECASE):
        yield ForgetWish(everything=True)
    elif match.kind == "that" or (match.kind == "stated" and said is not None):
        yield ForgetWish(stated_before=said)
    elif match.kind in NEEDS:
        if is_alone:
            yield ForgetWish(topic=match.topic or None, needs=NEEDS[match.kind])
    elif match.topic:
        yield ForgetWish(topic=match.topic)
    else:
        yield from (ForgetWish(statement=each) for each in statements(match.clause, match.phrases.code, said_at))


def statements(clause: str, code: str, said_at: datetime) -> list[str]:
    """The statements of a clause about the user, as the rules would extract them."""
    rules = LANGUAGE_RULES[code]
    clause = with_verb_second(clause) if code == "de" else clause
    clause = clause[:1].upper() + clause[1:]
    return [found.text for found in apply_rules(rules, clause, said_at)] or [rules.reword(rules.normalise(clause))]


def with_verb_second(clause: str) -> str:
    """A German clause after "dass" as a main clause: "ich wohne in Berlin" for "ich in Berlin wohne". The words after the verb
    are left out: "dass ich 71 Kilo wiege, ist mir peinlich"."""
    before, _, _ = clause.partition(",")
    clause = before if is_first_person(before.split(" ")[-1]) else clause
    subject = re.match(r"(?:ich|wir|(?:mein|unser)\w* \w+) ", clause, re.IGNORECASE)
    rest, _, verb = clause[subject.end() :].rpartition(" ") if subject else ("", "", "")
    return f"{subject.group()}{verb} {rest}" if subject and rest else clause


def statements_before(before: list[str]) -> str | None:
    """The statements of a message before its wish, without those that only express regret."""
    stated = [
        each for each in before if len(each.split()) >= MIN_WORDS and OWN.search(each) and not REGRET.search(each)
    ]
    return " ".join(stated)[-MAX_STATED_CHARS:] or None


def tells_of_forgetting(text: str) -> bool:
    """Whether a memory is about a wish to forget."""
    return FORGETTING.search(text) is not None
