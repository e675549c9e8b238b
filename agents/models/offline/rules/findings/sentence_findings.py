"""Finds the statements of a sentence: by rules, by word classes (limits and standing wishes), and by classifiers."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import structs

from agents.models.dates.validity import validity
from agents.models.offline.rules.engine.rule import LanguageRules
from agents.models.offline.rules.engine.rule_engine import (
    LEADING,
    MIN_WORDS,
    Finding,
    core_of,
    findings_by_rules,
    first_finding,
    in_third_person,
    normalised,
    without_ending,
)
from agents.models.offline.rules.engine.sentences import is_question
from agents.models.offline.rules.findings.classified_statements import (
    COVERED,
    ONE_SPEAKER,
    Thresholds,
    coverage,
    is_made_up,
    speaks_to_another,
    states_nothing_lasting,
    with_statement,
)
from agents.models.offline.rules.framing.framing import is_hearsay, is_unreal
from agents.models.offline.rules.lasting_instructions import classifier as instruction_classifier
from agents.models.offline.rules.lasting_instructions import instructions
from agents.models.offline.rules.lasting_instructions.instructions import instruction_patterns
from agents.models.offline.rules.lasting_instructions.limit_scope import (
    holds_for_moment,
    is_about_household,
    is_impersonal_joke,
    is_joke,
)
from agents.models.offline.rules.lasting_instructions.wording import InstructionKind, wording
from schemas.extraction.sentences import SentenceScores

# Probabilities by the regression over words.
DROPPED_BELOW: Final = 0.35  # a limit or wish of the rules with a lower probability is dropped
KEPT_FROM: Final = 0.7  # the minimum for a limit or wish that no rule finds
WISH_KEPT_FROM: Final = 0.9  # the minimum for such a wish without a word such as "always"
# The minimum probabilities by the classifier of sentences, for a limit, and for a wish without a word such as "always".
LIMIT: Final = 0.5
WISH: Final = 0.85
TAGS: Final[Mapping[InstructionKind, str]] = {"limit": "constraint", "wish": "directive"}


def apply_rules(
    language: LanguageRules,
    sentence: str,
    said_at: datetime,
    feelings: bool = False,
    scores: SentenceScores | None = None,
    thresholds: Thresholds = ONE_SPEAKER,
) -> Iterator[Finding]:
    """The findings of a sentence about its speaker; none for questions, hypotheses and small talk. A limit or standing wish
    that no rule matches is quoted; so is a statement if the sentence was classified (`scores`)."""
    if is_unreal(sentence) or (scores is not None and is_made_up(scores)):
        return
    found = list(rule_findings(language, sentence, said_at, feelings))
    if scores is not None and states_nothing_lasting(scores):
        found = [each for each in found if is_limit(language, each)]
    if (scores is None or scores.limit < LIMIT) and is_temporary(language, sentence):
        yield from (each for each in found if not is_limit(language, each))
        return
    found = apply_classifier(language, sentence, said_at, found, scores, thresholds)
    found = [untag_single_meal(language, sentence, each) for each in found]
    yield from (
        found if scores is None else with_statement(language, sentence, said_at, feelings, scores, found, thresholds)
    )


def untag_single_meal(language: LanguageRules, sentence: str, found: Finding) -> Finding:
    """Removes the tag of a diet from a finding about one meal: "ate gluten-free pasta yesterday"."""
    if "diet" not in found.tags or instructions.has_limit(found.text, language.code):
        return found
    patterns = instruction_patterns(language.code)
    is_one_meal = found.event_time is not None and patterns.holds_once(normalised(language, sentence))
    return structs.replace(found, tags=tuple(tag for tag in found.tags if tag != "diet")) if is_one_meal else found


def is_temporary(language: LanguageRules, sentence: str) -> bool:
    """Whether the limits in the sentence hold once, or are a joke. Other clauses do not count: "I cannot eat nuts, what do I
    cook tonight?"."""
    plain, code = normalised(language, sentence), language.code
    patterns = instruction_patterns(code)
    limits = [each for each in patterns.parts(plain) if patterns.names_limit(each)] or [plain]
    if all(is_joke(each, code) for each in limits):
        return True
    is_momentary = all(holds_for_moment(each, code) for each in limits) or is_impersonal_joke(sentence)
    return is_momentary and not patterns.names_state(plain) and not patterns.is_doctors_order(plain)


def is_limit(language: LanguageRules, found: Finding) -> bool:
    """Whether the finding is a limit, by its tags or by its words."""
    has_tag = not {TAGS["limit"], "allergy"}.isdisjoint(found.tags)
    return has_tag or instructions.has_limit(found.text, language.code)


