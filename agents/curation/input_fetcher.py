"""Decides again until no input is missing: embeds texts, rates candidates and compares statements without holding a lock."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, TypeAlias, TypeVar

from msgspec.structs import replace

from agents.curation.editor import Editor
from agents.curation.rules.commands.limits import NeedsInput
from agents.curation.rules.decisions.decision_inputs import (
    DecisionInputs,
    NeedsImportances,
    NeedsRelations,
    NeedsVectors,
)
from agents.models.port import Verdict
from schemas.counts import counted
from schemas.errors import Retryable
from schemas.policies.policies import Policy
from sinks.classification.port import HOLDS, Comparer, Pair, Relation
from sinks.embeddings.port import Embedder
from sinks.vectors.port import Vector

log = logging.getLogger(__name__)

MAX_ATTEMPTS: Final = 8  # of one decision: one for each missing input but vectors, and for concurrent changes

T = TypeVar("T")
# Returns the inputs with the missing one added, or raises NeedsInput.
FetchInput: TypeAlias = Callable[[DecisionInputs, NeedsInput], Awaitable[DecisionInputs]]


async def no_other_input(prepared: DecisionInputs, missing: NeedsInput) -> DecisionInputs:
    raise missing


class InputFetcher:
    """Fetches vectors, importances and relations. Without a `comparer` no model compares statements."""

    def __init__(self, embedder: Embedder, editor: Editor, comparer: Comparer | None) -> None:
        self._embedder = embedder
        self._editor = editor
        self._comparer = comparer

    async def decide_with_inputs(
        self,
        decide: Callable[[DecisionInputs], Awaitable[T]],
        vectors: Mapping[str, Vector],
        verdicts: Mapping[str, Verdict] | None,
        namespace: str,
        policy: Policy,
        fetch_other: FetchInput = no_other_input,
    ) -> T:
        """Calls `decide` until no input is missing; `fetch_other` fetches the inputs that this class does not. Raises
        Retryable."""
        relations: dict[Pair, Relation] | None = None if self._comparer is None else {}
        prepared = DecisionInputs(vectors=vectors, verdicts=verdicts, relations=relations)
        remaining = MAX_ATTEMPTS
        while remaining:
            try:
                return await decide(prepared)
            except NeedsVectors as missing:
                prepared = replace(prepared, vectors={**prepared.vectors, **await self.embed(missing.texts)})
                continue  # not counted: each changed memory may need one
            except NeedsImportances as missing:
                importances = await self._editor.rate(missing.candidates, namespace, policy)
                prepared = replace(prepared, importances=importances)
            except NeedsRelations as missing:
                found = await self._compare(missing.pairs)
                prepared = replace(prepared, relations={**(prepared.relations or {}), **found})
            except NeedsInput as missing:
                prepared = await fetch_other(prepared, missing)
            remaining -= 1
        raise Retryable(
            f"{namespace!r}: no decision after {MAX_ATTEMPTS} attempts, as inputs were missing or memories changed"
        )

    async def embed(self, texts: Sequence[str]) -> dict[str, Vector]:
        """Vectors by text."""
        return dict(zip(texts, await self._embedder.embed(texts), strict=True)) if texts else {}

    async def _compare(self, pairs: Sequence[Pair]) -> dict[Pair, Relation]:
        """The relations of the pairs. If the model fails, it ends nothing, and the rules alone decide; if it fails at the
        clauses of a memory that ends, the memory ends as a whole."""
        assert self._comparer is not None
        try:
            relations = await self._comparer.compare(pairs)
        except Exception:
            log.exception(
                "comparing %s of statements failed: the rules alone decide about them", counted(len(pairs), "pairs")
            )
            relations = [HOLDS] * len(pairs)
        return dict(zip(pairs, relations, strict=True))
