"""A short passage is found with its adjacent messages, unless these are hidden."""

from schemas.conversations.messages import Scope
from schemas.erasure.erasures import Fence
from schemas.extraction.candidates import Source
from schemas.passages.passages import PassageFilters
from schemas.policies.namespaces import UNKNOWN
from sinks.erasure.purges import Purges
from sinks.memories.hidden_messages import HiddenMessages
from tests.integration.passages.conftest import MONDAY, Said

ASKED = "Which cabin did you book for the summer?"
REPLY = "The red one by the lighthouse."
OTHERS = [f"Talk of other things that fills the list, with number {number} in it." for number in range(20)]


async def exchange(said: Said, text: str = "red lighthouse", **options: object) -> list[str]:
    """The texts of the hit that has the reply."""
    hits = (await said.search.search(text, ("kitchen/ada",), limit=5, **options)).hits  # type: ignore[arg-type]
    (hit,) = [hit for hit in hits if any(each.text == REPLY for each in hit.exchange)]
    return [each.text for each in hit.exchange]


async def test_a_reply_is_found_with_its_question(said: Said) -> None:
    await said.said(said.message(ASKED, role="assistant"), said.message(REPLY), *map(said.message, OTHERS))
    assert await exchange(said) == [ASKED, REPLY]


async def test_a_found_question_is_returned_with_its_answer(said: Said) -> None:
    await said.said(said.message(ASKED, role="assistant"), said.message(REPLY), *map(said.message, OTHERS))
    assert await exchange(said, "which cabin summer") == [ASKED, REPLY]


async def test_a_hidden_question_is_not_returned_with_its_reply(said: Said) -> None:
    question, reply = said.message(ASKED, role="assistant"), said.message(REPLY)
    await said.said(question, reply, *map(said.message, OTHERS))
    source = Source(conversation_id="c1", message_id=question.message.message_id)
    async with said.pool.acquire() as connection, connection.transaction():
        await HiddenMessages(connection).hide("kitchen/ada", "wish", [source])
    assert await exchange(said) == [REPLY]


async def test_a_question_and_its_neighbour_in_another_namespace_are_not_returned_together(said: Said) -> None:
    await said.said(said.message(REPLY), said.message(ASKED, user="bob"), *map(said.message, OTHERS))
    assert await said.found("which cabin summer", "kitchen/bob") == [ASKED]


async def test_a_message_excluded_by_filters_is_not_returned_as_a_neighbour(said: Said) -> None:
    await said.said(said.message(ASKED, role="assistant"), said.message(REPLY), *map(said.message, OTHERS))
    assert await exchange(said, filters=PassageFilters(speakers=("ada",))) == [REPLY]


async def test_privacy_scrubbing_applies_to_neighbours(said: Said) -> None:
    await said.said(
        said.message("Shall I write to ada@example.org about the cabin?", role="assistant"), said.message(REPLY)
    )
    said.restrict()
    assert "ada@example.org" not in " ".join(await exchange(said))


async def test_messages_of_an_erased_namespace_are_not_returned_as_neighbours(said: Said) -> None:
    messages = [said.message(ASKED, user="bob"), said.message(REPLY)]
    await said.said(*messages)
    fence = Fence(MONDAY.replace(year=2027), {})
    async with said.pool.acquire() as connection, connection.transaction():
        purges = Purges(connection)
        await purges.fence("kitchen/bob", fence)
        await purges.forget("kitchen/bob", [Scope(conversation_id=UNKNOWN, app_id="kitchen", user_id="bob")], fence)
    assert ASKED not in await said.found("red lighthouse cabin summer")
