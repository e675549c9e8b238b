"""The erasure part of one worker, and the data that it erases."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from agents.erasure.begin import ErasureService
from agents.erasure.complete import ErasureAgent
from schemas.codec import decode
from schemas.conversations.messages import Message, Scope
from schemas.erasure.erasures import Erasure
from schemas.erasure.receipts import Receipt, Remains
from schemas.extraction.candidates import Source
from schemas.memories.commands import Command
from schemas.policies.policies import Policies, Policy
from sinks.archive.messages import ArchivedMessage
from sinks.erasure.erasures import Erasures
from sinks.erasure.owners import Owners
from tests.fakes.publisher import FakePublisher
from tests.integration.curation_bench import NOON

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench

POLICIES = Policies((Policy(name="both", namespaces=("{app_id}/{user_id}", "{app_id}")),))
AT = NOON + timedelta(hours=1)
LATER = NOON + timedelta(hours=2)
PARTITIONS = 2


class FakeDeadLetters:
    def __init__(self) -> None:
        self.erased: list[tuple[frozenset[str], frozenset[str]]] = []
        self.take: Callable[[], Awaitable[object]] | None = None

    async def erase(self, erasure: Erasure, conversations: frozenset[str], namespaces: frozenset[str]) -> int:
        self.erased.append((conversations, namespaces))
        if self.take:
            await self.take()
        return 3


class Worker:
    """The erasure parts of a worker; `curate` applies the records that it sends."""

    def __init__(self, bench: "Bench") -> None:
        self.bench = bench
        self.erasures = Erasures(bench.pool)
        self.dead_letters, self.publisher = FakeDeadLetters(), FakePublisher()
        self.ends = {0: 100, 1: 0}
        self.erasing = ErasureService(self.erasures, self.message_ends, lambda: AT)
        self.completing = ErasureAgent(
            self.erasures,
            self.dead_letters,
            self.publisher,
            POLICIES,
            lambda: AT,
            partitions=PARTITIONS,
            named=Owners(bench.pool).all_namespaces_naming,
            remains=self.remains,
        )
        self.curator = bench.curator_under(POLICIES)
        self.curator._eraser._clock = lambda: AT

    async def message_ends(self) -> dict[int, int]:
        return self.ends

    async def remains(self, at: Any) -> Sequence[Remains]:
        return [Remains(topic="chat.messages", holds="what was said", because="retention.ms=1", until=at)]

    async def run_once(self) -> list[Command]:
        """One look at what is pending, and the commands that came of it, carried out."""
        await self.bench.pool.execute("UPDATE erasures SET lease_until = NULL")
        before = len(self.publisher.records)
        await self.completing.tick()
        commands = [decode(record.value, Command) for record in self.publisher.records[before:]]
        for command in commands:
            await self.curator.apply_command(command)
        return commands

    async def answer(self, name: str, *conversations: str) -> None:
        for partition in range(PARTITIONS):
            await self.erasures.answer(name, partition, conversations if partition == 0 else (), 0, AT)

    async def through(self, name: str, *conversations: str) -> Receipt:
        await self.run_once()
        await self.answer(name, *conversations)
        for _ in range(3):  # shadows, what they stand for, and the receipt
            await self.run_once()
        receipt = await self.erasing.receipt(name)
        assert receipt is not None
        return receipt


def said(user: str, conversation: str, at: Any = NOON, position: int = 1, **fields: Any) -> ArchivedMessage:
    message = Message(
        **{"conversation_id": conversation, "message_id": uuid4().hex, "role": "user", "timestamp": at}
        | {"content": "hello", "app_id": "notes", "user_id": user}
        | fields
    )
    scope = Scope.of(message)
    feeds = POLICIES.match(scope).namespaces_of(scope)
    return ArchivedMessage(message=message, partition=0, position=position, feeds=feeds)


def of(*conversations: str, at: Any = NOON) -> tuple[Source, ...]:
    return tuple(Source(conversation_id=each, message_id="1", timestamp=at) for each in conversations)
