"""Indexes messages: builds their passages, embeds them, stores rows and vectors together. Used by the stage and by backfills."""

from collections.abc import Sequence
from contextlib import aclosing
from typing import Final

from msgspec.structs import replace

from agents.passages.building import digest, embedded_text, only_asks, pieces, searchable_text
from agents.passages.words import stems, terms
from agents.stage.prepared_ahead import prepared_ahead
from schemas import ids
from schemas.conversations.messages import Message, Scope
from schemas.passages.passages import speaker_of
from schemas.policies.policies import Policy, PolicySelector
from sinks.archive.messages import ArchivedMessage
from sinks.embeddings.port import Embedder
from sinks.embeddings.turns import embedded
from sinks.passages.store import Passages, Piece
from sinks.passages.vectors import PassageVectors
from sinks.vectors.port import Vector

STORED_AT_ONCE: Final = 100  # passages, while the next ones are embedded


class PassageIndexer:
    """Raises Retryable; Rejected for a text that cannot be embedded or stored."""

    def __init__(
        self, passages: Passages, vectors: PassageVectors, embedder: Embedder, policies: PolicySelector
    ) -> None:
        self._passages = passages
        self._vectors = vectors
        self._embedder = embedder
        self._policies = policies

    async def index(self, messages: Sequence[ArchivedMessage]) -> int:
        """Makes passages of those that have none yet, and returns how many were stored; the archive has the messages already."""
        wanted = [(archived, policy) for archived in messages if (policy := self._recalling(archived)) is not None]
        fresh = await self._fresh(wanted)
        built = [each for archived, policy in fresh for each in build(archived, policy)]
        parts = [built[start : start + STORED_AT_ONCE] for start in range(0, len(built), STORED_AT_ONCE)]
        stored = 0
        async with aclosing(prepared_ahead(parts, self._vectors_of)) as prepared:
            async for part, vectors in prepared:
                pieces = [replace(piece, vector=vectors[text]) for text, piece in part]
                stored += await self._passages.store(pieces, self._vectors)
        return stored

    def _recalling(self, archived: ArchivedMessage) -> Policy | None:
        """The policy of a message that can be searched."""
        said = archived.message
        policy = self._policies.match(Scope.of(said))
        return policy if policy.recalls(said.role, said.timestamp) and said.content.strip() else None

    async def _fresh(self, wanted: Sequence[tuple[ArchivedMessage, Policy]]) -> list[tuple[ArchivedMessage, Policy]]:
        """Without what is indexed in all its namespaces, and each message once."""
        keys = {id(archived): set(keys_of(archived, policy)) for archived, policy in wanted}
        known = await self._passages.known(set().union(*keys.values())) if wanted else set()
        fresh = []
        for archived, policy in wanted:
            if not keys[id(archived)] <= known:
                known |= keys[id(archived)]
                fresh.append((archived, policy))
        return fresh

    async def _vectors_of(self, part: Sequence[tuple[str, Piece]]) -> dict[str, Vector]:
        return await embedded(self._embedder, [text for text, _ in part])


def keys_of(archived: ArchivedMessage, policy: Policy) -> list[tuple[str, str, str]]:
    said = archived.message
    return [(name, said.conversation_id, said.message_id) for name in policy.namespaces_of(Scope.of(said))]


def build(archived: ArchivedMessage, policy: Policy) -> list[tuple[str, Piece]]:
    """The passages of a message, one a piece and namespace, without vectors; each with the text to embed."""
    said = archived.message
    namespaces = policy.namespaces_of(Scope.of(said))
    archived = replace(archived, feeds=namespaces)
    parts = pieces(searchable_text(said.content, policy.privacy))
    return [made(archived, namespace, number, part) for number, part in enumerate(parts) for namespace in namespaces]


def made(archived: ArchivedMessage, namespace: str, number: int, part: str) -> tuple[str, Piece]:
    said = archived.message
    speaker = speaker_of(said)
    piece = Piece(
        passage_id=passage_id(namespace, said, number),
        namespace=namespace,
        archived=archived,
        piece=number,
        speaker=speaker,
        asks=only_asks(part),
        digest=digest(part),
        terms=terms(namespace, [*stems(speaker), *stems(part)]),
    )
    return embedded_text(speaker, part), piece


def passage_id(namespace: str, said: Message, number: int) -> str:
    return ids.derive("passage", namespace, said.conversation_id, said.message_id, number)
