"""The comparer that runs in this process."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from schemas.extraction.relations import HOLDS, Pair, Relation
from sinks.classification.cross_encoder import CrossEncoder

GRAPH: Final = Path(__file__).with_name("comparer.onnx")


class OnnxComparer(CrossEncoder):
    """Implements StatementComparer. Its classes are the fields of Relation."""

    def __init__(self, graph: Path = GRAPH) -> None:
        super().__init__(graph)

    async def compare(self, pairs: Sequence[Pair]) -> list[Relation]:
        """See StatementComparer."""
        return [HOLDS if each is None else Relation(*each) for each in await self.probabilities(pairs)]
