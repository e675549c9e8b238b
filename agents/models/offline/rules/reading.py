"""Applies a language's rules to a sentence: what is found, in whose words, how surely, and what changed from what."""

import re
from collections.abc import Callable, Iterator
from datetime import datetime

from msgspec import Struct, structs

from agents.models.dates.dates import Dated, a_week_earlier, dates_in, event_time, with_dates
from agents.models.dates.validity import Validity, validity
from agents.models.offline.rules import heeded
from agents.models.offline.rules.framing import is_hearsay, is_unreal
from agents.models.offline.rules.rule import Rule, Tongue

DOUBTED = 0.45
# "I think I slept well" tells nothing; a plan is worth knowing before it is certain.
DOUBTED_KINDS = frozenset({"plan", "decision", "preference"})
CLOSING = " \t.!…,;:)(–—-"
# What nobody misses at the end: polite words, and a conjunction whose clause is another one.
LAST_WORDS = (
    *(
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
        "by now",
        "too",
    ),
    *(
        "as well",
        "such as",
        "and",
        "but",
        "or",
        "so",
        "because",
        "und",
        "aber",
        "oder",
        "weil",
        "et",
        "mais",
        "ou",
        "car",
        "y",
        "pero",
    ),
)
EMOJI = re.compile(r"[\U0001F000-\U0001FAFF\u2600-\u27BF\uFE0F]|(?<=\s)[:;]-?[)(DPp](?=\s|$)")
LEADING = re.compile(r"^[\s,;:.!…–—-]+")
SHORTEST_WORDS = 2
LOWERED = frozenset({"wish", "choice", "finding", "no"})


class Finding(Struct, frozen=True, kw_only=True):
    """One memory found in a sentence; `old` and `new` are the ends of a change, in the speaker's words."""

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


def read(tongue: Tongue, sentence: str, said_at: datetime, feelings: bool = False) -> Iterator[Finding]:
    """What one sentence says about its speaker; nothing for questions, suppositions and small talk. What no rule reads and is
    always to be heeded is kept as it was said."""
    if is_unreal(sentence):
        return
    found = [] if is_hearsay(sentence) else list(by_rules(tongue, sentence, said_at, feelings))
    yield from found
    if not found and (kept := to_be_heeded(tongue, sentence, said_at)) is not None:
        yield kept


def to_be_heeded(tongue: Tongue, sentence: str, said_at: datetime) -> Finding | None:
    language = heeded.language(tongue.code)
    plain = LEADING.sub("", tongue.normalise(EMOJI.sub("", sentence)))
    if is_hearsay(sentence) and not language.is_ordered(sentence):
        return None
    sort = None if tongue.unreal.search(plain) else language.sort_of(sentence, plain)
    if sort is None:
        return asked_politely(tongue, language, plain, said_at)
    said = closed(language.unpolished(plain)).rstrip("? ") if sort == "wish" else opened(tongue, plain)
    text = language.told(sort, said, tongue.reword(said))
    holds = validity(plain, said_at, tongue.code)
    return Finding(
        kind="fact" if sort == "limit" else "preference",
        text=f"{text}.",
        confidence=0.8,
        importance=0.85 if sort == "limit" else 0.75,
        tags=("constraint",) if sort == "limit" else ("directive",),
        valid_from=holds.valid_from,
        valid_until=holds.valid_until,
    )


def asked_politely(tongue: Tongue, language: heeded.Language, plain: str, said_at: datetime) -> Finding | None:
    """ "Could you stop using emojis?" is a standing wish where "stop using emojis" is one."""
    order = language.unpolished(plain)
    if order == plain or language.holds_once(plain):
        return None
    found = first(tongue, tongue.rules, opened(tongue, order.rstrip(" ?")), said_at)
    return found if found is not None and "directive" in found.tags else None


def by_rules(tongue: Tongue, sentence: str, said_at: datetime, feelings: bool) -> Iterator[Finding]:
    asked = sentence.rstrip(' "”»)').endswith("?")
    plain = tongue.normalise(EMOJI.sub("", sentence))
    whole = opened(tongue, plain)
    if not asked and not tongue.question.match(whole):
        found = first(tongue, tongue.changes, whole, said_at)
        if found is not None:
            yield doubted(tongue, found) if tongue.doubtful.search(sentence) else found
            return
    if tongue.unreal.search(whole):
        return
    rules = (*tongue.rules, *tongue.feelings) if feelings else tongue.rules
    clauses = tongue.clause_break.split(plain)
    for clause in clauses[:-1] if asked else clauses:
        found = first(tongue, rules, opened(tongue, clause), said_at)
        if found is None or not tongue.doubtful.search(clause):
            yield from [found] if found else []
        elif found.kind in DOUBTED_KINDS:
            yield doubted(tongue, found)


