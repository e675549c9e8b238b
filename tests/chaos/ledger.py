"""The ledger of the kill loop compares the published messages with everything that was stored."""

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from msgspec import Struct, field

from agents.passages.chunking import pieces
from deploy.settings import Settings
from deploy.wiring import vector_index
from deploy.wiring.follow import follow
from schemas import codec
from schemas.kafka import topics
from schemas.memories.events import MemoryEvent
from schemas.memories.memories import Memory
from sinks.postgres.connection import Connection, Pool
from streams.kafka.topics import STAGES, specs
from streams.windows.rows.head import Head
from streams.windows.rows.rows import chunk_key, is_head, load, removals_key
from tests.chaos.conversations import APP, Conversation, marker
from tests.chaos.extraction_requests import compare_requests
from tests.fakes.embedder import FakeEmbedder


class Ledger(Struct):
    """`lost` and `duplicated` describe missing and duplicated data, and must be empty.

    `repeated` counts records that were published again under the same id, so that consumers can detect them.
    """

    lost: list[str] = field(default_factory=list)
    duplicated: list[str] = field(default_factory=list)
    repeated: int = 0


async def balance(
    settings: Settings, pool: Pool | Connection, published: list[Conversation], erased: Collection[str] = ()
) -> Ledger:
    """Compares the published conversations with archive, requests, extractions, memories, vectors, passages, events, state and
    windows. `erased` are further conversations, of which only topics may still have data.
    """
    ledger = Ledger()
    await _archive(ledger, pool, published)
    await _requests(ledger, settings, published, erased)
    await _slices(ledger, pool, published)
    await _memories(ledger, pool, published)
    await _vectors(ledger, settings, pool)
    await _passages(ledger, settings, pool, published)
    await _events(ledger, settings, pool)
    await _state(ledger, settings, pool)
    await _windows(ledger, settings, erased)
    async for letter in follow(settings, topics.DEAD_LETTERS, from_beginning=True, until_end=True):
        ledger.lost.append(f"dead letter {letter.key!r}: {letter.headers}")
    return ledger


async def _archive(ledger: Ledger, pool: Pool | Connection, published: list[Conversation]) -> None:
    rows = await pool.fetch("SELECT message_id, content FROM messages")
    archived = {row["message_id"]: row["content"] for row in rows}
    sent = {message.message_id: message.content for conversation in published for message in conversation.messages}
    ledger.lost += [f"message {name} is not archived" for name in sorted(sent.keys() - archived)]
    ledger.lost += [
        f"message {name} is archived in other words"
        for name in sorted(sent)
        if archived.get(name, sent[name]) != sent[name]
    ]
    ledger.duplicated += [f"message {name} was never sent" for name in sorted(archived.keys() - sent)]


async def _requests(ledger: Ledger, settings: Settings, published: list[Conversation], erased: Collection[str]) -> None:
    lost, duplicated, repeated = await compare_requests(settings, published, erased)
    ledger.lost += lost
    ledger.duplicated += duplicated
    ledger.repeated += repeated


async def _slices(ledger: Ledger, pool: Pool | Connection, published: list[Conversation]) -> None:
    """Every message lies in exactly one extraction, and that one is completed."""
    rows = await pool.fetch(
        "SELECT m.message_id, count(e.request_id) AS slices, count(e.completed_at) AS completed FROM messages m "
        "LEFT JOIN extractions e ON e.conversation_id = m.conversation_id AND e.partition = m.partition "
        "AND m.position BETWEEN e.first_position AND e.last_position GROUP BY m.message_id"
    )
    for row in rows:
        if row["completed"] < 1:
            ledger.lost.append(f"message {row['message_id']} lies in no completed extraction")
        if row["slices"] > 1:
            ledger.duplicated.append(f"message {row['message_id']} lies in {row['slices']} extractions")
    cut = Counter(row["conversation_id"] for row in await pool.fetch("SELECT conversation_id FROM extractions"))
    for conversation in published:
        if cut[conversation.conversation_id] > 1:
            ledger.duplicated.append(
                f"{conversation.conversation_id} was cut into {cut[conversation.conversation_id]} slices"
            )


