"""A user's earlier repetitions of a forgotten statement are found in the passage index, up to a limit."""

from datetime import timedelta

from agents.passages.repeated_messages import RepeatedMessages
from schemas.extraction.candidates import Source, Wish
from schemas.policies.shadows import shadow_of
from sinks.archive.messages import ArchivedMessage
from sinks.passages.user_messages import MAX_MESSAGES
from tests.builders.memories import a_memory
from tests.integration.passages.conftest import MONDAY, Said

ADA = "kitchen/ada"
TEXT = "User is allergic to peanuts."
LATER = MONDAY + timedelta(days=1)


def source(said: ArchivedMessage, user_id: str | None = "ada") -> Source:
    message = said.message
    return Source(conversation_id=message.conversation_id, message_id=message.message_id, user_id=user_id)


async def again(
    said: Said,
    *of: ArchivedMessage,
    namespace: str = ADA,
    user_id: str | None = "ada",
    guest_id: str | None = None,
) -> list[str]:
    wish = Source(conversation_id="c1", message_id="wish", user_id=user_id, guest_id=guest_id, timestamp=LATER)
    memory = a_memory(TEXT, namespace=namespace, sources=tuple(source(each, user_id) for each in of))
    async with said.pool.acquire() as connection, connection.transaction():
        found = await RepeatedMessages().of(connection, namespace, Wish(wish_id="w", message=wish), memory)
    return sorted(each.message_id for each in found)


async def test_repetitions_by_the_same_person_before_the_wish_are_found(said: Said) -> None:
    first = said.message("I am allergic to peanuts.")
    repeat = said.message("As I said, I'm allergic to peanuts.", conversation="c2")
    await said.said(
        first,
        repeat,
        said.message("I'm allergic to peanuts.", conversation="c3", user="bob"),
        said.message("You are allergic to peanuts, I know.", role="assistant", user=None),
        said.message("I am allergic to peanuts.", conversation="c4", at=LATER + timedelta(minutes=1)),
        said.message("My sister is allergic to peanuts.", conversation="c5"),
        said.message("Peanuts are on the list.", conversation="c5"),
    )
    assert await again(said, first) == [repeat.message.message_id]


async def test_a_replay_shadow_finds_the_repetitions_of_its_namespace(said: Said) -> None:
    repeat = said.message("I'm allergic to peanuts.", conversation="c2")
    await said.said(repeat)
    assert await again(said, namespace=shadow_of("0123abcd", ADA)) == [repeat.message.message_id]


async def test_without_a_user_only_the_conversation_of_the_wish_is_searched(said: Said) -> None:
    here = said.message("I'm allergic to peanuts.", user=None)
    await said.said(here, said.message("I'm allergic to peanuts.", user=None, conversation="c2"))
    (namespace,) = {
        row["namespace"] for row in await said.pool.fetch("SELECT namespace FROM passages WHERE conversation_id = 'c1'")
    }
    assert await again(said, namespace=namespace, user_id=None) == [here.message.message_id]
    assert await again(said, namespace=namespace, user_id=None, guest_id="a guest") == []


async def test_the_number_of_repetitions_found_is_limited(said: Said) -> None:
    await said.said(
        *(said.message("I'm allergic to peanuts.", conversation=f"n{number}") for number in range(MAX_MESSAGES + 20))
    )
    assert len(await again(said)) == MAX_MESSAGES


async def naming(said: Said, topic: str) -> list[str]:
    wish = Source(conversation_id="c1", message_id="wish", user_id="ada", timestamp=LATER)
    async with said.pool.acquire() as connection, connection.transaction():
        found = await RepeatedMessages().naming_topic(connection, ADA, Wish(wish_id="w", message=wish, topic=topic))
    return sorted(each.message_id for each in found)


async def test_own_earlier_messages_that_name_the_topic_of_a_wish_are_found(said: Said) -> None:
    first = said.message("my gf Yasmin says she wants it firmer but whatever")
    second = said.message("Yasmin's birthday is in May.", conversation="c2")
    await said.said(
        first,
        second,
        said.message("Yasmin called.", conversation="c3", user="bob"),
        said.message("Yasmin called again.", conversation="c4", at=LATER + timedelta(minutes=1)),
        said.message("I bought a mattress.", conversation="c5"),
    )
    assert await naming(said, "Yasmin") == sorted([first.message.message_id, second.message.message_id])
    assert await naming(said, "my mattress") == []
