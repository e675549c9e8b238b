"""Cosine thresholds by embedding model, from `thresholds.json`, as `make bench-dedupe` measures them."""

from functools import cache
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
from msgspec import Struct

from schemas.policies.policies import Fraction, Policy

TABLE = Path(__file__).with_name("thresholds.json")
UNRELATED_SHARE: Final = 0.25  # of the range above `comparable`: a cosine this far below it is unrelated


class Thresholds(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Cosines of two statements. From `comparable` on they may be about the same. Between `related` and `merge` a match
    needs the extracting model's verdict besides the guards; from `merge` on the guards suffice. The defaults are those of
    all-MiniLM-L6-v2."""

    comparable: Fraction = 0.35
    related: Fraction = 0.70
    merge: Fraction = 0.80

    def on_scale(self, cosine: Fraction) -> Fraction:
        """The cosine of this model that corresponds to one of all-MiniLM-L6-v2, interpolated between the thresholds."""
        return float(np.interp(cosine, MINILM.points, self.points))

    @property
    def points(self) -> tuple[float, ...]:
        return (0.0, self.comparable, self.related, self.merge, 1.0)


def unrelated(comparable: float) -> float:
    """The cosine below which two statements are clearly about different things."""
    return comparable - (1 - comparable) * UNRELATED_SHARE


MINILM = Thresholds()


def thresholds(embedding_model: str, policy: Policy) -> Thresholds:
    """The thresholds of a model. A policy's `merge_threshold` is on the scale of all-MiniLM-L6-v2."""
    known = of_model(embedding_model)
    if policy.merge_threshold is None:
        return known
    merge = known.on_scale(policy.merge_threshold)
    return Thresholds(comparable=known.comparable, related=min(known.related, merge), merge=merge)


def of_model(embedding_model: str) -> Thresholds:
    """The thresholds of a model; the defaults for one that was not measured."""
    return table().get(embedding_model, Thresholds())


@cache
def table() -> dict[str, Thresholds]:
    return msgspec.json.decode(TABLE.read_bytes(), type=dict[str, Thresholds])
