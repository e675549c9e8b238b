"""The dates at which memories end by a candidate, and what becomes of a memory whose end has come. Pure."""

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Final

from msgspec.structs import replace

from agents.curation.rules.attributes.named_things import is_planned
from agents.curation.rules.conflicts.conflicts import conflict, is_other_value
from agents.curation.rules.conflicts.denials import is_cancelled
from agents.curation.rules.conflicts.figures import OTHER_FIGURE
from agents.curation.rules.conflicts.replacements import INSTEAD, instead_of
from agents.curation.rules.decisions.contradictions import CORRECTED, UNTRUE, EndedMemory
from agents.curation.rules.ledger import change
from agents.curation.rules.statements.statement import statement
from schemas.extraction.candidates import Candidate
from schemas.memories.memories import Change, Memory

DAY: Final = re.compile(r"\b\d{4}-\d\d-\d\d\b")


def lies_ahead(candidate: Candidate, now: datetime) -> bool:
    """Whether the candidate begins in the future. The clocks of senders may differ."""
    return change.valid_from(candidate, now) > max(now, change.first_said(candidate, now))


def takes_effect(candidate: Candidate, now: datetime) -> datetime:
    """When the candidate begins, or the time of its event if that is later and no beginning is given."""
    begins = change.valid_from(candidate, now)
    return begins if candidate.valid_from is not None else max(begins, candidate.event_time or begins)


def end_by(candidate: Candidate, ended: EndedMemory, successor: Memory, now: datetime) -> datetime:
    """When the candidate ends the memory: as soon as the candidate and its successor hold, or at its event. A plan that has not
    begun ends when the candidate is said. So does an event that another date replaces: it is no state that lasts until then.
    Other memories end at the time that a model's verdict names, if it is after their beginning. One that was never true held at
    no time."""
    said, begins = change.first_said(candidate, now), change.valid_from(candidate, now)
    held_from = ended.memory.valid_from
    if ended.reason == UNTRUE:
        return min(said, held_from or said)
    if is_replaced_plan(candidate, ended, begins, said):
        return said
    is_planned, until = is_planned_event(ended, said), ended.until
    if until is not None and not is_planned and (held_from is None or until > held_from):
        return until if until <= said else max(until, successor.valid_from or until)
    effect = begins if is_planned else takes_effect(candidate, now)
    return max(effect, successor.valid_from or effect)


def is_replaced_plan(candidate: Candidate, ended: EndedMemory, begins: datetime, said: datetime) -> bool:
    """Whether the memory had not begun when the candidate was said, unless the candidate follows it: a move in June, and
    another one in September."""
    planned = ended.memory.valid_from
    if planned is None or planned <= said:
        return False
    is_instead = INSTEAD.search(candidate.text) is not None or bool(instead_of(candidate.text))
    why = conflict(candidate.text, ended.memory.text) or ended.reason  # a model gives none
    return begins <= planned or is_instead or not is_other_value(why)


def is_planned_event(ended: EndedMemory, said: datetime) -> bool:
    """Whether the memory is about an event to come, a plan or a wish, or is only corrected."""
    memory = ended.memory
    if ended.reason in (CORRECTED, OTHER_FIGURE) or is_planned(statement(memory.text)):
        return True
    if memory.event_time is not None:
        return memory.event_time > said
    today = said.astimezone(UTC).date()
    days = (day_or_none(each) for each in DAY.findall(memory.text))
    return memory.valid_until is None and any(each > today for each in days if each is not None)


def day_or_none(written: str) -> date | None:
    try:
        return date.fromisoformat(written)
    except ValueError:
        return None


def postpones(candidate: Candidate, plan: Memory, now: datetime) -> bool:
    """Whether the candidate, which ends a plan, is the same or another plan for a later day: not its cancellation."""
    new, old = statement(candidate.text), statement(plan.text)
    is_off = new.negated is not None or is_cancelled(new) or (new.ended and not old.ended)
    return not is_off and takes_effect(candidate, now) > max(now, change.first_said(candidate, now))


def ending(memory: Memory, successor: Memory, until: datetime, now: datetime) -> Memory:
    """The live memory with an end in the future, from which on the successor holds."""
    return replace(memory, superseded_by=successor.memory_id, valid_until=until, updated_at=now)


def continuing(memory: Memory, now: datetime) -> Memory:
    """The memory without the end that a successor would have set."""
    return replace(memory, superseded_by=None, valid_until=None, updated_at=now)


def at_its_end(memory: Memory, successor: Memory | None, now: datetime) -> tuple[Change, Memory]:
    """The memory after its end: superseded or expired. It continues to hold if its successor was removed meanwhile, or until
    the successor begins if that was postponed."""
    if memory.expires_at is not None and memory.expires_at <= now:
        return "expired", change.expired(memory, now)
    if memory.superseded_by is None or memory.valid_until is None:
        return "expired", replace(memory, status="expired", pinned=False, updated_at=now)
    if successor is None or never_held(successor, memory.valid_until):
        return "updated", continuing(memory, now)
    until = max(memory.valid_until, successor.valid_from or memory.valid_until)
    if until > now:
        return "updated", ending(memory, successor, until, now)
    return "superseded", change.superseded(memory, successor, until, now)


def successor_at_end(memory: Memory, known: Mapping[str, Memory]) -> Memory | None:
    """The memory that replaces this one at its end. A successor that was merged into another memory, or that a later plan
    replaced before it held, leads on to that one. None if nothing replaces it, or if `known` lacks it."""
    successor = known.get(memory.superseded_by or "")
    for _ in known:
        if successor is None or (next_id := next_successor(memory, successor)) is None:
            break
        following = known.get(next_id)
        is_later = following is not None and is_later_plan(memory, following)
        successor = following if is_absorbed(successor) or is_later else None
    return successor


def next_successor(memory: Memory, successor: Memory) -> str | None:
    """The id of the memory that took the place of the successor before the memory ended."""
    until = memory.valid_until
    is_gone = is_absorbed(successor) or (
        until is not None and successor.status != "deleted" and never_held(successor, until)
    )
    return successor.superseded_by if is_gone else None


def is_absorbed(memory: Memory) -> bool:
    """Whether compaction merged the memory into another one."""
    return memory.status == "deleted" and memory.superseded_by is not None and memory.valid_until is None


def is_later_plan(memory: Memory, following: Memory) -> bool:
    begins, until = following.valid_from, memory.valid_until
    return begins is not None and until is not None and begins > until


def never_held(memory: Memory, since: datetime) -> bool:
    """Whether the memory is deleted, or ended before it held at `since`."""
    if memory.status == "deleted":
        return True
    return memory.status != "active" and memory.valid_until is not None and memory.valid_until <= since
