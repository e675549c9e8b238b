"""Predicts the curator's decisions about candidates without writing them. Later predictions build on earlier ones."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agents.curation.editor import Editor
from agents.curation.part_inputs import with_relations
from agents.curation.parts import settle_candidates
from agents.curation.rules.decision_inputs import DecisionInputs, NeedsImportances, NeedsRelations, NeedsVector
from agents.curation.rules.ledger import Ledger
from agents.curation.rules.outcomes import Ruling
from agents.curation.rules.scrubbing import scrub_wishes
from agents.curation.wishes import apply_wishes, texts_of
from schemas.errors import Retryable
from schemas.extraction.candidates import CandidateBatch
from schemas.policies.policies import Policy
from sinks.classification.port import Comparer
from sinks.embeddings.port import Embedder
from sinks.memories.entry import LedgerEntry
from sinks.memories.reader import Memories
from sinks.postgres.connection import Pool, translated
from sinks.vectors.port import VectorIndex

MAX_ATTEMPTS: Final = 8  # of one decision: one for each missing input


class ForecastResult(Struct, frozen=True):
    """The rulings in the order of the candidates, and the changes that they would make."""

    rulings: tuple[Ruling, ...]
    entries: tuple[LedgerEntry, ...]


class Forecast:
    """Predicts batch after batch. Earlier predictions count as written, so a statement of two conversations is created once
    and then reinforced.

    It reads the current memories at each call, takes no locks, and uses read-only transactions. It does not predict removals
    by a namespace's limit, which a model decides.
    """

    def __init__(
        self,
        pool: Pool,
        vectors: VectorIndex,
        embedder: Embedder,
        editor: Editor,
        clock: Callable[[], datetime],
        comparer: Comparer | None = None,
    ) -> None:
        self._pool = pool
        self._vectors = vectors
        self._embedder = embedder
        self._editor = editor
        self._clock = clock
        self._comparer = comparer
        self._ledgers: dict[str, Ledger] = {}

    async def decide(self, batch: CandidateBatch, policy: Policy) -> ForecastResult:
        """The predicted result of a batch, wishes included. Missing importances are rated by a model, at the same cost as in
        curation. Raises Retryable."""
        batch = scrub_wishes(batch, policy.privacy)
        texts = texts_of(batch)
        if not (texts or batch.wishes):
            return ForecastResult((), ())
        embedded = await self._embedder.embed(texts)
        prepared = DecisionInputs(
            vectors=dict(zip(texts, embedded, strict=True)),
            verdicts={},
            relations=None if self._comparer is None else {},
        )
        for _ in range(MAX_ATTEMPTS):
            try:
                return await self._decide_once(batch, policy, prepared)
            except NeedsImportances as missing:
                rated = await self._editor.rate(missing.candidates, batch.namespace, policy)
                prepared = replace(prepared, importances=rated)
            except NeedsRelations as missing:
                assert self._comparer is not None
                prepared = await with_relations(prepared, self._comparer, missing.pairs)
            except NeedsVector as missing:
                (vector,) = await self._embedder.embed([missing.text])
                prepared = replace(prepared, vectors={**prepared.vectors, missing.text: vector})
        raise Retryable(f"{batch.namespace!r} changed {MAX_ATTEMPTS} times during one decision")

    async def _decide_once(self, batch: CandidateBatch, policy: Policy, prepared: DecisionInputs) -> ForecastResult:
        with translated("predicting decisions"):
            async with self._pool.acquire() as connection, connection.transaction(readonly=True):
                if batch.namespace not in self._ledgers:
                    live = await Memories(connection).count_live(batch.namespace)
                    self._ledgers[batch.namespace] = Ledger(batch.namespace, 0, live=live)
                ledger = self._ledgers[batch.namespace]
                before, now = len(ledger.entries), self._clock()
                _, rulings = await settle_candidates(
                    connection, self._vectors, batch, prepared, policy, now, earlier=ledger
                )
                await apply_wishes(connection, self._vectors, batch, prepared, policy, ledger, now)
        return ForecastResult(rulings, tuple(ledger.entries[before:]))
