"""Finds the statements of a sentence: by rules, and standing instructions in the user's own words where no rule matches."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import structs

from agents.models.dates.validity import validity
from agents.models.offline.rules import standing_classifier, standing_instructions
from agents.models.offline.rules.classified_statements import (
    ALONE,
    COVERED,
    Least,
    covered,
    is_idle,
    is_made_up,
    with_statement,
)
from agents.models.offline.rules.framing import is_hearsay, is_unreal
from agents.models.offline.rules.limit_scope import is_in_jest, is_laughed_at, is_of_household, is_of_the_moment
from agents.models.offline.rules.rule import LanguageRules
from agents.models.offline.rules.rule_engine import (
    LEADING,
    SHORTEST_WORDS,
    Finding,
    by_rules,
    closed,
    first,
    in_third_person,
    opened,
    plainly,
)
from agents.models.offline.rules.sentences import is_question
from agents.models.offline.rules.standing_wording import Sort, wording
from schemas.extraction.sentences import SentenceScores

DOUBTFUL: Final = 0.35  # probability below which a limit or wish of the rules is dropped
# By its words, from these on: one that no rule finds is kept, and a wish without a word for always.
SURE: Final = 0.7
CERTAIN: Final = 0.9
# The same for the classifier of sentences.
LIMIT: Final = 0.5
WISH: Final = 0.85
TAGS: Final[Mapping[Sort, str]] = {"limit": "constraint", "wish": "directive"}


def apply_rules(
    tongue: LanguageRules,
    sentence: str,
    said_at: datetime,
    feelings: bool = False,
    scores: SentenceScores | None = None,
    least: Least = ALONE,
) -> Iterator[Finding]:
    """The findings of a sentence about its speaker; none for questions, hypotheses and small talk. A standing instruction
    that no rule matches is stored in its own words. So is another statement, if the sentence was classified: `scores`, and
    from which probability on it counts."""
    if is_unreal(sentence) or (scores is not None and is_made_up(scores)):
        return
    found = list(read(tongue, sentence, said_at, feelings))
    if scores is not None and is_idle(scores):
        found = [each for each in found if is_limit(tongue, each)]
    if (scores is None or scores.limit < LIMIT) and is_once(tongue, sentence):
        yield from (each for each in found if not is_limit(tongue, each))
        return
    found = [of_one_meal(tongue, sentence, each) for each in heeded(tongue, sentence, said_at, found, scores)]
    yield from found if scores is None else with_statement(tongue, sentence, said_at, feelings, scores, found, least)


def of_one_meal(tongue: LanguageRules, sentence: str, found: Finding) -> Finding:
    """The finding without the tag of a diet if it tells of one meal: "ate gluten-free pasta yesterday"."""
    if "diet" not in found.tags or standing_instructions.has_limit(found.text, tongue.code):
        return found
    language = standing_instructions.language(tongue.code)
    is_one_meal = found.event_time is not None and language.holds_once(plainly(tongue, sentence))
    return structs.replace(found, tags=tuple(tag for tag in found.tags if tag != "diet")) if is_one_meal else found


def is_once(tongue: LanguageRules, sentence: str) -> bool:
    """Whether the limits in the sentence hold once, or are a joke. Other clauses do not count: "I cannot eat nuts, what do I
    cook tonight?"."""
    plain, code = plainly(tongue, sentence), tongue.code
    language = standing_instructions.language(code)
    limits = [each for each in language.parts(plain) if language.names_limit(each)] or [plain]
    if all(is_in_jest(each, code) for each in limits):
        return True
    is_passing = all(is_of_the_moment(each, code) for each in limits) or is_laughed_at(sentence)
    return is_passing and not language.names_state(plain) and not language.is_ordered(plain)


def is_limit(tongue: LanguageRules, found: Finding) -> bool:
    """Whether the finding is a limit, or a profile takes it for one."""
    has_tag = not {TAGS["limit"], "allergy"}.isdisjoint(found.tags)
    return has_tag or standing_instructions.has_limit(found.text, tongue.code)


