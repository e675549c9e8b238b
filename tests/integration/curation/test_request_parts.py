"""The last part of a request completes it, once and in any order of arrival."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from schemas.codec import decode, encode
from schemas.errors import Rejected
from schemas.extraction.candidates import CandidateBatch
from schemas.kafka import topics
from sinks.memories.settlements import Part

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench


def parts(bench: "Bench", number: int) -> list[CandidateBatch]:
    """The parts of one request, each for a namespace of its own."""
    request_id = f"request {bench.candidate('x').candidate_id}"
    return [
        bench.batch(f"User has {n} dogs", request_id=request_id, part=n, parts=number, namespace=f"{request_id} {n}")
        for n in range(1, number + 1)
    ]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
async def test_the_last_part_completes_its_request_in_any_order_of_arrival(
    bench: "Bench", order: tuple[int, ...]
) -> None:
    batches = parts(bench, 3)
    outcomes = [await bench.curator.curate(batches[n]) for n in (*order, *order)]
    assert [outcome.completed for outcome in outcomes] == [False, False, True, False, False, False]
    (control,) = bench.controls()
    assert (control.kind, control.request_id) == ("extraction_completed", batches[0].request_id)
    (record,) = bench.publisher.on(topics.WINDOW_CONTROL)
    assert (record.key, record.partition) == (b"c", 3)
    assert [event.type for event in bench.activity()] == ["memstream.extraction.completed"]
    assert await bench.pool.fetchval("SELECT count(*) FROM extractions WHERE completed_at IS NOT NULL") == 1


async def test_parts_that_commit_at_the_same_time_complete_their_request_once(
    bench: "Bench", make_bench: Callable[[], "Bench"]
) -> None:
    workers = [make_bench() for _ in range(4)]
    for _ in range(15):
        batches = parts(bench, 4)
        pairs = zip(workers, batches, strict=True)
        outcomes = await asyncio.gather(*(worker.curator.curate(batch) for worker, batch in pairs))
        assert sum(outcome.completed for outcome in outcomes) == 1
    assert len([control for worker in workers for control in worker.controls()]) == 15


async def test_an_empty_part_completes_its_request(bench: "Bench") -> None:
    assert (await bench.curator.curate(bench.batch())).completed
    assert bench.events() == []
    assert len(bench.controls()) == 1


async def test_a_dropped_part_counts_as_answered(bench: "Bench") -> None:
    first, second = parts(bench, 2)
    assert not (await bench.curator.curate(first)).completed
    # as an agent finds it: the batch does not decode, its ids do
    poison = encode(second).replace(b'"text":"', b'"text":7,"was":"')
    with pytest.raises(Rejected):
        decode(poison, CandidateBatch)
    dropped = await bench.curator.drop_part(decode(poison, Part), "invalid")
    assert (dropped.status, dropped.completed, dropped.reason) == ("dropped", True, "invalid")
    assert len(bench.controls()) == 1
    assert (await bench.curator.curate(second)).repeated


async def test_the_completion_event_counts_the_results_of_all_parts(bench: "Bench") -> None:
    first, second = parts(bench, 2)
    weak = bench.candidate("User has a cat", confidence=0.29)
    await bench.curator.curate(replace(first, candidates=(*first.candidates, weak)))
    again = bench.candidate("User has 2 dogs!")
    await bench.curator.curate(replace(second, candidates=(*second.candidates, again, weak)))
    (event,) = bench.activity()
    assert event.data["results"] == {"created": 2, "dropped": 2, "reinforced": 1}
