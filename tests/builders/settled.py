"""Settles a candidate in a ledger, with defaults for everything that a test does not set."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np

from agents.curation.rules.decisions.part_context import IncomingCandidate, PartContext
from agents.curation.rules.decisions.settle import settle
from agents.curation.rules.decisions.thresholds import Thresholds
from agents.curation.rules.ledger.ledger import Ledger
from agents.curation.rules.ledger.outcomes import Ruling
from schemas import ids
from schemas.extraction.candidates import Candidate, CandidateBatch
from schemas.policies.policies import DEFAULT_POLICY
from sinks.vectors.port import Neighbour, Vector

EAST = np.array((1, 0), np.float32)  # the vector of the candidate
SOUTH = np.array((0, -1), np.float32)  # of texts that it changes


def settled(
    ledger: Ledger,
    batch: CandidateBatch,
    candidate: Candidate,
    now: datetime,
    found: Sequence[Neighbour] = (),
    vector: Vector = EAST,
    **fields: Any,
) -> Ruling:
    """Settles a candidate under the default policy; `fields` are those of PartContext and IncomingCandidate."""
    of_part = {name: fields.pop(name) for name in PartContext.__struct_fields__ if name in fields}
    defaults = {
        "own_ids": frozenset(ids.memory_id(each.candidate_id) for each in batch.candidates),
        "policy": DEFAULT_POLICY,
        "thresholds": Thresholds(),
        "vector_of": lambda _: SOUTH,
    }
    part = PartContext(ledger=ledger, batch=batch, now=now, **(defaults | of_part))
    return settle(part, IncomingCandidate(candidate=candidate, vector=vector, found=found, **fields))


def settled_among_all(
    ledger: Ledger, batch: CandidateBatch, candidate: Candidate, now: datetime, cosine: float = 0.6, **fields: Any
) -> Ruling:
    """Settles a candidate that has this cosine to each live memory of the ledger."""
    cosines = {each.memory_id: cosine for each in ledger.live_memories()}
    found = tuple(Neighbour(memory_id, score) for memory_id, score in cosines.items())
    return settled(ledger, batch, candidate, now, found, **({"cosines": cosines} | fields))
