"""Loads the memories, fences, wishes and limits that the rules need to decide about a part."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from agents.curation.rules.commands.wishes import covering_wish
from agents.curation.rules.decisions.decision_inputs import DecisionInputs
from agents.curation.rules.decisions.incoming import named_ids
from agents.curation.rules.ledger.change import created
from agents.curation.rules.ledger.ledger import Concern, Ledger
from agents.curation.rules.statements.normalise import normalise
from schemas.erasure.erasures import ConversationFence
from schemas.extraction.candidates import Candidate, CandidateBatch
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy
from sinks.erasure.fences import fences
from sinks.memories.forgotten import ForgottenWishes
from sinks.memories.reader import Memories
from sinks.postgres.connection import Connection
from sinks.vectors.port import Neighbour, Vector, VectorIndex

LATEST_IN_OTHER_LANGUAGES: Final = 100  # memories that are compared with a candidate in another language
NEIGHBOURS: Final = 24  # per candidate: duplicates are among the nearest; contradicted memories may be further away
ANY_COSINE: Final = -1.0  # no minimum: rules detect contradictions by words, also in another language


async def load_named(
    connection: Connection, embedding_model: str, ledger: Ledger, candidates: Sequence[Candidate]
) -> dict[str, Vector]:
    """Loads the memories that candidates name into the ledger, and returns their vectors."""
    named = [each for candidate in candidates for each in (*named_ids(candidate), candidate.repeats) if each]
    if not named:
        return {}
    memories = Memories(connection)
    ledger.learn((await memories.by_ids(named)).values())
    return await memories.vectors(named, embedding_model)


async def load_judged(connection: Connection, ledger: Ledger, prepared: DecisionInputs) -> None:
    """Loads the memories that are the same as a candidate by a model's verdict into the ledger."""
    if same := [each.same for each in (prepared.verdicts or {}).values() if each.same]:
        ledger.learn((await Memories(connection).by_ids(same)).values())


async def fences_of(connection: Connection, namespace: str, conversation_id: str) -> tuple[ConversationFence, ...]:
    """The fences of a namespace that apply to a conversation."""
    known = await fences(connection, [namespace], [conversation_id], ())
    of_namespace = map(ConversationFence, known.namespaces.values())
    return (*of_namespace, *known.conversations.get(conversation_id, ()))


async def load_notes(connection: Connection, batch: CandidateBatch, ledger: Ledger) -> tuple[str, ...]:
    """Loads the conversation's memories into the ledger, and returns their ids."""
    found = await Memories(connection).of_conversation([batch.namespace], batch.conversation_id)
    ledger.learn(found)
    return tuple(memory.memory_id for memory in found)


async def forgotten_candidates(
    connection: Connection, batch: CandidateBatch, policy: Policy, now: datetime
) -> dict[str, str]:
    """By candidate id the id of the wish to forget that covers the candidate. The wishes are of slices that were decided
    before this one."""
    times = [source.timestamp for each in batch.candidates for source in each.sources if source.timestamp is not None]
    wishes = await ForgottenWishes(connection).since(batch.namespace, min(times)) if times else ()
    found = {
        each.candidate_id: covering_wish(each, created(each, batch.namespace, batch.provider, now), wishes, policy)
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
    candidates: Sequence[Candidate],
    concerns: Sequence[Concern],
    same: Sequence[Memory],
) -> list[list[Neighbour]]:
    """The nearest memories of each candidate. Skips candidates whose text equals a memory that they concern, which is cheaper to
    detect."""

    async def near(candidate: Candidate, concerned: Concern) -> list[Neighbour]:
        text = normalise(candidate.text)
        if any(normalise(each.text) == text and concerned(each) for each in same):
            return []
        vector = prepared.vector(candidate.text)
        return await vectors.neighbours(namespace, vector, min_score=ANY_COSINE, limit=NEIGHBOURS)

    return list(await asyncio.gather(*map(near, candidates, concerns)))


async def memories_in_other_languages(
    connection: Connection, batch: CandidateBatch, prepared: DecisionInputs, policy: Policy
) -> dict[str, tuple[Memory, ...]]:
    """By language of a candidate the latest memories in other languages; empty if no model compares them."""
    if not policy.resolve or prepared.verdicts is not None:
        return {}
    memories = Memories(connection)
    languages = sorted({each.language for each in batch.candidates if each.language})
    return {
        language: await memories.in_other_languages(batch.namespace, language, LATEST_IN_OTHER_LANGUAGES)
        for language in languages
    }
