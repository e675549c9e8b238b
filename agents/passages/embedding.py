"""Embeds passages. One whose text the embedder rejects goes without a vector: search finds it by words, and `memstream reindex`
tries again."""

import logging
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from msgspec.structs import replace

from schemas.errors import Rejected
from sinks.embeddings.batching import embed_in_batches
from sinks.embeddings.port import Embedder
from sinks.passages.store import Piece

log = logging.getLogger(__name__)

Built: TypeAlias = list[tuple[str, Piece]]  # texts to embed, with their passages that lack vectors
OnRejected: TypeAlias = Callable[[Piece], Awaitable[None]]


async def embedded(embedder: Embedder, built: Built, on_rejected: OnRejected) -> list[Piece]:
    """The passages, in order, with vectors where the embedder accepts their text. Raises Retryable.

    An embedder does not say which text it rejects, so halves are tried: one such text among 128 costs fewer than 20 calls.
    """
    try:
        vectors = await embed_in_batches(embedder, [text for text, _ in built])
    except Rejected as rejected:
        if len(built) > 1:
            halves = built[: len(built) // 2], built[len(built) // 2 :]
            return [piece for half in halves for piece in await embedded(embedder, half, on_rejected)]
        ((_, piece),) = built
        message_id = piece.archived.message.message_id
        log.warning("passage %d of message %s is not embedded: %s", piece.piece, message_id, rejected)
        await on_rejected(piece)
        return [piece]
    return [replace(piece, vector=vectors[text]) for text, piece in built]


async def only_logged(_: Piece) -> None:
    """The default for rejected texts: the log entry is enough."""
