"""Applies a language's rules to a sentence and returns the findings, with their confidence and the two states of a change."""

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import lru_cache

from msgspec import Struct, structs

from agents.models.dates.date_matches import FoundDate
from agents.models.dates.dates import a_week_earlier, dates_in, event_time, with_absolute_dates
from agents.models.dates.validity import Validity, validity
from agents.models.offline.rules.engine.rule import LanguageRules, Rule
from agents.models.offline.rules.engine.sentences import is_question
from agents.models.offline.rules.engine.spelling import without_typos

HEDGED_CONFIDENCE = 0.45
# Kinds that are kept if their speaker is not certain: a plan, but not "I think I slept well".
HEDGED_KINDS = frozenset({"plan", "decision", "preference"})
CLOSING = " \t.!…,;:)(–—-"
# Last words that are left out: polite ones, and a conjunction before another clause.
POLITE_LAST = (
    "though",
    "btw",
    "by the way",
    "please",
    "thanks",
    "thank you",
    "lol",
    "haha",
    "danke",
    "merci",
    "gracias",
)
LAST_WORDS = {
    "en": (*POLITE_LAST, "by now", "too", "as well", "such as", "and", "but", "or", "so", "because"),
    "de": (*POLITE_LAST, "und", "aber", "oder", "weil"),
    "fr": (*POLITE_LAST, "et", "mais", "ou", "car"),
    "es": (*POLITE_LAST, "y", "pero", "o"),
}
EMOJI = re.compile(r"[\U0001F000-\U0001FAFF\u2600-\u27BF\uFE0F]|(?<=\s)[:;]-?[)(DPp](?=\s|$)")
LEADING = re.compile(r"^[\s,;:.!…–—-]+")
MIN_WORDS = 2
LOWERED = frozenset({"wish", "choice", "finding", "no"})


class Finding(Struct, frozen=True, kw_only=True):
    """A memory found in a sentence. `old` and `new` are the two states of a change, in the speaker's words, and `subject` is what
    changes, if it is not the speaker: "rent" in "my rent is 950 euros, not 900"."""

    kind: str
    text: str
    confidence: float
    importance: float
    tags: tuple[str, ...]
    event_time: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    old: str | None = None
    new: str | None = None
    subject: str | None = None


def findings_by_rules(language: LanguageRules, sentence: str, said_at: datetime, feelings: bool) -> Iterator[Finding]:
    """The change that a sentence states, otherwise the findings of its clauses. `said_at` is in the speaker's time zone."""
    ends_as_question = is_question(sentence)
    plain = normalised(language, sentence)
    whole = core_of(language, plain)
    if not ends_as_question and not language.question.match(whole):
        found = first_finding(language, language.changes, whole, said_at)
        if found is not None:
            yield with_doubt(language, found) if language.doubtful.search(sentence) else found
            return
    if language.unreal.search(whole):
        return
    rules = (*language.rules, *language.feelings) if feelings else language.rules
    clauses = with_adverbial(language, language.clause_break.split(plain))
    for clause in clauses[:-1] if ends_as_question else clauses:
        found = first_finding(language, rules, core_of(language, clause), said_at)
        if found is None or not language.doubtful.search(clause):
            yield from [found] if found else []
        elif found.kind in HEDGED_KINDS:
            yield with_doubt(language, found)


def with_adverbial(language: LanguageRules, clauses: list[str]) -> list[str]:
    """The clauses; an adverbial before the subject is joined with its clause: "On Wednesdays, I don't work" is one clause."""
    both = ", ".join(clauses[:2])
    found = language.fronted.match(both) if clauses[1:] else None
    return [both, *clauses[2:]] if found is not None and found.group("front") == clauses[0] else clauses


@lru_cache(maxsize=32)
def normalised(language: LanguageRules, sentence: str) -> str:
    """The sentence without contractions, emoticons and typos. Cached, as each kind of rule reads it."""
    return without_typos(language.normalise(EMOJI.sub("", sentence)), language.code)


def with_doubt(language: LanguageRules, found: Finding) -> Finding:
    """The finding with less confidence, as its speaker expressed doubt."""
    return structs.replace(
        found, text=f"{found.text[:-1]} ({language.doubt}).", confidence=min(found.confidence, HEDGED_CONFIDENCE)
    )


def in_third_person(language: LanguageRules, sentence: str) -> str:
    """The speaker's sentence in the third person."""
    reworded = language.reword(sentence)
    is_subject = reworded.startswith(f"{language.pronoun} ")
    return f"{language.subject}{reworded.removeprefix(language.pronoun)}" if is_subject else reworded


