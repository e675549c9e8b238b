"""Progress of conversations: how much is archived, and how much of that was extracted."""

from collections.abc import Iterable

from msgspec import Struct

from schemas.conversations.messages import Moment
from sinks.postgres.connection import Pool, translated
from sinks.postgres.queries import query


class ConversationProgress(Struct, frozen=True):
    """Extraction progress of one conversation: its archived messages, how many of them completed extractions cover, and the
    ids of these extractions."""

    conversation_id: str
    archived: int
    extracted: int
    request_ids: list[str]
    completed_at: Moment | None


async def progress_of(pool: Pool, conversation_ids: Iterable[str]) -> dict[str, ConversationProgress]:
    """Progress by conversation; conversations without archived messages are missing. Raises Retryable."""
    with translated("reading extraction progress"):
        rows = await pool.fetch(query("progress", "processed"), list(conversation_ids))
    return {row["conversation_id"]: ConversationProgress(**row) for row in rows}


async def count_pending_outbox(pool: Pool) -> int:
    """Outbox rows that are not projected yet."""
    with translated("counting the outbox"):
        return int(await pool.fetchval(query("progress", "unsettled")))


async def unsearchable(pool: Pool, conversation_ids: Iterable[str]) -> int:
    """The number of user and assistant messages in these conversations that have no passages yet."""
    with translated("counting unindexed messages"):
        return int(await pool.fetchval(query("progress", "unsearchable"), list(conversation_ids)))
