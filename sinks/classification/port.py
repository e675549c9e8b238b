"""The port of models that compare two statements."""

from collections.abc import Sequence
from typing import Final, Protocol

from schemas.extraction.relations import Pair, Relation

LANGUAGES: Final = frozenset({"en", "de", "fr", "es"})  # that the models of this folder read


class Comparer(Protocol):
    """Compares statements about the same person or thing, in English, German, French and Spanish."""

    async def compare(self, pairs: Sequence[Pair]) -> list[Relation]:
        """The relation of each pair, in the order of the pairs. A pair's relation does not depend on the other pairs (up to
        float rounding). A pair that is too long to be read whole is told to hold."""
