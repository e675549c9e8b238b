"""Archived messages are found once, in their namespace only, as long as the archive has them."""

from datetime import timedelta

from agents.passages.passage_reader import PassageReader
from schemas.conversations.messages import Scope
from schemas.erasure.erasures import Fence
from schemas.extraction.candidates import Source
from schemas.memories.memories import Memory
from schemas.passages.passages import PassageFilters
from schemas.policies.namespaces import UNKNOWN
from schemas.policies.policies import Policies, Policy, Privacy
from sinks.erasure.purges import Purges
from sinks.memories.reader import Memories
from tests.builders.memories import a_memory
from tests.integration.passages.conftest import MONDAY, Said
from tests.memory_store import store


async def test_a_message_is_found_by_its_words_with_speaker_and_time(said: Said) -> None:
    await said.said(said.message("We drove to Porto in a blue van."), said.message("The weather was awful."))
    (hit, *_) = (await said.search.search("Which van went to Porto?", ("kitchen/ada",))).hits
    assert hit.passage.text == "We drove to Porto in a blue van."
    assert (hit.passage.speaker, hit.passage.message_id, hit.passage.said_at.date()) == ("ada", "c1-1", MONDAY.date())


async def test_a_reply_is_found_by_the_words_of_its_question(said: Said) -> None:
    await said.said(
        said.message("Where did you leave the passport?", role="assistant"),
        said.message("In the drawer beneath the radio."),
        *(said.message(f"Talk of other things, number {number}.") for number in range(20)),
    )
    assert "In the drawer beneath the radio." in (await said.found("where is the passport"))[:2]


async def test_indexing_a_message_twice_creates_no_duplicate(said: Said) -> None:
    messages = [said.message("Tea at four."), said.message("Bring the biscuits.")]
    assert await said.said(*messages) == 2
    assert await said.said(*messages) == 0
    assert await said.rows() == await said.points() and len(await said.rows()) == 2


async def test_messages_of_another_namespace_are_not_found(said: Said) -> None:
    await said.said(said.message("My locker has number 42.", user="bob", conversation="c2"))
    assert await said.found("which locker number") == []
    assert await said.found("which locker number", "kitchen/bob") == ["My locker has number 42."]


async def test_secrets_are_neither_found_nor_shown(said: Said) -> None:
    await said.said(said.message("The password is hunter2secret, keep the melons cold."))
    (text,) = await said.found("melons")
    assert "hunter2secret" not in text
    assert await said.found("hunter2secret") == []


async def test_a_long_message_is_found_by_a_part_of_it(said: Said) -> None:
    filler = " ".join(f"Sentence {number} says nothing of note at all today." for number in range(60))
    await said.said(said.message(f"{filler} The spare key hangs behind the mirror. {filler}"))
    (text,) = await said.found("spare key mirror")
    assert "behind the mirror" in text and len(text.split()) <= 250


async def test_a_message_deleted_from_the_archive_is_no_longer_found_and_leaves_qdrant(said: Said) -> None:
    await said.said(said.message("The code of the gate is on the fridge."), said.message("Lovely roses."))
    await said.pool.execute("DELETE FROM messages WHERE message_id = 'c1-1'")
    assert await said.found("gate code") == []
    assert await said.passages.drop_removed(said.vectors) == 1
    assert await said.rows() == await said.points() and len(await said.rows()) == 1


async def test_a_purged_namespace_has_no_passages(said: Said) -> None:
    await said.said(said.message("The boat is called Marlin."))
    fence = Fence(MONDAY.replace(year=2027), {})
    async with said.pool.acquire() as connection, connection.transaction():
        purges = Purges(connection)
        await purges.fence("kitchen/ada", fence)
        assert await purges.forget(
            "kitchen/ada", [Scope(conversation_id=UNKNOWN, app_id="kitchen", user_id="ada")], fence
        )
    await said.passages.drop_removed(said.vectors)
    assert await said.rows() == await said.points() == set()
    assert await said.said(said.message("The boat is called Marlin.", conversation="c9")) == 0


