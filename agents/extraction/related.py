"""Finds memories that are related to a slice, to be shown in the prompt."""

from collections.abc import Sequence

from agents.curation.rules.decisions.thresholds import of_model
from agents.privacy.scrub import sendable
from schemas.extraction.requests import ExtractionRequest, SliceMessage
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy, Privacy
from sinks.embeddings.port import Embedder
from sinks.memories.reader import Memories
from sinks.vectors.port import VectorIndex

MAX_QUERIES = 12  # latest user messages of a slice; each is one search
MAX_NOTES = 2
MAX_QUERY_CHARS = 2_000  # embedding models read at least 256 tokens


class RelatedMemories:
    """Searches namespaces by the slice's user messages, each message in the namespaces that its speaker feeds."""

    def __init__(self, embedder: Embedder, vectors: VectorIndex, memories: Memories) -> None:
        self._embedder = embedder
        self._vectors = vectors
        self._memories = memories
        self._least = of_model(embedder.model).comparable

    async def of(self, request: ExtractionRequest, policy: Policy) -> tuple[Memory, ...]:
        """At most `policy.related_memories` live memories, the nearest first. Under a policy with `note` the conversation's
        own notes come before them. Raises Retryable."""
        notes = await self._notes(request) if policy.note else ()
        known = {memory.memory_id for memory in notes}
        return (*notes, *(each for each in await self._near(request, policy) if each.memory_id not in known))

    async def _notes(self, request: ExtractionRequest) -> tuple[Memory, ...]:
        return await self._memories.of_conversation(request.namespaces, request.conversation_id, MAX_NOTES)

    async def _near(self, request: ExtractionRequest, policy: Policy) -> tuple[Memory, ...]:
        messages = latest_user_messages(request.messages)
        if not messages or not policy.related_memories:
            return ()
        scores: dict[str, float] = {}
        vectors = await self._embedder.embed([beginning(message.content, policy.privacy) for message in messages])
        for message, vector in zip(messages, vectors, strict=True):
            fed = request.fed_by({request.speaker(message)})  # never search another person's namespaces
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
    """The beginning of a text without secrets, for the embedder. Scrubs twice the length first, so that no secret is cut
    before it is found."""
    return sendable(text[: 2 * MAX_QUERY_CHARS], privacy)[:MAX_QUERY_CHARS]


def latest_user_messages(messages: Sequence[SliceMessage]) -> list[SliceMessage]:
    """The latest user messages with content."""
    found = [message for message in messages if message.role == "user" and message.content.strip()]
    return found[-MAX_QUERIES:]
