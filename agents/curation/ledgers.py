"""Loads the ledger of a namespace in the deciding transaction, and writes its changes."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import TypeAlias

from msgspec import Struct

from agents.curation import outcome_records
from agents.curation.rules.commands.limits import enforce_limit, number_to_load
from agents.curation.rules.decisions.decision_inputs import Plan
from agents.curation.rules.ledger.ledger import Ledger
from agents.curation.rules.ledger.links import relink, removed_memories
from agents.curation.rules.statements.normalise import normalise
from schemas.counts import counted
from schemas.memories.events import Cause
from schemas.memories.memories import Memory
from sinks.memories import writer
from sinks.memories.reader import Memories
from sinks.outbox.projector import put_records
from sinks.postgres.connection import Connection

# Opens the deciding transaction of a namespace.
DecidingTransaction: TypeAlias = Callable[[str], AbstractAsyncContextManager[Connection]]


class LiveLimit(Struct, frozen=True, kw_only=True):
    """At most `most` live memories; None for no limit. `plan` has the planned removals, None before planning. The memory
    `spared` is never removed."""

    most: int | None
    plan: Plan | None
    spared: str | None = None


async def same_texts(connection: Connection, namespace: str, texts: Sequence[str]) -> tuple[Memory, ...]:
    """Live memories that have one of the texts after normalisation."""
    return await Memories(connection).live_by_text(namespace, list(map(normalise, texts)))


async def open_ledger(
    connection: Connection, namespace: str, same: Sequence[Memory], memory_ids: Sequence[str], most: int | None
) -> Ledger:
    """A ledger with the memories `same` and those with one of the ids. With a limit `most` it also has the number of live
    memories."""
    memories = Memories(connection)
    sequence = await writer.sequence(connection, namespace)
    named = await memories.by_ids(memory_ids)
    live = None if most is None else await memories.count_live(namespace)
    return Ledger(namespace, sequence, [*same, *named.values()], live)


async def close_ledger(
    connection: Connection, ledger: Ledger, limit: LiveLimit, cause: Cause, now: datetime, embedding_model: str
) -> None:
    """Enforces the limit, updates links to removed memories, and writes all changes.

    Raises NeedsPlan if the limit is exceeded before planning, and RuntimeError if the number of live memories differs from
    the ledger's.
    """
    memories = Memories(connection)
    if (number := number_to_load(ledger, limit.most)) > 0:
        ledger.learn(await memories.expendable(ledger.namespace, number))
        enforce_limit(ledger, limit.most, limit.plan, cause, now, limit.spared)
    if removed := removed_memories(ledger):
        relink(ledger, await memories.linking(ledger.namespace, removed), now)
    await record_changes(connection, ledger, now, embedding_model)
    if limit.most is not None and ledger.entries:
        count = await memories.count_live(ledger.namespace)
        if count != ledger.number_live:
            raise RuntimeError(
                f"{ledger.namespace!r} has {counted(count, 'live memories')}, but the decision counted {ledger.number_live}"
            )


async def record_changes(connection: Connection, ledger: Ledger, now: datetime, embedding_model: str) -> None:
    """Writes all changes, and an event if the profile changes."""
    await writer.record(connection, ledger.namespace, ledger.entries, embedding_model)
    changes = [(entry.before, entry.after) for entry in ledger.entries]
    records = outcome_records.profile_records(ledger.namespace, ledger.sequence, changes, now)
    await put_records(connection, ledger.namespace, records)
