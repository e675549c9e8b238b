"""Replies without a user id are found and erased with the user they answer, and by nobody else."""

from agents.passages.passage_reader import PassageReader
from schemas.conversations.messages import Scope
from schemas.erasure.erasures import Fence
from schemas.passages.passages import PassageFilters
from schemas.policies.matching import Match
from schemas.policies.namespaces import UNKNOWN
from schemas.policies.policies import Policies, Policy
from sinks.archive.messages import ArchivedMessage
from sinks.erasure.purges import Purges
from tests.integration.passages.conftest import MONDAY, Said


def reply(said: Said, content: str) -> ArchivedMessage:
    return said.message(content, role="assistant", user=None, app_id=None)


async def test_an_assistant_reply_is_found_in_the_namespace_of_the_person_addressed(said: Said) -> None:
    await said.said(said.message("Where is the tent?"))
    await said.said(reply(said, "It hangs in the garage behind the skis."))
    assert "It hangs in the garage behind the skis." in await said.found("garage skis")
    assert await said.found("garage skis", "kitchen/bob") == []


async def test_a_person_who_joins_later_does_not_find_earlier_replies(said: Said) -> None:
    await said.said(said.message("Hello."), reply(said, "The surprise party is at seven."))
    await said.said(said.message("Hi all.", user="bob"), reply(said, "Welcome, the cake is in the oven."))
    assert await said.found("surprise party", "kitchen/bob") == []
    assert "Welcome, the cake is in the oven." in await said.found("cake oven", "kitchen/bob")


async def test_a_message_in_the_namespaces_of_several_people_is_found_once(said: Said) -> None:
    await said.said(said.message("Hello."), said.message("Hi.", user="bob"), reply(said, "The cake is in the oven."))
    hits = (await said.search.search("cake oven", ("kitchen/ada", "kitchen/bob"))).hits
    assert [hit.passage.text for hit in hits].count("The cake is in the oven.") == 1


async def test_a_message_that_one_of_the_searched_namespaces_hides_is_found_through_the_other(said: Said) -> None:
    talk = [said.message("Hello.", app_id="bakery"), said.message("Hi.", user="bob")]
    await said.said(*talk, reply(said, "The cake is in the oven."))
    said.search._policies = Policies((Policy(name="bakery", match=Match(app_id="bakery"), recall=False),))
    hits = (await said.search.search("cake oven", ("bakery/ada", "kitchen/bob"))).hits
    assert [(hit.passage.namespace, hit.passage.text) for hit in hits if "cake" in hit.passage.text] == [
        ("kitchen/bob", "The cake is in the oven.")
    ]


async def test_the_privacy_policy_of_the_conversation_applies_to_replies_without_a_user(said: Said) -> None:
    await said.said(said.message("What is the address?"), reply(said, "Write to ada@example.org."))
    await said.pool.execute(
        "INSERT INTO windows (conversation_id, app_id, user_id, partition, source, revision, policy, phase, statistics, gaps, "
        "extracted_to, updated_at) VALUES ('c1', 'kitchen', 'ada', 0, 's', 1, 'p', 'open', '{}', '[]', 0, now())"
    )
    said.restrict()
    assert "ada@example.org" not in " ".join(await said.found("write address"))


async def test_the_privacy_policy_applies_to_replies_before_the_conversation_is_projected(said: Said) -> None:
    said.restrict()
    await said.said(said.message("What is the address?"), reply(said, "Write to ada@example.org."))
    assert "Write to [EMAIL]." in await said.found("write address")


async def test_replies_of_a_conversation_that_is_not_recalled_are_hidden_before_it_is_projected(said: Said) -> None:
    await said.said(said.message("Where is the tent?"), reply(said, "It hangs in the garage behind the skis."))
    said.follow(Policy(name="kitchen", match=Match(app_id="kitchen"), recall=False))
    assert await said.found("garage skis") == []
    assert await PassageReader(said.passages, said.policies).by_ids(await said.rows()) == {}


async def test_the_readers_of_a_shared_namespace_do_not_own_replies_before_the_conversation_is_projected(
    said: Said,
) -> None:
    said.follow(Policy(name="kitchen", match=Match(app_id="kitchen"), namespaces=("{app_id}", "{app_id}/{user_id}")))
    await said.said(said.message("Where is the tent?"), reply(said, "It hangs in the garage behind the skis."))
    (hit,) = (await said.search.search("garage skis", ("kitchen",))).hits
    assert (hit.passage.text, hit.owners) == ("It hangs in the garage behind the skis.", ("kitchen/ada",))
    assert (await said.search.search("garage skis", ("kitchen",), may_read="kitchen".__eq__)).hits == ()


async def test_a_reply_is_hidden_if_nobody_of_its_conversation_is_known(said: Said) -> None:
    await said.said(said.message("Where is the tent?"), reply(said, "It hangs in the garage behind the skis."))
    await said.pool.execute("DELETE FROM messages WHERE user_id IS NOT NULL")
    assert await said.rows()
    assert await said.found("garage skis") == []


async def test_what_a_guest_says_is_found_under_the_name_of_the_guest_and_not_as_the_users(said: Said) -> None:
    host = said.message("My friend Carl is here.", name="Ada")
    guest = said.message("I am allergic to peanuts.", user=None, name="Carl")
    await said.said(host, guest)
    hits = (await said.search.search("who is allergic to peanuts", ("kitchen/ada",))).hits
    (found,) = [each for hit in hits for each in hit.exchange if each.text == guest.message.content]
    assert (found.speaker, found.name, found.said_by) == ("user", "Carl", "Carl (user)")
    assert guest.message.content not in await said.found("allergic", filters=PassageFilters(speakers=("ada",)))


async def test_purging_a_namespace_deletes_its_replies_and_what_guests_said_and_rejects_them_on_redelivery(
    said: Said,
) -> None:
    messages = [
        said.message("I left the Marlin in Porto."),
        reply(said, "The Marlin, your boat, is in Porto."),
        said.message("The Marlin leaks.", user=None, name="Carl"),
    ]
    await said.said(*messages)
    fence = Fence(MONDAY.replace(year=2027), {})
    async with said.pool.acquire() as connection, connection.transaction():
        purges = Purges(connection)
        await purges.fence("kitchen/ada", fence)
        owner = Scope(conversation_id=UNKNOWN, app_id="kitchen", user_id="ada")
        assert await purges.forget("kitchen/ada", [owner], fence)
    assert await said.pool.fetchval("SELECT count(*) FROM messages") == 0
    assert await said.said(*messages) == 0
    assert await said.rows() == set()
