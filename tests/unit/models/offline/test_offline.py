"""The offline provider, sentence by sentence: kept and ignored statements."""

import pytest

from agents.models.offline.provider import OfflineProvider
from schemas.policies.policies import Policy
from tests.builders.slices import knowing, known, said, slice_of
from tests.unit.models.offline.proposing import proposals


@pytest.mark.parametrize("role", ["assistant", "system", "tool"])
async def test_assistant_system_and_tool_messages_produce_no_memories(role: str) -> None:
    message = said("I live in Rome. You are allergic to nuts. My name is Ada.", role=role)  # type: ignore[arg-type]
    assert (await OfflineProvider().extract(slice_of(message), knowing())).proposals == ()


async def test_several_statements_of_a_message_become_several_memories() -> None:
    found = await proposals("Hi, my name is Ada and I live in Turin, but I work in Milan. What should I cook?")
    assert [item.text for item in found] == ["User's name is Ada.", "User lives in Turin.", "User works in Milan."]


async def test_repeated_statement_is_one_memory_with_both_messages() -> None:
    found = await proposals("I'm allergic to nuts.", "What is for lunch?", "As I said, I'm allergic to nuts!")
    assert [(item.text, item.message_ids) for item in found] == [("User is allergic to nuts.", ("m1", "m3"))]


async def test_hedged_statement_is_less_certain_than_a_plain_one() -> None:
    plain, hedged = await proposals("We'll use Redis for the cache.", "I think we'll use Nginx for the proxy.")
    assert hedged.confidence < 0.5 < plain.confidence


async def test_a_sentence_with_a_secret_is_dropped_and_the_other_statements_are_kept() -> None:
    found = await proposals("My password is EXAMPLE-not-real-1. I live in Turin.")
    assert [item.text for item in found] == ["User lives in Turin."]


async def test_text_over_the_limit_is_shortened_and_kept_as_full_text_if_the_policy_allows() -> None:
    wish = "I prefer " + ", ".join(f"apples of kind {number}" for number in range(30)) + "."
    (short,) = await proposals(wish)
    assert len(short.text) <= 200 and short.text.endswith("…") and short.full_text is None
    (found,) = (
        await OfflineProvider().extract(slice_of(wish), knowing(policy=Policy(name="p", full_text=True)))
    ).proposals
    assert found.text == short.text
    assert found.full_text is not None and "kind 29" in found.full_text


async def test_a_kind_outside_the_policy_is_mapped_to_the_nearest_kind_or_dropped() -> None:
    (found,) = await proposals("I prefer tea.", policy=Policy(name="few", taxonomy=("interest",)))
    assert found.kind == "interest"
    assert await proposals("We decided to use Postgres.", policy=Policy(name="few", taxonomy=("person",))) == ()


async def test_same_request_has_the_same_answer() -> None:
    request, context = slice_of("I live in Turin.", "I prefer tea."), knowing(known("User lives in Rome."))
    assert await OfflineProvider().extract(request, context) == await OfflineProvider().extract(request, context)


async def test_the_important_flag_of_a_message_raises_importance() -> None:
    (plain,) = await proposals("I prefer tea.")
    message = said("I prefer tea.")
    marked = type(message)(**{name: getattr(message, name) for name in message.__struct_fields__} | {"important": True})
    (raised,) = (await OfflineProvider().extract(slice_of(marked), knowing())).proposals
    assert raised.importance > plain.importance
