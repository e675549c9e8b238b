"""Statements that a classifier of sentences finds where no rule matches, or where a rule matches only a part of a sentence."""

import re
from datetime import datetime
from typing import Final, NamedTuple

from msgspec import structs

from agents.models.dates.date_matches import FoundDate
from agents.models.dates.dates import dates_in, event_time, with_absolute_dates
from agents.models.dates.validity import Validity, validity
from agents.models.offline.rules.engine.rule import LanguageRules
from agents.models.offline.rules.engine.rule_engine import Finding, core_of, in_third_person, normalised
from agents.models.offline.rules.engine.sentences import is_question
from agents.models.offline.rules.findings.statement_patterns import BY_LANGUAGE
from agents.models.offline.rules.framing.framing import is_hearsay, is_unreal
from agents.models.offline.rules.lasting_instructions.wording import wording
from schemas.extraction.sentences import SentenceScores


class Thresholds(NamedTuple):
    """The minimum probability of a lasting statement, and of one that does not name the speaker (`without_speaker`). If people
    talk with each other (`several`), "you" is not the assistant, and a limit or a wish must also have a word of its class."""

    statement: float
    without_speaker: float
    several: bool = False


ONE_SPEAKER: Final = Thresholds(statement=0.6, without_speaker=0.8)
# People who talk with each other say much that is over in an hour ("no pork for the grill tonight", "be there at 8"), and wish
# things from each other.
SEVERAL_SPEAKERS: Final = Thresholds(statement=0.9, without_speaker=0.95, several=True)
# The minimum probabilities of sentences that are made up, and of those that state nothing lasting.
MADE_UP: Final = 0.12
NOTHING_LASTING: Final = 0.95
MIN_WORDS: Final = 3
PROPOSAL: Final = re.compile(r"\blet(?:'?s| us)\b", re.IGNORECASE)
ADDRESSED: Final = re.compile(r"\byou(?:rs?|rself|rselves|'\w+)?\b", re.IGNORECASE)
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


def states_nothing_lasting(scores: SentenceScores) -> bool:
    """Whether the sentence states nothing lasting: a question, chatter, or a state of the moment."""
    return scores.other >= NOTHING_LASTING


def lasting_probability(scores: SentenceScores) -> float:
    """The probability that the sentence states something lasting; a limit does."""
    return scores.statement + scores.limit


def needs_no_speaker(scores: SentenceScores, thresholds: Thresholds) -> bool:
    """Whether the sentence is kept as a statement even if it does not name its speaker."""
    return lasting_probability(scores) >= thresholds.without_speaker


def with_statement(
    language: LanguageRules,
    sentence: str,
    said_at: datetime,
    feelings: bool,
    scores: SentenceScores,
    found: list[Finding],
    thresholds: Thresholds,
) -> list[Finding]:
    """The findings, or the whole sentence as one finding if the classifier takes it for a statement and the rules read little of
    it. Other people's words are never kept whole, and words about feelings only with `feelings`. What the rules read is enough of
    a sentence that proposes something, or that speaks to one of several people."""
    if lasting_probability(scores) < thresholds.statement or len(found) > 1 or is_question(sentence):
        return found
    if not may_be_kept(language, sentence, feelings):
        return found
    if found and speaks_to_another(sentence, thresholds):
        return found
    is_certain, is_to_another = needs_no_speaker(scores, thresholds), addresses_another(sentence, thresholds)
    whole = statement_finding(language, sentence, said_at, is_certain=is_certain, is_quoted=is_to_another)
    if whole is None:
        return found
    if not found:
        return [whole]
    (one,) = found
    return found if is_covered(language, whole.text, one.text) else [structs.replace(one, text=whole.text)]


def speaks_to_another(sentence: str, thresholds: Thresholds) -> bool:
    """Whether a part of the sentence proposes something, or addresses one of several people."""
    return PROPOSAL.search(sentence) is not None or addresses_another(sentence, thresholds)


def addresses_another(sentence: str, thresholds: Thresholds) -> bool:
    return thresholds.several and ADDRESSED.search(sentence) is not None


def is_covered(language: LanguageRules, whole: str, part: str) -> bool:
    """Whether the rules read most of the sentence. If `whole` is a quotation, only the numbers of words are compared, as the
    rules convert the verb: "El usuario vive en Soria" for "Vivo en Soria"."""
    quoted = wording(language.code).quotation.match(whole)
    if quoted is None:
        return coverage(whole, part) >= COVERED
    said, read = (WORD.findall(text) for text in (quoted[1], part.removeprefix(language.subject)))
    return len(read) >= COVERED * len(said)


