"""Applies a decision about a candidate to the ledger."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from msgspec.structs import replace

from agents.curation.rules import change, links
from agents.curation.rules.decide import (
    Create,
    Decision,
    Drop,
    Merge,
    Reinforce,
    Rewrite,
    Supersede,
    decide,
    in_other_language,
)
from agents.curation.rules.ending import ended_memories
from agents.curation.rules.incoming import contradicted_ids
from agents.curation.rules.ledger import Ledger
from agents.curation.rules.merge import adds, merge
from agents.curation.rules.notes import rewritten
from agents.curation.rules.outcome import Result, Ruling
from agents.curation.rules.scored import Scored
from agents.curation.rules.thresholds import Thresholds
from schemas import ids
from schemas.extraction.candidates import Candidate, CandidateBatch
from schemas.memories.events import Cause
from schemas.memories.memories import Change, Memory
from schemas.policies.policies import Policy
from sinks.vectors.port import Neighbour, Vector


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
) -> Ruling:
    """Enters what becomes of a candidate; `found` is what the vector index has near it, from `thresholds.akin` on.

    `vector_of` gives the vectors of other texts, `cosines` how near the memories are that the model named, as far as known.
    Without `may_create` it is dropped if nothing else says it, whatever it contradicts: its conversation has made its number
    of memories. If that is told in one `note`, the note is rewritten instead.
    """
    if ledger.knows(ids.memory_id(candidate.candidate_id)):
        return Ruling(
            candidate_id=candidate.candidate_id, result="dropped", reason="repeated: this candidate was settled"
        )
    akin = ledger.neighbours(vector, found, thresholds.akin)
    near = [
        each
        for each in akin
        if each.score >= thresholds.related
        or (each.memory.memory_id == candidate.repeats and in_other_language(candidate, each.memory))
    ]
    near += elsewhere(ledger, candidate, near, cosines or {})
    named = [memory for each in contradicted_ids(candidate) if (memory := ledger.find_live(each)) is not None]
    known = {each.memory.memory_id: each.score for each in akin} | dict(cosines or {})
    ended, objected = ended_memories(candidate, named, known, akin, thresholds.akin)
    decision = decide(candidate, ledger.exact(candidate.text), near, policy, thresholds, ended, objected)
    if creates_memory(decision) and not may_create:
        full = Drop(f"a conversation makes at most {policy.max_per_conversation} memories")
        decision = full if note is None else Rewrite(note, "the conversation went on")
    return _Settlement(ledger, batch, candidate, vector, near, policy, now, vector_of).apply(decision)


def elsewhere(
    ledger: Ledger, candidate: Candidate, near: Sequence[Scored], cosines: Mapping[str, float]
) -> list[Scored]:
    """The memory in another language that a model takes for the same, where the vector index did not name it: with most embedders
    two languages hardly meet."""
    memory = ledger.find_live(candidate.repeats)
    if memory is None or not in_other_language(candidate, memory):
        return []
    known = any(each.memory.memory_id == memory.memory_id for each in near)
    return [] if known else [Scored(memory, cosines.get(memory.memory_id, 0.0))]


def creates_memory(decision: Decision) -> bool:
    """Whether a new memory comes of it: of a contradiction too, where nothing known says what holds instead."""
    return isinstance(decision, Create) or (isinstance(decision, Supersede) and decision.successor is None)


class _Settlement:
    """One candidate's way into the ledger."""

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
    ) -> None:
        self._vector_of = vector_of
        self._ledger, self._candidate, self._vector, self._now = ledger, candidate, vector, now
        self._near, self._policy = near, policy
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

    def _create(self, reason: str | None, supersedes: Sequence[Memory] = ()) -> Memory:
        refined = self._ledger.find_live(self._candidate.refines)
        linked = links.links_of(self._candidate, self._near, refined, supersedes)
        memory = change.created(self._candidate, self._ledger.namespace, self._cause.actor, self._now, linked)
        if supersedes:
            memory = replace(memory, supersedes=supersedes[0].memory_id)
        return self._enter("created", memory, reason, self._vector)

    def _fold(self, kind: Change, memory: Memory, reason: str) -> Memory:
        """The candidate's own words go into the reason: where they do not win, they are kept nowhere else."""
        after = merge(memory, self._candidate, self._now, self._policy.max_text_chars)
        vector = None if after.text == memory.text else self._vector_for(after.text)
        return self._enter(kind, after, f"{reason}: {self._candidate.text}", vector)

    def _rewrite(self, memory: Memory, reason: str) -> Memory:
        after = rewritten(memory, self._candidate, self._now, self._policy.max_text_chars)
        return self._enter("merged", after, f"{reason}: {self._candidate.text}", self._vector_for(after.text))

    def _vector_for(self, text: str) -> Vector:
        """A text made of two has a vector of its own."""
        return self._vector if text == self._candidate.text or self._vector_of is None else self._vector_of(text)

    def _supersede(self, memories: Sequence[Memory], successor: Memory | None, reason: str) -> Memory:
        """The new one first: at no point of the sequence is neither known. What ends on a day that lies ahead holds until
        then."""
        if successor is None:
            follows = self._create(None, memories)
        else:
            is_more = adds(self._candidate, successor, self._policy.max_text_chars)
            follows = self._fold(
                "merged" if is_more else "reinforced", links.linked_successor(successor, memories), reason
            )
        until = change.valid_from(self._candidate, self._now)
        lies_ahead = until > max(self._now, change.first_said(self._candidate, self._now))  # clocks of senders differ
        for memory in memories:
            if lies_ahead:
                self._enter(
                    "updated", change.ending(memory, follows, until, self._now), f"{reason}, from {until:%Y-%m-%d}"
                )
            else:
                self._enter("superseded", change.superseded(memory, follows, until, self._now), reason)
        return follows

    def _enter(self, kind: Change, memory: Memory, reason: str | None, vector: Vector | None = None) -> Memory:
        if kind not in ("superseded", "updated"):
            memory = change.with_expiry(memory, self._policy, self._now)
        return self._ledger.enter(kind, memory, replace(self._cause, reason=reason), self._now, vector)

    def _ruling(self, result: Result, memory: Memory | None, reason: str | None) -> Ruling:
        memory_id = memory.memory_id if memory else None
        return Ruling(candidate_id=self._candidate.candidate_id, result=result, memory_id=memory_id, reason=reason)
