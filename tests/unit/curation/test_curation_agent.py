"""The curation agent with a fake curator: order, repetition, and what cannot be curated."""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import replace as replace_field
from datetime import timedelta
from typing import Literal

import pytest
from msgspec.structs import replace

from agents.curation.agent import CurationAgent
from agents.dead_letters.writer import letter_headers
from schemas import codec
from schemas.erasure.erasures import ConversationFence, Fence
from schemas.errors import Misconfigured, Rejected, Retryable
from schemas.extraction.candidates import Candidate, CandidateBatch, Source
from schemas.kafka import topics
from schemas.memories.commands import Command
from sinks.memories.settlements import Part
from streams.kafka.topics import TopicSettings
from tests.fakes.app import StubApp
from tests.fakes.batches import batch, record
from tests.fakes.chats import BEGAN
from tests.fakes.clock import utc
from tests.fakes.publisher import FakePublisher
from tests.fakes.spans import CAUSE, recorded, trace_id, trace_of

NAMES = TopicSettings(prefix="test.")
CANDIDATES, COMMANDS = NAMES.physical(topics.CANDIDATES), NAMES.physical(topics.COMMANDS)


class FakeCurator:
    """Takes a second for each decision; what it decided is in `done`, in order."""

    def __init__(self) -> None:
        self.done: list[tuple[str, str]] = []
        self.dropped: list[tuple[Part, str]] = []
        self.failures: dict[str, deque[BaseException]] = {}
        self.deciding: set[str] = set()
        self.most = 0
        self.slow: dict[str, float] = {}
        self.fences: dict[tuple[str, str], ConversationFence] = {}

    async def fences_of(self, namespace: str, conversation_id: str) -> tuple[ConversationFence, ...]:
        await asyncio.sleep(0)
        named = (namespace, conversation_id)
        return (self.fences[named],) if named in self.fences else ()

    async def _decide(self, namespace: str, name: str) -> None:
        assert namespace not in self.deciding, "two decisions of one namespace at a time"
        self.deciding.add(namespace)
        self.most = max(self.most, len(self.deciding))
        await asyncio.sleep(self.slow.get(name, 1.0))
        self.deciding.discard(namespace)
        if self.failures.get(name):
            raise self.failures[name].popleft()
        self.done.append((namespace, name))

    async def curate(self, given: CandidateBatch) -> None:
        await self._decide(given.namespace, given.request_id)

    async def apply_command(self, command: Command) -> None:
        await self._decide(command.namespace, command.command_id)

    async def apply_imports(self, commands: Sequence[Command]) -> None:
        await self._decide(commands[0].namespace, "+".join(command.command_id for command in commands))

    async def drop_part(self, part: Part, reason: str) -> None:
        await asyncio.sleep(0)
        self.dropped.append((part, reason))


class Stage:
    def __init__(self, **limits: int) -> None:
        self.app = StubApp()
        self.fence = self.app.fence
        self.fence.open()
        self.curator, self.publisher = FakeCurator(), FakePublisher()
        self.agent = CurationAgent(self.app, self.curator, NAMES, self.publisher, utc, **limits)

    def batch(self, *events, topic: str = CANDIDATES):
        records = []
        for offset, event in enumerate(events):
            key, value = event if isinstance(event, tuple) else (event.namespace.encode(), codec.encode(event))
            records.append(record(topic, offset, value, key=key))
        return batch(self.fence, topic, records)

    async def settled(self) -> None:
        """Everything that was taken on has ended."""
        await asyncio.gather(*self.agent._in_flight._running)


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


def command(namespace: str, name: str, kind: Literal["create", "import"] = "create") -> Command:
    return Command(command_id=name, kind=kind, namespace=namespace, at=BEGAN, text="tea")


async def test_a_namespace_is_decided_in_order_and_several_side_by_side(stage):
    begun = asyncio.get_running_loop().time()
    given = stage.batch(part("a", "1"), part("b", "2"), part("a", "3"), part("b", "4"), part("a", "5"))
    await stage.agent.handle(given)
    await stage.settled()
    assert [name for namespace, name in stage.curator.done if namespace == "a"] == ["1", "3", "5"]
    assert [name for namespace, name in stage.curator.done if namespace == "b"] == ["2", "4"]
    assert asyncio.get_running_loop().time() - begun < 4
    assert given.acked