def statement_finding(
    language: LanguageRules,
    sentence: str,
    said_at: datetime,
    *,
    is_certain: bool,
    is_quoted: bool = False,
    about: str = "",
) -> Finding | None:
    """The sentence as a memory: in the third person if the speaker is its subject, otherwise (or `is_quoted`) quoted, with the
    previous sentence `about` as a remark. None if it neither names the speaker nor `is_certain`, or if it needs context and has
    no `about`."""
    patterns = BY_LANGUAGE[language.code]
    said = core_of(language, normalised(language, sentence))
    if language.unreal.search(said) or (not about and needs_context(language, said)):
        return None
    replaced, remark = with_dates_resolved(language, said, said_at)
    text = in_third_person(language, replaced)
    if is_quoted or not text.startswith((f"{language.subject} ", *FURTHER_SUBJECTS)):
        if not is_certain and patterns.speaker.search(said) is None:
            return None
        text = wording(language.code).quoted(replaced)
    if about:
        remark += wording(language.code).remark(about)
    holds = validity(said, said_at, language.code)
    day = next((each.day for each in reversed(named_days(language, said, said_at))), None)
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
    """The finding of a statement that begins with a pronoun. Its remark quotes the previous sentence `before`, which names its
    subject. None for other sentences."""
    if (
        not before
        or BY_LANGUAGE[language.code].pronoun.match(core_of(language, normalised(language, sentence))) is None
    ):
        return None
    if is_made_up(scores) or not needs_no_speaker(scores, thresholds) or is_question(sentence) or is_unreal(sentence):
        return None
    if not may_be_kept(language, sentence, feelings):
        return None
    about, _ = with_dates_resolved(language, before, said_at)
    return statement_finding(language, sentence, said_at, is_certain=True, about=about)


def as_context(language: LanguageRules, sentence: str, feelings: bool, scores: SentenceScores) -> str:
    """The sentence, if it may be kept as context of the next one; otherwise empty."""
    if len(sentence.split()) < MIN_WORDS or len(sentence) > MAX_CONTEXT_CHARS:
        return ""
    if states_nothing_lasting(scores) or is_made_up(scores) or is_unreal(sentence) or language.unreal.search(sentence):
        return ""
    return sentence if may_be_kept(language, sentence, feelings) else ""


def may_be_kept(language: LanguageRules, sentence: str, feelings: bool) -> bool:
    """Whether the words are the speaker's own, and without `feelings` not about feelings."""
    return not is_hearsay(sentence) and (feelings or BY_LANGUAGE[language.code].feeling.search(sentence) is None)


def joined_with_next(
    language: LanguageRules,
    before: Finding,
    sentence: str,
    scores: SentenceScores,
    said_at: datetime,
    thresholds: Thresholds,
) -> Finding | None:
    """The finding `before` of the previous sentence, extended by the next one ("User got a cat. She is called Pepper."). None if
    the previous sentence does not name the subject of the next one, or if the next one is valid for another time."""
    if (
        scores.statement < thresholds.statement
        or not BY_LANGUAGE[language.code].refers_back(sentence)
        or is_question(sentence)
    ):
        return None
    said = core_of(language, normalised(language, sentence))
    if language.unreal.search(said) or validity(said, said_at, language.code) != Validity():
        return None
    said, remark = with_dates_resolved(language, said, said_at)
    text = f"{before.text} {language.reword(said)}{remark}."
    return structs.replace(before, text=text) if len(text) <= MAX_JOINED_CHARS else None


def with_dates_resolved(language: LanguageRules, said: str, said_at: datetime) -> tuple[str, str]:
    """The text with absolute dates, and the remark that quotes the relative ones."""
    return with_absolute_dates(said, named_days(language, said, said_at), language.code)


def named_days(language: LanguageRules, said: str, said_at: datetime) -> list[FoundDate]:
    return [each for each in dates_in(said, said_at, language.code) if not each.bare]


def coverage(whole: str, part: str) -> float:
    """The share of the words of a text that are also in a part of it."""
    words = set(WORD.findall(whole.lower()))
    return len(words & set(WORD.findall(part.lower()))) / max(1, len(words))
