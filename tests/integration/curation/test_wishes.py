"""Forget wishes delete memories by a change of their own that is published and can be undone."""

from typing import TYPE_CHECKING

from msgspec.structs import replace

from agents.extraction.records import candidate_batches
from agents.models.port import Answer, Proposal
from schemas.kafka import topics
from schemas.memories.commands import Command
from schemas.policies.policies import Policies, Privacy
from tests.builders.groups import batches_of, group_message, slices_of
from tests.builders.memories import NOON
from tests.builders.wishes import ADAS_NAMESPACE, GROUP, ada_says

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench


async def test_a_wish_forgets_the_preceding_statements_and_events_name_the_wish(bench: "Bench") -> None:
    await bench.extract_and_curate(ada_says("I live in Berlin.", "I have a dog named Rex.", conversation_id="earlier"))
    batch = await bench.extract_and_curate(
        ada_says("I smoke ten cigarettes a day. I am allergic to peanuts.", "Forget that.")
    )

    assert await bench.live_texts(ADAS_NAMESPACE) == ["User has a dog named Rex.", "User lives in Berlin."]
    gone = [event.data for event in bench.events(ADAS_NAMESPACE) if event.data.change == "deleted"]
    assert gone
    assert {each.cause.wish_id for each in gone} == {batch.wishes[0].wish_id}
    assert {each.cause.reason for each in gone} == {"the user asked to have it forgotten, in message m2"}
    assert not any(each.memory.memory_id in bench.vectors.points for each in gone)
    (event,) = bench.wish_events()
    assert event.type == "memstream.wish.forgotten"
    assert event.data["memory_ids"] == [each.memory.memory_id for each in gone]


async def test_undo_restores_a_forgotten_memory_in_all_stores(bench: "Bench") -> None:
    await bench.extract_and_curate(ada_says("I live in Berlin."))
    await bench.extract_and_curate(ada_says("Please forget that I live in Berlin."))
    memory = await bench.only_memory(ADAS_NAMESPACE, "deleted")

    undo = Command(command_id="u", kind="undo", namespace=ADAS_NAMESPACE, at=NOON, memory_id=memory.memory_id)
    outcome = await bench.curator.apply_command(undo)

    assert (outcome.status, outcome.change) == ("accepted", "restored")
    assert await bench.live_texts(ADAS_NAMESPACE) == ["User lives in Berlin."]
    assert bench.vectors.points[memory.memory_id].status == "active"
    assert [event.data.change for event in bench.events(ADAS_NAMESPACE)] == ["created", "deleted", "restored"]
    states = [record for record in bench.publisher.on(topics.STATE) if record.key == memory.memory_id.encode()]
    assert [record.value is None for record in states] == [False, True, False]


async def test_a_redelivered_wish_deletes_nothing_that_was_restored(bench: "Bench") -> None:
    await bench.extract_and_curate(ada_says("I live in Berlin."))
    batch = await bench.extract_and_curate(ada_says("Forget that I live in Berlin."))
    memory = await bench.only_memory(ADAS_NAMESPACE, "deleted")
    await bench.curator.apply_command(
        Command(command_id="u", kind="undo", namespace=ADAS_NAMESPACE, at=NOON, memory_id=memory.memory_id)
    )

    outcome = await bench.curator.curate(batch)

    assert outcome.repeated
    assert await bench.live_texts(ADAS_NAMESPACE) == ["User lives in Berlin."]


async def test_a_statement_forgotten_in_its_own_slice_stays_forgotten_after_redelivery(
    bench: "Bench",
) -> None:
    batch = await bench.extract_and_curate(ada_says("I live in Berlin.", "Forget that."))
    await bench.curator.curate(batch)
    await bench.curator.curate(replace(batch, part=2, parts=2))

    assert await bench.live_texts(ADAS_NAMESPACE) == []


async def test_a_statement_before_a_wish_that_is_extracted_after_it_creates_no_memory(bench: "Bench") -> None:
    berlin, lyon = "I live in Berlin.", "I have a dog named Rex."
    said = [group_message(number, "ada", text) for number, text in enumerate((berlin, "Forget that.", lyon))]
    (whole,) = slices_of(said, GROUP)
    first, second = (
        replace(whole, messages=whole.messages[:1]),
        replace(whole, request_id="second", messages=whole.messages[1:], overlap=whole.messages[:1]),
    )
    curator = bench.curator_under(Policies((GROUP,)))

    for late in (second, first):
        for batch in await batches_of(late, GROUP):
            await curator.curate(batch)

    assert await bench.live_texts(ADAS_NAMESPACE) == ["User has a dog named Rex."]
    assert "created" not in [
        each.data.change for each in bench.events(ADAS_NAMESPACE) if "Berlin" in each.data.memory.text
    ]


