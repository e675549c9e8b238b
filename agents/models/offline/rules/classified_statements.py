"""Statements that a classifier of sentences finds where no rule reads the sentence, or where a rule reads a part of it."""

import re
from datetime import datetime
from typing import Final, NamedTuple

from msgspec import structs

from agents.models.dates.dates import Dated, dates_in, event_time, with_dates
from agents.models.dates.validity import Validity, validity
from agents.models.offline.rules.framing import is_hearsay, is_unreal
from agents.models.offline.rules.rule import LanguageRules
from agents.models.offline.rules.rule_engine import Finding, in_third_person, opened, plainly
from agents.models.offline.rules.sentences import is_question
from agents.models.offline.rules.standing_wording import wording
from agents.models.offline.rules.statement_patterns import BY_LANGUAGE
from schemas.extraction.sentences import SentenceScores


class Least(NamedTuple):
    """Probabilities from which on a sentence states something lasting; `without_speaker` if it does not name the speaker."""

    statement: float
    without_speaker: float


ALONE: Final = Least(statement=0.6, without_speaker=0.8)
# People who talk with each other say much that is over in an hour.
AMONG_PEOPLE: Final = Least(statement=0.9, without_speaker=0.95)
# Probabilities from which on a sentence is made up, or states nothing to keep.
MADE_UP: Final = 0.12
IDLE: Final = 0.95
MIN_WORDS: Final = 3
FURTHER_SUBJECTS: Final = ("User's ", "The team's ", "The family's ")  # what rules put into the third person in English
COVERED: Final = 0.7  # of a sentence's words, in what the rules found
CONFIDENCE: Final = 0.7
IMPORTANCE: Final = 0.5
WORD: Final = re.compile(r"\w+")
MOST_CONTEXT: Final = 80  # characters of a sentence that is told with the one behind it
MAX_JOINED_CHARS: Final = 400


def is_made_up(scores: SentenceScores) -> bool:
    """Whether the sentence may be made up, and is not rather a limit."""
    return scores.unreal >= max(MADE_UP, scores.limit)


def is_idle(scores: SentenceScores) -> bool:
    """Whether the sentence states nothing to keep: a question, chatter or of the moment."""
    return scores.other >= IDLE


def lasting(scores: SentenceScores) -> float:
    """The probability that the sentence states something lasting; a limit does."""
    return scores.statement + scores.limit


def needs_no_speaker(scores: SentenceScores, least: Least) -> bool:
    """Whether the sentence is kept as a statement even if it does not name its speaker."""
    return lasting(scores) >= least.without_speaker


def with_statement(
    tongue: LanguageRules,
    sentence: str,
    said_at: datetime,
    feelings: bool,
    scores: SentenceScores,
    found: list[Finding],
    least: Least,
) -> list[Finding]:
    """The findings, with the whole sentence where the classifier takes it for a statement and the rules read little of it.
    Leaves out other people's words, and without `feelings` those about feelings."""
    if lasting(scores) < least.statement or len(found) > 1 or is_question(sentence):
        return found
    if not may_be_told(tongue, sentence, feelings):
        return found
    whole = stated(tongue, sentence, said_at, is_certain=needs_no_speaker(scores, least))
    if whole is None:
        return found
    if not found:
        return [whole]
    (one,) = found
    if covered(whole.text, one.text) >= COVERED:
        return found
    return [structs.replace(one, text=whole.text)]


