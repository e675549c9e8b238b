"""Loads the ledger of a namespace in its deciding transaction, and writes its changes."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from agents.curation import notices
from agents.curation.rules.decision_inputs import Plan
from agents.curation.rules.ledger import Ledger
from agents.curation.rules.limits import enforce_limit, number_to_load
from agents.curation.rules.links import relink, removed_memories
from agents.curation.rules.normalise import normalise
from schemas.memories.events import Cause
from schemas.memories.memories import Memory
from sinks.memories import writer
from sinks.memories.reader import Memories
from sinks.outbox.projector import put_records
from sinks.postgres.connection import Connection


class LiveLimit(Struct, frozen=True, kw_only=True):
    """At most `most` live memories, None for no limit. `plan` lists the removals, None before planning. `spared` stays."""

    most: int | None
    plan: Plan | None
    spared: str | None = None


async def same_texts(connection: Connection, namespace: str, texts: Sequence[str]) -> tuple[Memory, ...]:
    """Live memories with one of the texts, after normalisation."""
    return await Memories(connection).live_by_text(namespace, list(map(normalise, texts)))


async def open_ledger(
    connection: Connection, namespace: str, same: Sequence[Memory], memory_ids: Sequence[str], most: int | None
) -> Ledger:
    """With these memories and those that have one of the ids: all that the rules will ask for. Where their number is limited,
    it knows it."""
    memories = Memories(connection)
    sequence = await writer.sequence(connection, namespace)
    named = await memories.by_ids(memory_ids)
    live = None if most is None else await memories.count_live(namespace)
    return Ledger(namespace, sequence, [*same, *named.values()], live)


async def close_ledger(
    connection: Connection, ledger: Ledger, limit: LiveLimit, cause: Cause, now: datetime, embedding_model: str
) -> None:
    """Brings the namespace within its limit, leaves no link to what went, and writes all of it.

    Raises Crowded when there are too many and nobody planned which go; RuntimeError when the number of live memories is
    then not what was decided.
    """
    memories = Memories(connection)
    if (number := number_to_load(ledger, limit.most)) > 0:
        ledger.learn(await memories.expendable(ledger.namespace, number))
        enforce_limit(ledger, limit.most, limit.plan, cause, now, limit.spared)
    if gone := removed_memories(ledger):
        relink(ledger, await memories.linking(ledger.namespace, gone), now)
    await record_changes(connection, ledger, now, embedding_model)
    if limit.most is not None and ledger.entries:
        count = await memories.count_live(ledger.namespace)
        if count != ledger.number_live:
            raise RuntimeError(f"{ledger.namespace!r} has {count} live memories, decided were {ledger.number_live}")


async def record_changes(connection: Connection, ledger: Ledger, now: datetime, embedding_model: str) -> None:
    """Writes all changes, and tells where they change the profile."""
    await writer.record(connection, ledger.namespace, ledger.entries, embedding_model)
    changes = [(entry.before, entry.after) for entry in ledger.entries]
    told = notices.profile_records(ledger.namespace, ledger.sequence, changes, now)
    await put_records(connection, ledger.namespace, told)
