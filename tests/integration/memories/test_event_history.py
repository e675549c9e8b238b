"""The history returns the memory events as published, in order and with erasures."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from schemas.codec import encode
from schemas.kafka import topics
from schemas.memories.commands import Command
from sinks.memories.event_history import ERASED, EventHistory
from tests.cases.hostile_text import HARD_TO_STORE
from tests.integration.curation_bench import NOON

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench


def command(kind: Any, **fields: Any) -> Command:
    return Command(
        **({"command_id": uuid4().hex, "kind": kind, "namespace": "n", "at": NOON + timedelta(hours=1)} | fields)
    )


async def eventful(bench: "Bench") -> None:
    """A namespace where everything happens but an erasure."""
    dog = await bench.remember("User has a dog")
    await bench.remember("user has a DOG!")
    tea = await bench.remember("User likes tea")
    await bench.remember("User dislikes tea now", contradicts=tea.memory_id)
    for kind, fields in (("update", {"text": "User has two dogs"}), ("delete", {}), ("undo", {})):
        await bench.curator.apply_command(command(kind, memory_id=dog.memory_id, **fields))


async def test_events_read_back_equal_the_published_events_byte_for_byte(bench: "Bench") -> None:
    await eventful(bench)
    published = [record.value for record in bench.publisher.on(topics.EVENTS)]
    read = await EventHistory(bench.pool).events_after("n", 0, 100)
    assert [encode(each.event) for each in read] == published
    assert [each.sequence for each in read] == list(range(1, len(published) + 1))
    assert {each.event.type.rpartition(".")[2] for each in read} >= {"created", "updated", "deleted", "restored"}


async def test_events_are_read_page_by_page_after_any_sequence(bench: "Bench") -> None:
    await eventful(bench)
    history = EventHistory(bench.pool)
    everything = await history.events_after("n", 0, 100)
    paged, place = [], 0
    while page := await history.events_after("n", place, 2):
        paged += page
        place = page[-1].sequence
    assert paged == list(everything)
    assert await history.heads(["n", "nobody"]) == {"n": place, "nobody": 0}
    assert await history.events_after("nobody", 0, 2) == ()


async def test_namespaces_with_unstorable_names_have_sequence_zero(bench: "Bench") -> None:
    assert await EventHistory(bench.pool).heads(HARD_TO_STORE) == dict.fromkeys(HARD_TO_STORE, 0)


async def test_reading_events_of_a_namespace_excludes_other_namespaces(bench: "Bench") -> None:
    await eventful(bench)
    await bench.curator.curate(bench.batch("User has a cat", namespace="other"))
    read = await EventHistory(bench.pool).events_after("other", 0, 100)
    assert [each.event.subject for each in read] and {each.event.data.namespace for each in read} == {"other"}


async def test_a_reader_that_missed_an_erasure_gets_it_before_later_events(bench: "Bench") -> None:
    await eventful(bench)
    history = EventHistory(bench.pool)
    await bench.curator.apply_command(command("purge"))
    erased_at = (await history.heads(["n"]))["n"]
    (erased,) = await history.events_after("n", 2, 100)
    assert (erased.event.type, erased.sequence) == (ERASED, erased_at)
    assert erased.event.data == {"namespace": "n", "sequence": erased_at}
    assert await history.events_after("n", erased_at, 100) == ()

    later = command("create", text="User has come back", at=NOON + timedelta(hours=3))
    await bench.curator.apply_command(later)
    for page in (1, 2, 100):
        erased, *rest = await history.events_after("n", 2, page)
        assert (erased.event.type, erased.sequence) == (ERASED, erased_at)
        assert [each.sequence for each in rest] == [erased_at + 1]


async def test_a_position_in_a_long_event_history_is_found_by_an_index(bench: "Bench") -> None:
    await eventful(bench)
    async with bench.pool.acquire() as connection:
        await connection.execute("SET enable_seqscan = off")
        plan = await connection.fetch(
            "EXPLAIN SELECT 1 FROM memory_versions WHERE namespace = 'n' AND (after->>'sequence')::bigint > 3 "
            "ORDER BY (after->>'sequence')::bigint LIMIT 2"
        )
    assert "memory_versions_in_order" in str(plan)
