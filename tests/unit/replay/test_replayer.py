"""The replayer with a fake extractor and curator, in virtual time: order, waiting, and requests without an answer."""

import asyncio
from collections import deque
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from agents.models.port import Answer, Proposal
from agents.replay.replayer import NO_PARTITION, RETRY_FOR_S, Replayer
from agents.windows.terms import WindowTerms
from schemas import codec
from schemas.errors import Deferred, Rejected, Retryable
from schemas.extraction.candidates import CandidateBatch
from schemas.extraction.requests import ExtractionRequest
from schemas.policies.policies import Policies, Policy
from schemas.policies.shadows import shadow_of
from schemas.replay.generations import Generation, Plan
from sinks.archive.messages import ArchivedMessage
from sinks.replay.generations import PlannedConversation, ReplayedConversation
from streams.windows.tokens.model_limits import ModelLimits
from tests.fakes.chats import BEGAN, message
from tests.fakes.clock import utc

LIMITS = ModelLimits(default=200_000, context_tokens={})
POLICY = Policy(name="notes", namespaces=("notes/{user_id}",))
BEFORE = Policy(name="notes", namespaces=("{user_id}",))


class FakeExtractor:
    """Answers with one proposal a slice, a second after it was asked; `failures` come first."""

    def __init__(self) -> None:
        self.requests: list[ExtractionRequest] = []
        self.failures: deque[Exception] = deque()
        self.running = self.most = 0

    async def stored_answer(self, request: ExtractionRequest, owner: str, still_held: Callable[[], bool]) -> bytes:
        assert still_held()
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(1)
        self.running -= 1
        if self.failures:
            raise self.failures.popleft()
        self.requests.append(request)
        proposal = Proposal(kind="fact", text="tea", message_ids=(request.messages[0].message_id,), confidence=0.9)
        return codec.encode(Answer(provider="fake", model="fake-1", proposals=(proposal,)))


class FakeCurator:
    def __init__(self) -> None:
        self.curated: list[CandidateBatch] = []

    async def curate(self, batch: CandidateBatch) -> None:
        self.curated.append(batch)


class FakeRecords:
    def __init__(self) -> None:
        self.fed: set[str] = set()
        self.erased: set[str] = set()
        self.ended: list[ReplayedConversation] = []

    async def unerased(self, messages: Sequence[ArchivedMessage]) -> Sequence[ArchivedMessage]:
        return [each for each in messages if each.message.user_id not in self.erased]

    async def feeds(self, generation_id: str, namespaces: Collection[str]) -> None:
        self.fed |= {*namespaces}

    async def done(self, generation_id: str, replayed: ReplayedConversation, at: datetime) -> None:
        self.ended.append(replayed)


class Stage:
    def __init__(self, **plan: Any) -> None:
        now = utc()
        fields = {"until": now, "policies": Policies((POLICY,))} | plan
        self.generation = Generation(
            generation_id="0a1b2c3d", plan=Plan(**fields), status="building", created_at=now, changed_at=now
        )
        self.extractor, self.curator, self.records = FakeExtractor(), FakeCurator(), FakeRecords()
        self.replayer = Replayer(
            self.generation,
            self.records,
            self.extractor,
            self.curator,
            WindowTerms(self.generation.plan.policies, LIMITS),
            Policies((BEFORE,)),
            len,
            utc,
            "test",
            concurrency=3,
        )

    async def take(self, conversation: str, user: str = "ada") -> None:
        said = replace(message(1), conversation_id=conversation, user_id=user)
        await self.replayer.add(
            PlannedConversation(conversation, BEGAN), [ArchivedMessage(message=said, partition=2, position=7)]
        )


@pytest.fixture
async def stage() -> Stage:
    return Stage()


async def test_a_replayed_slice_is_requested_for_shadow_namespaces_without_a_partition(stage: Stage):
    await stage.take("c1")
    await stage.replayer.finish()
    (request,), (batch,) = stage.extractor.requests, stage.curator.curated
    assert request.namespaces == (batch.namespace,) == (shadow_of("0a1b2c3d", "notes/ada"),)
    assert (request.partition, request.lane) == (NO_PARTITION, "background")
    assert batch.candidates[0].sources[0].position == 7
    assert stage.records.fed == {"notes/ada", "ada"}, "what other policies fed before is compared as well"
    assert [(each.planned.conversation_id, each.ranges, each.failed) for each in stage.records.ended] == [
        ("c1", [(7, 7)], 0)
    ]


