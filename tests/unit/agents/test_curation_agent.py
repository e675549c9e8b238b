"""The curation agent with a fake curator: order, repetition, and what cannot be curated."""

import asyncio
from collections import deque

import pytest

from agents.curation_agent import CurationAgent
from agents.dead_letters import told
from schemas import codec, topics
from schemas.errors import Misconfigured, Rejected, Retryable
from schemas.requests import Candidate, CandidateBatch, Command, Source
from sinks.settlements import Part
from streams.delivery.fence import Fence
from streams.topics import TopicSettings
from tests.fakes.batches import batch, record
from tests.fakes.chats import BEGAN
from tests.fakes.clock import utc
from tests.fakes.publisher import FakePublisher

NAMES = TopicSettings(prefix="test.")
CANDIDATES, COMMANDS = NAMES.physical(topics.CANDIDATES), NAMES.physical(topics.COMMANDS)


class FakeCurator:
    """Takes a second for each decision; what it decided is in `done`, in order."""

    def __init__(self) -> None:
        self.done: list[tuple[str, str]] = []
        self.dropped: list[tuple[Part, str]] = []
        self.failures: dict[str, deque[Exception]] = {}
        self.deciding: set[str] = set()
        self.most = 0

    async def _decide(self, namespace: str, name: str) -> None:
        assert namespace not in self.deciding, "two decisions of one namespace at a time"
        self.deciding.add(namespace)
        self.most = max(self.most, len(self.deciding))
        await asyncio.sleep(1)
        self.deciding.discard(namespace)
        if self.failures.get(name):
            raise self.failures[name].popleft()
        self.done.append((namespace, name))

    async def curate(self, given: CandidateBatch) -> None:
        await self._decide(given.namespace, given.request_id)

    async def carry_out(self, command: Command) -> None:
        await self._decide(command.namespace, command.command_id)

    async def drop_part(self, part: Part, reason: str) -> None:
        await asyncio.sleep(0)
        self.dropped.append((part, reason))


class Stage:
    def __init__(self, **limits: int) -> None:
        self.fence = Fence()
        self.fence.open()
        self.curator, self.publisher = FakeCurator(), FakePublisher()
        self.agent = CurationAgent(self.curator, NAMES, self.publisher, utc, **limits)

    def batch(self, *events, topic: str = CANDIDATES):
        records = []
        for offset, event in enumerate(events):
            key, value = event if isinstance(event, tuple) else (event.namespace.encode(), codec.encode(event))
            records.append(record(topic, offset, value, key=key))
        return batch(self.fence, topic, records)


@pytest.fixture
def stage() -> Stage:
    return Stage()


def part(namespace: str, name: str, number: int = 1) -> CandidateBatch:
    candidate = Candidate(
        candidate_id=f"{name}-0",
        kind="fact",
        text="tea",
        sources=(Source(conversation_id="c", message_id="m"),),
        confidence=0.5,
    )
    return CandidateBatch(
        request_id=name,
        conversation_id="c",
        partition=1,
        namespace=namespace,
        part=number,
        parts=2,
        policy="default",
        policy_version=1,
        provider="fake",
        candidates=(candidate,),
        extracted_at=BEGAN,
    )


def command(namespace: str, name: str) -> Command:
    return Command(command_id=name, kind="create", namespace=namespace, at=BEGAN, text="tea")


async def test_a_namespace_is_decided_in_order_and_several_side_by_side(stage):
    begun = asyncio.get_running_loop().time()
    given = stage.batch(part("a", "1"), part("b", "2"), part("a", "3"), part("b", "4"), part("a", "5"))
    await stage.agent.handle(given)
    assert [name for namespace, name in stage.curator.done if namespace == "a"] == ["1", "3", "5"]
    assert [name for namespace, name in stage.curator.done if namespace == "b"] == ["2", "4"]
    assert asyncio.get_running_loop().time() - begun < 4
    assert given.acked


async def test_decisions_are_bounded_by_the_concurrency():
    stage = Stage(concurrency=2)
    await stage.agent.handle(stage.batch(*(part(name, name) for name in "abcdef")))
    assert stage.curator.most == 2


async def test_commands_are_carried_out(stage):
    given = stage.batch(command("a", "first"), command("a", "second"), topic=COMMANDS)
    await stage.agent.handle(given)
    assert stage.curator.done == [("a", "first"), ("a", "second")]
    assert given.acked


