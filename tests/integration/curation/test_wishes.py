"""Forget wishes delete memories by a change of their own that is published and can be undone."""

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from msgspec.structs import replace

from agents.erasure.begin import ErasureService
from agents.erasure.wishes import ErasureWishes
from agents.extraction.records import candidate_batches
from agents.models.offline.provider import OfflineProvider
from agents.models.port import Answer, Context, Proposal, WishRead
from schemas.conversations.messages import Scope
from schemas.extraction.candidates import CandidateBatch
from schemas.extraction.requests import ExtractionRequest
from schemas.kafka import topics
from schemas.memories.commands import Command
from schemas.memories.events import ActivityEvent
from schemas.memories.memories import Memory
from schemas.policies.policies import Policies, Policy, Privacy
from sinks.erasure.erasures import Erasures
from tests.builders.groups import group_message, slices_of
from tests.builders.slices import slice_of
from tests.integration.curation_bench import NOON

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench

MINE = "kitchen/ada"
SCOPE = Scope(conversation_id="c", app_id="kitchen", user_id="ada")
GROUP = Policy(name="default", namespaces=("{app_id}/{user_id}", "{app_id}"))


def request(*contents: str, conversation_id: str = "c") -> ExtractionRequest:
    """One slice of Ada's, in her namespace."""
    scope = replace(SCOPE, conversation_id=conversation_id)
    return replace(slice_of(*contents), request_id=uuid4().hex, scope=scope, namespaces=(MINE,))


async def batches(request: ExtractionRequest, policy: Policy = GROUP) -> list[CandidateBatch]:
    answer = await OfflineProvider().extract(request, Context(policy=policy))
    return candidate_batches(request, answer, NOON)


async def say(bench: "Bench", *contents: str, conversation_id: str = "c") -> CandidateBatch:
    (batch,) = await batches(request(*contents, conversation_id=conversation_id))
    await bench.curator.curate(batch)
    return batch


async def live(bench: "Bench", namespace: str = MINE) -> list[str]:
    return sorted(memory.text for memory in await bench.memories.in_namespace(namespace))


def wish_events(bench: "Bench") -> list[ActivityEvent]:
    return [event for event in bench.activity() if event.type.startswith("memstream.wish.")]


async def only(bench: "Bench", status: str) -> Memory:
    (memory,) = await bench.memories.in_namespace(MINE, statuses=(status,))  # type: ignore[arg-type]
    return memory


async def test_a_wish_forgets_the_preceding_statements_and_events_name_the_wish(bench: "Bench") -> None:
    await say(bench, "I live in Berlin.", "I have a dog named Rex.", conversation_id="earlier")
    batch = await say(bench, "I smoke ten cigarettes a day. I am allergic to peanuts.", "Forget that.")

    assert await live(bench) == ["User has a dog named Rex.", "User lives in Berlin."]
    gone = [event.data for event in bench.events(MINE) if event.data.change == "deleted"]
    assert gone
    assert {each.cause.wish_id for each in gone} == {batch.wishes[0].wish_id}
    assert {each.cause.reason for each in gone} == {"the user asked to have it forgotten, in message m2"}
    assert not any(each.memory.memory_id in bench.vectors.points for each in gone)
    (event,) = wish_events(bench)
    assert event.type == "memstream.wish.forgotten"
    assert event.data["memory_ids"] == [each.memory.memory_id for each in gone]


async def test_undo_restores_a_forgotten_memory_in_all_stores(bench: "Bench") -> None:
    await say(bench, "I live in Berlin.")
    await say(bench, "Please forget that I live in Berlin.")
    memory = await only(bench, "deleted")

    undo = Command(command_id="u", kind="undo", namespace=MINE, at=NOON, memory_id=memory.memory_id)
    outcome = await bench.curator.apply_command(undo)

    assert (outcome.status, outcome.change) == ("accepted", "restored")
    assert await live(bench) == ["User lives in Berlin."]
    assert bench.vectors.points[memory.memory_id].status == "active"
    assert [event.data.change for event in bench.events(MINE)] == ["created", "deleted", "restored"]
    states = [record for record in bench.publisher.on(topics.STATE) if record.key == memory.memory_id.encode()]
    assert [record.value is None for record in states] == [False, True, False]


async def test_a_redelivered_wish_deletes_nothing_that_was_restored(bench: "Bench") -> None:
    await say(bench, "I live in Berlin.")
    batch = await say(bench, "Forget that I live in Berlin.")
    memory = await only(bench, "deleted")
    await bench.curator.apply_command(
        Command(command_id="u", kind="undo", namespace=MINE, at=NOON, memory_id=memory.memory_id)
    )

    outcome = await bench.curator.curate(batch)

    assert outcome.repeated
    assert await live(bench) == ["User lives in Berlin."]


