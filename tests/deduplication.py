"""Measures how well pairs of statements are classified: by cosine alone, by edit distance alone, and by the curator."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from agents.curation.rules.decisions.contradictions import contradicted_memories
from agents.curation.rules.decisions.decide import Decision, Merge, Reinforce, decide, same_attribute_value
from agents.curation.rules.decisions.thresholds import Thresholds
from agents.curation.rules.ledger.scored import Scored
from agents.curation.rules.statements.normalise import normalise
from schemas.extraction.candidates import Candidate, Source
from schemas.memories.memories import Memory
from schemas.policies.policies import DEFAULT_POLICY
from sinks.embeddings.port import Embedder
from tests.builders.memories import a_memory
from tests.cases.labelled_pairs import Pair

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)

Word: TypeAlias = Literal["repeats", "refines", "contradicts"] | None

# The verdicts of a perfect model.
RIGHT_WORD: dict[str, Word] = {
    "duplicate": "repeats",
    "refinement": "refines",
    "contradiction": "contradicts",
    "related": None,
    "unrelated": None,
}


class Case(Struct, frozen=True):
    """A pair with its measures. `letters` is the Levenshtein ratio of the normalised texts."""

    pair: Pair
    cosine: float
    letters: float


class Measured(Struct, frozen=True, kw_only=True):
    """The number of merged pairs, and of rightly merged ones; the number of `duplicates`, and of `mergeable` ones,
    refinements included."""

    folded: int
    rightly: int
    folded_duplicates: int
    duplicates: int
    mergeable: int
    folded_contradictions: int

    @property
    def precision(self) -> float:
        """The share of merged pairs that are duplicates or refinements; 1 if none was merged."""
        return self.rightly / self.folded if self.folded else 1.0

    @property
    def recall(self) -> float:
        """The share of duplicates that were merged."""
        return self.folded_duplicates / self.duplicates if self.duplicates else 1.0


async def cases(pairs: Sequence[Pair], embedder: Embedder) -> list[Case]:
    texts = texts_of(pairs)
    return with_vectors(pairs, dict(zip(texts, await embedder.embed(texts), strict=True)))


def texts_of(pairs: Sequence[Pair]) -> list[str]:
    return sorted({text for pair in pairs for text in (pair.memory, pair.candidate)})


def with_vectors(pairs: Sequence[Pair], vectors: Mapping[str, NDArray[np.float32]]) -> list[Case]:
    return [
        Case(
            pair,
            float(vectors[pair.memory] @ vectors[pair.candidate]),
            Levenshtein.normalized_similarity(normalise(pair.memory), normalise(pair.candidate)),
        )
        for pair in pairs
    ]


def by_cosine(case: Case, threshold: float) -> bool:
    return case.cosine >= threshold


def by_letters(case: Case, threshold: float) -> bool:
    return case.letters > threshold


def as_curated(case: Case, threshold: float) -> bool:
    """Whether the curator merges the pair without a verdict of a model."""
    return is_folded(decision(case, Thresholds(related=0.0, merge=threshold)))


WAYS: dict[str, Callable[[Case, float], bool]] = {
    "cosine alone": by_cosine,
    "Levenshtein alone": by_letters,
    "as curated": as_curated,
}


def decision(case: Case, limits: Thresholds, word: Word = None) -> Decision:
    """The curator's decision about the pair, if the namespace has no other memory and the model's verdict is `word`."""
    memory = known(case.pair.memory)
    exact = memory if normalise(case.pair.memory) == normalise(case.pair.candidate) else None
    nearest = [Scored(memory, case.cosine)]
    near = (
        nearest if case.cosine >= limits.related or same_attribute_value(case.pair.candidate, case.pair.memory) else []
    )
    candidate, named = said(case.pair.candidate, word), [memory] if word == "contradicts" else []
    ended, objected = contradicted_memories(candidate, named, {"m": case.cosine}, nearest, limits.comparable)
    return decide(candidate, exact, near, DEFAULT_POLICY, limits, ended, objected)


def is_folded(decided: Decision) -> bool:
    return isinstance(decided, Reinforce | Merge)


def measured(cases: Sequence[Case], folds: Callable[[Case], bool]) -> Measured:
    folded = [case.pair for case in cases if folds(case)]
    return Measured(
        folded=len(folded),
        rightly=sum(pair.one_memory for pair in folded),
        folded_duplicates=sum(pair.label == "duplicate" for pair in folded),
        duplicates=sum(case.pair.label == "duplicate" for case in cases),
        mergeable=sum(case.pair.one_memory for case in cases),
        folded_contradictions=sum(pair.label == "contradiction" for pair in folded),
    )


def known(text: str) -> Memory:
    source = Source(conversation_id="c", message_id="earlier", timestamp=NOON)
    return a_memory(text, NOON, memory_id="m", sources=(source,))


def said(text: str, word: Word = None) -> Candidate:
    source = Source(conversation_id="c", message_id="later", timestamp=NOON)
    return Candidate(
        candidate_id="x",
        kind="fact",
        text=text,
        sources=(source,),
        confidence=0.9,
        repeats="m" if word == "repeats" else None,
        refines="m" if word == "refines" else None,
        contradicts="m" if word == "contradicts" else None,
    )