async def test_a_namespace_that_takes_long_holds_up_no_other_and_keeps_its_order_over_batches(stage):
    stage.curator.slow["1"] = 100.0
    first, second, third = stage.batch(part("a", "1")), stage.batch(part("b", "2")), stage.batch(part("a", "3"))
    for given in (first, second, third):
        await stage.agent.handle(given)
    await asyncio.sleep(3)
    assert [given.acked for given in (first, second, third)] == [False, True, False]
    await stage.settled()
    assert [name for namespace, name in stage.curator.done if namespace == "a"] == ["1", "3"]
    assert first.acked
    assert third.acked


async def test_no_more_batches_are_taken_on_than_are_allowed():
    stage = Stage(in_flight=2)
    begun = asyncio.get_running_loop().time()
    for name in "abc":
        await stage.agent.handle(stage.batch(part(name, name)))
    assert asyncio.get_running_loop().time() - begun >= 1
    await stage.settled()
    assert stage.curator.most == 2


async def test_what_is_still_running_ends_when_the_agent_is_closed(stage):
    given = stage.batch(part("a", "1"))
    await stage.agent.handle(given)
    await stage.agent.handle(stage.batch(part("a", "2")))
    await stage.agent.close()
    assert not given.acked
    assert stage.curator.done == []


async def test_commands_are_carried_out(stage):
    given = stage.batch(command("a", "first"), command("a", "second"), topic=COMMANDS)
    await stage.agent.handle(given)
    await stage.settled()
    assert stage.curator.done == [("a", "first"), ("a", "second")]
    assert given.acked


def imported(*names: str) -> list[Command]:
    return [command("a", name, "import") for name in names]


async def test_imports_that_follow_each_other_are_carried_out_together_and_in_order_with_the_rest(stage):
    given = stage.batch(
        *imported("1", "2"), command("a", "x"), command("b", "3", "import"), *imported("4"), topic=COMMANDS
    )
    await stage.agent.handle(given)
    await stage.settled()
    assert [name for namespace, name in stage.curator.done if namespace == "a"] == ["1+2", "x", "4"]
    assert ("b", "3") in stage.curator.done
    assert given.acked


async def test_an_import_that_does_not_decode_goes_to_the_dead_letters_and_the_rest_is_carried_out(stage):
    given = stage.batch(*imported("1"), (b"a", b"not json"), *imported("2"), topic=COMMANDS)
    await stage.agent.handle(given)
    await stage.settled()
    assert stage.curator.done == [("a", "1"), ("a", "2")]
    assert len(stage.publisher.on(topics.DEAD_LETTERS)) == 1
    assert given.acked


@pytest.mark.parametrize("failure", [Rejected("unembeddable", "too long"), ValueError("a bug")])
async def test_imports_of_which_one_fails_are_carried_out_one_by_one_and_that_one_is_dead_lettered(stage, failure):
    stage.curator.failures = {"1+2+3": deque([failure]), "2": deque([failure])}
    given = stage.batch(*imported("1", "2", "3"), topic=COMMANDS)
    await stage.agent.handle(given)
    await stage.settled()
    assert stage.curator.done == [("a", "1"), ("a", "3")]
    assert len(stage.publisher.on(topics.DEAD_LETTERS)) == 1
    assert given.acked


async def test_imports_that_may_pass_are_tried_again_together(stage):
    stage.curator.failures["1+2"] = deque([Retryable("postgres away")])
    await stage.agent.handle(stage.batch(*imported("1", "2"), topic=COMMANDS))
    await stage.settled()
    assert stage.curator.done == [("a", "1+2")]


async def test_what_may_pass_is_tried_again_before_anything_later_of_its_namespace(stage):
    stage.curator.failures["1"] = deque([Retryable("postgres away"), Retryable("still away")])
    given, later = stage.batch(part("a", "1"), part("a", "2"), part("b", "3")), stage.batch(part("a", "4"))
    await stage.agent.handle(given)
    await stage.agent.handle(later)
    await stage.settled()
    assert [name for namespace, name in stage.curator.done if namespace == "a"] == ["1", "2", "4"]
    assert ("b", "3") in stage.curator.done
    assert given.acked
    assert later.acked


