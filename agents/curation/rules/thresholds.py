"""From which cosines on two texts are related, and from which on they may be taken for one: each embedding model has its own.

The table is `thresholds.json`; `make bench-dedupe` measures what a row would do with a model.
"""

from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from schemas.policies.policies import Fraction, Policy

TABLE = Path(__file__).with_name("thresholds.json")


class Thresholds(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Cosines. Between `related` and `merge` the model's word counts beside the guards, from `merge` on theirs alone."""

    related: Fraction = 0.70
    merge: Fraction = 0.85


def thresholds(embedding_model: str, policy: Policy) -> Thresholds:
    """The model's, or the defaults for one that was never measured. A policy may set its own `merge_threshold`."""
    known = table().get(embedding_model, Thresholds())
    if policy.merge_threshold is None:
        return known
    return Thresholds(related=min(known.related, policy.merge_threshold), merge=policy.merge_threshold)


@cache
def table() -> dict[str, Thresholds]:
    return msgspec.json.decode(TABLE.read_bytes(), type=dict[str, Thresholds])