def core_of(language: LanguageRules, text: str) -> str:
    """The text without greetings, fillers and closing punctuation. An adverbial before the subject of a single clause moves to
    the end."""
    text = without_ending(LEADING.sub("", text), language.code)
    while shorter := language.lead_in.match(text):
        text = LEADING.sub("", text[shorter.end() :])
    text = without_ending(text, language.code)
    text = text[:1].upper() + text[1:]
    fronted = language.fronted.match(text)
    if fronted is None or language.clause_break.search(fronted["rest"]):
        return text
    front = fronted["front"][:1].lower() + fronted["front"][1:]
    if "verb" in fronted.re.groupindex:
        return f"{fronted['who']} {fronted['verb']} {front} {fronted['rest']}"
    return f"{fronted['rest']} {front}"


def without_ending(text: str, code: str) -> str:
    """The text without closing punctuation and polite last words."""
    text = text.rstrip(CLOSING)
    lowered = text.lower()
    last = next((word for word in LAST_WORDS[code] if lowered.endswith((f" {word}", f",{word}"))), None)
    return without_ending(text[: -len(last)], code) if last else text


def first_finding(language: LanguageRules, rules: tuple[Rule, ...], clause: str, said_at: datetime) -> Finding | None:
    if len(clause.split()) < MIN_WORDS or language.unreal.search(clause) or language.question.match(clause):
        return None
    for rule in rules:
        match = rule.pattern.match(clause)
        if match is None:
            continue
        found = finding_of(language, rule, match, said_at)
        if found is not None:
            return found
    return None


def finding_of(language: LanguageRules, rule: Rule, match: re.Match[str], said_at: datetime) -> Finding | None:
    """The finding of a match; None if its object is only a pronoun, or the rule needs a future date and there is none."""
    clause, groups = match.string, match.groupdict()
    if groups.get("object") is not None and (not groups["object"].strip() or language.casual.match(groups["object"])):
        return None
    dated = (
        [] if rule.timeless else [as_past_if_event(found, rule) for found in dates_in(clause, said_at, language.code)]
    )
    dated = [found for found in dated if not found.bare or means_one_day(rule)]
    holds = Validity() if rule.timeless else validity(clause, said_at, language.code)
    to_come = any(each is not None and each > said_at for each in (holds.valid_from, holds.valid_until))
    if rule.dated and not (to_come or any(found.day > said_at.date() for found in dated)):
        return None
    text, remark = text_and_remark(language, rule, match, dated)
    topic = next((each for each in rule.topics if each.about.search(clause)), rule)
    day = dated[-1].day if dated else None
    return Finding(
        kind=topic.kind or rule.kind,
        text=f"{text[:1].upper()}{text[1:]}{remark}.",
        confidence=rule.confidence,
        importance=topic.importance,
        tags=topic.tags,
        event_time=event_time(day, clause, said_at, language.code) if day else None,
        valid_from=holds.valid_from,
        valid_until=holds.valid_until,
        old=groups.get("old") or groups.get("old2"),
        new=groups.get("new"),
        subject=groups.get("subject"),
    )


def means_one_day(rule: Rule) -> bool:
    """Whether a bare weekday ("on Thursday") means one day, as in a plan, a change, a decision or an event; in a fact it means
    every such day."""
    return rule.kind in ("plan", "decision") or not {"change", "event"}.isdisjoint(rule.tags)


def as_past_if_event(found: FoundDate, rule: Rule) -> FoundDate:
    return a_week_earlier(found) if found.bare and "event" in rule.tags else found


def text_and_remark(
    language: LanguageRules, rule: Rule, match: re.Match[str], dated: list[FoundDate]
) -> tuple[str, str]:
    clause = match.string
    replaced, remark = with_absolute_dates(clause, dated, language.code)
    if rule.text is None:
        return language.reword(replaced), remark
    again = rule.pattern.match(replaced) or match
    turned: dict[str, Callable[[str], str]] = {"verb": language.third, "said": str}  # a quotation stays unchanged
    reworded = {name: turned.get(name, language.reword) for name in again.groupdict()}
    groups = {
        name: inside_sentence(name, reworded[name](value).rstrip())
        for name, value in again.groupdict().items()
        if value
    }
    filled = rule.text.format_map(dict.fromkeys(again.groupdict(), "") | groups)
    return " ".join(filled.split()).rstrip("."), remark


def inside_sentence(name: str, value: str) -> str:
    """The words of a group for use inside a sentence. Names and German nouns keep their capital."""
    return value[:1].lower() + value[1:] if name in LOWERED else value