def doubted(tongue: Tongue, found: Finding) -> Finding:
    """The finding as its speaker gave it: without certainty."""
    return structs.replace(
        found, text=f"{found.text[:-1]} ({tongue.doubt}).", confidence=min(found.confidence, DOUBTED)
    )


def opened(tongue: Tongue, text: str) -> str:
    """Without greetings, fillers and closing marks; an adverbial before the subject goes to the end."""
    text = closed(LEADING.sub("", text))
    while shorter := tongue.lead_in.match(text):
        text = LEADING.sub("", text[shorter.end() :])
    text = closed(text)
    text = text[:1].upper() + text[1:]
    fronted = tongue.fronted.match(text)
    if fronted is None:
        return text
    front = fronted["front"][:1].lower() + fronted["front"][1:]
    if "verb" in fronted.re.groupindex:
        return f"{fronted['who']} {fronted['verb']} {front} {fronted['rest']}"
    return f"{fronted['rest']} {front}"


def closed(text: str) -> str:
    """Without closing marks and polite last words."""
    text = text.rstrip(CLOSING)
    lowered = text.lower()
    last = next((word for word in LAST_WORDS if lowered.endswith((f" {word}", f",{word}"))), None)
    return closed(text[: -len(last)]) if last else text


def first(tongue: Tongue, rules: tuple[Rule, ...], clause: str, said_at: datetime) -> Finding | None:
    if len(clause.split()) < SHORTEST_WORDS or tongue.unreal.search(clause) or tongue.question.match(clause):
        return None
    for rule in rules:
        match = rule.pattern.match(clause)
        if match is None:
            continue
        found = taken(tongue, rule, match, said_at)
        if found is not None:
            return found
    return None


def taken(tongue: Tongue, rule: Rule, match: re.Match[str], said_at: datetime) -> Finding | None:
    """The finding, unless its object is a mere pronoun or the rule wants a date to come and there is none."""
    clause, groups = match.string, match.groupdict()
    if groups.get("object") is not None and (not groups["object"].strip() or tongue.casual.match(groups["object"])):
        return None
    dated = [] if rule.timeless else [meant(found, rule) for found in dates_in(clause, said_at, tongue.code)]
    dated = [found for found in dated if not found.bare or hold_once(rule)]
    holds = Validity() if rule.timeless else validity(clause, said_at, tongue.code)
    to_come = any(each is not None and each > said_at for each in (holds.valid_from, holds.valid_until))
    if rule.dated and not (to_come or any(found.day > said_at.date() for found in dated)):
        return None
    text, remark = worded(tongue, rule, match, dated)
    topic = next((each for each in rule.topics if each.about.search(clause)), rule)
    day = dated[-1].day if dated else None
    return Finding(
        kind=topic.kind or rule.kind,
        text=f"{text[:1].upper()}{text[1:]}{remark}.",
        confidence=rule.confidence,
        importance=topic.importance,
        tags=topic.tags,
        event_time=event_time(day, clause, said_at, tongue.code) if day else None,
        valid_from=holds.valid_from,
        valid_until=holds.valid_until,
        old=groups.get("old") or groups.get("old2"),
        new=groups.get("new"),
    )


def hold_once(rule: Rule) -> bool:
    """A bare weekday ("on Thursday") is one day in a plan, a change, a decision or an event, and every such day in a fact."""
    return rule.kind in ("plan", "decision") or not {"change", "event"}.isdisjoint(rule.tags)


def meant(found: Dated, rule: Rule) -> Dated:
    return a_week_earlier(found) if found.bare and "event" in rule.tags else found


def worded(tongue: Tongue, rule: Rule, match: re.Match[str], dated: list[Dated]) -> tuple[str, str]:
    clause = match.string
    replaced, remark = with_dates(clause, dated, tongue.code)
    if rule.text is None:
        return tongue.reword(replaced), remark
    again = rule.pattern.match(replaced) or match
    turned: dict[str, Callable[[str], str]] = {"verb": tongue.third, "said": str}  # what is quoted stays as it was said
    reworded = {name: turned.get(name, tongue.reword) for name in again.groupdict()}
    groups = {name: inner(name, reworded[name](value).rstrip()) for name, value in again.groupdict().items() if value}
    filled = rule.text.format_map(dict.fromkeys(again.groupdict(), "") | groups)
    return " ".join(filled.split()).rstrip("."), remark


def inner(name: str, value: str) -> str:
    """A group that began the clause and now stands inside it; names keep their capital, and so do German nouns."""
    return value[:1].lower() + value[1:] if name in LOWERED else value
