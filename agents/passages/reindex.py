"""Rebuilds the passage index from the archive and the policies: after its loss, after a change of the embedding model or of
privacy, or in doubt. Safe while workers run.

Qdrant alone has the vectors of passages, so passages without a point are embedded again. Namespaces stay those of the time
of indexing, as with memories; passages that no policy recalls any more are removed.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agents.passages.indexer import Built, Recalled, build
from agents.policies.audience import Audience
from schemas.policies.policies import Policy, PolicySelector
from sinks.archive.messages import ArchivedMessage
from sinks.embeddings.batching import embed_in_batches
from sinks.embeddings.port import Embedder
from sinks.passages.numbering import MessageKey, message_key
from sinks.passages.renewal import BEGINNING, IndexedPassage, PassageRenewal
from sinks.passages.store import Piece, point
from sinks.passages.vectors import PassageVectors
from sinks.vectors.reindex import recreated

PAGE: Final = 100  # messages per page


class PassagesReindexed(Struct, frozen=True, kw_only=True):
    """The numbers of points written and removed, and of messages whose passages were rebuilt because privacy or recall
    changed."""

    written: int
    removed: int
    replaced: int


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

    async def reindex(self, page: int = PAGE) -> PassagesReindexed:
        """Can be interrupted and repeated. Recreates a collection that was lost or is of another model: until it has every
        passage, no worker or API starts on it, and search uses words alone."""
        anew = await recreated(self._vectors)
        written = replaced = seen = 0
        place = BEGINNING
        while messages := await self._renewal.messages(place, page):
            points, others = await self._page(messages)
            written, replaced, seen = written + points, replaced + others, seen + len(messages)
            place = message_key(messages[-1])
            self._progress(seen)
        removed = await self._renewal.remove_unknown(page)
        if anew:
            await self._vectors.complete()
        return PassagesReindexed(written=written, removed=removed, replaced=replaced)

    async def _page(self, messages: Sequence[ArchivedMessage]) -> tuple[int, int]:
        """The numbers of missing points written and of messages replaced."""
        indexed = await self._renewal.indexed([message_key(each) for each in messages])
        clean_under = {each.passage_id: each.clean_under for rows in indexed.values() for each in rows}
        lacking, changed, replaced = Built(), list[Piece](), 0
        missing = await self._vectors.ids_without_point([each.passage_id for rows in indexed.values() for each in rows])
        for archived in await self._audience.with_namespaces(messages):
            rows = indexed.get(message_key(archived), [])
            built = self._built(archived, dict.fromkeys(each.namespace for each in rows))
            if is_current(rows, built):
                lacking += [each for each in built if each[1].passage_id in missing]
                changed += [piece for _, piece in built if clean_under.get(piece.passage_id) != piece.clean_under]
            else:
                replaced += await self._replace(message_key(archived), archived, built)
        await self._renewal.mark_clean(changed)
        return await self._write(lacking), replaced

    def _built(self, archived: ArchivedMessage, namespaces: Collection[str]) -> Built:
        """The passages that the message would get in these namespaces now."""
        said, built = archived.message, Built()
        for namespace in namespaces:
            policy = self._policy(archived, namespace)
            if policy.recalls(said.role, said.timestamp):
                built += build(Recalled(archived, policy.privacy, (namespace,)))
        return built

    def _policy(self, archived: ArchivedMessage, namespace: str) -> Policy:
        """The policy under which the message feeds the namespace; if none does any more, the message's own policy."""
        matched = [(scope, self._policies.match(scope)) for scope in archived.scopes]
        feeding = (policy for scope, policy in matched if namespace in policy.namespaces_of(scope))
        return next(feeding, matched[0][1])

    async def _replace(self, key: MessageKey, archived: ArchivedMessage, built: Built) -> int:
        vectors = await embed_in_batches(self._embedder, [text for text, _ in built])
        pieces = [replace(piece, vector=vectors[text]) for text, piece in built]
        await self._renewal.replace(key, archived.partition, pieces)
        return 1

    async def _write(self, lacking: Built) -> int:
        if not lacking:
            return 0
        vectors = await embed_in_batches(self._embedder, [text for text, _ in lacking])
        return await self._renewal.write([point(replace(piece, vector=vectors[text])) for text, piece in lacking])


def is_current(rows: Sequence[IndexedPassage], built: Built) -> bool:
    """Whether the rows equal the passages that would be built now."""
    known = {each.passage_id: (each.digest, each.version) for each in rows}
    return known == {piece.passage_id: (piece.digest, piece.version) for _, piece in built}