async def _memories(ledger: Ledger, pool: Pool | Connection, published: list[Conversation]) -> None:
    """One memory a user, from every conversation of that user, reinforced once for each but the first."""
    rows = await pool.fetch(
        "SELECT namespace, text, reinforcement_count, sources FROM memories WHERE status = 'active'"
    )
    by_user: dict[str, list[Any]] = {}
    for row in rows:
        by_user.setdefault(row["namespace"].rpartition("/")[2], []).append(row)
    spoken = Counter(conversation.user_id for conversation in published)
    for user_id, times in spoken.items():
        found = [row for row in by_user.pop(user_id, []) if marker(user_id) in row["text"]]
        if not found:
            ledger.lost.append(f"the memory of {user_id}")
            continue
        ledger.duplicated += [f"the memory of {user_id}"] * (len(found) - 1)
        reinforced = found[0]["reinforcement_count"]
        sources = {source["conversation_id"] for source in found[0]["sources"]}
        if reinforced < times - 1 or len(sources) < times:
            ledger.lost.append(f"{user_id} said it {times} times, reinforced {reinforced} times from {len(sources)}")
        if reinforced > times - 1:
            ledger.duplicated.append(f"{user_id} said it {times} times, reinforced {reinforced} times")
    ledger.duplicated += [f"{len(rows)} memories of {user_id}, who said nothing" for user_id, rows in by_user.items()]


async def _vectors(ledger: Ledger, settings: Settings, pool: Pool | Connection) -> None:
    stored = {row["memory_id"] for row in await pool.fetch("SELECT memory_id FROM memories WHERE status <> 'deleted'")}
    async with vector_index.qdrant(settings, FakeEmbedder()) as vectors:  # nothing is embedded to list what there is
        indexed = [memory_id async for page in vectors.ids() for _, memory_id in page]
    ledger.lost += [f"memory {name} is not in Qdrant" for name in sorted(stored - set(indexed))]
    ledger.duplicated += [f"Qdrant has {name}, PostgreSQL has not" for name in sorted(set(indexed) - stored)]


async def _passages(ledger: Ledger, settings: Settings, pool: Pool | Connection, published: list[Conversation]) -> None:
    """Every message has one whole set of passages, in the namespace of its user, under one number of its conversation, and
    Qdrant has a point for each and no other."""
    rows = await pool.fetch(
        "SELECT m.conversation_id, m.message_id, m.content, p.namespace, array_agg(p.piece ORDER BY p.piece) AS pieces, "
        "       (SELECT count(DISTINCT ordinal) FROM passages o "
        "        WHERE o.conversation_id = m.conversation_id AND o.message_id = m.message_id) AS numbers "
        "FROM messages m LEFT JOIN passages p USING (conversation_id, message_id) "
        "WHERE m.role IN ('user', 'assistant') AND trim(m.content) <> '' "
        "GROUP BY m.conversation_id, m.message_id, p.namespace"
    )
    namespaces = {each.conversation_id: f"{APP}/{each.user_id}" for each in published}
    for row in rows:
        name, whole = row["message_id"], list(range(len(pieces(row["content"]))))
        if row["namespace"] is None:
            ledger.lost.append(f"message {name} has no passage")
        elif row["namespace"] != namespaces.get(row["conversation_id"]):
            ledger.duplicated.append(f"message {name} has passages in {row['namespace']}")
        elif row["pieces"] != whole:
            ledger.lost.append(f"message {name} has passages {row['pieces']} in {row['namespace']}, not {whole}")
        if row["numbers"] > 1:
            ledger.duplicated.append(f"message {name} has {row['numbers']} numbers")
    stored = {row["passage_id"] for row in await pool.fetch("SELECT passage_id::text FROM passages")}
    async with vector_index.passage_index(settings, FakeEmbedder()) as vectors:
        indexed = {passage_id async for page in vectors.ids() for _, passage_id in page}
    ledger.lost += [f"passage {name} is not in Qdrant" for name in sorted(stored - indexed)]
    ledger.duplicated += [f"Qdrant has passage {name}, PostgreSQL has not" for name in sorted(indexed - stored)]


