"""The comparer that runs in this process."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sinks.classification.cross_encoder import CrossEncoder
from sinks.classification.port import HOLDS, Pair, Relation

GRAPH: Final = Path(__file__).with_name("comparer.onnx")


class OnnxComparer(CrossEncoder):
    """Implements Comparer. Its classes are the fields of Relation."""

    def __init__(self, graph: Path = GRAPH) -> None:
        super().__init__(graph)

    async def compare(self, pairs: Sequence[Pair]) -> list[Relation]:
        """See Comparer."""
        return [HOLDS if each is None else Relation(*each) for each in await self.probabilities(pairs)]
