"""Publishes commands for the curator and waits for their outcomes with a time limit.

PostgreSQL has the outcome of a command once it is committed, whichever worker applied it. Each process therefore polls
PostgreSQL for all of its pending commands in one query, every few milliseconds while there are any.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol, TypeAlias
from urllib.parse import quote

from agents.curation.rules.ledger.outcomes import Outcome
from schemas import codec
from schemas.codec import convert
from schemas.errors import MemstreamError, Retryable
from schemas.kafka import topics
from schemas.kafka.records import Outgoing, Publisher
from schemas.memories.commands import Command

log = logging.getLogger(__name__)

EXTRA_SEND_S = 25.0  # added to `wait_s` for batches without a waiting client

CommandKey: TypeAlias = tuple[str, str]  # namespace, command_id


class OutcomeStore(Protocol):
    """Reads outcomes of commands (sinks.memories.command_results.CommandResults)."""

    async def of(self, keys: Collection[CommandKey]) -> dict[CommandKey, Any]:
        """Returns outcomes as builtins; pending commands are absent. Raises Retryable."""


class Commands:
    """Sends commands and waits up to `wait_s` seconds for their outcomes, polling every `poll_s` seconds. `on_outcome` is
    called with the namespace of each outcome before its waiters resume, so that caches are invalidated before a client
    sees its change confirmed."""

    def __init__(
        self,
        publisher: Publisher,
        outcomes: OutcomeStore,
        *,
        wait_s: float = 5.0,
        poll_s: float = 0.02,
        on_outcome: Callable[[str], object] = lambda namespace: None,
    ) -> None:
        self._publisher = publisher
        self._outcomes = outcomes
        self._wait_s = wait_s
        self._poll_s = poll_s
        self._on_outcome = on_outcome
        self._waiting: dict[CommandKey, set[asyncio.Future[Outcome]]] = {}
        self._poller: asyncio.Task[None] | None = None

    async def outcome(self, namespace: str, command_id: str) -> Outcome | None:
        """Returns the outcome of a command; None while it is pending. Raises Retryable."""
        found = await self._outcomes.of([(namespace, command_id)])
        return convert(found[namespace, command_id], Outcome) if found else None

    async def send_and_wait(self, command: Command) -> Outcome | None:
        """Sends a command and returns its outcome, or None after the time limit. The curator applies the command in either
        case.

        Raises Retryable if Kafka does not confirm the command in time, and Rejected if Kafka cannot accept it. After
        Retryable, Kafka may still have the command: send it again with the same id.
        """
        (outcome,) = await self.send_all_and_wait([command])
        return outcome

    async def send_all_and_wait(self, commands: Sequence[Command]) -> list[Outcome | None]:
        """Sends all commands, then waits for them. Returns the outcomes in the order of the commands; one time limit covers
        all. Raises as `send_and_wait`."""
        await self._publish(commands, self._wait_s)
        return await asyncio.gather(*(self._wait_for_outcome((each.namespace, each.command_id)) for each in commands))

    async def send(self, commands: Sequence[Command]) -> None:
        """Sends commands and returns once Kafka has confirmed all of them, in order. Does not wait for outcomes. Raises as
        `send_and_wait`."""
        await self._publish(commands, self._wait_s + EXTRA_SEND_S)

    async def settled(self, namespace: str, command_ids: Sequence[str]) -> set[str]:
        """Returns those of a namespace's command ids that have an outcome. Raises Retryable."""
        found = await self._outcomes.of([(namespace, each) for each in command_ids]) if command_ids else {}
        return {command_id for _, command_id in found}

    async def close(self) -> None:
        """Stops polling. Pending waits return None."""
        if self._poller is not None:
            self._poller.cancel()
            await asyncio.gather(self._poller, return_exceptions=True)

    async def _publish(self, commands: Sequence[Command], timeout_s: float) -> None:
        try:
            async with asyncio.timeout(timeout_s):
                await self._publisher.publish([command_record(command) for command in commands])
        except TimeoutError as exc:
            raise Retryable(f"Kafka did not confirm the command within {timeout_s:g} s") from exc

    async def _wait_for_outcome(self, key: CommandKey) -> Outcome | None:
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, set()).add(future)
        if self._poller is None or self._poller.done():
            self._poller = asyncio.create_task(self._poll_outcomes(), name="outcomes of commands")
        try:
            async with asyncio.timeout(self._wait_s):
                return await future
        except TimeoutError:
            return None
        finally:
            self._stop_waiting(key, future)

    def _stop_waiting(self, key: CommandKey, future: asyncio.Future[Outcome]) -> None:
        if waiting := self._waiting.get(key):
            waiting.discard(future)
            if not waiting:
                del self._waiting[key]

    async def _poll_outcomes(self) -> None:
        while self._waiting:
            await asyncio.sleep(self._poll_s)
            try:
                self._resolve(await self._outcomes.of(list(self._waiting)) if self._waiting else {})
            except MemstreamError as exc:  # waiters time out: their commands are already sent
                log.warning("reading the results of commands failed, trying again: %s", exc)

    def _resolve(self, found: dict[CommandKey, Any]) -> None:
        for key, stored in found.items():
            outcome = convert(stored, Outcome)
            self._on_outcome(outcome.namespace)
            for future in self._waiting.get(key, ()):
                if not future.done():
                    future.set_result(outcome)


def command_record(command: Command) -> Outgoing:
    """Returns the Kafka record of a command. Its key is the namespace, because one curator owns the partition of a
    namespace."""
    return Outgoing(topic=topics.COMMANDS, key=command.namespace.encode(), value=codec.encode(command))


def status_path(command: Command) -> str:
    """Returns the API path of the command's outcome. The namespace is part of it, because it determines the right to read
    the outcome."""
    return f"/v1/commands/{quote(command.command_id, safe='')}?namespace={quote(command.namespace, safe='')}"
