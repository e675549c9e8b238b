"""What the API answers is counted by route, never by what paths name, and so is what of memory it hands out."""

import pytest

from deploy.metrics.api_meters import ApiMeters
from deploy.metrics.serving import MeasuredAccesses, MeasuredRecall, MeasuredRequests
from tests.api import NOON, POLICIES, Api, a_memory, words
from tests.fakes.accesses import FakeAccesses


class Measured:
    """The API over fakes, with meters."""

    def __init__(self) -> None:
        self.meters = ApiMeters()
        plain = Api()
        recall = MeasuredRecall(plain.searched, plain.archive, POLICIES, words, lambda: NOON, meters=self.meters)
        accesses = MeasuredAccesses(FakeAccesses(), lambda: NOON, self.meters)
        self.api = Api(accesses=accesses, recall=recall)
        self.searched = plain.searched
        self.api.app.add_middleware(MeasuredRequests, meters=self.meters)

    def value(self, name: str, **labels: str) -> float | None:
        return self.meters.registry.get_sample_value(f"memstream_{name}", labels)

    def answered(self, **labels: str) -> float | None:
        return self.value("http_request_duration_seconds_count", **labels)


@pytest.fixture
def measured() -> Measured:
    return Measured()


async def test_requests_are_counted_by_the_template_of_their_route_and_by_status(measured: Measured):
    measured.api.memories.put(a_memory("m1"))
    client = measured.api.client(read="app/*")
    assert (await client.get("/v1/memories/m1")).status_code == 200
    assert (await client.get("/v1/memories/m2")).status_code == 404
    assert (await client.get("/nowhere/app/ada")).status_code == 404
    assert measured.answered(method="GET", route="/v1/memories/{memory_id}", status="200") == 1
    assert measured.answered(method="GET", route="/v1/memories/{memory_id}", status="404") == 1
    assert measured.answered(method="GET", route="none", status="404") == 1
    assert measured.value("memories_retrieved_total") == 1


async def test_what_has_no_key_is_counted_too(measured: Measured):
    assert (await measured.api.client().get("/v1/memories/m1")).status_code == 401
    assert measured.answered(method="GET", route="/v1/memories/{memory_id}", status="401") == 1


async def test_contexts_are_counted_by_whether_they_hold_memories(measured: Measured):
    client = measured.api.client(read="app/*")
    for memories in ([], [a_memory("m1"), a_memory("m2", text="User likes tea.")]):
        measured.searched.memories = memories
        assert (await client.post("/v1/context", json={"namespaces": ["app/ada"], "text": "What?"})).status_code == 200
    assert measured.value("context_blocks_total", memories="none") == 1
    assert measured.value("context_blocks_total", memories="some") == 1
    assert measured.value("memories_retrieved_total") == 2
