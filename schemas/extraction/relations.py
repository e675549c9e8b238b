"""What two statements are to each other, as a model that compares them tells it."""

from typing import Final, NamedTuple


class Pair(NamedTuple):
    """A statement, and one that was made later."""

    earlier: str
    later: str


class Relation(NamedTuple):
    """Probabilities: the later statement ends the earlier one, both hold, both say the same, or the later one ends a part of
    the earlier one. They add up to 1."""

    ends: float
    holds: float
    same: float
    ends_in_part: float = 0.0


HOLDS: Final = Relation(ends=0.0, holds=1.0, same=0.0)
COMPARED: Final = frozenset({"en", "de", "fr", "es"})  # languages
