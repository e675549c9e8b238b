"""Settles one candidate in a ledger whose live memories are all near it."""

from datetime import datetime
from typing import Any

import numpy as np

from agents.curation.rules.decisions.settle import settle
from agents.curation.rules.decisions.thresholds import Thresholds
from agents.curation.rules.ledger.ledger import Ledger
from agents.curation.rules.ledger.outcomes import Ruling
from schemas.extraction.candidates import Candidate, CandidateBatch
from schemas.policies.policies import DEFAULT_POLICY
from sinks.vectors.port import Neighbour

EAST = np.array((1, 0), np.float32)  # the vector of the candidate
SOUTH = np.array((0, -1), np.float32)  # of texts that it changes


def settle_candidate(
    ledger: Ledger, batch: CandidateBatch, said: Candidate, now: datetime, cosine: float = 0.6, **options: Any
) -> Ruling:
    """`options` are further ones of `settle`."""
    cosines = {each.memory_id: cosine for each in ledger.live_memories()}
    found = tuple(Neighbour(memory_id, score) for memory_id, score in cosines.items())
    given = {"vector_of": lambda _: SOUTH, "cosines": cosines} | options
    return settle(ledger, batch, said, EAST, found, DEFAULT_POLICY, Thresholds(), now, **given)
