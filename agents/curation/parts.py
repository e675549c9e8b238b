"""Applies the rules to the candidates of a part, within a deciding transaction."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from msgspec.structs import replace

from agents.curation.copies import naming_copies
from agents.curation.ledgers import open_ledger, same_texts
from agents.curation.part_inputs import (
    fences_of,
    forgotten_candidates,
    load_judged,
    load_named,
    load_notes,
    memories_in_other_languages,
    neighbours_of_each,
    remaining_allowance,
)
from agents.curation.rules.commands.apply_command import ERASED, MEMORY_ERASED
from agents.curation.rules.commands.wishes import FORGOTTEN
from agents.curation.rules.decisions.comparing import clauses_to_compare, missing_pairs, pairs_to_compare
from agents.curation.rules.decisions.contradictions import concern_of
from agents.curation.rules.decisions.decision_inputs import (
    DecisionInputs,
    NeedsImportances,
    NeedsRelations,
    NeedsVectors,
)
from agents.curation.rules.decisions.incoming import (
    contradicted_ids,
    corrected_ids,
    decision_order,
    is_erased,
    mentioned_ids,
)
from agents.curation.rules.decisions.part_context import IncomingCandidate, PartContext
from agents.curation.rules.decisions.resolving import with_verdicts
from agents.curation.rules.decisions.settle import settle
from agents.curation.rules.decisions.thresholds import thresholds, unrelated
from agents.curation.rules.ledger.ledger import Concern, Ledger, cosine
from agents.curation.rules.ledger.notes import note_of
from agents.curation.rules.ledger.outcomes import Ruling
from schemas import ids
from schemas.erasure.erasures import ConversationFence
from schemas.extraction.candidates import Candidate, CandidateBatch
from schemas.policies.policies import Policy
from sinks.erasure.erased_memories import ErasedMemories, Messages, is_among
from sinks.memories.reader import Memories
from sinks.postgres.connection import Connection
from sinks.vectors.port import Neighbour, Vector, VectorIndex


async def settle_candidates(
    connection: Connection,
    vectors: VectorIndex,
    batch: CandidateBatch,
    prepared: DecisionInputs,
    policy: Policy,
    now: datetime,
    earlier: Ledger | None = None,
) -> tuple[Ledger, tuple[Ruling, ...]]:
    """Returns the ledger with all changes, and the rulings in the order of the candidates. Writes nothing. Raises NeedsInput.

    `earlier` is a ledger with decisions that are not written; the new decisions are added to it, and the connection only reads.
    """
    batch = await naming_copies(connection, batch)
    texts = [candidate.text for candidate in batch.candidates]
    same = await same_texts(connection, batch.namespace, texts)
    limits = thresholds(vectors.embedding_model, policy)
    concerns = [concern_of(each, batch.namespace, policy) for each in batch.candidates]
    neighbours = await neighbours_of_each(vectors, batch.namespace, prepared, batch.candidates, concerns, same)
    mentions = mentioned_ids(batch.candidates, neighbours)
    if earlier is None:
        ledger = await open_ledger(connection, batch.namespace, same, mentions, policy.max_memories)
    else:
        ledger = earlier
        ledger.learn([*same, *(await Memories(connection).by_ids(mentions)).values()])
    fenced = await fences_of(connection, batch.namespace, batch.conversation_id)
    candidates = with_importances(ledger, batch, concerns, prepared, policy, fenced)
    foreign = await memories_in_other_languages(connection, batch, prepared, policy)
    await load_judged(connection, ledger, prepared)
    least = unrelated(limits.comparable)
    related = [[each for each in near if each.score >= least] for near in neighbours]
    candidates = with_verdicts(ledger, candidates, concerns, related, prepared, policy, foreign, least)
    if prepared.relations is not None:
        pairs = pairs_to_compare(ledger, candidates, concerns, neighbours, prepared.vector, limits.comparable)
        clauses = dict.fromkeys(clauses_to_compare(ledger, candidates, concerns))
        missing = missing_pairs(pairs, prepared.relations) + [
            each for each in clauses if each not in prepared.relations
        ]
        if missing:
            raise NeedsRelations(missing)
    named = await load_named(connection, vectors.embedding_model, ledger, candidates)
    allowance = await remaining_allowance(connection, batch, policy, ledger)
    notes = await load_notes(connection, batch, ledger) if policy.note and allowance is not None else ()
    forgotten = await forgotten_candidates(connection, batch, policy, now)
    said = [source for candidate in batch.candidates for source in candidate.sources]
    erased = await ErasedMemories(connection).among(batch.namespace, said)
    changed = ChangedTexts(prepared.vectors)
    context = PartContext(
        ledger=ledger,
        batch=batch,
        own_ids=frozenset(ids.memory_id(each.candidate_id) for each in candidates),
        policy=policy,
        thresholds=limits,
        now=now,
        vector_of=changed.vector_of,
        relations=prepared.relations or {},
    )
    part = _Part(context, prepared, named, notes, allowance)
    for place in decision_order(candidates, limited=allowance is not None):
        unwanted = drop_if_unwanted(candidates[place], batch, fenced, forgotten, erased)
        part.rulings[place] = unwanted or part.settle(candidates[place], neighbours[place])
        await asyncio.sleep(0)  # the rules take milliseconds a candidate: the other work of the process has its turn
    if changed.unembedded:
        raise NeedsVectors(tuple(changed.unembedded))
    return ledger, tuple(part.rulings[place] for place in sorted(part.rulings))


class ChangedTexts:
    """The vectors of texts that memories get by a decision. Texts without one are `unembedded`, and near nothing: they are
    embedded together, and the part is decided again."""

    def __init__(self, vectors: Mapping[str, Vector]) -> None:
        self._vectors = vectors
        self.unembedded: dict[str, None] = {}

    def vector_of(self, text: str) -> Vector:
        if text not in self._vectors:
            self.unembedded[text] = None
            return np.zeros(1, np.float32)
        return self._vectors[text]


@dataclass
class _Part:
    """The decisions about one part so far.

    `named` has the vectors of memories that candidates name, `notes` the ids of the conversation's memories. `allowance` is
    how many memories the conversation may still create; None for no limit.
    """

    context: PartContext
    prepared: DecisionInputs
    named: Mapping[str, Vector]
    notes: Sequence[str]
    allowance: int | None
    rulings: dict[int, Ruling] = field(default_factory=dict)

    def settle(self, candidate: Candidate, neighbours: Sequence[Neighbour]) -> Ruling:
        """Decides about the next candidate and enters the changes into the ledger. Raises NeedsInput."""
        ledger, vector = self.context.ledger, self.prepared.vector(candidate.text)
        judged = [*contradicted_ids(candidate), *([candidate.repeats] if candidate.repeats else ())]
        corrected = corrected_ids(candidate, self.rulings.values())
        replaced = [each for each in corrected if each in self.context.own_ids and ledger.find_live(each) is not None]
        may_create = self.allowance is None or self.allowance > 0 or bool(replaced)
        has_note = self.context.policy.note and not may_create
        incoming = IncomingCandidate(
            candidate=candidate,
            vector=vector,
            found=neighbours,
            cosines={each: cosine(vector, self.named[each]) for each in judged if each in self.named},
            verdict=(self.prepared.verdicts or {}).get(candidate.candidate_id),
            corrected=corrected,
            may_create=may_create,
            note=note_of(map(ledger.find_live, self.notes)) if has_note else None,
        )
        ruling = settle(self.context, incoming)
        if self.allowance is not None:
            self.allowance += sum(ledger.find_live(each) is None for each in replaced)
            self.allowance -= ruling.memory_id == ids.memory_id(candidate.candidate_id)  # created from this candidate
        return ruling


def drop_if_unwanted(
    candidate: Candidate,
    batch: CandidateBatch,
    fenced: Sequence[ConversationFence],
    forgotten: Mapping[str, str],
    erased: Messages,
) -> Ruling | None:
    """The ruling that drops a candidate from before an erasure, one from a message of a memory that was `erased`, or one that a
    user's wish to forget covers; None for any other candidate."""
    candidate_id = candidate.candidate_id
    if is_erased(candidate, batch, fenced):
        return Ruling(candidate_id=candidate_id, result="dropped", reason=ERASED)
    if is_among(candidate.sources, erased):
        return Ruling(candidate_id=candidate_id, result="dropped", reason=MEMORY_ERASED)
    if (wish_id := forgotten.get(candidate_id)) is not None:
        return Ruling(candidate_id=candidate_id, result="dropped", reason=FORGOTTEN, wish_id=wish_id)
    return None


def with_importances(
    ledger: Ledger,
    batch: CandidateBatch,
    concerns: Sequence[Concern],
    prepared: DecisionInputs,
    policy: Policy,
    fenced: Sequence[ConversationFence],
) -> tuple[Candidate, ...]:
    """The candidates, with missing importances from `prepared`. Raises NeedsImportances if a new candidate has none and none
    were requested yet."""
    unrated = [
        each
        for each, concerned in zip(batch.candidates, concerns, strict=True)
        if each.importance is None and ledger.is_new(each, concerned) and not is_erased(each, batch, fenced)
    ]
    if unrated and policy.complete and prepared.importances is None:
        raise NeedsImportances(unrated)
    known = prepared.importances or {}
    return tuple(
        each if each.importance is not None else replace(each, importance=known.get(each.candidate_id))
        for each in batch.candidates
    )
