"""Long texts are counted and scanned outside the event loop, so that other requests continue."""

import threading
from datetime import UTC, datetime
from typing import Any

import pytest

from agents.conversations.contexts import MAX_LOOP_CHARS, Contexts, exceeds_chars
from agents.conversations.lookup import Conversations
from agents.conversations.token_count_cache import TokenCountCache
from agents.windows.terms import WindowTerms
from schemas.conversations.contexts import ContextQuery, CurrentMessage
from schemas.conversations.messages import Message, ToolCall
from schemas.policies.matching import Match
from schemas.policies.policies import Policies, Policy
from sinks.archive.messages import ArchivedMessage
from streams.windows.detectors.detect import Detected, detect_in
from streams.windows.tokens.model_limits import ModelLimits
from tests.fakes.archive import FakeArchive
from tests.fakes.talk import NOW
from tests.fakes.windows import FakeWindows

LONG = "a long line\n" * MAX_LOOP_CHARS
BEGIN = datetime.fromtimestamp(NOW, UTC)


class Watched:
    """Contexts whose counter and detectors note the lengths of the texts that the event loop's thread gave them."""

    def __init__(self) -> None:
        self.on_loop: list[int] = []
        self.elsewhere: list[int] = []
        self._loop = threading.get_ident()
        policies = Policies((Policy(name="all", match=Match()),))
        terms = WindowTerms(policies, ModelLimits(16_384, {}))
        kept = TokenCountCache(self._count, detect=self._detect)
        self.archive = FakeArchive()
        self.conversations = Conversations(FakeWindows(), self.archive, policies)
        self.contexts = Contexts(self.archive, terms, kept, lambda: BEGIN)

    def _note(self, text: str) -> None:
        (self.on_loop if threading.get_ident() == self._loop else self.elsewhere).append(len(text))

    def _count(self, text: str) -> int:
        self._note(text)
        return -(-len(text) // 4)

    def _detect(self, message: Message) -> Detected:
        self._note(message.content)
        return detect_in(message)

    async def say(self, role: str = "user", content: str = "hello", **fields: Any) -> None:
        number = len(await self.archive.page("talk", beyond=None, limit=100))
        message = Message(
            conversation_id="talk",
            message_id=f"m{number}",
            role=role,  # type: ignore[arg-type]
            timestamp=BEGIN,
            content=content,
            **fields,
        )
        await self.archive.store([ArchivedMessage(message=message, partition=0, position=number)])

    async def build(self, **fields: Any) -> int:
        """The billed tokens."""
        conversation = await self.conversations.find("talk", lambda namespace: True)
        assert conversation is not None
        return (await self.contexts.build(conversation, ContextQuery(**fields))).billed_tokens

    async def measure(self) -> None:
        conversation = await self.conversations.find("talk", lambda namespace: True)
        assert conversation is not None
        await self.contexts.measured(conversation, await self.archive.page("talk", beyond=None, limit=100))


@pytest.fixture
async def watched() -> Watched:
    return Watched()


def called(**arguments: Any) -> dict[str, Any]:
    return {"tool_calls": (ToolCall(id="t", name="write_file", arguments=arguments),)}


@pytest.mark.parametrize(
    ("said", "fields"),
    [
        ({"content": LONG}, {}),
        ({"role": "tool", "content": LONG, "tool_call_id": "t"}, {}),
        ({"role": "assistant"} | called(text=LONG), {}),
        ({"role": "assistant"} | called(numbers=list(range(MAX_LOOP_CHARS))), {}),
        ({"role": "assistant"} | called(nested=[{"text": LONG}]), {}),
        ({}, {"system": LONG}),
        ({}, {"current": CurrentMessage(content=LONG)}),
        ({}, {"current": CurrentMessage(content="", role="assistant", **called(text=LONG))}),
        ({}, {"tools": ({"name": "write_file", "description": "word " * 6_000},)}),
    ],
    ids=["text", "result", "arguments", "numbers", "nested", "system", "current", "call of current", "tools"],
)
async def test_long_content_is_counted_off_the_event_loop(
    watched: Watched, said: dict[str, Any], fields: dict[str, Any]
):
    await watched.say(**said)
    assert await watched.build(**fields) <= int(0.8 * 16_384)
    assert watched.on_loop == [] and max(watched.elsewhere) > MAX_LOOP_CHARS


@pytest.mark.parametrize("fields", [{"content": LONG}, {"role": "assistant"} | called(text=LONG)])
async def test_messages_are_measured_off_the_event_loop(watched: Watched, fields: dict[str, Any]):
    await watched.say(**fields)
    await watched.measure()
    assert watched.on_loop == [] and max(watched.elsewhere) > MAX_LOOP_CHARS


async def test_many_short_messages_are_read_off_the_event_loop_too(watched: Watched):
    for _ in range(60):
        await watched.say(content="word " * 100)
    await watched.build()
    assert watched.on_loop == []


async def test_a_short_conversation_is_counted_on_the_event_loop(watched: Watched):
    await watched.say("assistant", **called(path="notes.txt"))
    await watched.build(system="Be brief.")
    await watched.measure()
    assert watched.on_loop and not watched.elsewhere


@pytest.mark.parametrize(
    ("values", "exceeds"),
    [
        ([], False),
        (["x" * 100, None], False),
        (["x" * 105], True),
        (["x" * 60, {"a": ["x" * 60]}], True),
        ([{"x" * 100: 1}], True),
        ([list(range(24))], False),
        ([list(range(26))], True),
    ],
)
def test_the_size_of_values_is_their_length_as_json(values: list[Any], exceeds: bool):
    assert exceeds_chars(values, 104) is exceeds