def apply_classifier(
    language: LanguageRules,
    sentence: str,
    said_at: datetime,
    found: list[Finding],
    scores: SentenceScores | None,
    thresholds: Thresholds = ONE_SPEAKER,
) -> list[Finding]:
    """The findings without limits and wishes that a classifier rejects, and with one that only the classifier finds. It is the
    classifier of sentences if the sentence has `scores`, otherwise the regression over words."""
    plain = LEADING.sub("", normalised(language, sentence))
    scored = (
        instruction_classifier.scores(plain, language.code, labels(found))
        if scores is None
        else instruction_classifier.Scores(scores.limit, scores.wish)
    )
    if any(is_instruction(each) for each in found):
        is_improbable = scored.either < DROPPED_BELOW and all(map(is_instruction, found))
        return drop_improbable(language, plain, found) if is_improbable else found
    if scored.either < (LIMIT if scores else KEPT_FROM) or len(plain.split()) > instructions.LONGEST_WORDS:
        return found
    kind: InstructionKind = "limit" if scored.limit >= scored.wish else "wish"
    if scores is not None and thresholds.several and not has_words_of(language, kind, plain):
        return found
    if kind == "limit" and speaks_to_another(sentence, thresholds) and any(is_limit(language, each) for each in found):
        return with_tag(found, kind)
    if scores is not None:
        return add_classified_instruction(language, kind, sentence, plain, said_at, found, scored.either)
    if kind == "wish" and not is_lasting(language, plain, scored.wish):
        return found
    if found:
        return with_tag(found, kind)
    is_possible = may_be_instruction(language, kind, sentence, plain)
    return [instruction_finding(language, kind, plain, said_at)] if is_possible else found


def has_words_of(language: LanguageRules, kind: InstructionKind, plain: str) -> bool:
    """Whether a sentence has a word of limits, or of wishes that last."""
    patterns = instruction_patterns(language.code)
    return patterns.names_limit(plain) if kind == "limit" else patterns.says_always(plain)


def add_classified_instruction(
    language: LanguageRules,
    kind: InstructionKind,
    sentence: str,
    plain: str,
    said_at: datetime,
    found: list[Finding],
    probability: float,
) -> list[Finding]:
    """The findings with the limit or wish that the classifier of sentences finds: as a tag if the rules read most of the
    sentence, otherwise as one finding in their place."""
    patterns = instruction_patterns(language.code)
    is_asked = is_question(sentence) and (kind == "limit" or patterns.without_polite_words(plain) == plain)
    is_uncertain = probability < WISH or patterns.is_about_current_task(plain)
    is_single_request = kind == "wish" and is_uncertain and not patterns.says_always(plain)
    is_reported = ":" in sentence and is_hearsay(sentence) and not patterns.is_doctors_order(sentence)
    is_short = len(plain.split()) < MIN_WORDS
    if is_asked or is_single_request or is_reported or is_short or patterns.holds_once(plain):
        return found
    classified = instruction_finding(language, kind, plain, said_at)
    if found and coverage(classified.text, " ".join(each.text for each in found)) >= COVERED:
        return with_tag(found, kind)
    return [classified]


def with_tag(found: Sequence[Finding], kind: InstructionKind) -> list[Finding]:
    return [structs.replace(each, tags=(*each.tags, TAGS[kind])) for each in found]


def is_lasting(language: LanguageRules, plain: str, probability: float) -> bool:
    """Whether a wish that no rule finds is lasting: with a word such as "always", or if the classifier is nearly certain and
    it is not about the current task ("Return only the code")."""
    patterns = instruction_patterns(language.code)
    return patterns.says_always(plain) or (probability >= WISH_KEPT_FROM and not patterns.is_about_current_task(plain))


def drop_improbable(language: LanguageRules, plain: str, found: list[Finding]) -> list[Finding]:
    """The findings without wishes and without tags of limits. Limits of the speaker or the household stay, as the classifier
    has seen too few sentences to overrule them."""
    patterns = instruction_patterns(language.code)
    is_household_limit = is_about_household(plain, language.code) and patterns.names_limit(plain)
    if patterns.is_limit_of_speaker(plain) or is_household_limit:
        return found
    limits = [each for each in found if TAGS["wish"] not in each.tags]
    return [structs.replace(each, tags=tuple(tag for tag in each.tags if tag != TAGS["limit"])) for each in limits]


