"""Indexes messages: builds their passages, embeds them, stores rows and vectors together. Used by the stage and by backfills."""

from collections.abc import Sequence
from contextlib import aclosing
from typing import Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from agents.passages.building import (
    VERSION,
    digest,
    embedded_text,
    only_asks,
    pieces,
    privacy_mark,
    searchable_text,
)
from agents.passages.words import stems, terms
from agents.stage.prepared_ahead import prepared_ahead
from schemas import ids
from schemas.conversations.messages import Message
from schemas.passages.passages import speaker_of
from schemas.policies.policies import PolicySelector, Privacy
from sinks.archive.messages import ArchivedMessage
from sinks.embeddings.port import Embedder
from sinks.embeddings.turns import embedded
from sinks.passages.store import Passages, Piece
from sinks.passages.vectors import PassageVectors
from sinks.vectors.port import Vector

STORED_AT_ONCE: Final = 128  # passages, while the next ones are embedded

Built: TypeAlias = list[tuple[str, Piece]]  # texts to embed, and their passages without vectors


class Recalled(NamedTuple):
    """A message that can be searched in some namespaces, and what of it may be."""

    archived: ArchivedMessage
    privacy: Privacy
    namespaces: tuple[str, ...]


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
        """Makes passages of those that have none yet, and returns how many were stored. The archive has the messages already, and
        their scopes are known."""
        wanted = [
            each for archived in messages if archived.message.content.strip() for each in self._recalled(archived)
        ]
        stored, parts = 0, portions([build(recalled) for recalled in await self._fresh(wanted)])
        async with aclosing(prepared_ahead(parts, self._vectors_of)) as prepared:
            async for part, vectors in prepared:
                pieces = [replace(piece, vector=vectors[text]) for text, piece in part]
                stored += await self._passages.store(pieces, self._vectors)
        return stored

    def _recalled(self, archived: ArchivedMessage) -> list[Recalled]:
        """By each of the policies of those whose message it is, in the namespaces that these give."""
        said = archived.message
        namespaces: dict[str, Recalled] = {}
        for scope in archived.scopes:
            policy = self._policies.match(scope)
            if policy.recalls(said.role, said.timestamp):
                known = namespaces.get(policy.name, Recalled(archived, policy.privacy, ()))
                names = dict.fromkeys((*known.namespaces, *policy.namespaces_of(scope)))
                namespaces[policy.name] = known._replace(namespaces=tuple(names))
        return list(namespaces.values())

    async def _fresh(self, wanted: Sequence[Recalled]) -> list[Recalled]:
        """Without what is indexed in all its namespaces, and each message once."""
        keys = {id(recalled): set(keys_of(recalled)) for recalled in wanted}
        known = await self._passages.known(set().union(*keys.values())) if wanted else set()
        fresh = []
        for recalled in wanted:
            if not keys[id(recalled)] <= known:
                known |= keys[id(recalled)]
                fresh.append(recalled)
        return fresh

    async def _vectors_of(self, part: Built) -> dict[str, Vector]:
        return await embedded(self._embedder, [text for text, _ in part])


def portions(built: Sequence[Built]) -> list[Built]:
    """What is stored together: of a message all passages, as one that has some is taken to have all."""
    found: list[Built] = []
    for each in built:
        if found and len(found[-1]) + len(each) <= STORED_AT_ONCE:
            found[-1] += each
        elif each:
            found.append([*each])
    return found


def keys_of(recalled: Recalled) -> list[tuple[str, str, str]]:
    said = recalled.archived.message
    return [(name, said.conversation_id, said.message_id) for name in recalled.namespaces]


def build(recalled: Recalled) -> Built:
    """The passages of a message, one a piece and namespace, without vectors; each with the text to embed."""
    archived, privacy, namespaces = recalled
    said = archived.message
    content, name = searchable_text(said.content, privacy), searchable_text(said.name or "", privacy)
    clean = (content, name) == (said.content, said.name or "")
    source = Source(archived, name, privacy_mark(privacy) if clean else None)
    parts = enumerate(pieces(content))
    return [made(source, namespace, number, part) for number, part in parts for namespace in namespaces]


class Source(NamedTuple):
    """A message, its speaker's name without what privacy takes out, and the privacy that takes nothing out of it."""

    archived: ArchivedMessage
    name: str
    clean_under: int | None


def made(source: Source, namespace: str, number: int, part: str) -> tuple[str, Piece]:
    said = source.archived.message
    speaker = speaker_of(said)
    piece = Piece(
        passage_id=passage_id(namespace, said, number),
        namespace=namespace,
        archived=source.archived,
        piece=number,
        speaker=speaker,
        asks=only_asks(part),
        digest=digest(part),
        version=VERSION,
        clean_under=source.clean_under,
        terms=terms(namespace, [*stems(speaker), *stems(source.name), *stems(part)]),
    )
    return embedded_text(source.name or speaker, part), piece


def passage_id(namespace: str, said: Message, number: int) -> str:
    return ids.derive("passage", namespace, said.conversation_id, said.message_id, number)
