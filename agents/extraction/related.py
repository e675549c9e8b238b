"""Finds memories of the request's namespaces that are related to the slice, for the prompt."""

from collections.abc import Sequence

from agents.curation.rules.thresholds import of_model
from agents.privacy.scrub import sendable
from schemas.extraction.requests import ExtractionRequest, SliceMessage
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy, Privacy
from sinks.embeddings.port import Embedder
from sinks.memories.reader import Memories
from sinks.vectors.port import VectorIndex

ASKED_MESSAGES = 12  # the latest user messages of a slice stand for it; each is one search
MOST_NOTES = 2
ASKED_CHARS = 2_000  # of each; models read 256 tokens and more


class RelatedMemories:
    """Looks the namespaces' memories up by the slice's user messages, each in those that its speaker feeds."""

    def __init__(self, embedder: Embedder, vectors: VectorIndex, memories: Memories) -> None:
        self._embedder = embedder
        self._vectors = vectors
        self._memories = memories
        self._least = of_model(embedder.model).akin

    async def of(self, request: ExtractionRequest, policy: Policy) -> tuple[Memory, ...]:
        """At most `policy.related_memories` live memories, the nearest first; before them, where a conversation is told in one
        note, what was noted of it so far. Raises Retryable."""
        notes = await self._notes(request) if policy.note else ()
        known = {memory.memory_id for memory in notes}
        return (*notes, *(each for each in await self._near(request, policy) if each.memory_id not in known))

    async def _notes(self, request: ExtractionRequest) -> tuple[Memory, ...]:
        return await self._memories.of_conversation(request.namespaces, request.conversation_id, MOST_NOTES)

    async def _near(self, request: ExtractionRequest, policy: Policy) -> tuple[Memory, ...]:
        said = users_words(request.messages)
        if not said or not policy.related_memories:
            return ()
        scores: dict[str, float] = {}
        vectors = await self._embedder.embed([beginning(message.content, policy.privacy) for message in said])
        for message, vector in zip(said, vectors, strict=True):
            fed = request.fed_by({request.speaker(message)})  # another's memories say nothing about this one
            if not fed:
                continue
            for found in await self._vectors.search(
                vector, namespaces=fed, limit=policy.related_memories, min_score=self._least
            ):
                scores[found.memory_id] = max(found.score, scores.get(found.memory_id, 0.0))
        nearest = sorted(scores, key=lambda memory_id: -scores[memory_id])[: policy.related_memories]
        known = await self._memories.by_ids(nearest)
        return tuple(known[memory_id] for memory_id in nearest if memory_id in known)


def beginning(text: str, privacy: Privacy) -> str:
    """What the embedder may be sent. More is looked at than is sent, so that no secret is cut in half before it is found."""
    return sendable(text[: 2 * ASKED_CHARS], privacy)[:ASKED_CHARS]


def users_words(messages: Sequence[SliceMessage]) -> list[SliceMessage]:
    """The latest that say something."""
    said = [message for message in messages if message.role == "user" and message.content.strip()]
    return said[-ASKED_MESSAGES:]
