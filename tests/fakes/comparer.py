"""A comparer that knows the relation of some pairs; all others hold beside each other."""

from collections.abc import Mapping, Sequence

from sinks.classification.port import Pair, Relation

ENDS = Relation(0.97, 0.02, 0.01)
HOLDS = Relation(0.02, 0.95, 0.03)


class FakeComparer:
    """`compared` has every pair that was to be compared."""

    def __init__(self, known: Mapping[tuple[str, str], Relation] | None = None) -> None:
        self.known = dict(known or {})
        self.compared: list[Pair] = []

    async def compare(self, pairs: Sequence[Pair]) -> list[Relation]:
        self.compared += pairs
        return [self.known.get((each.earlier, each.later), HOLDS) for each in pairs]
