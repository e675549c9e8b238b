"""The inputs of the decision about a candidate: those of its part, and its own."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from agents.curation.rules.decisions.thresholds import Thresholds
from agents.curation.rules.ledger.ledger import Ledger
from agents.models.port import Verdict
from schemas.extraction.candidates import Candidate, CandidateBatch
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy
from sinks.classification.port import Pair, Relation
from sinks.vectors.port import Neighbour, Vector


class PartContext(Struct, frozen=True, kw_only=True):
    """What the candidates of a part share. `own_ids` are the ids of the memories that they would create. `vector_of` returns
    the vectors of changed texts. `relations` are those between memories and candidates that a model compared."""

    ledger: Ledger
    batch: CandidateBatch
    own_ids: frozenset[str]
    policy: Policy
    thresholds: Thresholds
    now: datetime
    vector_of: Callable[[str], Vector]
    relations: Mapping[Pair, Relation] = {}


class IncomingCandidate(Struct, frozen=True, kw_only=True):
    """A candidate, its `vector`, and what is known of it. `found` are the nearest memories of the vector index; `cosines` has
    those of memories that the model named; `verdict` is what a model said of the candidate.

    `corrected` are memories with statements that the candidate corrects: those that this slice created end without further
    evidence. Without `may_create` the conversation has reached its number of memories: a candidate that would create one is
    dropped, or rewrites the conversation's `note`, if it has one.
    """

    candidate: Candidate
    vector: Vector
    found: Sequence[Neighbour] = ()
    cosines: Mapping[str, float] = {}
    verdict: Verdict | None = None
    corrected: Sequence[str] = ()
    may_create: bool = True
    note: Memory | None = None
