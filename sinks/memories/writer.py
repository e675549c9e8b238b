"""Writes decided changes: memory, version, vector and outbox rows, in one transaction."""

from collections.abc import Sequence
from typing import Any

import msgspec

from schemas.codec import encode
from schemas.kafka import topics
from schemas.kafka.records import Outgoing
from schemas.memories.events import CLOUD_EVENT, Cause, MemoryChanged, MemoryEvent
from schemas.memories.memories import Change, Memory
from sinks.memories.entry import LedgerEntry
from sinks.memories.hidden_messages import HiddenMessages
from sinks.outbox.projector import put_records, put_vectors
from sinks.postgres.connection import Connection, storable
from sinks.postgres.queries import query
from sinks.vectors.port import to_bytes


async def sequence(connection: Connection, namespace: str) -> int:
    """The sequence of the namespace's latest change, 0 without one; creates the row of the namespace."""
    return int(await connection.fetchval(query("memories", "sequence"), namespace))


async def record(connection: Connection, namespace: str, entries: Sequence[LedgerEntry], embedding_model: str) -> None:
    """Writes the entries of a namespace in order, within the transaction that holds its lock."""
    if not entries:
        return
    last = {entry.after.memory_id: entry for entry in entries}
    await _write_rows(connection, entries, list(last.values()), embedding_model)
    await HiddenMessages(connection).follow(namespace, entries)
    await connection.execute(query("memories", "advance"), namespace, entries[-1].after.sequence)
    await put_vectors(connection, namespace, last)
    await put_records(connection, namespace, map(event, entries))
    await put_records(connection, namespace, (state_record(entry.after) for entry in last.values()))


async def _write_rows(
    connection: Connection, entries: Sequence[LedgerEntry], last: Sequence[LedgerEntry], embedding_model: str
) -> None:
    await connection.execute(query("memories", "store"), [row(entry) for entry in last])
    await connection.execute(query("memories", "store_versions"), *map(list, zip(*map(version, entries), strict=True)))
    # The last entry of each memory, as a statement cannot write a row twice.
    vectors = {entry.after.memory_id: entry.vector for entry in entries if entry.vector is not None}
    if vectors:
        await connection.execute(
            query("memories", "store_embeddings"),
            [storable(memory_id) for memory_id in vectors],
            [embedding_model] * len(vectors),
            [to_bytes(vector) for vector in vectors.values()],
        )
    if deleted := [entry.after.memory_id for entry in last if entry.after.status == "deleted"]:
        await connection.execute(query("memories", "drop_embeddings"), deleted)


def row(entry: LedgerEntry) -> dict[str, Any]:
    """All columns by name, with defaults that the memory's JSON leaves out."""
    return msgspec.structs.asdict(entry.after) | {"normalised": entry.normalised}


def version(entry: LedgerEntry) -> tuple[Any, ...]:
    after = entry.after
    return (
        *(storable(after.memory_id), after.version, storable(after.namespace), entry.change),
        *(entry.before, after, entry.cause, entry.at),
    )


def event(entry: LedgerEntry) -> Outgoing:
    """The memory event, keyed by its namespace."""
    value = encode(MemoryEvent.of(memory_changed(entry.change, entry.before, entry.after, entry.cause), entry.at))
    return Outgoing(topic=topics.EVENTS, key=entry.after.namespace.encode(), value=value, headers=CLOUD_EVENT)


def memory_changed(change: Change, before: Memory | None, after: Memory, cause: Cause) -> MemoryChanged:
    """The data of an event: the change, and the memory before it. A deleted memory's text is left out."""
    return MemoryChanged(
        change=change,
        namespace=after.namespace,
        sequence=after.sequence,
        memory=after,
        cause=cause,
        before=None if after.status == "deleted" else before,
    )


def state_record(memory: Memory) -> Outgoing:
    """The latest state, keyed by the memory's id; a tombstone for a deleted memory, with the details in headers."""
    if memory.status != "deleted":
        return Outgoing(topic=topics.STATE, key=memory.memory_id.encode(), value=encode(memory))
    return tombstone_record(memory.memory_id, memory.namespace, memory.version, memory.sequence)


def tombstone_record(memory_id: str, namespace: str, version: int, sequence: int) -> Outgoing:
    """The tombstone of a memory, with its namespace, version and sequence as headers."""
    fields = {"namespace": namespace, "version": version, "sequence": sequence}
    headers = tuple((f"memstream-{name}", str(each).encode()) for name, each in fields.items())
    return Outgoing(topic=topics.STATE, key=memory_id.encode(), value=None, headers=headers)
