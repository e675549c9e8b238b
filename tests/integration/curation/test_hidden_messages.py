"""A forget wish also hides the messages that state it from search; an undo restores them."""

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from agents.curation import wishes
from schemas.extraction.candidates import Source
from schemas.memories.commands import Command
from schemas.policies.policies import Policies
from tests.builders.groups import batches_of, group_message, slices_of
from tests.builders.memories import NOON
from tests.builders.wishes import ADAS_NAMESPACE, GROUP, ada_says
from tests.fakes.repeated_messages import FakeRepeatedMessages

if TYPE_CHECKING:
    from schemas.memories.memories import Memory
    from tests.integration.curation_bench import Bench


async def hidden(bench: "Bench") -> set[tuple[str, str]]:
    rows = await bench.pool.fetch(
        "SELECT conversation_id, message_id FROM hidden_messages WHERE namespace = $1", ADAS_NAMESPACE
    )
    return {(row["conversation_id"], row["message_id"]) for row in rows}


async def undo(bench: "Bench", memory_id: str, command_id: str = "u") -> str:
    command = Command(command_id=command_id, kind="undo", namespace=ADAS_NAMESPACE, at=NOON, memory_id=memory_id)
    return (await bench.curator.apply_command(command)).status


async def test_source_messages_of_a_forgotten_memory_and_the_wish_are_hidden_until_undone(bench: "Bench") -> None:
    await bench.extract_and_curate(ada_says("I live in Berlin.", conversation_id="first"))
    await bench.extract_and_curate(ada_says("I live in Berlin.", "I have a dog named Rex.", conversation_id="second"))
    await bench.extract_and_curate(ada_says("Hi!", "Please forget that I live in Berlin.", conversation_id="third"))

    assert await hidden(bench) == {("first", "m1"), ("second", "m1"), ("third", "m2")}

    memory = await bench.only_memory(ADAS_NAMESPACE, "deleted")
    assert await undo(bench, memory.memory_id) == "accepted"
    assert await hidden(bench) == set()


async def test_source_messages_of_earlier_versions_of_a_forgotten_memory_are_hidden(bench: "Bench") -> None:
    await bench.extract_and_curate(ada_says("I live in Berlin."))
    memory: Memory = next(iter(await bench.memories.in_namespace(ADAS_NAMESPACE)))
    await bench.pool.execute("UPDATE memories SET sources = '[]' WHERE memory_id = $1", memory.memory_id)
    await bench.extract_and_curate(ada_says("Forget that I live in Berlin.", conversation_id="later"))

    assert ("c", "m1") in await hidden(bench)


async def test_repetitions_of_a_forgotten_memory_are_hidden_and_named_in_its_event(bench: "Bench") -> None:
    await bench.extract_and_curate(ada_says("I live in Berlin.", "I have a dog named Rex.", conversation_id="first"))
    again = FakeRepeatedMessages(
        {"User lives in Berlin.": [("other", "m7")], "User has a dog named Rex.": [("other", "m8")]}
    )
    curator = bench.curator_under(Policies((GROUP,)), said_again=again)
    (batch,) = await batches_of(ada_says("Please forget that I live in Berlin.", conversation_id="third"), GROUP)
    await curator.curate(batch)

    assert await hidden(bench) == {("first", "m1"), ("other", "m7"), ("third", "m1")}
    (gone,) = [event.data for event in bench.events(ADAS_NAMESPACE) if event.data.change == "deleted"]
    assert [each.message_id for each in gone.cause.said_again] == ["m7"]

    assert await undo(bench, gone.memory.memory_id) == "accepted"
    assert await hidden(bench) == set()


async def test_undoing_the_undo_of_a_wish_hides_its_messages_again_as_often_as_that_is_done(bench: "Bench") -> None:
    await bench.extract_and_curate(ada_says("I live in Berlin.", conversation_id="first"))
    again = FakeRepeatedMessages({"User lives in Berlin.": [("other", "m7")]})
    curator = bench.curator_under(Policies((GROUP,)), said_again=again)
    (batch,) = await batches_of(ada_says("Please forget that I live in Berlin.", conversation_id="third"), GROUP)
    await curator.curate(batch)
    gone = await bench.only_memory(ADAS_NAMESPACE, "deleted")
    forgotten = await hidden(bench)

    for number in range(2):
        assert await undo(bench, gone.memory_id, f"restore {number}") == "accepted"
        assert await hidden(bench) == set()
        assert await undo(bench, gone.memory_id, f"forget {number}") == "accepted"
        assert await hidden(bench) == forgotten == {("first", "m1"), ("other", "m7"), ("third", "m1")}
    causes = [event.data.cause for event in bench.events(ADAS_NAMESPACE) if event.data.change == "deleted"]
    assert {cause.wish_id for cause in causes} == {batch.wishes[0].wish_id}
    assert [cause.command_id for cause in causes] == [None, "forget 0", "forget 1"]


