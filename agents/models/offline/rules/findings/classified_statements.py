"""Statements that a classifier of sentences finds where no rule matches, or where a rule matches only a part of a sentence."""

import re
from datetime import datetime
from typing import Final, NamedTuple

from msgspec import structs

from agents.models.dates.dates import Dated, dates_in, event_time, with_dates
from agents.models.dates.validity import Validity, validity
from agents.models.offline.rules.engine.rule import LanguageRules
from agents.models.offline.rules.engine.rule_engine import Finding, in_third_person, opened, plainly
from agents.models.offline.rules.engine.sentences import is_question
from agents.models.offline.rules.findings.statement_patterns import BY_LANGUAGE
from agents.models.offline.rules.framing.framing import is_hearsay, is_unreal
from agents.models.offline.rules.lasting_instructions.wording import wording
from schemas.extraction.sentences import SentenceScores


class Thresholds(NamedTuple):
    """Probabilities from which on a sentence is a lasting statement; `without_speaker` if it does not name the speaker. With
    `worded_limits` a limit or a wish must also have a word of its class."""

    statement: float
    without_speaker: float
    worded_limits: bool = False


ONE_SPEAKER: Final = Thresholds(statement=0.6, without_speaker=0.8)
# People who talk with each other say much that is over in an hour ("no pork for the grill tonight", "be there at 8"), and wish
# things from each other.
SEVERAL_SPEAKERS: Final = Thresholds(statement=0.9, without_speaker=0.95, worded_limits=True)
# Probabilities from which on a sentence is made up, or states nothing lasting.
MADE_UP: Final = 0.12
IDLE: Final = 0.95
MIN_WORDS: Final = 3
FURTHER_SUBJECTS: Final = ("User's ", "The team's ", "The family's ")  # of English sentences in the third person
COVERED: Final = 0.7  # of a sentence's words, in what the rules found
CONFIDENCE: Final = 0.7
IMPORTANCE: Final = 0.5
WORD: Final = re.compile(r"\w+")
MAX_CONTEXT_CHARS: Final = 80  # of a sentence that is kept as context of the next one
MAX_JOINED_CHARS: Final = 400


def is_made_up(scores: SentenceScores) -> bool:
    """Whether the sentence may be made up, unless a limit is more probable."""
    return scores.unreal >= max(MADE_UP, scores.limit)


def is_idle(scores: SentenceScores) -> bool:
    """Whether the sentence states nothing lasting: a question, chatter, or a state of the moment."""
    return scores.other >= IDLE


def lasting(scores: SentenceScores) -> float:
    """The probability that the sentence states something lasting; a limit does."""
    return scores.statement + scores.limit


def needs_no_speaker(scores: SentenceScores, thresholds: Thresholds) -> bool:
    """Whether the sentence is kept as a statement even if it does not name its speaker."""
    return lasting(scores) >= thresholds.without_speaker


def with_statement(
    language: LanguageRules,
    sentence: str,
    said_at: datetime,
    feelings: bool,
    scores: SentenceScores,
    found: list[Finding],
    thresholds: Thresholds,
) -> list[Finding]:
    """The findings, with the whole sentence if the classifier takes it for a statement and the rules read little of it. Not for
    other people's words, and without `feelings` not for those about feelings."""
    if lasting(scores) < thresholds.statement or len(found) > 1 or is_question(sentence):
        return found
    if not may_be_kept(language, sentence, feelings):
        return found
    whole = stated(language, sentence, said_at, is_certain=needs_no_speaker(scores, thresholds))
    if whole is None:
        return found
    if not found:
        return [whole]
    (one,) = found
    return found if is_covered(language, whole.text, one.text) else [structs.replace(one, text=whole.text)]


def is_covered(language: LanguageRules, whole: str, part: str) -> bool:
    """Whether the rules read most of the sentence. Of a quotation only the number of words counts, as the verb of the part has
    another person: "El usuario vive en Soria" for "Vivo en Soria"."""
    quoted = wording(language.code).quotation.match(whole)
    if quoted is None:
        return coverage(whole, part) >= COVERED
    said, read = (WORD.findall(text) for text in (quoted[1], part.removeprefix(language.subject)))
    return len(read) >= COVERED * len(said)


