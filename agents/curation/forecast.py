"""Predicts the curator's decisions about candidates without writing them. Later predictions build on earlier ones."""

from collections.abc import Callable
from datetime import datetime
from functools import partial

from msgspec import Struct

from agents.curation.editor import Editor
from agents.curation.input_fetcher import InputFetcher
from agents.curation.parts import settle_candidates
from agents.curation.rules.commands.scrubbing import scrub_wishes
from agents.curation.rules.decisions.decision_inputs import DecisionInputs
from agents.curation.rules.ledger.ledger import Ledger
from agents.curation.rules.ledger.outcomes import Ruling
from agents.curation.wishes import apply_wishes, texts_of
from schemas.extraction.candidates import CandidateBatch
from schemas.policies.policies import Policy
from sinks.classification.port import Comparer
from sinks.embeddings.port import Embedder
from sinks.memories.entry import LedgerEntry
from sinks.memories.reader import Memories
from sinks.postgres.connection import Pool, translated
from sinks.vectors.port import VectorIndex


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
        self._inputs = InputFetcher(embedder, editor, comparer)
        self._clock = clock
        self._ledgers: dict[str, Ledger] = {}

    async def decide(self, batch: CandidateBatch, policy: Policy) -> ForecastResult:
        """The predicted result of a batch, wishes included. Missing importances are rated by a model, at the same cost as in
        curation. Raises Retryable."""
        batch = scrub_wishes(batch, policy.privacy)
        texts = texts_of(batch)
        if not (texts or batch.wishes):
            return ForecastResult((), ())
        vectors = await self._inputs.embed(texts)
        return await self._inputs.decide_with_inputs(
            partial(self._decide_once, batch, policy), vectors, {}, batch.namespace, policy
        )

    async def _decide_once(self, batch: CandidateBatch, policy: Policy, prepared: DecisionInputs) -> ForecastResult:
        with translated("predicting decisions"):
            async with self._pool.acquire() as connection, connection.transaction(readonly=True):
                if batch.namespace not in self._ledgers:
                    live = await Memories(connection).count_live(batch.namespace)
                    self._ledgers[batch.namespace] = Ledger(batch.namespace, 0, live=live)
                ledger = self._ledgers[batch.namespace].copy()  # a missing input breaks off the decision
                before, now = len(ledger.entries), self._clock()
                _, rulings = await settle_candidates(
                    connection, self._vectors, batch, prepared, policy, now, earlier=ledger
                )
                await apply_wishes(connection, self._vectors, batch, prepared, policy, ledger, now)
        self._ledgers[batch.namespace] = ledger
        return ForecastResult(rulings, tuple(ledger.entries[before:]))