async def test_undoing_the_undo_of_a_wish_hides_again_what_the_wish_means_without_a_memory_of_it(
    bench: "Bench",
) -> None:
    await bench.extract_and_curate(ada_says("I live in Berlin.", conversation_id="first"))
    (batch,) = await batches_of(ada_says("Please forget that I live in Berlin.", conversation_id="third"), GROUP)
    hint = Source(conversation_id="second", message_id="m1")
    await bench.curator.curate(replace(batch, wishes=(replace(batch.wishes[0], messages=(hint,)),)))
    forgotten = await hidden(bench)
    assert forgotten == {("first", "m1"), ("second", "m1"), ("third", "m1")}

    gone = await bench.only_memory(ADAS_NAMESPACE, "deleted")
    assert await undo(bench, gone.memory_id, "restore") == "accepted"
    assert await hidden(bench) == set()
    assert await undo(bench, gone.memory_id, "forget") == "accepted"
    assert await hidden(bench) == forgotten


async def test_messages_that_name_the_topic_of_a_wish_are_hidden_without_a_memory_until_the_wish_is_undone(
    bench: "Bench",
) -> None:
    again = FakeRepeatedMessages({}, naming={"Yasmin": [("other", "m4")]})
    curator = bench.curator_under(Policies((GROUP,)), said_again=again)
    (batch,) = await batches_of(ada_says("Please forget what I told you about Yasmin.", conversation_id="third"), GROUP)
    await curator.curate(batch)
    assert await hidden(bench) == {("other", "m4"), ("third", "m1")}

    assert await undo(bench, batch.wishes[0].wish_id) == "accepted"
    assert await hidden(bench) == set()


async def test_messages_that_name_the_topic_of_a_wish_are_hidden_with_the_first_of_its_memories(bench: "Bench") -> None:
    await bench.extract_and_curate(ada_says("I have a dog named Rex.", conversation_id="first"))
    again = FakeRepeatedMessages({}, naming={"Rex": [("other", "m4")]})
    curator = bench.curator_under(Policies((GROUP,)), said_again=again)
    (batch,) = await batches_of(ada_says("Please forget what I told you about Rex.", conversation_id="third"), GROUP)
    await curator.curate(batch)
    assert await hidden(bench) == {("first", "m1"), ("other", "m4"), ("third", "m1")}

    gone = await bench.only_memory(ADAS_NAMESPACE, "deleted")
    assert await undo(bench, gone.memory_id) == "accepted"
    assert await hidden(bench) == set()


@pytest.mark.parametrize(("most", "found"), [(1, {"n"}), (2, {"n", "k"})])
async def test_predecessors_of_a_forgotten_memory_count_towards_the_limit_of_repetition_searches(
    bench: "Bench", monkeypatch: pytest.MonkeyPatch, most: int, found: set[str]
) -> None:
    monkeypatch.setattr(wishes, "MAX_REPETITION_SEARCHES", most)
    await bench.extract_and_curate(ada_says("I work at Kone.", conversation_id="first"))
    await bench.extract_and_curate(ada_says("I no longer work at Kone, I work at Nokia.", conversation_id="second"))
    (latest,) = await bench.live_texts(ADAS_NAMESPACE)
    again = FakeRepeatedMessages({latest: [("other", "n")], "User works at Kone.": [("other", "k")]})
    curator = bench.curator_under(Policies((GROUP,)), said_again=again)
    (batch,) = await batches_of(ada_says("Please forget everything about my job.", conversation_id="third"), GROUP)
    await curator.curate(batch)
    assert {message for conversation, message in await hidden(bench) if conversation == "other"} == found


async def test_source_messages_of_superseded_memories_are_hidden_only_if_the_wish_covers_them(bench: "Bench") -> None:
    await bench.extract_and_curate(ada_says("I work at Kone.", conversation_id="first"))
    await bench.extract_and_curate(ada_says("I no longer work at Kone, I work at Nokia.", conversation_id="second"))
    await bench.extract_and_curate(ada_says("I live in Berlin.", conversation_id="third"))
    await bench.extract_and_curate(ada_says("I have moved to Lyon.", conversation_id="fourth"))
    await bench.extract_and_curate(ada_says("Please forget everything about my job.", conversation_id="fifth"))
    assert {each for each, _ in await hidden(bench)} == {"first", "second", "fifth"}

    await bench.extract_and_curate(ada_says("Please forget that I live in Lyon.", conversation_id="sixth"))
    assert {each for each, _ in await hidden(bench)} == {"first", "second", "fourth", "fifth", "sixth"}