def stated(
    tongue: LanguageRules, sentence: str, said_at: datetime, *, is_certain: bool, about: str = ""
) -> Finding | None:
    """The sentence as a memory: in the third person if the speaker is its subject, otherwise quoted, with what it is `about`
    behind it. None if it does not name the speaker, unless that it is one `is_certain`. None as well if it cannot be
    understood alone, unless `about` is given."""
    patterns = BY_LANGUAGE[tongue.code]
    said = opened(tongue, plainly(tongue, sentence))
    if tongue.unreal.search(said) or (not about and needs_context(tongue, said)):
        return None
    replaced, remark = dated(tongue, said, said_at)
    text = in_third_person(tongue, replaced)
    if not text.startswith((f"{tongue.subject} ", *FURTHER_SUBJECTS)):
        if not is_certain and patterns.speaker.search(said) is None:
            return None
        text = wording(tongue.code).quoted(replaced)
    if about:
        remark += wording(tongue.code).remark(about)
    holds = validity(said, said_at, tongue.code)
    day = next((each.day for each in reversed(days(tongue, said, said_at))), None)
    is_plan = patterns.planning.search(said) and (day is None or day >= said_at.date())
    return Finding(
        kind="plan" if is_plan else "preference" if patterns.liking.search(said) else "fact",
        text=f"{text[:1].upper()}{text[1:]}{remark}.",
        confidence=CONFIDENCE,
        importance=IMPORTANCE,
        tags=(),
        event_time=event_time(day, said, said_at, tongue.code) if day else None,
        valid_from=holds.valid_from,
        valid_until=holds.valid_until,
    )


def needs_context(tongue: LanguageRules, said: str) -> bool:
    """Whether a sentence cannot be understood alone: "She is four", "Yes, twice"."""
    return len(said.split()) < MIN_WORDS or BY_LANGUAGE[tongue.code].points(said)


def statement_in_context(
    tongue: LanguageRules,
    sentence: str,
    said_at: datetime,
    feelings: bool,
    scores: SentenceScores,
    least: Least,
    before: str,
) -> Finding | None:
    """A statement that begins with a pronoun, with the sentence `before` it, which says whom or what it is about."""
    if not before or BY_LANGUAGE[tongue.code].pronoun.match(opened(tongue, plainly(tongue, sentence))) is None:
        return None
    if is_made_up(scores) or not needs_no_speaker(scores, least) or is_question(sentence) or is_unreal(sentence):
        return None
    if not may_be_told(tongue, sentence, feelings):
        return None
    about, _ = dated(tongue, before, said_at)
    return stated(tongue, sentence, said_at, is_certain=True, about=about)


def as_context(tongue: LanguageRules, sentence: str, feelings: bool, scores: SentenceScores) -> str:
    """The sentence, if it may be told with the one behind it; empty if it is too short or too long, or if it would not be kept
    for what it says."""
    if len(sentence.split()) < MIN_WORDS or len(sentence) > MOST_CONTEXT:
        return ""
    if is_idle(scores) or is_made_up(scores) or is_unreal(sentence) or tongue.unreal.search(sentence):
        return ""
    return sentence if may_be_told(tongue, sentence, feelings) else ""


def may_be_told(tongue: LanguageRules, sentence: str, feelings: bool) -> bool:
    """Whether the words are the speaker's own, and without `feelings` not about feelings."""
    return not is_hearsay(sentence) and (feelings or BY_LANGUAGE[tongue.code].feeling.search(sentence) is None)


def continued(
    tongue: LanguageRules, before: Finding, sentence: str, scores: SentenceScores, said_at: datetime, least: Least
) -> Finding | None:
    """The finding of the sentence before, with a statement whose subject it names ("User got a cat. She is called Pepper.");
    None for other sentences, and for one that holds for a time of its own."""
    if scores.statement < least.statement or not BY_LANGUAGE[tongue.code].points(sentence) or is_question(sentence):
        return None
    said = opened(tongue, plainly(tongue, sentence))
    if tongue.unreal.search(said) or validity(said, said_at, tongue.code) != Validity():
        return None
    said, remark = dated(tongue, said, said_at)
    text = f"{before.text} {tongue.reword(said)}{remark}."
    return structs.replace(before, text=text) if len(text) <= MAX_JOINED_CHARS else None


def dated(tongue: LanguageRules, said: str, said_at: datetime) -> tuple[str, str]:
    """The text with absolute dates, and the remark that quotes the relative ones."""
    return with_dates(said, days(tongue, said, said_at), tongue.code)


def days(tongue: LanguageRules, said: str, said_at: datetime) -> list[Dated]:
    return [each for each in dates_in(said, said_at, tongue.code) if not each.bare]


def covered(whole: str, part: str) -> float:
    """The share of the words of a whole text that a part of it has."""
    words = set(WORD.findall(whole.lower()))
    return len(words & set(WORD.findall(part.lower()))) / max(1, len(words))
