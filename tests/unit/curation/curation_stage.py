"""The curation agent over a fake curator, and builders of its records."""

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Literal

from agents.curation.agent import CurationAgent
from schemas import codec
from schemas.erasure.erasures import ConversationFence
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
