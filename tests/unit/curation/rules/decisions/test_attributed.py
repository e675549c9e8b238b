"""Statements of assistants and tools stay separate from statements of users."""

from msgspec import structs

from agents.curation.rules.decisions.contradictions import contradicted_memories
from agents.curation.rules.decisions.decide import Create, Reinforce, Supersede, decide
from agents.curation.rules.decisions.thresholds import Thresholds
from agents.curation.rules.ledger.scored import Scored
from schemas.extraction.candidates import Candidate
from schemas.memories.memories import Memory
from schemas.policies.policies import DEFAULT_POLICY
from tests.unit.curation.rules.conftest import MakeCandidate, MakeMemory, MakeSource


def decided(said: Candidate, known: Memory, exact: Memory | None = None) -> object:
    ended, _ = contradicted_memories(said, [known], {known.memory_id: 0.95}, [Scored(known, 0.95)], 0.5)
    return decide(said, exact, [Scored(known, 0.95)], DEFAULT_POLICY, Thresholds(), ended)


def test_a_statement_attributed_to_the_assistant_does_not_supersede_a_users_memory(
    candidate: MakeCandidate, memory: MakeMemory, source: MakeSource
) -> None:
    of_assistant = structs.replace(source(10), attributed_to="assistant")
    users, assistants = (
        memory("The deadline is March 15.", sources=(each,))
        for each in (source(0), structs.replace(of_assistant, message_id="m0"))
    )
    said = candidate("The deadline is March 20.", sources=(of_assistant,), contradicts=users.memory_id)
    assert not isinstance(decided(said, users), Supersede)
    assert isinstance(decided(said, assistants), Supersede)
    by_user = candidate("The deadline is March 20.", sources=(source(10),), contradicts=users.memory_id)
    assert isinstance(decided(by_user, users), Supersede) and isinstance(decided(by_user, assistants), Supersede)


def test_an_assistant_statement_reinforces_a_users_memory_only_if_the_text_is_identical(
    candidate: MakeCandidate, memory: MakeMemory, source: MakeSource
) -> None:
    of_assistant = structs.replace(source(10), attributed_to="assistant")
    users = memory("The order number is 4711.", sources=(source(0),))
    more = candidate("The order number is 4711, shipped by train.", sources=(of_assistant,))
    assert isinstance(decided(more, users), Create)
    same = candidate("The order number is 4711.", sources=(of_assistant,))
    assert isinstance(decided(same, users, exact=users), Reinforce)