async def test_a_statement_forgotten_in_its_own_slice_stays_forgotten_after_redelivery(
    bench: "Bench",
) -> None:
    batch = await say(bench, "I live in Berlin.", "Forget that.")
    await bench.curator.curate(batch)
    await bench.curator.curate(replace(batch, part=2, parts=2))

    assert await live(bench) == []


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
        for batch in await batches(late):
            await curator.curate(batch)

    assert await live(bench) == ["User has a dog named Rex."]
    assert "created" not in [each.data.change for each in bench.events(MINE) if "Berlin" in each.data.memory.text]


async def test_a_statement_repeated_after_a_wish_is_remembered(bench: "Bench") -> None:
    said = [
        group_message(number, "ada", text)
        for number, text in enumerate(("Forget that I live in Berlin.", "I live in Berlin."))
    ]
    (whole,) = slices_of(said, GROUP)
    curator = bench.curator_under(Policies((GROUP,)))

    for number in (0, 1):
        for batch in await batches(
            replace(whole, request_id=str(number), messages=whole.messages[number : number + 1])
        ):
            await curator.curate(batch)

    assert await live(bench) == ["User lives in Berlin."]


async def test_a_stored_wish_is_scrubbed_according_to_the_policy(bench: "Bench") -> None:
    policy = replace(GROUP, privacy=Privacy(scrub=("email",)))
    (batch,) = await batches(request("Forget what I told you about ada@example.org."), policy)

    await bench.curator_under(Policies((policy,))).curate(batch)

    (kept,) = await bench.pool.fetch("SELECT wish::text AS wish FROM forgotten")
    assert "example.org" not in kept["wish"]
    assert "EMAIL" in kept["wish"]


async def test_erasing_a_namespace_deletes_its_stored_wishes(bench: "Bench") -> None:
    await say(bench, "Forget about my job.")
    assert await bench.pool.fetchval("SELECT count(*) FROM forgotten") == 1

    await bench.curator.apply_command(Command(command_id="p", kind="purge", namespace=MINE, at=NOON))

    assert await bench.pool.fetchval("SELECT count(*) FROM forgotten") == 0


async def test_a_wish_about_a_topic_forgets_its_memories_from_any_conversation(bench: "Bench") -> None:
    await say(bench, "I work at Siemens.", "I live in Berlin.", conversation_id="earlier")
    await say(bench, "Forget about my job.")

    assert await live(bench) == ["User lives in Berlin."]


async def test_on_forget_wish_end_expires_memories_that_stay_readable_and_restorable(bench: "Bench") -> None:
    policy = replace(GROUP, on_forget_wish="end")
    curator = bench.curator_under(Policies((policy,)))
    await say(bench, "I live in Berlin.")
    (batch,) = await batches(request("Forget that I live in Berlin."), policy)
    await curator.curate(batch)

    ended = await only(bench, "expired")
    assert ended.text == "User lives in Berlin."
    assert ended.valid_until is not None
    await curator.apply_command(
        Command(command_id="u", kind="undo", namespace=MINE, at=NOON, memory_id=ended.memory_id)
    )
    back = await only(bench, "active")
    assert (back.text, back.valid_until) == ("User lives in Berlin.", None)


async def test_on_forget_wish_report_deletes_nothing(bench: "Bench") -> None:
    policy = replace(GROUP, on_forget_wish="report")
    await say(bench, "I live in Berlin.")
    (batch,) = await batches(request("Forget that I live in Berlin."), policy)
    await bench.curator_under(Policies((policy,))).curate(batch)

    assert await live(bench) == ["User lives in Berlin."]
    assert [event.type for event in wish_events(bench)] == ["memstream.wish.reported"]


async def test_a_wish_matching_too_many_memories_deletes_none_and_is_reported_as_unclear(bench: "Bench") -> None:
    for place in ("Berlin", "Lyon", "Porto", "Rome", "Oslo", "Bern"):
        await bench.curator.curate(bench.batch(f"User's trip to {place} was nice.", namespace=MINE))
    before = await live(bench)
    await say(bench, "Forget about my trip.")

    assert await live(bench) == before
    (event,) = wish_events(bench)
    assert event.type == "memstream.wish.unclear"
    assert event.data["reason"] == "it may mean 6 memories, more than 5"


async def test_a_wish_matching_no_memory_is_reported_as_unknown(bench: "Bench") -> None:
    await say(bench, "Forget about my boat.")

    assert [event.type for event in wish_events(bench)] == ["memstream.wish.unknown"]


async def test_a_wish_to_erase_everything_is_reported_and_deletes_nothing(bench: "Bench") -> None:
    await say(bench, "I live in Berlin.")
    await say(bench, "Delete all your memories about me.")

    assert await live(bench) == ["User lives in Berlin."]
    (event,) = wish_events(bench)
    assert (event.type, event.data["user_id"]) == ("memstream.wish.erasure_reported", "ada")