async def test_what_cannot_pass_stops_the_worker_with_nothing_acked(stage):
    stage.curator.failures = {"2": deque([Misconfigured("no such table")])}
    given = stage.batch(part("a", "1"), part("b", "2"))
    await stage.agent.handle(given)
    await stage.settled()
    assert [str(crash) for crash in stage.app.crashes] == ["no such table"]
    assert not given.acked


async def test_a_record_that_fails_for_an_unforeseen_reason_is_dead_lettered_and_the_rest_goes_on(stage):
    stage.curator.failures["1"] = deque([ValueError("a bug")])
    given = stage.batch(part("a", "1"), part("a", "2"))
    await stage.agent.handle(given)
    await stage.settled()
    (letter,) = stage.publisher.on(topics.DEAD_LETTERS)
    assert letter_headers(letter.headers)["reason"] == "unforeseen"
    assert [dropped.request_id for dropped, _ in stage.curator.dropped] == ["1"]
    assert stage.curator.done == [("a", "2")]
    assert given.acked


async def test_a_part_that_is_rejected_is_dead_lettered_counts_as_answered_and_the_rest_goes_on(stage):
    stage.curator.failures["1"] = deque([Rejected("invalid", "no such kind")])
    given = stage.batch(part("a", "1", 2), part("a", "2"))
    await stage.agent.handle(given)
    await stage.settled()
    ((dropped, reason),) = stage.curator.dropped
    assert (dropped.request_id, dropped.part, dropped.parts, dropped.namespace, reason) == ("1", 2, 2, "a", "invalid")
    (letter,) = stage.publisher.on(topics.DEAD_LETTERS)
    assert letter_headers(letter.headers)["reason"] == "invalid"
    assert stage.curator.done == [("a", "2")]
    assert given.acked


async def test_a_part_whose_candidates_do_not_decode_still_counts_as_answered(stage):
    value = codec.encode(part("a", "1")).replace(b'"confidence":0.5', b'"confidence":7')
    given = stage.batch((b"a", value), part("a", "2"))
    await stage.agent.handle(given)
    await stage.settled()
    ((dropped, reason),) = stage.curator.dropped
    assert (dropped.request_id, reason) == ("1", "invalid")
    assert stage.publisher.on(topics.DEAD_LETTERS)[0].value == value
    assert stage.curator.done == [("a", "2")]
    assert given.acked


@pytest.mark.parametrize("topic", [CANDIDATES, COMMANDS])
async def test_what_does_not_even_say_what_it_is_becomes_a_dead_letter(stage, topic):
    given = stage.batch((None, b"not json"), (b"a", None), topic=topic)
    await stage.agent.handle(given)
    await stage.settled()
    assert len(stage.publisher.on(topics.DEAD_LETTERS)) == 2
    assert stage.curator.dropped == []
    assert given.acked


async def test_a_dead_letter_that_cannot_be_published_is_published_later_and_the_part_answered_after_it(stage):
    stage.curator.failures["1"] = deque([Rejected("invalid", "no"), Rejected("invalid", "no")])
    stage.publisher.failures.append(Retryable("broker away"))
    given = stage.batch(part("a", "1"))
    await stage.agent.handle(given)
    await stage.settled()
    assert len(stage.publisher.on(topics.DEAD_LETTERS)) == len(stage.curator.dropped) == 1
    assert given.acked


async def test_nothing_more_is_decided_once_the_partition_is_lost(stage):
    given = stage.batch(part("a", "1"), part("a", "2"))
    await stage.agent.handle(given)
    await asyncio.sleep(0.5)
    stage.fence.shut()
    stage.fence.open()
    await stage.settled()
    assert stage.curator.done == [("a", "1")]
    assert not given.acked


async def test_a_cancellation_that_nobody_asked_for_stops_the_worker_and_acks_nothing(stage):
    stage.curator.failures["1"] = deque([asyncio.CancelledError()])
    given = stage.batch(part("a", "1"), part("b", "2"))
    await stage.agent.handle(given)
    await stage.settled()
    assert not given.acked
    assert ["cancelled from within" in str(crash) for crash in stage.app.crashes] == [True]


async def test_candidates_for_a_reserved_namespace_go_to_the_dead_letters(stage):
    given = stage.batch(part("~0a1b2c3d/kitchen/ada", "1"))
    await stage.agent.handle(given)
    await stage.settled()
    (letter,) = stage.publisher.on(topics.DEAD_LETTERS)
    assert letter_headers(letter.headers)["reason"] == "invalid"
    assert stage.curator.done == []


