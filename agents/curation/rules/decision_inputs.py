"""What a decision is handed that takes long to come by, and how it says what of that is missing: that is then fetched with
nothing locked, and the decision begun again."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from agents.curation.rules.limits import NeedsInput, PlannedStep
from schemas.extraction.requests import Candidate, Command
from schemas.policies.policies import Fraction
from sinks.vectors.port import Vector

Plan: TypeAlias = Sequence[PlannedStep]


class DecisionInputs(Struct, frozen=True, kw_only=True):
    """`vectors` go by their texts, `importances` by the ids of candidates; what nobody could rate is missing there.

    `plan`, `importances` and `completed`, the command with what it came without, are None until they are asked for.
    """

    vectors: Mapping[str, Vector]
    plan: Plan | None = None
    importances: Mapping[str, Fraction] | None = None
    completed: Command | None = None

    def vector(self, text: str) -> Vector:
        """Raises Unembedded."""
        if text not in self.vectors:
            raise NeedsVector(text)
        return self.vectors[text]


class NeedsVector(NeedsInput):
    """The vector of a text is needed."""

    def __init__(self, text: str) -> None:
        super().__init__("a text is not embedded yet")
        self.text = text


class NeedsImportances(NeedsInput):
    """Candidates that say something new came without an importance."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        super().__init__(f"{len(candidates)} candidates without an importance")
        self.candidates = tuple(candidates)


class NeedsCompletion(NeedsInput):
    """A command came without what a model may add: an importance, or a short text of its full one."""