def may_be_instruction(language: LanguageRules, kind: InstructionKind, sentence: str, plain: str) -> bool:
    """Whether the sentence may be a limit or a standing wish: no question, no hypothesis, no reported speech, and nothing
    that holds once."""
    patterns = instruction_patterns(language.code)
    is_asked = is_question(sentence) and (kind == "limit" or patterns.without_polite_words(plain) == plain)
    is_hypothesis = language.unreal.search(plain) and not (kind == "wish" and patterns.is_conditional_wish(plain))
    is_reported = is_hearsay(sentence) and not patterns.is_doctors_order(sentence)
    return not (is_asked or is_hypothesis or is_reported or patterns.holds_once(plain))


def is_instruction(found: Finding) -> bool:
    return not set(TAGS.values()).isdisjoint(found.tags)


def labels(found: Sequence[Finding]) -> list[str]:
    """The kinds and tags of the findings, as features for the classifier."""
    return sorted({label for each in found for label in (each.kind, *each.tags)})


def rule_findings(
    language: LanguageRules, sentence: str, said_at: datetime, feelings: bool = False
) -> Iterator[Finding]:
    """The findings of the rules in a sentence."""
    patterns, plain = instruction_patterns(language.code), normalised(language, sentence)
    found = [] if is_hearsay(sentence) else list(findings_by_rules(language, sentence, said_at, feelings))
    found = [each for each in found if "directive" not in each.tags or patterns.lasts(plain)]
    kept = limit_or_wish(language, sentence, said_at) if not found or lacks_limit(found, language) else None
    if kept is None or (found and "constraint" not in kept.tags and not patterns.is_explicit_wish(plain)):
        yield from found
    else:
        yield kept


def lacks_limit(found: Sequence[Finding], language: LanguageRules) -> bool:
    """Whether no finding has a limit, a wish or a change: the rules may have matched only the other half of a sentence ("my
    knees are shot, so no running")."""
    return not any(
        each.old or each.new or "directive" in each.tags or instructions.has_limit(each.text, language.code)
        for each in found
    )


def limit_or_wish(language: LanguageRules, sentence: str, said_at: datetime) -> Finding | None:
    """The limit or standing wish of a sentence, also before a question: "pregnant since May, which cheese may I eat?"."""
    before, comma, _ = sentence.rpartition(",")
    found = instruction_by_words(language, sentence, said_at)
    if found is None and comma and sentence.rstrip().endswith("?"):
        found = instruction_by_words(language, before, said_at)
        stated = (
            findings_by_rules(language, before, said_at, feelings=False) if found and not is_hearsay(before) else ()
        )
        return next((each for each in stated if not lacks_limit([each], language)), found)
    return found


def instruction_by_words(language: LanguageRules, sentence: str, said_at: datetime) -> Finding | None:
    """The limit or standing wish that the word classes find in a sentence or a part of it."""
    patterns = instruction_patterns(language.code)
    plain = LEADING.sub("", normalised(language, sentence))
    if is_hearsay(sentence) and not patterns.is_doctors_order(sentence):
        return None
    kind = patterns.kind_of(sentence, plain)
    if language.unreal.search(plain) and not (kind == "wish" and patterns.is_conditional_wish(plain)):
        return None
    wish = polite_wish(language, plain, said_at) if kind != "limit" else None
    if wish is not None:
        return wish if patterns.lasts(plain) else None
    if kind is None or (kind == "wish" and not patterns.lasts(plain)):
        return None
    return instruction_finding(language, kind, plain, said_at)


def instruction_finding(language: LanguageRules, kind: InstructionKind, plain: str, said_at: datetime) -> Finding:
    """The finding of a limit or a wish."""
    order = instruction_patterns(language.code).without_polite_words(plain)
    said = without_ending(order, language.code).rstrip("? ") if kind == "wish" else core_of(language, plain)
    text = wording(language.code).memory_text(kind, said, in_third_person(language, said))
    holds = validity(plain, said_at, language.code)
    return Finding(
        kind="fact" if kind == "limit" else "preference",
        text=f"{text}.",
        confidence=0.8,
        importance=0.85 if kind == "limit" else 0.75,
        tags=(TAGS[kind],),
        valid_from=holds.valid_from,
        valid_until=holds.valid_until,
    )


def polite_wish(language: LanguageRules, plain: str, said_at: datetime) -> Finding | None:
    """The standing wish in a polite question: "Could you stop using emojis?" contains "stop using emojis"."""
    patterns = instruction_patterns(language.code)
    order = patterns.without_polite_words(plain)
    if order == plain or patterns.holds_once(plain):
        return None
    found = first_finding(language, language.rules, core_of(language, order.rstrip(" ?")), said_at)
    return found if found is not None and "directive" in found.tags else None
