"""Applies the decision about a candidate to the ledger."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from agents.curation.rules.decisions.comparing import confirmed_ids
from agents.curation.rules.decisions.contradictions import (
    EndedMemory,
    concern_of,
    contradicted_memories,
    sorted_endings,
)
from agents.curation.rules.decisions.decide import (
    Create,
    Decision,
    Drop,
    Merge,
    Reinforce,
    Rewrite,
    Supersede,
    decide,
    folds_into,
)
from agents.curation.rules.decisions.endings import continuing, end_by, ending, lies_ahead, postpones, takes_effect
from agents.curation.rules.decisions.incoming import contradicted_ids
from agents.curation.rules.decisions.repeats import possible_repeats
from agents.curation.rules.decisions.resolving import with_addition
from agents.curation.rules.decisions.thresholds import Thresholds
from agents.curation.rules.ledger import change, links
from agents.curation.rules.ledger.ledger import Ledger
from agents.curation.rules.ledger.merge import adds_content, merge
from agents.curation.rules.ledger.notes import includes, rewritten
from agents.curation.rules.ledger.outcomes import Result, Ruling
from agents.curation.rules.ledger.scored import Scored
from agents.models.port import Verdict
from schemas import ids
from schemas.extraction.candidates import Candidate, CandidateBatch
from schemas.memories.events import Cause
from schemas.memories.memories import Change, Memory
from schemas.policies.policies import Policy
from sinks.classification.port import Pair, Relation
from sinks.vectors.port import Neighbour, Vector

MAX_NEAREST: Final = 48  # memories that the rules compare with a candidate, those of its own part included


def settle(
    ledger: Ledger,
    batch: CandidateBatch,
    candidate: Candidate,
    vector: Vector,
    found: Sequence[Neighbour],
    policy: Policy,
    thresholds: Thresholds,
    now: datetime,
    may_create: bool = True,
    vector_of: Callable[[str], Vector] | None = None,
    cosines: Mapping[str, float] | None = None,
    note: Memory | None = None,
    corrected: Sequence[str] = (),
    relations: Mapping[Pair, Relation] | None = None,
    verdict: Verdict | None = None,
) -> Ruling:
    """Decides about a candidate and enters the changes into the ledger. `found` are the nearest memories of the vector
    index.

    `vector_of` returns the vectors of other texts; `cosines` has the known cosines of memories that the model named. Without
    `may_create` the conversation has reached its number of memories: a candidate that would create one is dropped, or
    rewrites the conversation's `note`, if it has one. `corrected` are memories with statements that the candidate corrects:
    those that this slice created end without further evidence. `relations` are those of memories and candidates that a model
    compared, `verdict` is what a model said of the candidate.
    """
    if ledger.knows(ids.memory_id(candidate.candidate_id)):
        return Ruling(
            candidate_id=candidate.candidate_id, result="dropped", reason="repeated: this candidate was settled"
        )
    concerns = concern_of(candidate, batch.namespace, policy)
    repeated = ledger.find_live(candidate.repeats)
    candidate = with_addition(candidate, repeated if repeated and concerns(repeated) else None)
    nearest = [each for each in ledger.neighbours(vector, found) if concerns(each.memory)][:MAX_NEAREST]
    confirmed = confirmed_ids(candidate, nearest, relations or {})
    repeats = possible_repeats(ledger, candidate, nearest, thresholds.related, cosines or {}, confirmed)
    near = [each for each in repeats if concerns(each.memory)]
    ids_named = dict.fromkeys((*contradicted_ids(candidate), *corrected))
    named = [memory for each in ids_named if (memory := ledger.find_live(each)) is not None and concerns(memory)]
    known = {each.memory.memory_id: each.score for each in nearest} | dict(cosines or {})
    own = {ids.memory_id(each.candidate_id) for each in batch.candidates}.intersection(corrected)
    ahead = lies_ahead(candidate, now)
    ended, objected = contradicted_memories(
        candidate,
        named,
        known,
        nearest,
        thresholds.comparable,
        own,
        relations or {},
        verdict,
        in_part=not (ahead or ends_later(verdict, now)),  # a part of a memory cannot end in the future
    )
    ends = sorted_endings(ledger, candidate, ended)
    decision = decide(
        candidate,
        ledger.exact(candidate.text, concerns),
        [each for each in near if each.memory.memory_id not in ends.staying],
        policy,
        thresholds,
        ends.wholly,
        ends.objection or objected,
        confirmed,
        ahead=ahead,
    )
    if not may_create and (creates_memory(decision) or (note is not None and folds_into(decision, note))):
        full = Drop(f"a conversation makes at most {policy.max_per_conversation} memories")
        decision = full if note is None else Rewrite(note, "the conversation went on")
    linkable = [*(Scored(memory, 1.0) for memory in ends.spared), *near]
    settlement = _Settlement(ledger, batch, candidate, vector, linkable, policy, now, vector_of, ends.wholly)
    ruling = settlement.apply(decision)
    if not isinstance(decision, Drop):
        settlement.end_in_part(ends.in_part)
    return ruling


def ends_later(verdict: Verdict | None, now: datetime) -> bool:
    """Whether the verdict ends memories in the future."""
    return verdict is not None and verdict.until is not None and verdict.until > now


def creates_memory(decision: Decision) -> bool:
    """Whether the decision creates a memory, also as the successor of superseded ones."""
    return isinstance(decision, Create) or (isinstance(decision, Supersede) and decision.successor is None)


class _Settlement:
    """Applies one candidate's decision."""

    def __init__(
        self,
        ledger: Ledger,
        batch: CandidateBatch,
        candidate: Candidate,
        vector: Vector,
        near: Sequence[Scored],
        policy: Policy,
        now: datetime,
        vector_of: Callable[[str], Vector] | None,
        ended: Iterable[EndedMemory],
    ) -> None:
        self._ended = {each.memory.memory_id: each for each in ended}
        self._vector_of = vector_of
        self._ledger, self._candidate, self._vector, self._now = ledger, candidate, vector, now
        self._near, self._policy, self._batch = near, policy, batch
        self._cause = Cause(actor=batch.provider, candidate_id=candidate.candidate_id, request_id=batch.request_id)

    def apply(self, decision: Decision) -> Ruling:
        match decision:
            case Drop(reason):
                return self._ruling("dropped", None, reason)
            case Reinforce(memory, reason):
                return self._ruling("reinforced", self._fold("reinforced", memory, reason), reason)
            case Merge(memory, reason):
                return self._ruling("merged", self._fold("merged", memory, reason), reason)
            case Rewrite(memory, reason):
                return self._ruling("merged", self._rewrite(memory, reason), reason)
            case Create(reason):
                return self._ruling("created", self._create(reason), reason)
            case Supersede(memories, successor, reason):
                return self._ruling("superseded", self._supersede(memories, successor, reason), reason)

    def end_in_part(self, memories: Iterable[EndedMemory]) -> None:
        """Removes the clauses that the candidate ends. A memory that the candidate changed meanwhile, as the note of its
        conversation, keeps its text, and so does one that would become the same as another."""
        for each in memories:
            memory = self._ledger.find_live(each.memory.memory_id)
            if each.rest is None or memory is None or memory.text != each.memory.text:
                continue
            if self._ledger.exact(each.rest) is None:
                after = change.without_clause(memory, each.rest, self._now)
                self._enter("updated", after, f"a part of it ended: {each.reason}", self._vector_for(each.rest))

    def _create(self, reason: str | None, supersedes: Sequence[Memory] = ()) -> Memory:
        refined = self._ledger.find_live(self._candidate.refines)
        linked = links.links_of(self._candidate, self._near, refined, supersedes)
        memory = change.created(self._candidate, self._ledger.namespace, self._cause.actor, self._now, linked)
        if supersedes:
            memory = replace(memory, supersedes=supersedes[0].memory_id)
        return self._enter("created", memory, reason, self._vector)

    def _fold(self, kind: Change, memory: Memory, reason: str) -> Memory:
        """Merges the candidate into the memory. Its text goes into the reason, where it stays readable."""
        after = merge(memory, self._candidate, self._now, self._policy.max_text_chars)
        vector = None if after.text == memory.text else self._vector_for(after.text)
        return self._enter(kind, after, f"{reason}: {self._candidate.text}", vector)

    def _rewrite(self, memory: Memory, reason: str) -> Memory:
        includes_note = includes(self._candidate, memory, self._batch)
        after = rewritten(memory, self._candidate, self._now, self._policy.max_text_chars, includes_note=includes_note)
        return self._enter("merged", after, f"{reason}: {self._candidate.text}", self._vector_for(after.text))

    def _vector_for(self, text: str) -> Vector:
        """The vector of a text: the candidate's, or that of a merged text."""
        return self._vector if text == self._candidate.text or self._vector_of is None else self._vector_of(text)

    def _supersede(self, memories: Sequence[Memory], successor: Memory | None, reason: str) -> Memory:
        """Enters the successor first, so that at any sequence one of both is live. A memory that ends in the future stays
        live until then."""
        if successor is None:
            follows = self._create(None, memories)
        else:
            is_more = adds_content(self._candidate, successor, self._policy.max_text_chars)
            follows = self._fold(
                "merged" if is_more else "reinforced", links.linked_successor(successor, memories), reason
            )
        for memory in memories:
            ended = self._ended[memory.memory_id]
            until = end_by(self._candidate, ended, follows, self._now)
            if until > max(self._now, change.first_said(self._candidate, self._now)):
                after = ending(memory, follows, until, self._now)
                self._enter("updated", after, f"{ended.reason}, from {until:%Y-%m-%d}")
            else:
                self._enter("superseded", change.superseded(memory, follows, until, self._now), ended.reason)
                self._hand_on(memory, follows, until)
        return self._ledger.find_live(follows.memory_id) or follows

    def _hand_on(self, plan: Memory, successor: Memory, until: datetime) -> None:
        """Gives the memories that an ended plan would have ended later to its successor, if that is a plan too; otherwise they
        continue to hold."""
        for each in self._ledger.live_memories():
            if each.superseded_by != plan.memory_id or each.valid_until is None or each.valid_until <= until:
                continue
            if each.memory_id != successor.memory_id and postpones(self._candidate, plan, self._now):
                day = takes_effect(self._candidate, self._now)
                after = ending(each, successor, day, self._now)
                self._enter("updated", after, f"the scheduled successor was postponed to {day:%Y-%m-%d}")
            else:
                self._enter("updated", continuing(each, self._now), "the scheduled successor was removed")

    def _enter(self, kind: Change, memory: Memory, reason: str | None, vector: Vector | None = None) -> Memory:
        if kind not in ("superseded", "updated"):
            memory = change.with_expiry(memory, self._policy, self._now)
        return self._ledger.enter(kind, memory, replace(self._cause, reason=reason), self._now, vector)

    def _ruling(self, result: Result, memory: Memory | None, reason: str | None) -> Ruling:
        memory_id = memory.memory_id if memory else None
        return Ruling(candidate_id=self._candidate.candidate_id, result=result, memory_id=memory_id, reason=reason)