async def test_what_may_pass_leaves_the_batch_unacked_and_is_decided_when_it_comes_again(stage):
    stage.curator.failures["1"] = deque([Retryable("postgres away")])
    given = stage.batch(part("a", "1"), part("a", "2"), part("b", "3"))
    with pytest.raises(Retryable):
        await stage.agent.handle(given)
    assert not given.acked
    assert ("a", "2") not in stage.curator.done, "a later part must not overtake the one that failed"
    assert ("b", "3") in stage.curator.done
    await stage.agent.handle(given)
    assert [name for namespace, name in stage.curator.done if namespace == "a"] == ["1", "2"]
    assert given.acked


async def test_what_cannot_pass_comes_before_what_may(stage):
    stage.curator.failures = {"1": deque([Retryable("busy")]), "2": deque([Misconfigured("no such table")])}
    given = stage.batch(part("a", "1"), part("b", "2"))
    with pytest.raises(Misconfigured, match="no such table"):
        await stage.agent.handle(given)
    assert not given.acked


async def test_a_record_that_fails_for_an_unforeseen_reason_is_dead_lettered_and_the_rest_goes_on(stage):
    stage.curator.failures["1"] = deque([ValueError("a bug")])
    given = stage.batch(part("a", "1"), part("a", "2"))
    await stage.agent.handle(given)
    (letter,) = stage.publisher.on(topics.DEAD_LETTERS)
    assert told(letter.headers)["reason"] == "unforeseen"
    assert [dropped.request_id for dropped, _ in stage.curator.dropped] == ["1"]
    assert stage.curator.done == [("a", "2")]
    assert given.acked


async def test_a_part_that_is_rejected_is_dead_lettered_counts_as_answered_and_the_rest_goes_on(stage):
    stage.curator.failures["1"] = deque([Rejected("invalid", "no such kind")])
    given = stage.batch(part("a", "1", 2), part("a", "2"))
    await stage.agent.handle(given)
    ((dropped, reason),) = stage.curator.dropped
    assert (dropped.request_id, dropped.part, dropped.parts, dropped.namespace, reason) == ("1", 2, 2, "a", "invalid")
    (letter,) = stage.publisher.on(topics.DEAD_LETTERS)
    assert told(letter.headers)["reason"] == "invalid"
    assert stage.curator.done == [("a", "2")]
    assert given.acked


async def test_a_part_whose_candidates_do_not_decode_still_counts_as_answered(stage):
    value = codec.encode(part("a", "1")).replace(b'"confidence":0.5', b'"confidence":7')
    given = stage.batch((b"a", value), part("a", "2"))
    await stage.agent.handle(given)
    ((dropped, reason),) = stage.curator.dropped
    assert (dropped.request_id, reason) == ("1", "invalid")
    assert stage.publisher.on(topics.DEAD_LETTERS)[0].value == value
    assert stage.curator.done == [("a", "2")]
    assert given.acked


@pytest.mark.parametrize("topic", [CANDIDATES, COMMANDS])
async def test_what_does_not_even_say_what_it_is_becomes_a_dead_letter(stage, topic):
    given = stage.batch((None, b"not json"), (b"a", None), topic=topic)
    await stage.agent.handle(given)
    assert len(stage.publisher.on(topics.DEAD_LETTERS)) == 2
    assert stage.curator.dropped == []
    assert given.acked


async def test_a_dead_letter_that_cannot_be_published_leaves_the_batch_unacked_and_the_part_unanswered(stage):
    stage.curator.failures["1"] = deque([Rejected("invalid", "no")])
    stage.publisher.failures.append(Retryable("broker away"))
    given = stage.batch(part("a", "1"))
    with pytest.raises(Retryable):
        await stage.agent.handle(given)
    assert stage.curator.dropped == []
    assert not given.acked


async def test_nothing_more_is_decided_once_the_partition_is_lost(stage):
    given = stage.batch(part("a", "1"), part("a", "2"))
    handling = asyncio.create_task(stage.agent.handle(given))
    await asyncio.sleep(0.5)
    stage.fence.shut()
    stage.fence.open()
    await handling
    assert stage.curator.done == [("a", "1")]
    assert not given.acked
