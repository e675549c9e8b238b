"""Decides about a candidate of a part and enters the decision into the ledger."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from agents.curation.rules.decisions.comparing import confirmed_ids
from agents.curation.rules.decisions.contradictions import (
    Endings,
    concern_of,
    contradicted_memories,
    sorted_endings,
)
from agents.curation.rules.decisions.decide import (
    Create,
    Decision,
    Drop,
    Rewrite,
    Supersede,
    decide,
    folds_into,
)
from agents.curation.rules.decisions.decision_writer import DecisionWriter
from agents.curation.rules.decisions.endings import lies_ahead
from agents.curation.rules.decisions.incoming import contradicted_ids
from agents.curation.rules.decisions.part_context import IncomingCandidate, PartContext
from agents.curation.rules.decisions.repeats import possible_repeats
from agents.curation.rules.decisions.resolving import with_addition
from agents.curation.rules.ledger.ledger import Concern
from agents.curation.rules.ledger.outcomes import Ruling
from agents.curation.rules.ledger.scored import Scored
from agents.models.port import Verdict
from schemas import ids
from schemas.counts import counted
from schemas.policies.policies import Policy

MAX_NEAREST: Final = 48  # memories that the rules compare with a candidate, those of its own part included


def settle(part: PartContext, incoming: IncomingCandidate) -> Ruling:
    """Decides about a candidate and enters the changes into the ledger."""
    ledger, candidate = part.ledger, incoming.candidate
    if ledger.knows(ids.memory_id(candidate.candidate_id)):
        return Ruling(
            candidate_id=candidate.candidate_id, result="dropped", reason="repeated: this candidate was settled"
        )
    concerns = concern_of(candidate, part.batch.namespace, part.policy)
    repeated = ledger.find_live(candidate.repeats)
    candidate = with_addition(candidate, repeated if repeated and concerns(repeated) else None)
    incoming = replace(incoming, candidate=candidate)
    nearest = [each for each in ledger.neighbours(incoming.vector, incoming.found) if concerns(each.memory)]
    nearest = nearest[:MAX_NEAREST]
    confirmed = confirmed_ids(candidate, nearest, part.relations)
    repeats = possible_repeats(ledger, candidate, nearest, part.thresholds.related, incoming.cosines, confirmed)
    near = [each for each in repeats if concerns(each.memory)]
    endings = find_endings(part, incoming, nearest, concerns)
    decision = decide(
        candidate,
        ledger.exact(candidate.text, concerns),
        [each for each in near if each.memory.memory_id not in endings.staying],
        part.policy,
        part.thresholds,
        endings.wholly,
        endings.objection,
        confirmed,
        ahead=lies_ahead(candidate, part.now),
    )
    decision = within_limit(decision, incoming, part.policy)
    linkable = [*(Scored(memory, 1.0) for memory in endings.spared), *near]
    writer = DecisionWriter(part, incoming, linkable, endings.wholly)
    ruling = writer.apply(decision)
    if not isinstance(decision, Drop):
        writer.end_in_part(endings.in_part)
    return ruling


def find_endings(
    part: PartContext, incoming: IncomingCandidate, nearest: Sequence[Scored], concerns: Concern
) -> Endings:
    """The memories that the candidate contradicts."""
    candidate, ledger = incoming.candidate, part.ledger
    named_ids = dict.fromkeys((*contradicted_ids(candidate), *incoming.corrected))
    named = [memory for each in named_ids if (memory := ledger.find_live(each)) is not None and concerns(memory)]
    known = {each.memory.memory_id: each.score for each in nearest} | dict(incoming.cosines)
    contradicted, objection = contradicted_memories(
        candidate,
        named,
        known,
        nearest,
        part.thresholds.comparable,
        part.own_ids.intersection(incoming.corrected),
        part.relations,
        incoming.verdict,
        # a part of a memory cannot end in the future
        in_part=not (lies_ahead(candidate, part.now) or ends_later(incoming.verdict, part.now)),
    )
    return sorted_endings(ledger, candidate, contradicted, objection)


def ends_later(verdict: Verdict | None, now: datetime) -> bool:
    """Whether the verdict ends memories in the future."""
    return verdict is not None and verdict.until is not None and verdict.until > now


def within_limit(decision: Decision, incoming: IncomingCandidate, policy: Policy) -> Decision:
    """The decision, unless it creates a memory above the limit of the conversation, or repeats the conversation's note."""
    note = incoming.note
    if incoming.may_create or not (creates_memory(decision) or (note is not None and folds_into(decision, note))):
        return decision
    if note is None:
        return Drop(f"a conversation makes at most {counted(policy.max_per_conversation or 0, 'memories')}")
    return Rewrite(note, "the conversation went on")


def creates_memory(decision: Decision) -> bool:
    """Whether the decision creates a memory, also as the successor of superseded ones."""
    return isinstance(decision, Create) or (isinstance(decision, Supersede) and decision.successor is None)