async def test_a_policy_without_recall_indexes_nothing(said: Said) -> None:
    said.policies = Policies((Policy(name="kitchen", recall=False),))
    said.indexer._policies = said.policies
    assert await said.said(said.message("Nobody is to find this.")) == 0


async def test_a_search_returns_only_messages_matching_its_filter(said: Said) -> None:
    await said.said(
        said.message("The train leaves at nine."), said.message("The train leaves at ten.", conversation="c2")
    )
    filters = PassageFilters(conversations=("c2",))
    assert await said.found("when does the train leave", filters=filters) == ["The train leaves at ten."]


async def test_personal_data_scrubbed_by_the_policy_is_not_found(said: Said) -> None:
    said.policies = Policies((Policy(name="kitchen", privacy=Privacy(scrub=("email",))),))
    said.indexer._policies = said.search._policies = said.policies
    await said.said(said.message("Write to ada@example.org about the plums."))
    (text,) = await said.found("plums")
    assert "example" not in text and await said.found("example.org") == []


def memory_of(memory_id: str, *messages: tuple[str, str], namespace: str = "kitchen/ada") -> Memory:
    sources = tuple(Source(conversation_id=conversation, message_id=message) for conversation, message in messages)
    return a_memory(memory_id, memory_id=memory_id, namespace=namespace, sources=sources)


async def test_memories_are_found_by_their_source_messages(said: Said) -> None:
    of_porto = memory_of("m1", ("c1", "c1-1"), ("c2", "c2-9"))
    elsewhere = memory_of("m2", ("c1", "c1-1"), namespace="kitchen/bob")
    other = memory_of("m3", ("c2", "c1-1"))
    await store(said.pool, [of_porto, elsewhere, other])
    keys = [("c1", "c1-1"), ("c2", "c2-9"), ("c9", "c9-1")]
    found = await Memories(said.pool).from_messages(keys, ["kitchen/ada"])
    assert found == {("c1", "c1-1"): ("m1",), ("c2", "c2-9"): ("m1",)}


async def test_the_passages_of_messages_are_read_with_their_owners(said: Said) -> None:
    await said.said(said.message("The boat is called Marlin."), said.message("My password is hunter2secret."))
    reader = PassageReader(said.passages, said.policies)
    first, second = await reader.of_messages([("c1", "c1-2"), ("c1", "c1-1")], ["kitchen/ada"])
    assert (first.passage.text, first.owners) == ("The boat is called Marlin.", ("kitchen/ada",))
    assert "hunter2secret" not in second.passage.text
    assert await reader.of_messages([("c1", "c1-1")], ["kitchen/bob"]) == []
    assert list(await reader.by_ids([first.passage.passage_id])) == [first.passage.passage_id]


async def test_a_shared_namespace_does_not_own_the_messages_of_a_user(said: Said) -> None:
    shared = Policy(name="kitchen", namespaces=("{app_id}", "{app_id}/{user_id}"))
    said.policies = said.indexer._policies = Policies((shared,))
    await said.said(said.message("The boat is called Marlin."), said.message("Nice!", user_id=None, role="assistant"))
    reader = PassageReader(said.passages, said.policies)
    (of_ada,) = await reader.of_messages([("c1", "c1-1")], ["kitchen"])
    assert of_ada.owners == ("kitchen/ada",)


async def test_a_message_scrubbed_by_a_stricter_policy_is_no_longer_found(said: Said) -> None:
    await said.said(said.message("Write to ada@example.org about the plums."), said.message("The plums are ripe."))
    assert len(await said.found("plums")) == 2
    said.search._policies = Policies((Policy(name="kitchen", privacy=Privacy(scrub=("email",))),))
    assert "Write" not in " ".join(await said.found("ada@example.org"))
    assert await said.found("plums") == ["The plums are ripe."]


