"""A wish that a model reads forgets the memories that the model names, and those of its topic unless they are too many."""

from collections.abc import Callable
from typing import Any

import pytest

from agents.curation.rules.commands.wishes import certainly_meant, forget, memories_meant
from agents.curation.rules.ledger.ledger import Ledger
from agents.curation.rules.ledger.outcomes import WishOutcome
from schemas.extraction.candidates import Source
from schemas.policies.policies import DEFAULT_POLICY
from tests.builders.memories import NOON, a_memory
from tests.builders.wishes import STATEMENTS, a_wish
from tests.unit.curation.rules.conftest import MakeBatch

Forgetting = Callable[..., tuple[WishOutcome, set[str]]]


@pytest.fixture
def forgetting(batch: MakeBatch) -> Forgetting:
    def make(*said: str, **named: Any) -> tuple[WishOutcome, set[str]]:
        """The outcome of a wish, and the texts of the memories that it leaves. Memories have their texts as ids."""
        ledger = Ledger("n", 1, [a_memory(text, memory_id=text) for text in said])
        wish = a_wish(**named)
        found = memories_meant(wish, ledger.live_memories(), (), personal=True)
        outcome = forget(ledger, batch(), wish, found, DEFAULT_POLICY, NOON, {})
        return outcome, {each.text for each in ledger.live_memories()}

    return make


def test_a_wish_forgets_the_memories_that_a_model_names_whatever_their_words(forgetting: Forgetting) -> None:
    outcome, remaining = forgetting(*STATEMENTS, topic="il mio cane", memory_ids=("User has a dog named Rex.",))

    assert outcome.result == "forgotten"
    assert remaining == set(STATEMENTS) - {"User has a dog named Rex."}


def test_a_wish_for_a_named_memory_also_forgets_others_of_its_topic(forgetting: Forgetting) -> None:
    dogs = ("User has a dog named Rex.", "User's dog Rex is a labrador.")

    outcome, remaining = forgetting(*STATEMENTS, dogs[1], topic="my dog Rex", memory_ids=dogs[:1])

    assert set(outcome.memory_ids) == set(dogs)
    assert remaining == set(STATEMENTS) - set(dogs)


def test_in_doubt_about_a_topic_only_the_named_memories_are_forgotten(forgetting: Forgetting) -> None:
    many = tuple(f"User's dog Rex learned trick number {number}." for number in range(7))

    outcome, remaining = forgetting(*many, topic="my dog Rex", memory_ids=many[:1])

    assert (outcome.result, outcome.memory_ids) == ("forgotten", many[:1])
    assert outcome.reason == "it may mean 7 memories, more than 5"
    assert remaining == set(many[1:])


def test_a_wish_for_which_a_model_names_too_many_memories_forgets_none(forgetting: Forgetting) -> None:
    many = tuple(f"User baked cake number {number}." for number in range(6))

    outcome, remaining = forgetting(*many, topic="quello di prima", memory_ids=many)

    assert (outcome.result, outcome.memory_ids) == ("unclear", many)
    assert outcome.reason == "it may mean 6 memories, more than 5"
    assert remaining == set(many)


def test_named_and_described_memories_beyond_the_limit_leave_the_described_ones(forgetting: Forgetting) -> None:
    described = tuple(f"User's dog Rex learned trick number {number}." for number in range(4))
    named = ("User has a boat.", "User has a bike.")

    outcome, remaining = forgetting(*described, *named, topic="my dog Rex", memory_ids=named)

    assert set(outcome.memory_ids) == set(named)
    assert remaining == set(described)


def test_a_wish_for_a_theme_may_name_more_memories(forgetting: Forgetting) -> None:
    many = tuple(f"User takes pill number {number}." for number in range(6))

    outcome, remaining = forgetting(*many, topic="everything about my health", memory_ids=many)

    assert outcome.result == "forgotten" and remaining == set()


def test_memories_from_the_message_before_a_wish_are_forgotten_beside_too_many_that_a_model_names() -> None:
    meant = Source(conversation_id="c", message_id="m1")
    said = a_memory("User has a boat.", memory_id="boat", sources=(meant,))
    named = [a_memory(f"User baked cake number {number}.", memory_id=f"cake {number}") for number in range(6)]
    wish = a_wish(means=meant, memory_ids=tuple(each.memory_id for each in named))

    assert certainly_meant(wish, [said, *named], most=5) == [said]


def test_a_wish_for_a_message_that_says_more_forgets_only_what_its_words_say() -> None:
    meant = Source(conversation_id="c", message_id="m1")
    memories = [
        a_memory(text, memory_id=text, sources=(meant,)) for text in ("User is getting a divorce.", STATEMENTS[0])
    ]
    wish = a_wish(topic="my divorce", said="my getting a divorce", messages=(meant,))

    assert [each.text for each in memories_meant(wish, memories, (), personal=False)] == ["User is getting a divorce."]
