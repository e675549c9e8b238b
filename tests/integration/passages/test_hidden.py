"""Messages covered by a forget wish are hidden from passage search until the wish is undone."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from agents.passages.passage_reader import PassageReader
from schemas.extraction.candidates import Source
from sinks.archive.messages import ArchivedMessage
from sinks.memories.hidden_messages import HiddenMessages
from tests.integration.passages.conftest import MONDAY, Said

ADA = "kitchen/ada"


@asynccontextmanager
async def hiding(said: Said) -> AsyncIterator[HiddenMessages]:
    async with said.pool.acquire() as connection, connection.transaction():
        yield HiddenMessages(connection)


async def hide(said: Said, *messages: ArchivedMessage, namespace: str = ADA, wish_id: str = "w") -> None:
    sources = [
        Source(conversation_id=each.message.conversation_id, message_id=each.message.message_id) for each in messages
    ]
    async with hiding(said) as hidden:
        await hidden.hide(namespace, wish_id, sources)


async def test_a_hidden_message_is_found_neither_by_words_nor_by_vector_similarity(said: Said) -> None:
    secret, other = said.message("I am allergic to peanuts."), said.message("Peanuts are sold in the shop.")
    await said.said(secret, other)
    await hide(said, secret)

    assert await said.found("allergic to peanuts") == ["Peanuts are sold in the shop."]


async def test_a_message_is_found_again_once_no_wish_hides_it(said: Said) -> None:
    secret = said.message("I am allergic to peanuts.")
    await said.said(secret)
    await hide(said, secret)
    await hide(said, secret, wish_id="another")

    async with hiding(said) as hidden:
        assert await hidden.show(ADA, "w")
    assert await said.found("allergic to peanuts") == []
    async with hiding(said) as hidden:
        assert await hidden.show(ADA, "another")
        assert not await hidden.show(ADA, "another")
    assert await said.found("allergic to peanuts") == ["I am allergic to peanuts."]


async def test_a_passage_indexed_after_its_message_was_hidden_is_hidden(said: Said) -> None:
    secret = said.message("I am allergic to peanuts.")
    await hide(said, secret)
    await said.said(secret)

    assert await said.found("allergic to peanuts") == []


async def test_the_direct_answer_of_the_assistant_is_hidden_with_the_message_and_later_messages_are_not(
    said: Said,
) -> None:
    secret = said.message("I am allergic to peanuts.")
    await said.said(
        secret,
        said.message("No peanuts for you, as you are allergic.", role="assistant"),
        said.message("Who likes peanuts?", user="bob"),
        said.message("Nobody is allergic to questions about peanuts.", role="assistant"),
    )
    await hide(said, secret)

    assert sorted(await said.found("allergic to peanuts")) == ["Nobody is allergic to questions about peanuts."]
    assert await said.found("who likes peanuts", "kitchen/bob") == ["Who likes peanuts?"]


async def test_a_message_hidden_in_one_namespace_is_hidden_in_all(said: Said) -> None:
    secret = said.message("I am allergic to peanuts.")
    await said.said(secret)
    await hide(said, secret, namespace="kitchen")

    assert await said.found("allergic to peanuts") == []


async def test_a_replay_shadow_hides_no_messages(said: Said) -> None:
    secret = said.message("I am allergic to peanuts.")
    await said.said(secret)
    await hide(said, secret, namespace=f"~generation/{ADA}")

    assert await said.found("allergic to peanuts") == ["I am allergic to peanuts."]


async def test_many_hidden_messages_do_not_displace_visible_results(said: Said) -> None:
    hidden = [said.message("My yacht is called Marlin.", at=MONDAY + timedelta(days=day)) for day in range(150)]
    shown = said.message("A yacht was in the harbour, and it was called something else, or so they all said later on.")
    await said.said(*hidden, shown)
    await hide(said, *hidden)

    (found,) = await said.found("what is my yacht called")
    assert found == shown.message.content


async def test_a_hidden_passage_cannot_be_read_by_id_or_message(said: Said) -> None:
    secret = said.message("I am allergic to peanuts.")
    await said.said(secret)
    await hide(said, secret)
    reader = PassageReader(said.passages, said.policies)

    assert await reader.by_ids(await said.rows()) == {}
    assert await reader.of_messages([("c1", secret.message.message_id)], [ADA]) == []


async def test_a_message_indexed_again_stays_hidden(said: Said) -> None:
    secret = said.message("I am allergic to peanuts.")
    await said.said(secret)
    await hide(said, secret)
    await said.pool.execute("DELETE FROM passages")
    await said.indexer.index(await said.with_namespaces([secret]))

    assert await said.rows()
    assert await said.found("allergic to peanuts") == []
