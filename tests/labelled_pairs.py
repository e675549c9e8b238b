"""The pairs that deduplication is judged by: what is known, what is said now, and what the second is to the first.

Written and labelled by hand before anything was tuned on them. `duplicate`: the candidate says nothing that the memory does
not say. `refinement`: it says all of that and more. `contradiction`: both cannot hold at once. `related`: both hold.
"""

import json
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Literal

from msgspec import Struct, convert

FILE = Path(__file__).parent / "unit" / "curation" / "rules" / "labelled_pairs.json"

Label = Literal["duplicate", "refinement", "contradiction", "related", "unrelated"]


class Pair(Struct, frozen=True, forbid_unknown_fields=True):
    label: Label
    language: str
    memory: str
    candidate: str

    @property
    def one_memory(self) -> bool:
        """Whether both should end as one memory."""
        return self.label in ("duplicate", "refinement")


def pairs() -> list[Pair]:
    return convert(json.loads(FILE.read_text(encoding="utf-8")), list[Pair])


def tuning(listed: Sequence[Pair]) -> list[Pair]:
    """The half that rules and thresholds may be fitted to."""
    return [pair for pair in listed if not is_held_out(pair)]


def held_out(listed: Sequence[Pair]) -> list[Pair]:
    """The half that figures are reported of."""
    return [pair for pair in listed if is_held_out(pair)]


def is_held_out(pair: Pair) -> bool:
    """By a hash of the known text, so that no memory is in both halves, and a new pair moves no other."""
    return bool(blake2b(pair.memory.encode(), digest_size=1).digest()[0] & 1)