async def test_a_message_no_longer_scrubbed_by_the_policy_is_found_unscrubbed(said: Said) -> None:
    said.policies = said.indexer._policies = Policies((Policy(name="kitchen", privacy=Privacy(scrub=("email",))),))
    await said.said(said.message("Write to ada@example.org about the plums."))
    said.search._policies = Policies((Policy(name="kitchen"),))
    assert await said.found("plums") == ["Write to ada@example.org about the plums."]


async def test_disabling_recall_hides_indexed_messages(said: Said) -> None:
    await said.said(said.message("The plums are ripe."))
    said.search._policies = Policies((Policy(name="kitchen", recall=False),))
    assert await said.found("plums") == []


async def test_a_filtered_search_finds_a_match_behind_many_nearer_points(said: Said) -> None:
    near = [said.message("plum", conversation="other") for _ in range(10)]
    await said.said(*near, said.message("A long talk about one plum and much else.", conversation="mine"))
    vectors = await said.search._embedder.embed_questions(["plum"])
    for filters in (
        PassageFilters(conversations=("mine",)),
        PassageFilters(said_from=MONDAY + timedelta(minutes=11)),
    ):
        found = await said.vectors.nearest(vectors[0], ("kitchen/ada",), filters, limit=5)
        assert len(found) == 1
    assert (
        len(await said.vectors.nearest(vectors[0], ("kitchen/ada",), PassageFilters(speakers=("bob",)), limit=5)) == 0
    )


async def test_a_speaker_is_found_and_shown_by_display_name(said: Said) -> None:
    await said.said(said.message("I bring the plums.", user="u-17", name="Ada Lovelace"))
    (hit,) = (await said.search.search("lovelace plums", ("kitchen/u-17",))).hits
    assert (hit.passage.speaker, hit.passage.name) == ("u-17", "Ada Lovelace")
    assert hit.passage.said_by == "Ada Lovelace (u-17)"


async def test_a_question_is_answered_without_the_vector_index(said: Said) -> None:
    await said.said(said.message("I bring the plums."))
    await said.vectors.drop_collection()
    found = await said.search.search("Who brings the plums?", ("kitchen/ada",))
    assert [hit.passage.text for hit in found.hits] == ["I bring the plums."]
    assert found.degraded == ("vectors_failed",)
    await said.vectors.ensure_collection()


async def test_the_wording_of_messages_decides_which_results_fit_on_a_page(said: Said) -> None:
    await said.said(
        said.message("Your hiking is what you enjoy."), said.message("My hiking is what I enjoy.", conversation="c2")
    )
    assert await said.found("Who enjoys hiking?", limit=1) == ["My hiking is what I enjoy."]


async def test_names_in_a_message_count_if_the_question_names_its_speaker(said: Said) -> None:
    plain = said.message("We flew to lisbon, porto and faro.", conversation="c1")
    names = said.message("We flew to Lisbon, Porto and Faro.", conversation="c2")
    await said.said(plain, names)
    assert await said.found("Where did Ada say they flew?", limit=1) == [names.message.content]


async def test_passages_that_the_policy_does_not_recall_do_not_displace_others(said: Said) -> None:
    old = [said.message("plum plum plum.", conversation=f"old-{number}") for number in range(150)]
    late = MONDAY + timedelta(days=30)
    await said.said(*old, said.message("I put a plum into the blue box in the hall.", at=late, conversation="new"))
    said.follow(Policy(name="kitchen", recall_since=MONDAY + timedelta(days=7)))
    assert await said.found("plum") == ["I put a plum into the blue box in the hall."]


async def test_passages_that_the_caller_may_not_read_do_not_displace_others(said: Said) -> None:
    said.follow(Policy(name="kitchen", namespaces=("{app_id}", "{app_id}/{user_id}")))
    theirs = [said.message("plum plum plum.", conversation=f"bob-{number}", user="bob") for number in range(150)]
    await said.said(*theirs, said.message("I put a plum into the blue box in the hall.", conversation="ada"))
    found = (await said.search.search("plum", ("kitchen",), may_read="kitchen/ada".__eq__)).hits
    assert [hit.passage.text for hit in found] == ["I put a plum into the blue box in the hall."]
