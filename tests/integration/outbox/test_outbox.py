"""After a crash at any step Qdrant and Kafka reach the state of PostgreSQL, in order and without gaps."""

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pytest

from schemas.errors import Rejected, Retryable
from schemas.extraction.candidates import Candidate, CandidateBatch
from schemas.ids import memory_id
from schemas.kafka.records import Outgoing
from schemas.memories.commands import Command
from schemas.observability import traces
from sinks.outbox.projector import put_records, put_vectors
from sinks.postgres.queries import query
from sinks.vectors.port import Point, PointsRefused
from tests.fakes.publisher import FakePublisher
from tests.fakes.sinks import FakeVectors, Fuse
from tests.fakes.spans import CAUSE, OTHER
from tests.json_schema import violations

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench


def scenario(bench: "Bench", name: str) -> list[CandidateBatch | Command]:
    """A namespace's life: create, reinforce, supersede, update, delete; its ids are of its name."""
    first = bench.candidate("User lives in Paris", f"{name} 1")
    made = [bench.candidate(text, f"{name} {text}") for text in ("User has a dog", "User has a cat")]
    moved = bench.candidate("User moved to Berlin", f"{name} 3", contradicts=memory_id(f"{name} 1"))
    again = bench.candidate("user has a dog", f"{name} 4")
    said: list[tuple[str, list[Candidate]]] = [("r1", [first, *made]), ("r2", [again, moved]), ("r3", [])]
    commands = [
        Command(
            command_id="c1",
            kind="update",
            namespace=name,
            at=bench.now(),
            memory_id=memory_id(f"{name} User has a dog"),
            text="User had a dog",
        ),
        Command(
            command_id="c2",
            kind="delete",
            namespace=name,
            at=bench.now(),
            memory_id=memory_id(f"{name} User has a cat"),
        ),
    ]
    batches = [bench.batch(*candidates, request_id=f"{name} {request}", namespace=name) for request, candidates in said]
    return [*batches, *commands]


async def carry_out(bench: "Bench", step: CandidateBatch | Command) -> None:
    if isinstance(step, Command):
        await bench.curator.apply_command(step)
    else:
        await bench.curator.curate(step)


async def assert_projected(bench: "Bench", name: str) -> None:
    """The index holds what PostgreSQL says, and a consumer sees each sequence once, in order, without a gap."""
    rows = await bench.pool.fetch("SELECT memory_id FROM memories WHERE namespace = $1", name)
    points = await bench.memories.points([row["memory_id"] for row in rows], bench.vectors.embedding_model)
    wanted = {point.memory_id: point for point in points}
    assert set(bench.vectors.points) == set(wanted)
    for known, point in bench.vectors.points.items():
        assert (point.text, point.status) == (wanted[known].text, wanted[known].status)
        assert np.array_equal(point.vector, wanted[known].vector)
    sequence = await bench.pool.fetchval("SELECT sequence FROM namespaces WHERE namespace = $1", name)
    assert [event.data.sequence for event in bench.events(name)] == list(range(1, (sequence or 0) + 1))
    assert await bench.pool.fetchval("SELECT count(*) FROM outbox WHERE namespace = $1", name) == 0
    by_id: dict[bytes, set[bytes | None]] = {}
    for record in bench.publisher.on("memory.events"):
        by_id.setdefault((record.value or b"")[:50], set()).add(record.value)
    assert all(len(values) == 1 for values in by_id.values()), "the same id was published with two contents"


async def steps_of(bench: "Bench", fuse: Fuse) -> int:
    for step in scenario(bench, "undisturbed"):
        await carry_out(bench, step)
    await assert_projected(bench, "undisturbed")
    return fuse.steps


@pytest.mark.parametrize("after", [False, True], ids=["before the step", "after the step"])
async def test_a_crash_at_any_step_is_healed_by_the_sweep(make_bench: Callable[..., "Bench"], after: bool) -> None:
    counting = Fuse()
    steps = await steps_of(make_bench(counting), counting)
    assert steps > 30
    for at in range(1, steps + 1):
        fuse = Fuse(at, after=after)
        bench, name = make_bench(fuse), f"crash {at}"
        life = scenario(bench, name)
        crashed = 0
        for number, step in enumerate(life):
            try:
                await carry_out(bench, step)
            except Retryable:
                crashed = number
                break
        assert fuse.steps >= at, "the fuse never blew"
        await bench.projector.sweep()
        await assert_projected(bench, name)
        for step in life[crashed:]:  # the step is delivered again, and the others follow
            await carry_out(bench, step)
        await assert_projected(bench, name)
        assert [event.data.change for event in bench.events(name)] == [
            *("created", "created", "created", "reinforced", "created", "superseded", "updated", "deleted")
        ]
        assert len(bench.controls()) >= 3


async def test_a_decision_first_projects_pending_outbox_rows_of_its_namespace(
    make_bench: Callable[..., "Bench"],
) -> None:
    fuse = Fuse(2)  # step 1 is the search, step 2 the first write to the index
    bench = make_bench(fuse)
    with pytest.raises(Retryable):
        await bench.remember("User likes to hike in the mountains every weekend")
    assert bench.vectors.points == {}
    fuse.at = 0
    assert await bench.pending() > 0
    outcome = await bench.curator.curate(bench.batch("The user likes to hike in the mountains every weekend"))
    assert outcome.rulings[0].result == "reinforced"