async def _events(ledger: Ledger, settings: Settings, pool: Pool | Connection) -> None:
    """Sequences are without gaps from 1, in order, and end where the namespace's counter stands."""
    seen: dict[str, int] = {}
    ids: dict[tuple[str, int], str] = {}
    async for record in follow(settings, topics.EVENTS, from_beginning=True, until_end=True):
        event = codec.decode(record.value, MemoryEvent)
        namespace, sequence = event.data.namespace, event.data.sequence
        if ids.setdefault((namespace, sequence), event.id) != event.id:
            ledger.duplicated.append(f"event {namespace} #{sequence} has two ids")
        if sequence <= seen.get(namespace, 0):
            ledger.repeated += 1
        elif sequence > seen.get(namespace, 0) + 1:
            ledger.lost.append(f"events of {namespace} jump from {seen.get(namespace, 0)} to {sequence}")
        seen[namespace] = max(sequence, seen.get(namespace, 0))
    for row in await pool.fetch("SELECT namespace, sequence FROM namespaces"):
        if seen.get(row["namespace"], 0) != row["sequence"]:
            ledger.lost.append(
                f"{row['namespace']} stands at {row['sequence']}, its events at {seen.get(row['namespace'])}"
            )


async def _state(ledger: Ledger, settings: Settings, pool: Pool | Connection) -> None:
    """The compacted topic says of every memory what PostgreSQL says."""
    latest: dict[str, Memory] = {}
    async for record in follow(settings, topics.STATE, from_beginning=True, until_end=True):
        if record.value is None:
            latest.pop(record.key.decode(), None)
            continue
        memory = codec.decode(record.value, Memory)
        latest[memory.memory_id] = memory
    for row in await pool.fetch("SELECT memory_id, version FROM memories"):
        last = latest.pop(row["memory_id"], None)
        if last is None or last.version != row["version"]:
            ledger.lost.append(f"memory.state of {row['memory_id']} is {last and last.version}, not {row['version']}")
    ledger.duplicated += [f"memory.state has {name}, PostgreSQL has not" for name in sorted(latest)]


async def _windows(ledger: Ledger, settings: Settings, erased: Collection[str]) -> None:
    """Nothing waits to be extracted any more, every message is in context or left it, and every row belongs to a window."""
    rows: dict[bytes, bytes] = {}
    changelog = settings.topics().changelog.removeprefix(settings.topic_prefix)
    async for record in follow(settings, changelog, from_beginning=True, until_end=True):
        if record.value is None:
            rows.pop(record.key, None)
        else:
            rows[record.key] = record.value
    known: set[bytes] = set()
    for key, value in rows.items():
        if is_head(key):
            head = codec.decode(value, Head)
            known |= {key, *keys_of(head)}
            # The end of an erased conversation waits for messages that never come, until its deadline.
            held = head.held_end and head.scope.conversation_id not in erased
            if head.waiting_since or head.pending or held:
                ledger.lost.append(f"the window of {head.scope.conversation_id} still waits: {head}")
            counted = head.tally.account.total_messages + head.tally.pruned
            if counted != (0 if head.scope.conversation_id in erased else head.received):
                ledger.lost.append(f"the window of {head.scope.conversation_id} lost count of its messages: {head}")
            try:
                load(head.scope.conversation_id, rows.get)
            except RuntimeError as exc:
                ledger.lost.append(str(exc))
    ledger.lost += [f"row {key!r} was left behind" for key in sorted(rows.keys() - known)]


def keys_of(head: Head) -> list[bytes]:
    """The rows that a head may refer to."""
    conversation_id = head.scope.conversation_id
    numbers = [*head.listed_chunks, *range(head.first_chunk, head.next_chunk)]
    return [removals_key(conversation_id), *(chunk_key(conversation_id, number) for number in numbers)]


async def lags(settings: Settings) -> dict[str, int]:
    """Records not yet committed, by stage: ends of the logs less committed offsets."""
    return {stage: await _lag(settings, stage) for stage in STAGES}


async def _lag(settings: Settings, stage: str) -> int:
    names = settings.topics()
    inputs = {names.physical(name) for name in STAGES[stage]}
    tps = [
        TopicPartition(spec.name, number)
        for spec in specs(names)
        if spec.name in inputs
        for number in range(spec.partitions)
    ]
    consumer = AIOKafkaConsumer(
        **settings.cluster().client(),
        group_id=names.group(stage),
        enable_auto_commit=False,
        isolation_level="read_committed",
        retry_backoff_ms=10,  # as in tests/deployment.py
    )
    await consumer.start()
    try:
        ends = await consumer.end_offsets(tps)
        done = {tp: await consumer.committed(tp) or 0 for tp in tps}
        return sum(ends[tp] - done[tp] for tp in tps)
    finally:
        await consumer.stop()


def first(entries: Iterable[str], count: int = 20) -> list[str]:
    return list(entries)[:count]
