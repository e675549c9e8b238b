"""Passages for bench-serve: what was said in each namespace, with words as frequent as those of English, and random vectors. Rows
by COPY, points straight to the vector server: what the stage would write, without embedding it."""

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate, chain, islice
from typing import Any, Final

import aiohttp
import numpy as np
import orjson
from msgspec import Struct

from agents.passages.words import stems, term
from schemas import ids
from sinks.embeddings.port import unit_rows
from sinks.postgres.connection import Pool
from tests.benchmarks.curate_store import DOES, WHAT, WHERE, WHO

WORDS: Final = 5_000
WORDS_OF_A_PASSAGE: Final = 14  # that say something
MESSAGES_OF_A_CONVERSATION: Final = 50
PAGE: Final = 2_000
AT: Final = datetime(2025, 1, 1, tzinfo=UTC)
INDEXES: Final = (
    "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'passages' AND indexdef NOT LIKE '%UNIQUE%'"
)
SYLLABLES: Final = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
MESSAGE_COLUMNS: Final = (
    "conversation_id, message_id, partition, position, app_id, user_id, role, content, said_at, body"
)
PASSAGE_COLUMNS: Final = (
    "passage_id, namespace, conversation_id, message_id, piece, ordinal, said_at, speaker, asks, terms"
)


class Said(Struct, frozen=True):
    """A passage that is a message of its own."""

    passage_id: str
    namespace: str
    conversation_id: str
    message_id: str
    ordinal: int
    said_at: str
    words: tuple[str, ...]


def vocabulary() -> list[str]:
    """Invented words, each a stem, the most frequent first."""
    chosen, found = random.Random(5), dict[str, None]()
    while len(found) < WORDS:
        word = "".join(chosen.choices(SYLLABLES, k=chosen.randint(2, 4)))
        if stems(word) == [word]:
            found[word] = None
    return list(found)


def with_what_is_asked(invented: list[str]) -> list[str]:
    """The words of bench-serve's questions stand among the first 500: some are in many passages, some in few."""
    asked = dict.fromkeys(stems(" ".join(["user", *WHO, *DOES, *WHAT, *WHERE])))
    words = [word for word in invented if word not in asked]
    for number, word in enumerate(asked):
        words.insert(10 + 10 * number, word)
    return words[:WORDS]


VOCABULARY: Final = with_what_is_asked(vocabulary())
WEIGHTS: Final = tuple(
    accumulate(1 / (rank + 3) for rank in range(WORDS))
)  # Zipf's: the first is in a third of all passages


def passages(namespace: str, number: int, seed: int) -> Iterator[Said]:
    chosen = random.Random(seed)
    for at in range(number):
        conversation = f"{namespace}-{at // MESSAGES_OF_A_CONVERSATION}"
        moment = AT + timedelta(hours=at // MESSAGES_OF_A_CONVERSATION, seconds=20 * at)
        yield Said(
            ids.derive("benchmark", namespace, at),
            namespace,
            conversation,
            f"{conversation}-{at}",
            at % MESSAGES_OF_A_CONVERSATION,
            moment.isoformat(),
            tuple(chosen.choices(VOCABULARY, cum_weights=WEIGHTS, k=WORDS_OF_A_PASSAGE)),
        )


async def seed_passages(
    pool: Pool, qdrant_url: str, collection: str, dimension: int, sizes: Sequence[tuple[str, int]]
) -> None:
    """So many passages in each of the namespaces, into a collection that is there. Indexes are made afterwards, which takes less
    time than to let them grow."""
    indexes = await pool.fetch(INDEXES)
    for index in indexes:
        await pool.execute(f"DROP INDEX {index['indexname']}")
    chosen = np.random.default_rng(3)
    async with aiohttp.ClientSession(qdrant_url) as session:
        for page in pages(sizes):
            await copied(pool, "messages", MESSAGE_COLUMNS, map(message_row, page))
            await copied(pool, "passages", PASSAGE_COLUMNS, map(passage_row, page))
            rows = unit_rows(chosen.standard_normal((len(page), dimension), np.float32))
            await write_points(session, collection, page, rows)
    for index in indexes:
        await pool.execute(index["indexdef"], timeout=3_600)
    await pool.execute("ANALYZE messages, passages", timeout=600)


def pages(sizes: Sequence[tuple[str, int]]) -> Iterator[list[Said]]:
    """Of all namespaces in turn."""
    every = chain.from_iterable(passages(name, number, seed) for seed, (name, number) in enumerate(sizes))
    while page := list(islice(every, PAGE)):
        yield page


async def copied(pool: Pool, table: str, columns: str, rows: Iterator[tuple[str, ...]]) -> None:
    """Rows as COPY reads them."""

    async def text() -> Any:
        yield "".join("\t".join(row) + "\n" for row in rows).encode()

    async with pool.acquire() as connection:
        await connection.copy_to_table(table, source=text(), columns=columns.split(", "))


def message_row(said: Said) -> tuple[str, ...]:
    _, app_id, user_id = ("", *said.namespace.split("/"))
    role = "assistant" if said.ordinal % 2 else "user"
    content = " ".join(said.words)
    return (said.conversation_id, said.message_id, "0", "0", app_id, user_id, role, content, said.said_at, "{}")


def passage_row(said: Said) -> tuple[str, ...]:
    terms = ",".join(str(term(said.namespace, word)) for word in said.words)
    speaker = "assistant" if said.ordinal % 2 else said.namespace.rpartition("/")[2]
    return (
        *(said.passage_id, said.namespace, said.conversation_id, said.message_id, "0", str(said.ordinal), said.said_at),
        *(speaker, "f", f"{{{terms}}}"),
    )


async def write_points(session: aiohttp.ClientSession, collection: str, page: Sequence[Said], rows: Any) -> None:
    points = [
        {"id": said.passage_id, "vector": row, "payload": {"namespace": said.namespace}}
        for said, row in zip(page, rows, strict=True)
    ]
    body = orjson.dumps({"points": points}, option=orjson.OPT_SERIALIZE_NUMPY)
    address = f"/collections/{collection}/points?wait=true"
    async with session.put(address, data=body, headers={"Content-Type": "application/json"}) as answer:
        answer.raise_for_status()