async def test_source_messages_of_a_memory_merged_into_a_forgotten_one_are_hidden(bench: "Bench") -> None:
    await bench.extract_and_curate(ada_says("I live in Berlin.", conversation_id="first"))
    await bench.extract_and_curate(ada_says("I have a dog named Rex.", conversation_id="second"))
    live = {each.text: each.memory_id for each in await bench.memories.in_namespace(ADAS_NAMESPACE)}
    into, gone = live["User lives in Berlin."], live["User has a dog named Rex."]
    await bench.pool.execute(
        "UPDATE memories SET status = 'deleted', superseded_by = $1 WHERE memory_id = $2", into, gone
    )
    await bench.extract_and_curate(ada_says("Forget that I live in Berlin.", conversation_id="third"))
    assert {each for each, _ in await hidden(bench)} == {"first", "second", "third"}


async def test_a_message_stays_hidden_while_one_of_its_memories_is_forgotten(bench: "Bench") -> None:
    await bench.extract_and_curate(ada_says("I live in Berlin. I am allergic to peanuts.", "Forget that."))
    gone = await bench.memories.in_namespace(ADAS_NAMESPACE, statuses=("deleted",))
    assert len(gone) == 2

    await undo(bench, gone[0].memory_id, "one")
    assert await hidden(bench) == {("c", "m1"), ("c", "m2")}
    await undo(bench, gone[1].memory_id, "other")
    assert await hidden(bench) == set()


async def test_a_message_without_memories_is_hidden_by_a_wish_and_shown_after_undoing_the_wish(bench: "Bench") -> None:
    batch = await bench.extract_and_curate(ada_says("The frobnicator is in the cellar, mate.", "Forget that."))
    assert [event.type for event in bench.wish_events()] == ["memstream.wish.unknown"]
    assert await hidden(bench) == {("c", "m1"), ("c", "m2")}

    (wish,) = batch.wishes
    assert await undo(bench, wish.wish_id) == "accepted"
    assert await hidden(bench) == set()
    assert await undo(bench, wish.wish_id, "again") == "rejected"


async def test_a_message_extracted_after_its_forget_wish_is_hidden_and_creates_no_memory(bench: "Bench") -> None:
    said = [
        group_message(number, "ada", text)
        for number, text in enumerate(("I live in Berlin.", "Well.", "Forget that I live in Berlin."))
    ]
    (whole,) = slices_of(said, GROUP)
    first = replace(whole, messages=whole.messages[:2])
    second = replace(whole, request_id="second", messages=whole.messages[2:])
    curator = bench.curator_under(Policies((GROUP,)))

    for late in (second, first):
        for batch in await batches_of(late, GROUP):
            await curator.curate(batch)

    assert await bench.live_texts(ADAS_NAMESPACE) == []
    ids = [each.message_id for each in whole.messages]
    assert {message_id for _, message_id in await hidden(bench)} == {ids[0], ids[2]}


async def test_a_redelivered_wish_hides_nothing_that_was_restored(bench: "Bench") -> None:
    await bench.extract_and_curate(ada_says("I live in Berlin."))
    batch = await bench.extract_and_curate(ada_says("Forget that I live in Berlin.", conversation_id="later"))
    await undo(bench, (await bench.only_memory(ADAS_NAMESPACE, "deleted")).memory_id)

    await bench.curator.curate(batch)

    assert await hidden(bench) == set()


async def test_the_source_message_of_a_memory_ended_by_a_wish_is_hidden(bench: "Bench") -> None:
    policy = replace(GROUP, on_forget_wish="end")
    curator = bench.curator_under(Policies((policy,)))
    await bench.extract_and_curate(ada_says("I live in Berlin."))
    (batch,) = await batches_of(ada_says("Forget that I live in Berlin.", conversation_id="later"), policy)
    await curator.curate(batch)

    assert await hidden(bench) == {("c", "m1"), ("later", "m1")}


async def test_a_wish_that_is_only_reported_hides_nothing(bench: "Bench") -> None:
    policy = replace(GROUP, on_forget_wish="report")
    await bench.extract_and_curate(ada_says("I live in Berlin."))
    (batch,) = await batches_of(ada_says("Forget that I live in Berlin."), policy)
    await bench.curator_under(Policies((policy,))).curate(batch)

    assert await hidden(bench) == set()


async def test_source_messages_of_a_manually_deleted_memory_stay_visible(bench: "Bench") -> None:
    await bench.extract_and_curate(ada_says("I live in Berlin."))
    (memory,) = await bench.memories.in_namespace(ADAS_NAMESPACE)
    await bench.curator.apply_command(
        Command(command_id="d", kind="delete", namespace=ADAS_NAMESPACE, at=NOON, memory_id=memory.memory_id)
    )

    assert await hidden(bench) == set()


async def test_erasing_a_namespace_deletes_its_hidden_message_records(bench: "Bench") -> None:
    await bench.extract_and_curate(ada_says("I live in Berlin.", "Forget that."))
    assert await hidden(bench)

    await bench.curator.apply_command(Command(command_id="p", kind="purge", namespace=ADAS_NAMESPACE, at=NOON))

    assert await hidden(bench) == set()
