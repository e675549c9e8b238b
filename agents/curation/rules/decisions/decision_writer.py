"""Enters the decision about a candidate into the ledger."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from msgspec.structs import replace

from agents.curation.rules.decisions.contradictions import EndedMemory
from agents.curation.rules.decisions.decide import Create, Decision, Drop, Merge, Reinforce, Rewrite, Supersede
from agents.curation.rules.decisions.endings import continuing, end_by, ending, postpones, takes_effect
from agents.curation.rules.decisions.part_context import IncomingCandidate, PartContext
from agents.curation.rules.ledger import change, links
from agents.curation.rules.ledger.merge import adds_content, merge
from agents.curation.rules.ledger.notes import includes, rewritten
from agents.curation.rules.ledger.outcomes import Result, Ruling
from agents.curation.rules.ledger.scored import Scored
from schemas.memories.events import Cause
from schemas.memories.memories import Change, Memory
from sinks.vectors.port import Vector


class DecisionWriter:
    """Enters one candidate's decision. `near` are memories to which a new memory may link, `ended` those that the candidate
    ends wholly."""

    def __init__(
        self, part: PartContext, incoming: IncomingCandidate, near: Sequence[Scored], ended: Iterable[EndedMemory]
    ) -> None:
        self._ledger, self._batch, self._policy, self._now = part.ledger, part.batch, part.policy, part.now
        self._vector_of = part.vector_of
        self._candidate, self._vector = incoming.candidate, incoming.vector
        self._near = near
        self._ended = {each.memory.memory_id: each for each in ended}
        self._cause = Cause(
            actor=part.batch.provider,
            candidate_id=incoming.candidate.candidate_id,
            request_id=part.batch.request_id,
        )

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
        includes_note = includes(memory, self._batch)
        after = rewritten(memory, self._candidate, self._now, self._policy.max_text_chars, includes_note=includes_note)
        return self._enter("merged", after, f"{reason}: {self._candidate.text}", self._vector_for(after.text))

    def _vector_for(self, text: str) -> Vector:
        """The vector of a text: the candidate's, or that of a merged text."""
        return self._vector if text == self._candidate.text else self._vector_of(text)

    def _supersede(self, memories: Sequence[Memory], successor: Memory | None, reason: str) -> Memory:
        """Enters the successor first, so that at any sequence one of both is live. A memory that ends in the future stays
        live until then, one that has an earlier end keeps it."""
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
                if memory.valid_until is None or memory.valid_until > until:
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
