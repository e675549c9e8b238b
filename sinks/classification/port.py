"""The port of models that compare two statements."""

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol


class Pair(NamedTuple):
    """A statement, and one that was made later."""

    earlier: str
    later: str


class Relation(NamedTuple):
    """Probabilities: the later statement ends the earlier one, both hold, or both say the same. They add up to 1."""

    ends: float
    holds: float
    same: float


LANGUAGES: Final = frozenset({"en", "de", "fr", "es"})  # that the models of this folder read
HOLDS: Final = Relation(ends=0.0, holds=1.0, same=0.0)


class Comparer(Protocol):
    """Compares statements about the same person or thing, in English, German, French and Spanish."""

    async def compare(self, pairs: Sequence[Pair]) -> list[Relation]:
        """The relation of each pair, in the order of the pairs. A pair's relation does not depend on the other pairs (up to
        float rounding). A pair that is too long to be read whole gets HOLDS."""