def heeded(
    tongue: LanguageRules, sentence: str, said_at: datetime, found: list[Finding], scores: SentenceScores | None
) -> list[Finding]:
    """The findings without limits and wishes that the classifier rejects, and with one that it is certain of."""
    plain = LEADING.sub("", plainly(tongue, sentence))
    scored = (
        standing_classifier.scores(plain, tongue.code, labels(found))
        if scores is None
        else standing_classifier.Scores(scores.limit, scores.wish)
    )
    if any(is_standing(each) for each in found):
        is_doubtful = scored.either < DOUBTFUL and all(map(is_standing, found))
        return doubted(tongue, plain, found) if is_doubtful else found
    if scored.either < (LIMIT if scores else SURE) or len(plain.split()) > standing_instructions.LONGEST_WORDS:
        return found
    sort: Sort = "limit" if scored.limit >= scored.wish else "wish"
    if scores is not None:
        return told_in_place(tongue, sort, sentence, plain, said_at, found, scored.either)
    if sort == "wish" and not is_lasting(tongue, plain, scored.wish):
        return found
    if found:
        return [structs.replace(each, tags=(*each.tags, TAGS[sort])) for each in found]
    return [finding(tongue, sort, plain, said_at)] if may_stand(tongue, sort, sentence, plain) else found


def told_in_place(
    tongue: LanguageRules,
    sort: Sort,
    sentence: str,
    plain: str,
    said_at: datetime,
    found: list[Finding],
    probability: float,
) -> list[Finding]:
    """The findings with the limit or wish for which the sentence was taken in its place."""
    language = standing_instructions.language(tongue.code)
    is_asked = is_question(sentence) and (sort == "limit" or language.unpolished(plain) == plain)
    is_uncertain = probability < WISH or language.is_at_hand(plain)
    is_passing = sort == "wish" and is_uncertain and not language.says_always(plain)
    is_told = ":" in sentence and is_hearsay(sentence) and not language.is_ordered(sentence)
    if is_asked or is_passing or is_told or language.holds_once(plain) or len(plain.split()) < SHORTEST_WORDS:
        return found
    told = finding(tongue, sort, plain, said_at)
    if found and covered(told.text, " ".join(each.text for each in found)) >= COVERED:
        return [structs.replace(each, tags=(*each.tags, TAGS[sort])) for each in found]
    return [told]


def is_lasting(tongue: LanguageRules, plain: str, probability: float) -> bool:
    """Whether a wish that no rule finds stands. "Return only the code" holds once: a wish without a word for always must
    be nearly certain, and about nothing at hand."""
    language = standing_instructions.language(tongue.code)
    return language.says_always(plain) or (probability >= CERTAIN and not language.is_at_hand(plain))


def doubted(tongue: LanguageRules, plain: str, found: list[Finding]) -> list[Finding]:
    """The findings that remain of those which the classifier takes for neither a limit nor a wish. It has seen too few
    sentences to overrule a health state, or barred food or medicine, of the speaker or the household; other limits stay as
    plain memories, and wishes are dropped."""
    language = standing_instructions.language(tongue.code)
    if language.is_limit_of_speaker(plain) or (is_of_household(plain, tongue.code) and language.names_limit(plain)):
        return found
    limits = [each for each in found if TAGS["wish"] not in each.tags]
    return [structs.replace(each, tags=tuple(tag for tag in each.tags if tag != TAGS["limit"])) for each in limits]


def may_stand(tongue: LanguageRules, sort: Sort, sentence: str, plain: str) -> bool:
    """Whether the sentence may be a standing instruction: no question, nothing that holds once, no hypothesis, and no other
    person's words."""
    language = standing_instructions.language(tongue.code)
    is_asked = is_question(sentence) and (sort == "limit" or language.unpolished(plain) == plain)
    is_supposed = tongue.unreal.search(plain) and not (sort == "wish" and language.is_conditional_wish(plain))
    is_told = is_hearsay(sentence) and not language.is_ordered(sentence)
    return not (is_asked or is_supposed or is_told or language.holds_once(plain))