def stated(
    language: LanguageRules, sentence: str, said_at: datetime, *, is_certain: bool, about: str = ""
) -> Finding | None:
    """The sentence as a memory: in the third person if the speaker is its subject, otherwise quoted, with the previous sentence
    `about` as a remark. None if it neither names the speaker nor `is_certain`, or if it needs context and has no `about`."""
    patterns = BY_LANGUAGE[language.code]
    said = opened(language, plainly(language, sentence))
    if language.unreal.search(said) or (not about and needs_context(language, said)):
        return None
    replaced, remark = dated(language, said, said_at)
    text = in_third_person(language, replaced)
    if not text.startswith((f"{language.subject} ", *FURTHER_SUBJECTS)):
        if not is_certain and patterns.speaker.search(said) is None:
            return None
        text = wording(language.code).quoted(replaced)
    if about:
        remark += wording(language.code).remark(about)
    holds = validity(said, said_at, language.code)
    day = next((each.day for each in reversed(days(language, said, said_at))), None)
    is_plan = patterns.planning.search(said) and (day is None or day >= said_at.date())
    return Finding(
        kind="plan" if is_plan else "preference" if patterns.liking.search(said) else "fact",
        text=f"{text[:1].upper()}{text[1:]}{remark}.",
        confidence=CONFIDENCE,
        importance=IMPORTANCE,
        tags=(),
        event_time=event_time(day, said, said_at, language.code) if day else None,
        valid_from=holds.valid_from,
        valid_until=holds.valid_until,
    )


def needs_context(language: LanguageRules, said: str) -> bool:
    """Whether a sentence cannot be understood alone: "She is four", "Yes, twice"."""
    return len(said.split()) < MIN_WORDS or BY_LANGUAGE[language.code].refers_back(said)


def statement_in_context(
    language: LanguageRules,
    sentence: str,
    said_at: datetime,
    feelings: bool,
    scores: SentenceScores,
    thresholds: Thresholds,
    before: str,
) -> Finding | None:
    """A statement that begins with a pronoun, with the sentence `before` it as a remark, which names its subject."""
    if not before or BY_LANGUAGE[language.code].pronoun.match(opened(language, plainly(language, sentence))) is None:
        return None
    if is_made_up(scores) or not needs_no_speaker(scores, thresholds) or is_question(sentence) or is_unreal(sentence):
        return None
    if not may_be_kept(language, sentence, feelings):
        return None
    about, _ = dated(language, before, said_at)
    return stated(language, sentence, said_at, is_certain=True, about=about)


def as_context(language: LanguageRules, sentence: str, feelings: bool, scores: SentenceScores) -> str:
    """The sentence, if it may be kept as context of the next one; otherwise empty."""
    if len(sentence.split()) < MIN_WORDS or len(sentence) > MAX_CONTEXT_CHARS:
        return ""
    if is_idle(scores) or is_made_up(scores) or is_unreal(sentence) or language.unreal.search(sentence):
        return ""
    return sentence if may_be_kept(language, sentence, feelings) else ""


def may_be_kept(language: LanguageRules, sentence: str, feelings: bool) -> bool:
    """Whether the words are the speaker's own, and without `feelings` not about feelings."""
    return not is_hearsay(sentence) and (feelings or BY_LANGUAGE[language.code].feeling.search(sentence) is None)


def continued(
    language: LanguageRules,
    before: Finding,
    sentence: str,
    scores: SentenceScores,
    said_at: datetime,
    thresholds: Thresholds,
) -> Finding | None:
    """The finding of the sentence before, with a statement whose subject it names ("User got a cat. She is called Pepper.");
    None for other sentences, and for one that holds for a time of its own."""
    if (
        scores.statement < thresholds.statement
        or not BY_LANGUAGE[language.code].refers_back(sentence)
        or is_question(sentence)
    ):
        return None
    said = opened(language, plainly(language, sentence))
    if language.unreal.search(said) or validity(said, said_at, language.code) != Validity():
        return None
    said, remark = dated(language, said, said_at)
    text = f"{before.text} {language.reword(said)}{remark}."
    return structs.replace(before, text=text) if len(text) <= MAX_JOINED_CHARS else None


def dated(language: LanguageRules, said: str, said_at: datetime) -> tuple[str, str]:
    """The text with absolute dates, and the remark that quotes the relative ones."""
    return with_dates(said, days(language, said, said_at), language.code)


def days(language: LanguageRules, said: str, said_at: datetime) -> list[Dated]:
    return [each for each in dates_in(said, said_at, language.code) if not each.bare]


def coverage(whole: str, part: str) -> float:
    """The share of the words of a text that are also in a part of it."""
    words = set(WORD.findall(whole.lower()))
    return len(words & set(WORD.findall(part.lower()))) / max(1, len(words))