async def test_a_statement_repeated_after_a_wish_is_remembered(bench: "Bench") -> None:
    said = [
        group_message(number, "ada", text)
        for number, text in enumerate(("Forget that I live in Berlin.", "I live in Berlin."))
    ]
    (whole,) = slices_of(said, GROUP)
    curator = bench.curator_under(Policies((GROUP,)))

    for number in (0, 1):
        for batch in await batches_of(
            replace(whole, request_id=str(number), messages=whole.messages[number : number + 1]), GROUP
        ):
            await curator.curate(batch)

    assert await bench.live_texts(ADAS_NAMESPACE) == ["User lives in Berlin."]


async def test_a_stored_wish_is_scrubbed_according_to_the_policy(bench: "Bench") -> None:
    policy = replace(GROUP, privacy=Privacy(scrub=("email",)))
    (batch,) = await batches_of(ada_says("Forget what I told you about ada@example.org."), policy)

    await bench.curator_under(Policies((policy,))).curate(batch)

    (kept,) = await bench.pool.fetch("SELECT wish::text AS wish FROM forgotten")
    assert "example.org" not in kept["wish"]
    assert "EMAIL" in kept["wish"]


async def test_erasing_a_namespace_deletes_its_stored_wishes(bench: "Bench") -> None:
    await bench.extract_and_curate(ada_says("Forget about my job."))
    assert await bench.pool.fetchval("SELECT count(*) FROM forgotten") == 1

    await bench.curator.apply_command(Command(command_id="p", kind="purge", namespace=ADAS_NAMESPACE, at=NOON))

    assert await bench.pool.fetchval("SELECT count(*) FROM forgotten") == 0


async def test_a_wish_about_a_topic_forgets_its_memories_from_any_conversation(bench: "Bench") -> None:
    await bench.extract_and_curate(ada_says("I work at Siemens.", "I live in Berlin.", conversation_id="earlier"))
    await bench.extract_and_curate(ada_says("Forget about my job."))

    assert await bench.live_texts(ADAS_NAMESPACE) == ["User lives in Berlin."]


async def test_on_forget_wish_end_expires_memories_that_stay_readable_and_restorable(bench: "Bench") -> None:
    policy = replace(GROUP, on_forget_wish="end")
    curator = bench.curator_under(Policies((policy,)))
    await bench.extract_and_curate(ada_says("I live in Berlin."))
    (batch,) = await batches_of(ada_says("Forget that I live in Berlin."), policy)
    await curator.curate(batch)

    ended = await bench.only_memory(ADAS_NAMESPACE, "expired")
    assert ended.text == "User lives in Berlin."
    assert ended.valid_until is not None
    await curator.apply_command(
        Command(command_id="u", kind="undo", namespace=ADAS_NAMESPACE, at=NOON, memory_id=ended.memory_id)
    )
    back = await bench.only_memory(ADAS_NAMESPACE, "active")
    assert (back.text, back.valid_until) == ("User lives in Berlin.", None)


async def test_on_forget_wish_report_deletes_nothing(bench: "Bench") -> None:
    policy = replace(GROUP, on_forget_wish="report")
    await bench.extract_and_curate(ada_says("I live in Berlin."))
    (batch,) = await batches_of(ada_says("Forget that I live in Berlin."), policy)
    await bench.curator_under(Policies((policy,))).curate(batch)

    assert await bench.live_texts(ADAS_NAMESPACE) == ["User lives in Berlin."]
    assert [event.type for event in bench.wish_events()] == ["memstream.wish.reported"]


async def test_a_wish_matching_too_many_memories_deletes_none_and_is_reported_as_unclear(bench: "Bench") -> None:
    for place in ("Berlin", "Lyon", "Porto", "Rome", "Oslo", "Bern"):
        await bench.curator.curate(bench.batch(f"User's trip to {place} was nice.", namespace=ADAS_NAMESPACE))
    before = await bench.live_texts(ADAS_NAMESPACE)
    await bench.extract_and_curate(ada_says("Forget about my trip."))

    assert await bench.live_texts(ADAS_NAMESPACE) == before
    (event,) = bench.wish_events()
    assert event.type == "memstream.wish.unclear"
    assert event.data["reason"] == "it may mean 6 memories, more than 5"