def is_standing(found: Finding) -> bool:
    return not set(TAGS.values()).isdisjoint(found.tags)


def labels(found: Sequence[Finding]) -> list[str]:
    """The kinds and tags of the findings, as features for the classifier."""
    return sorted({label for each in found for label in (each.kind, *each.tags)})


def read(tongue: LanguageRules, sentence: str, said_at: datetime, feelings: bool = False) -> Iterator[Finding]:
    """The findings of the rules in a sentence."""
    found = [] if is_hearsay(sentence) else list(by_rules(tongue, sentence, said_at, feelings))
    found = [each for each in found if "directive" not in each.tags or lasts(tongue, sentence)]
    kept = standing_instruction(tongue, sentence, said_at) if not found or lacks_limit(found, tongue) else None
    if kept is None or (
        found
        and "constraint" not in kept.tags
        and not standing_instructions.asks(plainly(tongue, sentence), tongue.code)
    ):
        yield from found
    else:
        yield kept


def lasts(tongue: LanguageRules, sentence: str) -> bool:
    return standing_instructions.language(tongue.code).lasts(plainly(tongue, sentence))


def lacks_limit(found: Sequence[Finding], tongue: LanguageRules) -> bool:
    """Whether the rules may have matched only the other half of a sentence ("my knees are shot, so no running"). The whole
    sentence is then stored if it has a limit."""
    return not any(
        each.old or each.new or "directive" in each.tags or standing_instructions.has_limit(each.text, tongue.code)
        for each in found
    )


def standing_instruction(tongue: LanguageRules, sentence: str, said_at: datetime) -> Finding | None:
    """The standing instruction of a sentence, also before a question: "pregnant since May, which cheese may I eat?"."""
    before, comma, _ = sentence.rpartition(",")
    found = told_for_good(tongue, sentence, said_at)
    if found is None and comma and sentence.rstrip().endswith("?"):
        told = told_for_good(tongue, before, said_at)
        stated = by_rules(tongue, before, said_at, feelings=False) if told and not is_hearsay(before) else ()
        return next((each for each in stated if not lacks_limit([each], tongue)), told)
    return found


def told_for_good(tongue: LanguageRules, sentence: str, said_at: datetime) -> Finding | None:
    language = standing_instructions.language(tongue.code)
    plain = LEADING.sub("", plainly(tongue, sentence))
    if is_hearsay(sentence) and not language.is_ordered(sentence):
        return None
    sort = language.sort_of(sentence, plain)
    if tongue.unreal.search(plain) and not (sort == "wish" and language.is_conditional_wish(plain)):
        return None
    asked = asked_politely(tongue, language, plain, said_at) if sort != "limit" else None
    if asked is not None:
        return asked if language.lasts(plain) else None
    if sort is None or (sort == "wish" and not language.lasts(plain)):
        return None
    return finding(tongue, sort, plain, said_at)


def finding(tongue: LanguageRules, sort: Sort, plain: str, said_at: datetime) -> Finding:
    """The finding of a limit or a wish."""
    language = standing_instructions.language(tongue.code)
    said = closed(language.unpolished(plain), tongue.code).rstrip("? ") if sort == "wish" else opened(tongue, plain)
    text = wording(tongue.code).told(sort, said, in_third_person(tongue, said))
    holds = validity(plain, said_at, tongue.code)
    return Finding(
        kind="fact" if sort == "limit" else "preference",
        text=f"{text}.",
        confidence=0.8,
        importance=0.85 if sort == "limit" else 0.75,
        tags=(TAGS[sort],),
        valid_from=holds.valid_from,
        valid_until=holds.valid_until,
    )


def asked_politely(
    tongue: LanguageRules, language: standing_instructions.Language, plain: str, said_at: datetime
) -> Finding | None:
    """The standing wish in a polite question: "Could you stop using emojis?" contains "stop using emojis"."""
    order = language.unpolished(plain)
    if order == plain or language.holds_once(plain):
        return None
    found = first(tongue, tongue.rules, opened(tongue, order.rstrip(" ?")), said_at)
    return found if found is not None and "directive" in found.tags else None