async def test_a_decision_is_traced_under_what_asked_for_it_and_named_by_its_ids():
    stage = Stage()
    asked = batch(
        stage.fence,
        COMMANDS,
        [record(COMMANDS, 0, codec.encode(command("n", "c1")), headers=[("traceparent", CAUSE.encode())])],
    )
    with recorded() as spans:
        await stage.agent.handle(asked)
        await asyncio.sleep(5)
    span = spans.named("curation decide")
    assert trace_id(span) == trace_of(CAUSE)
    assert dict(span.attributes) == {"memstream.command_id": "c1"}


def by_reference(stage: Stage) -> list[str | None]:
    """Of each dead letter whether it is; none says what was said."""
    letters = stage.publisher.on(topics.DEAD_LETTERS)
    assert not any(
        b"tea" in (letter.value or b"") or b"tea" in dict(letter.headers)["memstream-detail"] for letter in letters
    )
    return [letter_headers(letter.headers).get("by-reference") for letter in letters]


async def test_candidates_that_are_rejected_once_they_are_erased_become_no_dead_letter_and_count_as_answered(stage):
    stage.curator.failures["1"] = deque([Rejected("invalid", "tea is no kind")])
    stage.curator.fences["a", "c"] = ConversationFence(Fence(BEGAN))
    given = stage.batch(part("a", "1"), part("a", "2"))
    await stage.agent.handle(given)
    await stage.settled()
    assert by_reference(stage) == []
    assert [(dropped.request_id, reason) for dropped, reason in stage.curator.dropped] == [("1", "invalid")]
    assert stage.curator.done == [("a", "2")]
    assert given.acked


async def test_candidates_of_which_some_are_erased_become_a_dead_letter_without_words(stage):
    stage.curator.failures["1"] = deque([ValueError("tea")])
    stage.curator.fences["a", "c"] = ConversationFence(Fence(BEGAN - timedelta(hours=1), {1: 8}))
    batch_of_two = part("a", "1")
    (candidate,) = batch_of_two.candidates
    placed = [
        replace(candidate, sources=(Source(conversation_id="c", message_id="m", position=place, timestamp=BEGAN),))
        for place in (7, 8)
    ]
    await stage.agent.handle(stage.batch(replace(batch_of_two, candidates=tuple(placed))))
    await stage.settled()
    assert by_reference(stage) == ["true"]


@pytest.mark.parametrize("topic", [CANDIDATES, COMMANDS])
async def test_what_cannot_be_read_any_more_and_is_older_than_an_erasure_becomes_a_dead_letter_without_words(
    stage, topic
):
    stage.curator.fences["a", ""] = ConversationFence(Fence(BEGAN))
    await stage.agent.handle(stage.batch((b"a", b'{"text": "tea"'), topic=topic))
    await stage.settled()
    assert by_reference(stage) == ["true"]


@pytest.mark.parametrize("erased", [False, True])
async def test_what_cannot_be_read_and_was_sent_at_no_moment_stops_nobody_and_counts_as_older_than_an_erasure(
    stage, erased
):
    """A sender whose timestamps are in microseconds: of the year 55840, in milliseconds."""
    if erased:
        stage.curator.fences["a", ""] = ConversationFence(Fence(BEGAN))
    sent = replace_field(record(COMMANDS, 0, b'{"text": "tea"', key=b"a"), timestamp=1_700_000_000_000_000)
    given = batch(stage.fence, COMMANDS, [sent])
    await stage.agent.handle(given)
    await stage.settled()
    (letter,) = stage.publisher.on(topics.DEAD_LETTERS)
    assert (b"tea" in (letter.value or b"")) is not erased
    assert given.acked


async def test_a_command_of_before_an_erasure_that_fails_becomes_a_dead_letter_without_words(stage):
    stage.curator.failures = {name: deque([ValueError("tea")]) for name in ("old", "new")}
    stage.curator.fences["a", ""] = ConversationFence(Fence(BEGAN))
    given = stage.batch(
        command("a", "old"), replace(command("a", "new"), at=BEGAN + timedelta(seconds=1)), topic=COMMANDS
    )
    await stage.agent.handle(given)
    await stage.settled()
    letters = stage.publisher.on(topics.DEAD_LETTERS)
    assert [b"tea" in (letter.value or b"") for letter in letters] == [False, True]