async def test_a_wish_matching_no_memory_is_reported_as_unknown(bench: "Bench") -> None:
    await bench.extract_and_curate(ada_says("Forget about my boat."))

    assert [event.type for event in bench.wish_events()] == ["memstream.wish.unknown"]


async def test_a_wish_of_one_person_deletes_no_memory_of_another(bench: "Bench") -> None:
    said = [
        group_message(0, "ada", "I live in Berlin."),
        group_message(1, "bob", "I live in Berlin."),
        group_message(2, "ada", "Forget that I live in Berlin."),
    ]
    (request,) = slices_of(said, GROUP)
    for batch in await batches_of(request, GROUP):
        await bench.curator_under(Policies((GROUP,))).curate(batch)

    assert await bench.live_texts("kitchen/ada") == []
    assert await bench.live_texts("kitchen/bob") == ["User lives in Berlin."]
    assert await bench.live_texts("kitchen") == ["bob lives in Berlin."]


GARLIC, FLIGHT = "Ada plants garlic.", "Bob's flight to Rome is in May."


async def told_by_bob_and_forgotten(bench: "Bench", said: str) -> None:
    """A group with memories of a message of Ada's and of one of Bob's, as a model extracts them, before Ada's wish."""
    messages = [
        group_message(0, "ada", "I plant garlic.", name="Ada"),
        group_message(1, "bob", said, name="Bob"),
        group_message(2, "ada", "Thanks, but please forget that, it was meant to stay private.", name="Ada"),
    ]
    (request,) = slices_of(messages, GROUP)
    first, second, _ = (each.message_id for each in request.messages)
    proposals = [
        Proposal(kind="fact", text=text, message_ids=(message_id,), confidence=0.9)
        for text, message_id in ((GARLIC, first), ("Ada is pregnant.", second), (FLIGHT, second))
    ]
    for batch in candidate_batches(request, Answer(provider="claude", model="m", proposals=tuple(proposals)), NOON):
        await bench.curator_under(Policies((GROUP,))).curate(batch)


async def test_a_wish_after_another_persons_message_about_the_wisher_forgets_what_it_tells_about_them(
    bench: "Bench",
) -> None:
    await told_by_bob_and_forgotten(bench, "Ada told me that she is pregnant. My flight to Rome is in May.")

    assert await bench.live_texts("kitchen") == [GARLIC, FLIGHT]
    assert await bench.live_texts("kitchen/ada") == [GARLIC]
    assert await bench.live_texts("kitchen/bob") == ["Ada is pregnant.", FLIGHT], "what Bob knows stays his"
    hidden = await bench.pool.fetch("SELECT DISTINCT message_id FROM hidden_messages")
    assert {row["message_id"] for row in hidden} == {"m1", "m2"}


async def test_a_wish_after_another_persons_message_about_anything_else_forgets_nothing_and_is_unclear(
    bench: "Bench",
) -> None:
    await told_by_bob_and_forgotten(bench, "She told me that she is pregnant. My flight to Rome is in May.")

    assert await bench.live_texts("kitchen") == ["Ada is pregnant.", GARLIC, FLIGHT]
    assert await bench.live_texts("kitchen/ada") == [GARLIC]
    assert {event.type for event in bench.wish_events()} == {"memstream.wish.unclear"}
    assert {event.data["reason"] for event in bench.wish_events()} == {"nothing tells what it means"}
    assert await bench.pool.fetchval("SELECT count(*) FROM hidden_messages") == 0


async def test_a_wish_that_only_the_classifier_finds_forgets_and_hides_nothing_and_is_unclear(bench: "Bench") -> None:
    await bench.extract_and_curate(ada_says("I live in Berlin.", conversation_id="earlier"))
    batch = await bench.extract_and_curate(
        ada_says(
            "I have a dog named Rex.", "I am allergic to peanuts. My eye surgery should not be kept in your memory."
        )
    )

    kept = ["User has a dog named Rex.", "User is allergic to peanuts.", "User lives in Berlin."]
    assert await bench.live_texts(ADAS_NAMESPACE) == kept
    assert await bench.pool.fetchval("SELECT count(*) FROM hidden_messages") == 0
    assert await bench.pool.fetchval("SELECT count(*) FROM forgotten") == 0
    (event,) = bench.wish_events()
    assert event.type == "memstream.wish.unclear"
    assert (event.data["wish_id"], event.data["message_id"]) == (batch.wishes[0].wish_id, "m2")
    assert (event.data["memory_ids"], event.data["reason"]) == ([], "nothing tells what it means")
