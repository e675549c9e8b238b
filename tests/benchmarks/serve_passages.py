"""Passages for bench-serve: messages of each namespace with realistic lengths and word frequencies."""

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate, chain
from typing import Any, Final

import aiohttp
import numpy as np
import orjson
from msgspec import Struct

from agents.passages.chunking import pieces, privacy_mark
from agents.passages.indexer import Source, build_piece
from agents.passages.terms import STOP, stems
from schemas import codec, ids
from schemas.conversations.messages import Message
from schemas.passages.passages import speaker_of
from schemas.policies.policies import Privacy
from sinks.archive.messages import ArchivedMessage
from sinks.archive.messages import row as message_row
from sinks.embeddings.port import unit_rows
from sinks.passages.store import Piece, point, row_of
from sinks.passages.vectors import payload
from sinks.postgres.connection import Pool
from tests.benchmarks.curate_store import DOES, WHAT, WHERE, WHO

WORDS: Final = 5_000
STOP_SHARE: Final = 0.45  # of the words of English text
USER_WORDS, ASSISTANT_WORDS, SIGMA = 30, 170, 0.8  # medians of log-normal lengths: some 170 and 1,000 characters
MOST_WORDS: Final = 2_000
ASSISTANT: Final = "mira"  # who speaks beside the user in each namespace
SENTENCE_WORDS: Final = 15
MESSAGES_OF_A_CONVERSATION: Final = 50
PAGE: Final = 2_000
AT: Final = datetime(2025, 1, 1, tzinfo=UTC)
INDEXES: Final = (
    "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'passages' AND indexdef NOT LIKE '%UNIQUE%'"
)
SYLLABLES: Final = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
MESSAGE_COLUMNS: Final = (
    *("conversation_id", "message_id", "partition", "position", "tenant_id", "app_id", "user_id", "agent_id", "mode"),
    *("role", "content", "said_at", "body"),
)
PASSAGE_COLUMNS: Final = (
    *("passage_id", "namespace", "conversation_id", "message_id", "piece", "ordinal", "said_at", "speaker"),
    *("digest", "version", "clean_under", "source_digest", "terms"),
)
CLEAN: Final = privacy_mark(Privacy())  # nobody says anything that privacy takes out


class Page(Struct, frozen=True):
    """Messages, and their passages with the numbers of their messages."""

    messages: list[ArchivedMessage]
    passages: list[tuple[Piece, int]]


class Seeded(Struct):
    """Numbers of written messages, passages and characters, for sizes per message."""

    messages: int = 0
    passages: int = 0
    characters: int = 0


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
    query_stems = dict.fromkeys(stems(" ".join(["user", *WHO, *DOES, *WHAT, *WHERE])))
    words = [word for word in invented if word not in query_stems]
    for number, word in enumerate(query_stems):
        words.insert(10 + 10 * number, word)
    return words[:WORDS]


STOP_WORDS: Final = sorted(word for word in STOP if word.isalpha())
# As Zipf has it: the first is in a third of all passages. Words that say nothing are equally frequent.
CHOICE: Final = [*with_what_is_asked(vocabulary()), *STOP_WORDS]
SAYING: Final = [1 / (rank + 30) for rank in range(WORDS)]
OTHERS: Final = sum(SAYING) * STOP_SHARE / (1 - STOP_SHARE) / len(STOP_WORDS)
WEIGHTS: Final = tuple(accumulate([*SAYING, *[OTHERS] * len(STOP_WORDS)]))


def said(namespace: str, at: int, chosen: random.Random) -> ArchivedMessage:
    """The next message of a namespace, of its user and an assistant in turn."""
    _, app_id, user_id = ("", *namespace.split("/"))
    place, ordinal = divmod(at, MESSAGES_OF_A_CONVERSATION)
    conversation = f"{namespace}-{place}"
    message = Message(
        conversation_id=conversation,
        message_id=ids.derive("benchmark", namespace, at),
        role="assistant" if ordinal % 2 else "user",
        timestamp=AT + timedelta(hours=place, seconds=20 * at),
        content=text(chosen, ASSISTANT_WORDS if ordinal % 2 else USER_WORDS),
        app_id=app_id,
        user_id=user_id,
        agent_id=ASSISTANT,
    )
    return ArchivedMessage(message=message, partition=0, position=at)


