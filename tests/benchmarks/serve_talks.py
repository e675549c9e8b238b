"""Conversations for bench-serve: one for each namespace, archived and not extracted yet."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from schemas.conversations.messages import Message
from sinks.archive.messages import Archive, ArchivedMessage
from sinks.postgres.connection import Pool

TURNS = 8  # that a context block finds waiting, besides what it finds remembered
PAGE = 1_000
AT = datetime(2026, 2, 1, tzinfo=UTC)


def talk(number: int) -> str:
    return f"talk-{number}"


async def seed_talks(pool: Pool, namespaces: int) -> None:
    """A conversation `talk(n)` of TURNS messages feeds the namespace `bench/n`, as the default policy derives it."""
    archive = Archive(pool)
    said = [message for number in range(namespaces) for message in of_talk(number)]
    for start in range(0, len(said), PAGE):
        await archive.store(said[start : start + PAGE])
    await pool.execute("ANALYZE messages")


def of_talk(number: int) -> Iterable[ArchivedMessage]:
    for turn in range(TURNS):
        message = Message(
            conversation_id=talk(number),
            message_id=f"{talk(number)}-{turn}",
            role="assistant" if turn % 2 else "user",
            timestamp=AT + timedelta(seconds=20 * turn),
            content=f"What we said in turn {turn} about the garden of number {number}, the weather, and what is for dinner.",
            app_id="bench",
            user_id=str(number),
        )
        yield ArchivedMessage(message=message, partition=0, position=TURNS * number + turn)
