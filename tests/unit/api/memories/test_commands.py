"""Commands are published once, and their outcomes awaited with a time limit."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from agents.api.memories.commands import Commands
from schemas import codec
from schemas.errors import Retryable
from schemas.kafka import topics
from schemas.memories.commands import Command
from tests.api import NOON
from tests.fakes.clock import VirtualLoop
from tests.fakes.publisher import FakePublisher

ACCEPTED = {"status": "accepted", "namespace": "n", "sequence": 7, "memory_id": "m1", "change": "created"}


class Stored:
    """Outcomes that are there from a moment on (virtual seconds). Until `down_until_s`, reading raises Retryable."""

    def __init__(self) -> None:
        self.from_s: dict[str, float] = {}
        self.down_until_s = 0.0
        self.calls: list[list[str]] = []

    async def of(self, sent: Any) -> dict[Any, Any]:
        now_s = asyncio.get_running_loop().time()
        self.calls.append(sorted(command_id for _, command_id in sent))
        if now_s < self.down_until_s:
            raise Retryable("PostgreSQL is down")
        return {each: ACCEPTED for each in sent if now_s >= self.from_s.get(each[1], 1e9)}


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        yield runner


def command(command_id: str = "c1") -> Command:
    return Command(command_id=command_id, kind="create", namespace="n", at=NOON, text="Text.")


def test_a_command_is_keyed_by_its_namespace_and_its_outcome_is_returned(runner):
    async def scenario():
        publisher, stored = FakePublisher(), Stored()
        stored.from_s["c1"] = 0.3
        commands = Commands(publisher, stored)
        outcome = await commands.send_and_wait(command())
        assert (outcome.memory_id, asyncio.get_running_loop().time() < 0.4) == ("m1", True)
        (record,) = publisher.on(topics.COMMANDS)
        assert (record.key, record.partition, codec.decode(record.value, Command)) == (b"n", None, command())
        await commands.close()

    runner.run(scenario())


def test_a_command_that_exceeds_the_wait_returns_none_and_its_outcome_can_be_read_later(runner):
    async def scenario():
        stored = Stored()
        stored.from_s["c1"] = 5.5
        commands = Commands(FakePublisher(), stored, wait_s=5)
        assert await commands.send_and_wait(command()) is None
        assert asyncio.get_running_loop().time() == pytest.approx(5, abs=0.1)
        assert await commands.outcome("n", "c1") is None
        await asyncio.sleep(1)
        assert (await commands.outcome("n", "c1")).change == "created"
        await commands.close()

    runner.run(scenario())


def test_commands_sent_together_share_one_wait(runner):
    async def scenario():
        publisher, stored = FakePublisher(), Stored()
        stored.from_s = {"c1": 0.3, "c3": 4}
        commands = Commands(publisher, stored, wait_s=5)
        found = await commands.send_all_and_wait([command(f"c{number}") for number in range(100)])
        assert asyncio.get_running_loop().time() == pytest.approx(5, abs=0.1)
        assert [number for number, outcome in enumerate(found) if outcome is not None] == [1, 3]
        assert len(publisher.on(topics.COMMANDS)) == 100
        await commands.close()

    runner.run(scenario())


def test_concurrent_waiters_share_one_query_and_polling_stops_without_waiters(runner):
    async def scenario():
        stored = Stored()
        stored.from_s |= {f"c{number}": 0.1 * number for number in range(3)}
        commands = Commands(FakePublisher(), stored, poll_s=0.05)
        await asyncio.gather(*(commands.send_and_wait(command(f"c{number}")) for number in (0, 1, 2, 2)))
        assert stored.calls[0] == ["c0", "c1", "c2"]
        assert stored.calls[-1] == ["c2"]
        calls = len(stored.calls)
        await asyncio.sleep(60)
        assert len(stored.calls) <= calls + 1
        stored.from_s["c9"] = 0
        assert await commands.send_and_wait(command("c9")) is not None
        await commands.close()

    runner.run(scenario())


def test_a_postgres_outage_while_waiting_is_retried_until_the_wait_ends(runner):
    async def scenario():
        stored = Stored()
        stored.from_s["c1"], stored.down_until_s = 0, 2
        commands = Commands(FakePublisher(), stored, wait_s=5)
        assert (await commands.send_and_wait(command())) is not None
        stored.down_until_s = 1e9
        assert await commands.send_and_wait(command("c2")) is None
        await commands.close()

    runner.run(scenario())


def test_a_command_that_kafka_does_not_acknowledge_in_time_raises_retryable(runner):
    async def scenario():
        class Hanging:
            async def publish(self, records):
                await asyncio.sleep(1e6)

        commands = Commands(Hanging(), Stored(), wait_s=5)
        with pytest.raises(Retryable, match="within 5 s"):
            await commands.send_and_wait(command())

    runner.run(scenario())


def test_closing_releases_waiting_callers(runner):
    async def scenario():
        commands = Commands(FakePublisher(), Stored(), wait_s=5)
        waiting = asyncio.create_task(commands.send_and_wait(command()))
        await asyncio.sleep(1)
        await commands.close()
        assert await waiting is None

    runner.run(scenario())