async def test_a_wish_to_erase_everything_starts_one_erasure_where_the_policy_allows_it(
    bench: "Bench",
) -> None:
    policy, kept = replace(GROUP, on_erasure_wish="erase"), Erasures(bench.pool)
    erasing = ErasureWishes(ErasureService(kept, ends, bench.now), kept, bench.now)
    curator = bench.curator_under(Policies((policy,)), erasing)
    (batch,) = await batches(request("I live in Berlin.", "Delete all your memories about me."), policy)
    batch = replace(batch, extracted_at=NOON, requested_at=NOON)

    await curator.curate(batch)
    await curator.curate(replace(batch, part=2, parts=2))

    first, again = wish_events(bench)
    assert first.type == "memstream.wish.erasure_begun"
    assert first.data["erasure_id"] == again.data["erasure_id"]
    begun = await kept.get(first.data["erasure_id"])
    assert begun is not None
    assert (begun.erasure.kind, begun.erasure.user_id, begun.erasure.app_id) == ("user", "ada", "kitchen")


def read_by_model(request: ExtractionRequest, text: str, asked_in: str, **wish: Any) -> CandidateBatch:
    """The batch of an answer in which a model names a wish."""
    read = WishRead(asked_in=asked_in, **wish)
    proposal = Proposal(kind="wish", text=text, message_ids=(asked_in,), confidence=1.0, wish=read)
    (batch,) = candidate_batches(request, Answer(provider="claude", model="m", proposals=(proposal,)), NOON)
    return batch


async def test_a_wish_that_only_a_model_reads_forgets_what_it_names_and_can_be_undone(bench: "Bench") -> None:
    await say(bench, "I live in Berlin.", "My sister is a nurse.", conversation_id="earlier")
    (sister,) = [each for each in await bench.memories.in_namespace(MINE) if "sister" in each.text]
    asking = request("Quello che ti ho detto di mia sorella non tenerlo.")
    batch = read_by_model(asking, "mia sorella", "m1", memory_ids=(sister.memory_id,))

    await bench.curator.curate(batch)

    assert await live(bench) == ["User lives in Berlin."]
    (event,) = wish_events(bench)
    assert (event.type, event.data["memory_ids"]) == ("memstream.wish.forgotten", [sister.memory_id])
    undo = Command(command_id="u", kind="undo", namespace=MINE, at=NOON, memory_id=sister.memory_id)
    await bench.curator.apply_command(undo)
    assert sister.text in await live(bench)


async def test_a_model_cannot_name_a_memory_of_another_namespace(bench: "Bench") -> None:
    (other,) = await batches(replace(request("I live in Berlin."), namespaces=("kitchen/bob",)))
    await bench.curator.curate(other)
    (bobs,) = await bench.memories.in_namespace("kitchen/bob")

    await bench.curator.curate(read_by_model(request("Toglilo."), "Berlino", "m1", memory_ids=(bobs.memory_id,)))

    assert await live(bench, "kitchen/bob") == ["User lives in Berlin."]
    assert [event.type for event in wish_events(bench)] == ["memstream.wish.unknown"]


async def test_a_wish_for_everything_that_only_a_model_reads_begins_no_erasure(bench: "Bench") -> None:
    policy, kept = replace(GROUP, on_erasure_wish="erase"), Erasures(bench.pool)
    erasing = ErasureWishes(ErasureService(kept, ends, bench.now), kept, bench.now)
    await say(bench, "I live in Berlin.", conversation_id="earlier")
    batch = read_by_model(request("Cancella tutto quello che sai di me."), "everything", "m1", everything=True)

    await bench.curator_under(Policies((policy,)), erasing).curate(replace(batch, extracted_at=NOON, requested_at=NOON))

    assert await live(bench) == ["User lives in Berlin."]
    (event,) = wish_events(bench)
    assert (event.type, event.data["user_id"]) == ("memstream.wish.erasure_reported", "ada")


async def ends() -> dict[int, int]:
    return {0: 100}


async def test_a_wish_of_one_person_deletes_no_memory_of_another(bench: "Bench") -> None:
    said = [
        group_message(0, "ada", "I live in Berlin."),
        group_message(1, "bob", "I live in Berlin."),
        group_message(2, "ada", "Forget that I live in Berlin."),
    ]
    (request,) = slices_of(said, GROUP)
    for batch in await batches(request):
        await bench.curator_under(Policies((GROUP,))).curate(batch)

    assert await live(bench, "kitchen/ada") == []
    assert await live(bench, "kitchen/bob") == ["User lives in Berlin."]
    assert await live(bench, "kitchen") == ["bob lives in Berlin."]