async def test_the_sweep_skips_locked_namespaces_and_recent_rows(make_bench: Callable[..., "Bench"]) -> None:
    bench = make_bench()
    record = Outgoing(topic="memory.events", key=b"held", value=b"{}")
    async with bench.pool.acquire() as connection:
        for namespace in ("held", "free"):
            await put_records(connection, namespace, [record])
        async with connection.transaction():
            await connection.execute(query("memories", "lock_namespace"), "held")
            assert await bench.projector.sweep() == 1
    assert await bench.pending() == 1
    bench.projector._stale_s = 60.0
    assert await bench.projector.sweep() == 0
    bench.projector._stale_s = 0.0
    assert await bench.projector.sweep() == 1


async def test_a_namespace_that_cannot_be_projected_does_not_hold_up_the_others(
    make_bench: Callable[..., "Bench"],
) -> None:
    bench = make_bench(Fuse(1))
    async with bench.pool.acquire() as connection:
        for name in ("a", "b", "c"):
            await put_records(connection, name, [Outgoing(topic="memory.events", key=name.encode(), value=b"{}")])
    with pytest.raises(Retryable, match="1 of 3 namespaces"):
        await bench.projector.sweep()
    assert {record.key for record in bench.publisher.records} == {b"b", b"c"}
    assert await bench.pending() == 1


async def test_more_outbox_rows_than_a_page_are_published_in_order(make_bench: Callable[..., "Bench"]) -> None:
    bench = make_bench()
    records = [Outgoing(topic="t", key=b"k", value=str(number).encode()) for number in range(1_234)]
    async with bench.pool.acquire() as connection:
        await put_records(connection, "n", records)
    assert await bench.projector.project_now("n") == 1_234
    assert bench.publisher.records == records


async def test_records_are_published_with_the_trace_of_their_decision(bench: "Bench") -> None:
    record = Outgoing(topic="memory.events", key=b"n", value=b"{}")
    async with bench.pool.acquire() as connection:
        for cause in (CAUSE, None):
            with traces.span("deciding", causes=[cause]):
                await put_records(connection, "n", [record])
    with traces.span("another decision", causes=[OTHER]):
        await bench.projector.project_now("n")
    assert [dict(record.headers) for record in bench.publisher.records] == [{"traceparent": CAUSE.encode()}, {}]


class Small(FakePublisher):
    """Brokers that refuse large records."""

    async def publish(self, records: Sequence[Outgoing]) -> None:
        if any(len(record.value or b"") > 9 for record in records):
            raise Rejected("unpublishable", "the record is too large")
        await super().publish(records)


async def test_a_record_that_brokers_refuse_becomes_a_dead_letter_and_blocks_no_other(bench: "Bench") -> None:
    small = bench.projector._publisher = Small()
    records = [Outgoing(topic="memory.events", key=b"n", value=b"x" * length) for length in (1, 10, 2)]
    async with bench.pool.acquire() as connection:
        await put_records(connection, "n", records)
    assert await bench.projector.project_now("n") == 3
    (letter,) = small.on("memory.dead-letters")
    assert (letter.key, letter_headers(letter)["memstream-topic"]) == (b"n", "memory.events")
    assert [len(record.value or b"") for record in small.on("memory.events")] == [1, 2]


def letter_headers(letter: Outgoing) -> dict[str, str]:
    """The headers of a dead letter of the outbox, which conform to the published schema."""
    headers = {name: value.decode() for name, value in letter.headers}
    assert violations(headers, "dead-letter-headers") == []
    assert headers["memstream-stage"] == "outbox"
    return headers


class Picky(FakeVectors):
    """An index that takes points about cats for wrong."""

    calls = 0

    async def upsert(self, points: Sequence[Point]) -> None:
        self.calls += 1
        if any("cat" in point.text for point in points):
            raise PointsRefused("Qdrant refuses points", "400 wrong input")
        await super().upsert(points)


async def test_a_point_rejected_by_the_index_blocks_no_other_and_is_retried_a_limited_number_of_times(
    bench: "Bench",
) -> None:
    picky = Picky()
    bench.projector._vectors = picky
    batch = bench.batch(
        *(bench.candidate(f"User has a {pet}", pet) for pet in ("dog", "cat", "bird")), request_id="r", namespace="pets"
    )
    await bench.curator.curate(batch)
    assert {point.text for point in picky.points.values()} == {"User has a dog", "User has a bird"}
    assert picky.calls == 4, "all at once, then each by itself"
    assert await bench.pool.fetchval("SELECT count(*) FROM outbox WHERE namespace = 'pets'") == 0
    (letter,) = bench.publisher.on("memory.dead-letters")
    assert (letter.key, letter_headers(letter)["memstream-reason"]) == (memory_id("cat").encode(), "refused")
    assert len(bench.events("pets")) == 3


class Tenacious(FakeVectors):
    """An index that takes the removal of some memories for wrong."""

    def __init__(self, *kept: str) -> None:
        super().__init__()
        self.kept = set(kept)
        self.calls = 0

    async def delete(self, memory_ids: Collection[str]) -> None:
        self.calls += 1
        if self.kept & set(memory_ids):
            raise PointsRefused("Qdrant refuses to delete points", "400 wrong input")
        await super().delete(memory_ids)


async def test_a_deletion_rejected_by_the_index_blocks_no_other_and_is_retried_a_limited_number_of_times(
    bench: "Bench",
) -> None:
    tenacious = Tenacious("gone-2")
    bench.projector._vectors = tenacious
    async with bench.pool.acquire() as connection:
        await put_vectors(connection, "pets", ["gone-1", "gone-2", "gone-3"])
    assert await bench.projector.project_now("pets") == 3
    assert tenacious.calls == 4, "all at once, then each by itself"
    assert await bench.pool.fetchval("SELECT count(*) FROM outbox WHERE namespace = 'pets'") == 0
    (letter,) = bench.publisher.on("memory.dead-letters")
    assert (letter.key, letter_headers(letter)["memstream-reason"]) == (b"gone-2", "refused")
