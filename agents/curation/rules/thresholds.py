"""What cosines of statements mean, by embedding model. The table is `thresholds.json`; `make bench-dedupe` measures its lines."""

from functools import cache
from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct

from schemas.policies.policies import Fraction, Policy

TABLE = Path(__file__).with_name("thresholds.json")


class Thresholds(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Cosines of two statements. From `akin` on one has something to do with the other. Between `related` and `merge` the
    extracting model's word counts beside the guards, from `merge` on theirs alone. The defaults are those of all-MiniLM-L6-v2."""

    akin: Fraction = 0.35
    related: Fraction = 0.70
    merge: Fraction = 0.80

    def on_scale(self, cosine: Fraction) -> Fraction:
        """What a cosine of all-MiniLM-L6-v2 is with this model: between its thresholds in proportion."""
        return float(np.interp(cosine, MINILM.points, self.points))

    @property
    def points(self) -> tuple[float, ...]:
        return (0.0, self.akin, self.related, self.merge, 1.0)


MINILM = Thresholds()


def thresholds(embedding_model: str, policy: Policy) -> Thresholds:
    """The model's. A policy may set its own `merge_threshold`, which is on the scale of all-MiniLM-L6-v2."""
    known = of_model(embedding_model)
    if policy.merge_threshold is None:
        return known
    merge = known.on_scale(policy.merge_threshold)
    return Thresholds(akin=known.akin, related=min(known.related, merge), merge=merge)


def of_model(embedding_model: str) -> Thresholds:
    """The defaults for one that was never measured."""
    return table().get(embedding_model, Thresholds())


@cache
def table() -> dict[str, Thresholds]:
    return msgspec.json.decode(TABLE.read_bytes(), type=dict[str, Thresholds])
