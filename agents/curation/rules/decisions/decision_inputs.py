"""Slow inputs of a decision. A rule raises NeedsInput if one is missing; the caller fetches it without a lock and decides
again."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from agents.curation.rules.commands.limits import NeedsInput, PlannedStep
from agents.models.port import Verdict
from schemas.counts import counted
from schemas.extraction.candidates import Candidate
from schemas.memories.commands import Command
from schemas.memories.memories import Memory
from schemas.policies.policies import Fraction
from sinks.classification.port import Pair, Relation
from sinks.vectors.port import Vector

Plan: TypeAlias = Sequence[PlannedStep]


class DecisionInputs(Struct, frozen=True, kw_only=True):
    """`vectors` are by text, `importances` and `verdicts` by candidate id. Candidates without a result are missing in them.

    `plan`, `importances`, `verdicts` and `completed` (the command with its missing fields) are None until they are fetched.
    `relations` are those that were compared so far; None: nothing compares statements.
    """

    vectors: Mapping[str, Vector]
    plan: Plan | None = None
    importances: Mapping[str, Fraction] | None = None
    completed: Command | None = None
    verdicts: Mapping[str, Verdict] | None = None
    relations: Mapping[Pair, Relation] | None = None

    def vector(self, text: str) -> Vector:
        """Raises NeedsVectors."""
        if text not in self.vectors:
            raise NeedsVectors([text])
        return self.vectors[text]


class NeedsVectors(NeedsInput):
    """Texts have no vectors yet."""

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__(f"{counted(len(texts), 'texts')} to be embedded")
        self.texts = tuple(texts)


class NeedsImportances(NeedsInput):
    """New candidates have no importance."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        super().__init__(f"{counted(len(candidates), 'candidates')} without an importance")
        self.candidates = tuple(candidates)


class NeedsVerdicts(NeedsInput):
    """A model should compare candidates with nearby memories."""

    def __init__(self, candidates: Sequence[Candidate], memories: Sequence[Memory]) -> None:
        super().__init__(
            f"{counted(len(candidates), 'candidates')} to be compared with {counted(len(memories), 'memories')}"
        )
        self.candidates = tuple(candidates)
        self.memories = tuple(memories)


class NeedsRelations(NeedsInput):
    """Candidates should be compared with nearby memories."""

    def __init__(self, pairs: Sequence[Pair]) -> None:
        super().__init__(f"{counted(len(pairs), 'pairs')} of statements to be compared")
        self.pairs = tuple(pairs)


class NeedsCompletion(NeedsInput):
    """A command lacks an importance or a short text, which a model may add. `repeated` is how often its memory was
    reinforced."""

    def __init__(self, repeated: int = 0) -> None:
        super().__init__("a command lacks an importance or a short text")
        self.repeated = repeated