def text(chosen: random.Random, median: int) -> str:
    """Sentences with this median number of words."""
    number = min(MOST_WORDS, max(3, round(median * chosen.lognormvariate(0, SIGMA))))
    words = chosen.choices(CHOICE, cum_weights=WEIGHTS, k=number)
    sentences = (words[start : start + SENTENCE_WORDS] for start in range(0, number, SENTENCE_WORDS))
    return " ".join(f"{' '.join(each)}." for each in sentences)


def passages(namespace: str, number: int, seed: int) -> Iterator[tuple[ArchivedMessage, list[Piece]]]:
    """Messages with their passages, until there are at least this number of passages."""
    chosen, count, at = random.Random(seed), 0, 0
    while count < number:
        archived = said(namespace, at, chosen)
        source = Source(archived, speaker_of(archived.message), "", CLEAN)
        built = [build_piece(source, namespace, *each)[1] for each in enumerate(pieces(archived.message.content))]
        yield archived, built
        count, at = count + len(built), at + 1


def pages(sizes: Sequence[tuple[str, int]]) -> Iterator[Page]:
    """Yields pages of passages of all namespaces in turn."""
    every = chain.from_iterable(passages(name, number, seed) for seed, (name, number) in enumerate(sizes))
    page = Page([], [])
    for archived, built in every:
        page.messages.append(archived)
        page.passages.extend((piece, archived.position % MESSAGES_OF_A_CONVERSATION) for piece in built)
        if len(page.passages) >= PAGE:
            yield page
            page = Page([], [])
    if page.passages:
        yield page


async def seed_passages(
    pool: Pool, qdrant_url: str, collection: str, dimension: int, sizes: Sequence[tuple[str, int]]
) -> Seeded:
    """So many passages in each of the namespaces, into a collection that is there. Indexes are made afterwards, which takes less
    time than to let them grow."""
    indexes = await pool.fetch(INDEXES)
    for index in indexes:
        await pool.execute(f"DROP INDEX {index['indexname']}")
    chosen, seeded = np.random.default_rng(3), Seeded()
    async with aiohttp.ClientSession(qdrant_url) as session:
        for page in pages(sizes):
            await copied(pool, "messages", MESSAGE_COLUMNS, map(message_row, page.messages))
            await copied(pool, "passages", PASSAGE_COLUMNS, (passage_row(*each) for each in page.passages))
            rows = unit_rows(chosen.standard_normal((len(page.passages), dimension), np.float32))
            await write_points(session, collection, [piece for piece, _ in page.passages], rows)
            seeded.messages += len(page.messages)
            seeded.passages += len(page.passages)
            seeded.characters += sum(len(each.message.content) for each in page.messages)
    for index in indexes:
        await pool.execute(index["indexdef"], timeout=3_600)
    await pool.execute("ANALYZE messages, passages", timeout=600)
    return seeded


async def copied(pool: Pool, table: str, columns: Sequence[str], rows: Iterator[tuple[Any, ...]]) -> None:
    """Rows as COPY reads them."""

    async def lines() -> Any:
        yield "".join("\t".join(map(copy_field, row)) + "\n" for row in rows).encode()

    async with pool.acquire() as connection:
        await connection.copy_to_table(table, source=lines(), columns=columns)


def copy_field(value: Any) -> str:
    """No text of this benchmark has characters that COPY escapes."""
    if value is None:
        return "\\N"
    if isinstance(value, tuple):
        return f"{{{','.join(map(str, value))}}}"
    return codec.encode(value).decode() if isinstance(value, Message) else str(value)


def passage_row(piece: Piece, ordinal: int) -> tuple[Any, ...]:
    """Its terms as an array."""
    *columns, _ = row_of(piece, ordinal)
    return (*columns, piece.terms)


async def write_points(session: aiohttp.ClientSession, collection: str, page: Sequence[Piece], rows: Any) -> None:
    points = [
        {"id": piece.passage_id, "vector": row, "payload": payload(point(piece))}
        for piece, row in zip(page, rows, strict=True)
    ]
    body = orjson.dumps({"points": points}, option=orjson.OPT_SERIALIZE_NUMPY)
    address = f"/collections/{collection}/points?wait=true"
    async with session.put(address, data=body, headers={"Content-Type": "application/json"}) as answer:
        answer.raise_for_status()
