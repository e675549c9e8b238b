"""Publishes commands for the curator and waits for their outcomes with a time limit.

PostgreSQL has an outcome once it is committed, whichever worker applied the command. So each process polls for all of its waiting
requests together, every few milliseconds while there are any.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol, TypeAlias
from urllib.parse import quote

from agents.curation.rules.outcome import Outcome
from schemas import codec
from schemas.codec import convert
from schemas.errors import MemstreamError, Retryable
from schemas.kafka import topics
from schemas.kafka.records import Outgoing, Publisher
from schemas.memories.commands import Command

log = logging.getLogger(__name__)

SENT_S = 25.0  # more, for many commands that nobody waits for

Sent: TypeAlias = tuple[str, str]  # namespace, command_id


class OutcomeStore(Protocol):
    """Stored outcomes (sinks.memories.command_results.CommandResults)."""

    async def of(self, sent: Collection[Sent]) -> dict[Sent, Any]:
        """Outcomes as builtins, without commands that are still pending. Raises Retryable."""


class Commands:
    """Sends commands and waits for what comes of them, `wait_s` at most. `poll_s` passes between two looks. `changed` is told the
    namespace of each outcome before whoever waits for it: who changed something sees it changed."""

    def __init__(
        self,
        publisher: Publisher,
        outcomes: OutcomeStore,
        *,
        wait_s: float = 5.0,
        poll_s: float = 0.02,
        changed: Callable[[str], object] = lambda namespace: None,
    ) -> None:
        self._publisher = publisher
        self._outcomes = outcomes
        self._wait_s = wait_s
        self._poll_s = poll_s
        self._changed = changed
        self._waiting: dict[Sent, set[asyncio.Future[Outcome]]] = {}
        self._watch: asyncio.Task[None] | None = None

    async def outcome(self, namespace: str, command_id: str) -> Outcome | None:
        """The outcome of a command; None while it is pending. Raises Retryable."""
        found = await self._outcomes.of([(namespace, command_id)])
        return convert(found[namespace, command_id], Outcome) if found else None

    async def send_and_wait(self, command: Command) -> Outcome | None:
        """The outcome of the command, or None after the time limit; the curator applies it anyway.

        Raises Retryable when Kafka does not confirm the command in time, and Rejected when it never can. Kafka may still have
        the command: send it again with the same id to be sure.
        """
        (outcome,) = await self.send_all_and_wait([command])
        return outcome

    async def send_all_and_wait(self, commands: Sequence[Command]) -> list[Outcome | None]:
        """The outcomes in the order of the commands. Sends all commands before it waits for the first; the time limit covers
        all of them. Raises as `send_and_wait`."""
        await self._publish(commands, self._wait_s)
        return await asyncio.gather(*(self._wait_for_outcome((each.namespace, each.command_id)) for each in commands))

    async def send(self, commands: Sequence[Command]) -> None:
        """Returns once Kafka has confirmed all commands, in order, and does not wait for outcomes. Raises as `send_and_wait`."""
        await self._publish(commands, self._wait_s + SENT_S)

    async def settled(self, namespace: str, command_ids: Sequence[str]) -> set[str]:
        """Those of a namespace's commands whose outcome is known. Raises Retryable."""
        found = await self._outcomes.of([(namespace, each) for each in command_ids]) if command_ids else {}
        return {command_id for _, command_id in found}

    async def close(self) -> None:
        """Stops polling; pending waits get no outcome."""
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)

    async def _publish(self, commands: Sequence[Command], within_s: float) -> None:
        try:
            async with asyncio.timeout(within_s):
                await self._publisher.publish([command_record(command) for command in commands])
        except TimeoutError as exc:
            raise Retryable(f"Kafka did not confirm what was sent within {within_s:g} s") from exc

    async def _wait_for_outcome(self, sent: Sent) -> Outcome | None:
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(sent, set()).add(future)
        if self._watch is None or self._watch.done():
            self._watch = asyncio.create_task(self._poll_outcomes(), name="outcomes of commands")
        try:
            async with asyncio.timeout(self._wait_s):
                return await future
        except TimeoutError:
            return None
        finally:
            self._stop_waiting(sent, future)

    def _stop_waiting(self, sent: Sent, future: asyncio.Future[Outcome]) -> None:
        if waiting := self._waiting.get(sent):
            waiting.discard(future)
            if not waiting:
                del self._waiting[sent]

    async def _poll_outcomes(self) -> None:
        while self._waiting:
            await asyncio.sleep(self._poll_s)
            try:
                self._resolve(await self._outcomes.of(list(self._waiting)) if self._waiting else {})
            except (
                MemstreamError
            ) as exc:  # those who wait hear of it when their time is over: what they sent is on its way
                log.warning("cannot read outcomes of commands: %s", exc)

    def _resolve(self, found: dict[Sent, Any]) -> None:
        for sent, said in found.items():
            outcome = convert(said, Outcome)
            self._changed(outcome.namespace)
            for future in self._waiting.get(sent, ()):
                if not future.done():
                    future.set_result(outcome)


def command_record(command: Command) -> Outgoing:
    """Keyed by namespace, because one curator owns the namespace's partition."""
    return Outgoing(topic=topics.COMMANDS, key=command.namespace.encode(), value=codec.encode(command))


def status_path(command: Command) -> str:
    """The API path of the command's outcome. It includes the namespace, which determines the right to read it."""
    return f"/v1/commands/{quote(command.command_id, safe='')}?namespace={quote(command.namespace, safe='')}"
