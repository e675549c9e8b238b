"""Rebuilds the passage index from the archive and the policies: after its loss, after a change of the embedding model or of
privacy, or in doubt. Safe while workers run.

Qdrant alone has the vectors of passages, so passages without a point are embedded again. Namespaces stay those of the time
of indexing, as with memories; passages that no policy recalls any more are removed.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Final

from msgspec import Struct

from agents.passages.chunking import ALL_PRIVATE, EQUAL_VERSIONS, VERSION, searchable_text
from agents.passages.embedding import Built, embedded
from agents.passages.indexer import Recalled, build
from agents.passages.passage_policy import MessageFields, MessagePolicies, conversation_policies
from agents.policies.audience import Audience
from schemas.conversations.messages import Scope
from schemas.policies.policies import PolicySelector
from sinks.archive.messages import ArchivedMessage
from sinks.embeddings.port import Embedder
from sinks.passages.numbering import message_key
from sinks.passages.renewal import BEGINNING, IndexedMessage, IndexedPassage, PassageRenewal
from sinks.passages.store import Piece, point
from sinks.passages.vectors import PassageVectors
from sinks.vectors.reindex import recreated

PAGE: Final = 100  # messages per page


class PassagesReindexed(Struct, frozen=True, kw_only=True):
    """The numbers of points written and removed, of messages whose passages were rebuilt because privacy, recall or version
    changed, and of passages left without a vector because the embedder rejects their text."""

    written: int
    removed: int
    replaced: int
    skipped: int = 0


class PassageReindexer:
    """Rebuilds the passage index. Raises Retryable."""

    def __init__(
        self,
        renewal: PassageRenewal,
        vectors: PassageVectors,
        embedder: Embedder,
        audience: Audience,
        policies: PolicySelector,
        progress: Callable[[int], object] = lambda messages: None,
    ) -> None:
        self._renewal = renewal
        self._vectors = vectors
        self._embedder = embedder
        self._audience = audience
        self._policies = policies
        self._progress = progress
        self._skipped = 0

    async def reindex(self, page: int = PAGE) -> PassagesReindexed:
        """Can be interrupted and repeated. Recreates a collection that was lost or is of another model: until it has every
        passage, no worker or API starts on it, and search uses words alone. Stop workers with another model first: they would
        go on writing its vectors. API processes with another model search by words alone, and report it, until they are
        restarted."""
        is_recreated = await recreated(self._vectors)
        written = replaced = seen = self._skipped = 0
        place = BEGINNING
        while messages := await self._renewal.messages(place, page):
            points, others = await self._page(messages)
            written, replaced, seen = written + points, replaced + others, seen + len(messages)
            place = message_key(messages[-1].archived)
            self._progress(seen)
        removed = await self._renewal.remove_unknown(page)
        if is_recreated:
            await self._vectors.complete()
        return PassagesReindexed(written=written, removed=removed, replaced=replaced, skipped=self._skipped)

    async def _page(self, messages: Sequence[IndexedMessage]) -> tuple[int, int]:
        """The numbers of missing points written and of messages replaced."""
        indexed = await self._renewal.indexed([message_key(each.archived) for each in messages])
        known = {each.passage_id: each for rows in indexed.values() for each in rows}
        lacking, changed, replaced = Built(), list[Piece](), 0
        missing = await self._vectors.ids_without_point(known)
        for archived, applied in await self._with_policies(messages):
            rows = indexed.get(message_key(archived), [])
            built = built_now(archived, dict.fromkeys(each.namespace for each in rows), applied)
            if is_current(rows, built):
                lacking += [each for each in built if each[1].passage_id in missing]
                changed += [piece for _, piece in built if not is_marked(known[piece.passage_id], piece)]
            else:
                await self._renewal.replace(message_key(archived), archived.partition, await self._embedded(built))
                replaced += 1
        await self._renewal.mark_current(changed)
        return await self._write(lacking), replaced

    async def _with_policies(self, messages: Sequence[IndexedMessage]) -> list[tuple[ArchivedMessage, MessagePolicies]]:
        """The messages, with their namespaces, and the policies by which searches read them."""
        conversations = {each.archived.message.conversation_id for each in messages}
        people = await self._renewal.participants(conversations)
        policies = conversation_policies(conversations, people, self._policies)
        assigned = await self._audience.with_namespaces([each.archived for each in messages])
        fields = [fields_of(each.archived, each.window) for each in messages]
        return [
            (archived, policies[archived.message.conversation_id].of(known))
            for archived, known in zip(assigned, fields, strict=True)
        ]

    async def _write(self, lacking: Built) -> int:
        points = [point(piece) for piece in await self._embedded(lacking) if piece.vector.size]
        return await self._renewal.write(points) if points else 0

    async def _embedded(self, built: Built) -> list[Piece]:
        return await embedded(self._embedder, built, self._skip)

    async def _skip(self, _: Piece) -> None:
        self._skipped += 1


def fields_of(archived: ArchivedMessage, window: Scope | None) -> MessageFields:
    place = (archived.partition, archived.position, archived.message.timestamp)
    return MessageFields(Scope.of(archived.message), place, window)


def built_now(archived: ArchivedMessage, namespaces: Collection[str], applied: MessagePolicies) -> Built:
    """The passages that the message would get in these namespaces now."""
    said, built = archived.message, Built()
    for namespace in namespaces:
        policy = applied.of(namespace)
        if policy.recalls(said.role, said.timestamp):
            built += build(Recalled(archived, policy.privacy, (namespace,)))
    return built


def is_current(rows: Sequence[IndexedPassage], built: Built) -> bool:
    """Whether the rows equal the passages that would be built now."""
    known = {each.passage_id: each for each in rows}
    return known.keys() == {piece.passage_id for _, piece in built} and all(
        is_same(known[piece.passage_id], piece) for _, piece in built
    )


def is_same(row: IndexedPassage, piece: Piece) -> bool:
    if row.version not in (VERSION, *EQUAL_VERSIONS) or row.digest != piece.digest:
        return False
    return has_same_names(row, piece) if row.source_digest is None else row.source_digest == piece.source_digest


def has_same_names(row: IndexedPassage, piece: Piece) -> bool:
    """Whether a row of version 1 surely has the speaker's id and name of the piece. Version 1 redacted no ids, and redacted
    the name only where `clean_under` is NULL."""
    name = piece.archived.message.name or ""
    if piece.names != (piece.speaker, name):
        return False
    return row.clean_under is not None or searchable_text(name, ALL_PRIVATE) == name


def is_marked(row: IndexedPassage, piece: Piece) -> bool:
    return (row.version, row.source_digest, row.clean_under) == (piece.version, piece.source_digest, piece.clean_under)
