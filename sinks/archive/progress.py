"""How far conversations have come: what of them is archived, and what of that lies in a completed extraction."""

from collections.abc import Iterable

from msgspec import Struct

from schemas.conversations.messages import Moment
from sinks.postgres.connection import Pool, translated
from sinks.postgres.queries import query


class ConversationProgress(Struct, frozen=True):
    """One conversation: messages archived, how many of them lie in a completed extraction, and in which ones."""

    conversation_id: str
    archived: int
    extracted: int
    request_ids: list[str]
    completed_at: Moment | None


async def progress_of(pool: Pool, conversation_ids: Iterable[str]) -> dict[str, ConversationProgress]:
    """By conversation; those of which nothing is archived are missing. Raises Retryable."""
    with translated("asking what is processed"):
        rows = await pool.fetch(query("progress", "processed"), list(conversation_ids))
    return {row["conversation_id"]: ConversationProgress(**row) for row in rows}


async def count_pending_outbox(pool: Pool) -> int:
    """Outbox rows that are not projected yet."""
    with translated("asking for the outbox"):
        return int(await pool.fetchval(query("progress", "unsettled")))


async def unsearchable(pool: Pool, conversation_ids: Iterable[str]) -> int:
    """Messages of users and assistants in these conversations that have no passages yet."""
    with translated("asking what can be searched"):
        return int(await pool.fetchval(query("progress", "unsearchable"), list(conversation_ids)))
