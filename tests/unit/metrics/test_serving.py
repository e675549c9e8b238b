"""API metrics count requests by route template, and retrieved memories."""

from datetime import UTC, datetime
from typing import Any

import pytest

from agents.conversations.lookup import Conversation, Conversations
from agents.conversations.token_count_cache import TokenCountCache
from agents.retrieval.recall import Recall
from agents.windows.terms import WindowTerms
from deploy.metrics.api_meters import ApiMeters
from deploy.metrics.measured_services import (
    MeasuredAccesses,
    MeasuredContexts,
    MeasuredRecall,
    MeasuredRequests,
    out_of_context,
)
from schemas.conversations.contexts import ContextQuery
from schemas.policies.policies import DEFAULT_POLICY
from schemas.retrieval.blocks import Block, BlockPassage, BlockQuery
from streams.windows.tokens.model_limits import ModelLimits
from tests.api import NOON, POLICIES, Api, a_memory, words
from tests.fakes.accesses import FakeAccesses
from tests.fakes.windows import AT_S, FakeWindows, a_state


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


async def test_requests_without_a_key_are_counted(measured: Measured):
    assert (await measured.api.client().get("/v1/memories/m1")).status_code == 401
    assert measured.answered(method="GET", route="/v1/memories/{memory_id}", status="401") == 1


async def test_context_blocks_are_counted_by_whether_they_contain_memories(measured: Measured):
    client = measured.api.client(read="app/*")
    for memories in ([], [a_memory("m1"), a_memory("m2", text="User likes tea.")]):
        measured.searched.memories = memories
        assert (await client.post("/v1/context", json={"namespaces": ["app/ada"], "text": "What?"})).status_code == 200
    assert measured.value("context_blocks_total", memories="none") == 1
    assert measured.value("context_blocks_total", memories="some") == 1
    assert measured.value("memories_retrieved_total") == 2


async def test_context_usage_and_prompt_tokens_are_exported(measured: Measured):
    plain = measured.api
    plain.archive.say("talk", ("user", "Hello there."), app_id="app", user_id="ada")
    conversation = await Conversations(FakeWindows(), plain.archive, POLICIES).find("talk", lambda name: True)
    terms = WindowTerms(POLICIES, ModelLimits(default=1_000, context_tokens={}))
    contexts = MeasuredContexts(plain.archive, terms, TokenCountCache(words), lambda: NOON, meters=measured.meters)
    assert conversation is not None
    made = await contexts.build(conversation, ContextQuery(max_tokens=100))
    assert measured.value("context_used_ratio_count") == 1
    assert measured.value("context_used_ratio_sum") == made.billed_tokens / 100
    assert measured.value("prompt_tokens_total", part="context") == made.billed_tokens > 0
    measured.searched.memories = [a_memory("m1")]
    response = await measured.api.client(read="app/*").post(
        "/v1/context", json={"namespaces": ["app/ada"], "text": "What?"}
    )
    assert measured.value("prompt_tokens_total", part="block") == response.json()["tokens"] > 0


def test_only_passages_older_than_the_context_of_their_conversation_are_out_of_context() -> None:
    state = a_state("talk")  # whose oldest message in context was said at AT_S
    conversation = Conversation(state.scope, ("app/ada",), DEFAULT_POLICY, state)
    said = [passage("talk", AT_S - 1), passage("talk", AT_S), passage("other", AT_S - 1)]
    block = Block(text="", tokens=0, max_tokens=0, said=tuple(said))
    assert out_of_context(block, conversation) == [said[0]]
    assert out_of_context(block, None) == []


async def test_passages_retrieved_after_leaving_the_context_are_counted(
    measured: Measured, monkeypatch: pytest.MonkeyPatch
):
    state = a_state("talk")
    conversation = Conversation(state.scope, ("app/ada",), DEFAULT_POLICY, state)
    said = (passage("talk", AT_S - 2), passage("talk", AT_S - 1), passage("talk", AT_S))

    async def made(*_: object) -> Block:
        return Block(text="", tokens=0, max_tokens=0, said=said)

    monkeypatch.setattr(Recall, "block", made)
    nothing: Any = None
    recall = MeasuredRecall(*[nothing] * 6, meters=measured.meters)
    await recall.block(BlockQuery(text="What?"), conversation)
    assert measured.value("pruned_messages_retrieved_total") == 2


def passage(conversation_id: str, at: float) -> BlockPassage:
    return BlockPassage(
        passage_id=f"{conversation_id}-{at}",
        reference="",
        namespace="app/ada",
        conversation_id=conversation_id,
        message_id="m",
        speaker="ada",
        said_at=datetime.fromtimestamp(at, UTC),
        text="x",
        score=1.0,
        tokens=1,
    )