async def test_replay_request_ids_are_stable_per_generation_and_differ_between_generations(stage: Stage):
    await stage.take("c1")
    await stage.take("c1")
    await stage.replayer.finish()
    first, second = (request.request_id for request in stage.extractor.requests)
    assert first == second
    other = Stage()
    other.replayer._generation = replace(stage.generation, generation_id="ffffffff")
    await other.take("c1")
    await other.replayer.finish()
    assert other.extractor.requests[0].request_id != first


async def test_conversations_of_a_namespace_are_replayed_in_order_and_others_concurrently(stage: Stage):
    begun = asyncio.get_running_loop().time()
    for conversation, user in (("c1", "ada"), ("c2", "bob"), ("c3", "ada"), ("c4", "cleo")):
        await stage.take(conversation, user)
    await stage.replayer.finish()
    conversation_ids = [request.conversation_id for request in stage.extractor.requests]
    assert conversation_ids.index("c1") < conversation_ids.index("c3")
    assert stage.extractor.most > 1
    assert asyncio.get_running_loop().time() - begun < 4


async def test_a_replay_waits_for_transient_failures_and_deferrals(stage: Stage):
    stage.extractor.failures += [Retryable("away"), Deferred(utc() + timedelta(seconds=200), "budget")]
    begun = asyncio.get_running_loop().time()
    await stage.take("c1")
    await stage.replayer.finish()
    assert len(stage.curator.curated) == 1
    assert asyncio.get_running_loop().time() - begun > 190


async def test_a_deferral_beyond_the_retry_limit_ends_the_replay(stage: Stage):
    stage.extractor.failures += [Deferred(utc() + timedelta(seconds=2 * RETRY_FOR_S), "budget")]
    await stage.take("c1")
    with pytest.raises(Deferred, match="budget"):
        await stage.replayer.finish()
    assert stage.records.ended == []


async def test_a_rejected_slice_is_counted_as_failed_and_not_as_replayed(stage: Stage):
    stage.extractor.failures += [Rejected("refused", "no")]
    await stage.take("c1")
    await stage.take("c2")
    await stage.replayer.finish()
    failed = next(each for each in stage.records.ended if each.planned.conversation_id == "c1")
    assert (failed.ranges, failed.slices, failed.failed, failed.failure) == ([], 0, 1, "refused: no")
    assert len(stage.records.ended) == 2


async def test_replayed_ranges_contain_only_requested_messages_and_no_positions_between_them(stage: Stage):
    said = [replace(message(number), conversation_id="c1", user_id="ada") for number in (1, 2, 3, 4)]
    archived = [
        ArchivedMessage(message=each, partition=2, position=at) for each, at in zip(said, (3, 4, 7, 9), strict=True)
    ]
    await stage.replayer.add(PlannedConversation("c1", BEGAN), archived)
    await stage.replayer.finish()
    assert [(request.first, request.last) for request in stage.extractor.requests] == [(3, 9)]
    assert stage.records.ended[0].ranges == [(3, 4), (7, 7), (9, 9)]


async def test_a_conversation_outside_the_planned_namespaces_is_not_requested():
    stage = Stage(namespaces="notes/b*")
    await stage.take("c1")
    await stage.take("c2", "bob")
    await stage.replayer.finish()
    assert [request.conversation_id for request in stage.extractor.requests] == ["c2"]
    assert stage.records.fed == {"notes/bob"}


async def test_a_conversation_erased_since_the_planning_is_not_requested(stage: Stage):
    stage.records.erased.add("ada")
    await stage.take("c1")
    await stage.replayer.add(PlannedConversation("c2", BEGAN), [])
    await stage.replayer.finish()
    assert stage.extractor.requests == []
    assert [(each.planned.conversation_id, each.slices) for each in stage.records.ended] == [("c1", 0), ("c2", 0)]
