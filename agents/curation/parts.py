"""Applies the rules to the candidates of a part, within a deciding transaction."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from agents.curation.ledgers import open_ledger, same_texts
from agents.curation.rules.apply_command import ERASED
from agents.curation.rules.change import created
from agents.curation.rules.decision_inputs import DecisionInputs, NeedsImportances, NeedsVerdicts
from agents.curation.rules.incoming import by_importance, contradicted_ids, is_older, mentioned_ids, named_ids
from agents.curation.rules.ledger import Ledger, cosine
from agents.curation.rules.normalise import normalise
from agents.curation.rules.notes import note_of
from agents.curation.rules.outcome import Ruling
from agents.curation.rules.resolving import in_other_languages, resolved, to_be_resolved
from agents.curation.rules.settle import settle
from agents.curation.rules.thresholds import Thresholds, thresholds
from agents.curation.rules.wishes import FORGOTTEN, asked_before, is_personal
from schemas import ids
from schemas.erasure.erasures import ConversationFence
from schemas.extraction.candidates import Candidate, CandidateBatch
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy
from sinks.erasure.fences import fences
from sinks.memories.forgotten import ForgottenWishes
from sinks.memories.reader import Memories
from sinks.postgres.connection import Connection
from sinks.vectors.port import Neighbour, VectorIndex

SHOWN_OF_EACH: Final = 6  # neighbours of a candidate that a model is shown, of those at most
MOST_SHOWN: Final = 24
FOREIGN_OF_EACH: Final = 4  # memories in another language, shown besides
MOST_FOREIGN: Final = 8
LOOKED_AT_FOREIGN: Final = 100  # the latest, of which those are chosen
NEIGHBOURS: Final = 24  # looked at per candidate: duplicates are among the nearest, what it ends may be further away


async def settle_candidates(
    connection: Connection,
    vectors: VectorIndex,
    batch: CandidateBatch,
    prepared: DecisionInputs,
    policy: Policy,
    now: datetime,
    earlier: Ledger | None = None,
) -> tuple[Ledger, tuple[Ruling, ...]]:
    """The ledger with all changes, and the rulings in order; writes nothing. Raises NeedsInput.

    With `earlier`, a ledger of unwritten decisions, these follow upon those, and the connection only reads.
    """
    texts = [candidate.text for candidate in batch.candidates]
    same = await same_texts(connection, batch.namespace, texts)
    limits = thresholds(vectors.embedding_model, policy)
    found = await neighbours_of_each(vectors, batch.namespace, prepared, texts, same, limits)
    mentions = mentioned_ids(batch.candidates, found)
    if earlier is None:
        ledger = await open_ledger(connection, batch.namespace, same, mentions, policy.max_memories)
    else:
        ledger = earlier
        ledger.learn([*same, *(await Memories(connection).by_ids(mentions)).values()])
    fenced = await fences_of(connection, batch.namespace, batch.conversation_id)
    candidates = with_importances(ledger, batch, prepared, policy, fenced)
    foreign = await in_foreign_languages(connection, batch, prepared, policy)
    candidates = with_verdicts(ledger, candidates, found, prepared, policy, foreign)
    named_now = [each for candidate in candidates for each in (*named_ids(candidate), candidate.repeats) if each]
    ledger.learn((await Memories(connection).by_ids(named_now)).values() if named_now else ())
    left = await remaining_allowance(connection, batch, policy, ledger)
    named = await Memories(connection).vectors(named_now, vectors.embedding_model) if named_now else {}
    notes = await learn_notes(connection, batch, ledger) if policy.note and left is not None else ()
    forgotten = await already_forgotten(connection, batch, policy, now)
    rulings: dict[int, Ruling] = {}
    for place in by_importance(candidates) if left is not None else range(len(candidates)):
        candidate, near = candidates[place], found[place]
        if is_older(candidate, batch, fenced):
            rulings[place] = Ruling(candidate_id=candidate.candidate_id, result="dropped", reason=ERASED)
            continue
        if candidate.candidate_id in forgotten:
            wish_id = forgotten[candidate.candidate_id]
            rulings[place] = Ruling(
                candidate_id=candidate.candidate_id, result="dropped", reason=FORGOTTEN, wish_id=wish_id
            )
            continue
        vector = prepared.vector(candidate.text)
        judged = [*contradicted_ids(candidate), *([candidate.repeats] if candidate.repeats else ())]
        cosines = {each: cosine(vector, named[each]) for each in judged if each in named}
        may_create = left is None or left > 0
        note = note_of(map(ledger.find_live, notes)) if policy.note and not may_create else None
        ruling = settle(
            ledger, batch, candidate, vector, near, policy, limits, now, may_create, prepared.vector, cosines, note
        )
        rulings[place] = ruling
        if left is not None and ruling.memory_id == ids.memory_id(candidate.candidate_id):  # made of this one
            left -= 1
    return ledger, tuple(rulings[place] for place in sorted(rulings))


async def fences_of(connection: Connection, namespace: str, conversation_id: str) -> tuple[ConversationFence, ...]:
    """The fences of a namespace that apply to a conversation."""
    known = await fences(connection, [namespace], [conversation_id], ())
    of_namespace = map(ConversationFence, known.namespaces.values())
    return (*of_namespace, *known.conversations.get(conversation_id, ()))


async def learn_notes(connection: Connection, batch: CandidateBatch, ledger: Ledger) -> tuple[str, ...]:
    """The ids of what the ledger then knows of the conversation."""
    found = await Memories(connection).of_conversation([batch.namespace], batch.conversation_id)
    ledger.learn(found)
    return tuple(memory.memory_id for memory in found)


async def already_forgotten(
    connection: Connection, batch: CandidateBatch, policy: Policy, now: datetime
) -> dict[str, str]:
    """The wishes, by ids of candidates, of what a user asked to have forgotten in a slice that was decided about before this
    one."""
    said = [source.timestamp for each in batch.candidates for source in each.sources if source.timestamp is not None]
    wishes = await ForgottenWishes(connection).since(batch.namespace, min(said)) if said else ()
    personal = is_personal(batch.namespace, policy)
    found = {
        each.candidate_id: asked_before(each, created(each, batch.namespace, batch.provider, now), wishes, personal)
        for each in batch.candidates
    }
    return {candidate_id: wish.wish_id for candidate_id, wish in found.items() if wish is not None}


async def remaining_allowance(
    connection: Connection, batch: CandidateBatch, policy: Policy, ledger: Ledger
) -> int | None:
    """How many more memories the conversation may create; None without a limit."""
    if policy.max_per_conversation is None:
        return None
    made = await Memories(connection).from_conversation(batch.namespace, batch.conversation_id)
    return policy.max_per_conversation - made - ledger.count_created_from(batch.conversation_id)


async def neighbours_of_each(
    vectors: VectorIndex,
    namespace: str,
    prepared: DecisionInputs,
    texts: Sequence[str],
    same: Sequence[Memory],
    limits: Thresholds,
) -> list[list[Neighbour]]:
    """The nearest memories of each text. Skips texts that equal a known memory, which is cheaper to detect."""
    known = {normalise(memory.text) for memory in same}

    async def near(text: str) -> list[Neighbour]:
        if normalise(text) in known:
            return []
        vector = prepared.vector(text)
        return await vectors.neighbours(namespace, vector, min_score=limits.akin, limit=NEIGHBOURS)

    return list(await asyncio.gather(*map(near, texts)))


async def in_foreign_languages(
    connection: Connection, batch: CandidateBatch, prepared: DecisionInputs, policy: Policy
) -> dict[str, tuple[Memory, ...]]:
    """By language the latest memories that are in another one; none where no model is to be asked."""
    if not policy.resolve or prepared.verdicts is not None:
        return {}
    memories = Memories(connection)
    languages = sorted({each.language for each in batch.candidates if each.language})
    return {
        language: await memories.in_other_languages(batch.namespace, language, LOOKED_AT_FOREIGN)
        for language in languages
    }


def with_verdicts(
    ledger: Ledger,
    candidates: Sequence[Candidate],
    found: Sequence[Sequence[Neighbour]],
    prepared: DecisionInputs,
    policy: Policy,
    foreign: Mapping[str, Sequence[Memory]],
) -> tuple[Candidate, ...]:
    """The candidates with what a model says they are to memories; `foreign` are those in other languages than each. Raises
    NeedsVerdicts where the policy has it asked, nobody was asked yet, and there is something to compare that is not known word
    for word."""
    if policy.resolve and prepared.verdicts is None:
        new = [
            place
            for place, each in enumerate(candidates)
            if ledger.exact(each.text) is None and not ledger.knows(ids.memory_id(each.candidate_id))
        ]
        near = [
            [memory for each in found[place] if (memory := ledger.find_live(each.memory_id)) is not None]
            for place in new
        ]
        others = [
            in_other_languages(candidates[place], foreign.get(candidates[place].language or "", ()), FOREIGN_OF_EACH)
            for place in new
        ]
        asked, memories = to_be_resolved(
            [candidates[place] for place in new],
            [each[:SHOWN_OF_EACH] for each in near],
            MOST_SHOWN,
            others,
            MOST_FOREIGN,
        )
        if asked:
            raise NeedsVerdicts(asked, memories)
    verdicts = prepared.verdicts or {}
    return tuple(resolved(each, verdicts.get(each.candidate_id)) for each in candidates)


def with_importances(
    ledger: Ledger, batch: CandidateBatch, prepared: DecisionInputs, policy: Policy, fenced: Sequence[ConversationFence]
) -> tuple[Candidate, ...]:
    """The candidates with the importances that they came without. Raises Unrated if one of them says what nobody said before, and
    nobody was asked yet."""
    unrated = [
        each
        for each in batch.candidates
        if each.importance is None
        and ledger.exact(each.text) is None
        and not ledger.knows(ids.memory_id(each.candidate_id))
        and not is_older(each, batch, fenced)
    ]
    if unrated and policy.complete and prepared.importances is None:
        raise NeedsImportances(unrated)
    known = prepared.importances or {}
    return tuple(
        each if each.importance is not None else replace(each, importance=known.get(each.candidate_id))
        for each in batch.candidates
    )
