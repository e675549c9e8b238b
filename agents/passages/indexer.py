"""Indexes messages: builds and embeds their passages, and stores rows and vectors together. Used by the stage and by
backfills."""

import logging
from collections.abc import Sequence
from contextlib import aclosing
from typing import Final, NamedTuple

from agents.passages.chunking import (
    MOST_PIECES,
    VERSION,
    all_pieces,
    digest,
    embedded_text,
    piece_id,
    privacy_mark,
    searchable_text,
    source_digest,
)
from agents.passages.embedding import Built, OnRejected, embedded, only_logged
from agents.passages.passage_policy import MessagePolicies
from agents.passages.terms import stems, terms
from agents.stage.prefetch import prefetched
from schemas.conversations.messages import Message
from schemas.passages.passages import speaker_of
from schemas.policies.policies import PolicySelector, Privacy
from sinks.archive.messages import ArchivedMessage
from sinks.embeddings.port import Embedder
from sinks.passages.store import Passages, Piece
from sinks.passages.vectors import PassageVectors

log = logging.getLogger(__name__)

TRANSACTION_PASSAGES: Final = 128  # passages per transaction, stored while the next ones are embedded


class Recalled(NamedTuple):
    """A message with the namespaces in which it can be searched, and the privacy setting for its text."""

    archived: ArchivedMessage
    privacy: Privacy
    namespaces: tuple[str, ...]


class PassageIndexer:
    """Indexes messages. Raises Retryable, and Rejected for a text that cannot be stored. `on_rejected` is called with passages
    whose text the embedder rejects."""

    def __init__(
        self, passages: Passages, vectors: PassageVectors, embedder: Embedder, policies: PolicySelector
    ) -> None:
        self._passages = passages
        self._vectors = vectors
        self._embedder = embedder
        self._policies = policies
        self.on_rejected: OnRejected = only_logged

    async def index(self, messages: Sequence[ArchivedMessage]) -> int:
        """Indexes messages without passages, and returns the number of new passages. The messages are archived already, with
        known scopes."""
        recallable = [
            each for archived in messages if archived.message.content.strip() for each in self._recalled(archived)
        ]
        stored, parts = 0, portions([build(recalled) for recalled in await self._fresh(recallable)])
        async with aclosing(prefetched(parts, self._embedded)) as prepared:
            async for _, pieces in prepared:
                stored += await self._passages.store(pieces, self._vectors)
        return stored

    def _recalled(self, archived: ArchivedMessage) -> list[Recalled]:
        """The namespaces in which the policies of the message's people make it searchable, by policy."""
        message, found = archived.message, dict[str, Recalled]()
        applied = MessagePolicies(archived.scopes, self._policies)
        for namespace in applied.namespaces:
            policy = applied.of(namespace)
            if policy.recalls(message.role, message.timestamp):
                known = found.get(policy.name, Recalled(archived, policy.privacy, ()))
                found[policy.name] = known._replace(namespaces=(*known.namespaces, namespace))
        return list(found.values())

    async def _fresh(self, recallable: Sequence[Recalled]) -> list[Recalled]:
        """Leaves out messages that are indexed in all their namespaces, and duplicates."""
        keys = {id(recalled): set(keys_of(recalled)) for recalled in recallable}
        known = await self._passages.known(set().union(*keys.values())) if recallable else set()
        fresh = []
        for recalled in recallable:
            if not keys[id(recalled)] <= known:
                known |= keys[id(recalled)]
                fresh.append(recalled)
        return fresh

    async def _embedded(self, part: Built) -> list[Piece]:
        return await embedded(self._embedder, part, self.on_rejected)


def portions(built: Sequence[Built]) -> list[Built]:
    """Splits passages into transactions. All passages of a message stay together, as a message with some counts as indexed."""
    found: list[Built] = []
    for each in built:
        if found and len(found[-1]) + len(each) <= TRANSACTION_PASSAGES:
            found[-1] += each
        elif each:
            found.append([*each])
    return found


def keys_of(recalled: Recalled) -> list[tuple[str, str, str]]:
    message = recalled.archived.message
    return [(name, message.conversation_id, message.message_id) for name in recalled.namespaces]


def build(recalled: Recalled) -> Built:
    """The passages of a message, one per piece and namespace, without vectors; each with the text to embed."""
    archived, privacy, namespaces = recalled
    message = archived.message
    content, name = searchable_text(message.content, privacy), searchable_text(message.name or "", privacy)
    clean = (content, name) == (message.content, message.name or "")
    speaker = searchable_text(speaker_of(message), privacy)
    source = Source(archived, speaker, name, privacy_mark(privacy) if clean else None)
    parts = enumerate(indexed_pieces(content, message))
    return [build_piece(source, namespace, number, part) for number, part in parts for namespace in namespaces]


def indexed_pieces(content: str, message: Message) -> list[str]:
    """The first MOST_PIECES pieces; the log tells how many others a message has."""
    parts = all_pieces(content)
    if len(parts) > MOST_PIECES:
        log.warning(
            "message %s has %d passages: search finds it by the first %d only",
            *(message.message_id, len(parts), MOST_PIECES),
        )
    return parts[:MOST_PIECES]


class Source(NamedTuple):
    """A message, its speaker's redacted id and name, and the privacy setting under which its text and name need no
    redaction."""

    archived: ArchivedMessage
    speaker: str
    name: str
    clean_under: int | None


def build_piece(source: Source, namespace: str, number: int, part: str) -> tuple[str, Piece]:
    message = source.archived.message
    piece = Piece(
        passage_id=piece_id(namespace, message.conversation_id, message.message_id, number),
        namespace=namespace,
        archived=source.archived,
        piece=number,
        speaker=speaker_of(message),
        names=(source.speaker, source.name),
        digest=digest(part),
        source_digest=source_digest(source.speaker, source.name, part),
        version=VERSION,
        clean_under=source.clean_under,
        terms=terms(namespace, [*stems(source.speaker), *stems(source.name), *stems(part)]),
    )
    return embedded_text(source.name or source.speaker, part), piece
