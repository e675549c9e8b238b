"""Completes erasures: commands curators, deletes stored conversation data, waits for the owners of windows, then erases dead
letters."""

import logging
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import datetime
from functools import partial
from typing import Final, Protocol

from agents.erasure.affected_namespaces import plan_erasure, plan_namespace
from agents.stage.leases import StillHeld, renewed_lease
from schemas import codec
from schemas.conversations.messages import Scope
from schemas.erasure.erasures import Erasure
from schemas.erasure.receipts import Remains
from schemas.kafka import topics
from schemas.kafka.records import Outgoing, Publisher
from schemas.memories.commands import Command
from schemas.policies.namespaces import quote_part
from schemas.policies.policies import PolicySelector
from sinks.erasure.erasures import ErasedNamespace, How, PlannedNamespace, RemovedCount, WindowsErased

log = logging.getLogger(__name__)

LEASE_S: Final = 60.0
PAUSE_S: Final = 0.1
LONGEST_PAUSE_S: Final = 5.0
SENT_AGAIN_S: Final = 60.0
LETTERS: Final = "dead_letters"


class ErasureStore(Protocol):
    """sinks.erasure.erasures.Erasures. Every method raises Retryable."""

    async def claim(self, lease_s: float) -> Erasure | None: ...

    async def renew(self, erasure_id: str, lease_s: float) -> bool: ...

    async def release(self, erasure_id: str, pause_s: float) -> None: ...

    async def scopes(self, erasure_id: str) -> tuple[Scope, ...]: ...

    async def namespaces_fed(self, erasure_id: str) -> tuple[str, ...]: ...

    async def conversations(self, erasure_id: str) -> frozenset[str]: ...

    async def plan(self, erasure_id: str, planned: Sequence[PlannedNamespace]) -> None: ...

    async def unsent(self, erasure_id: str, how: How, again_s: float) -> tuple[PlannedNamespace, ...]: ...

    async def mark_sent(self, erasure_id: str, namespaces: Collection[str]) -> None: ...

    async def namespaces(self, erasure_id: str) -> tuple[ErasedNamespace, ...]: ...

    async def windows(self, erasure_id: str) -> WindowsErased: ...

    async def sweep(self, erasure_id: str, at: datetime) -> None: ...

    async def count_removed(self, erasure_id: str, store: str, removed: int, at: datetime) -> None: ...

    async def latest_removal(self) -> datetime | None: ...

    async def removes_points(self, noted_before: datetime) -> bool: ...

    async def removed(self, erasure_id: str) -> tuple[RemovedCount, ...]: ...

    async def complete(self, erasure_id: str, at: datetime, remains: Sequence[Remains]) -> None: ...


class DeadLetterTopic(Protocol):
    """The topic of dead letters."""

    async def erase(self, erasure: Erasure, conversations: frozenset[str], namespaces: frozenset[str]) -> int:
        """Takes out those that the erasure concerns; how many. Raises Retryable."""


class ErasureAgent:
    """`partitions` of windows have owners who answer; `named` finds namespaces that bear a name's part; `remains` says what Kafka
    still has of what was erased at a moment."""

    def __init__(
        self,
        kept: ErasureStore,
        letters: DeadLetterTopic,
        publisher: Publisher,
        policies: PolicySelector,
        clock: Callable[[], datetime],
        *,
        partitions: int,
        named: Callable[[str], Awaitable[tuple[str, ...]]],
        remains: Callable[[datetime], Awaitable[Sequence[Remains]]],
    ) -> None:
        self._kept = kept
        self._letters = letters
        self._publisher = publisher
        self._policies = policies
        self._clock = clock
        self._partitions = partitions
        self._named = named
        self._remains = remains
        self._last_points: dict[
            str, datetime | None
        ] = {}  # by erasure: when the last of its points was noted, at the latest

    async def tick(self) -> None:
        """Takes one erasure as far as it goes now. Raises Retryable."""
        claimed_at = time.monotonic()
        erasure = await self._kept.claim(LEASE_S)
        if erasure is None:
            return
        name = erasure.erasure_id
        renew = partial(self._kept.renew, name, LEASE_S)
        async with renewed_lease(f"erasure {name}", renew, LEASE_S, claimed_at, time.monotonic) as held:
            try:
                if await self._advance(erasure, held):
                    log.info("erasure %s (%s) is complete", name, erasure.kind)
            finally:
                if held():  # else another has it
                    await self._kept.release(name, self._pause(erasure))

    def _pause(self, erasure: Erasure) -> float:
        """Until the next look, in seconds: what waits for minutes, for a partition without an owner, waits for hours."""
        waited_s = (self._clock() - erasure.at).total_seconds()
        return min(LONGEST_PAUSE_S, max(PAUSE_S, waited_s / 20))

    async def _advance(self, erasure: Erasure, held: StillHeld) -> bool:
        """Whether it is complete. What windows were found by their owners is known only once all have answered."""
        erasure_id = erasure.erasure_id
        windows = await self._kept.windows(erasure_id)
        answered = windows.partitions >= self._partitions
        await self._plan(erasure)
        await self._kept.sweep(erasure_id, self._clock())
        await self._send(erasure, "purge")
        if not answered:
            return False
        await self._send(erasure, "forget")
        namespaces = await self._kept.namespaces(erasure_id)
        whole = namespaces or erasure.kind != "namespace"  # a namespace's curator names it with the first page
        if not whole or any(each.done_at is None for each in namespaces):
            return False
        if await self._removes_points(erasure_id):
            return False
        if not held():
            return False  # letters that two write again are there twice
        await self._erase_letters(erasure, frozenset(each.namespace for each in namespaces if each.how == "purge"))
        now = self._clock()
        await self._kept.complete(erasure_id, now, await self._remains(now))
        return True

    async def _removes_points(self, erasure_id: str) -> bool:
        """Whether points of its passages may still be in Qdrant. Those that others remove meanwhile need not be waited for."""
        if erasure_id not in self._last_points:
            self._last_points[erasure_id] = await self._kept.latest_removal()
        noted = self._last_points[erasure_id]
        if noted is not None and await self._kept.removes_points(noted):
            return True
        del self._last_points[erasure_id]
        return False

    async def _plan(self, erasure: Erasure) -> None:
        if erasure.namespace is not None:
            await self._kept.plan(erasure.erasure_id, [plan_namespace(erasure, erasure.namespace, alone=True)])
            return
        scopes, fed = await self._kept.scopes(erasure.erasure_id), await self._kept.namespaces_fed(erasure.erasure_id)
        named = await self._named(quote_part(erasure.user_id)) if erasure.user_id else ()
        if erasure.conversation_id:
            scopes = (*scopes, Scope(conversation_id=erasure.conversation_id))
        await self._kept.plan(erasure.erasure_id, plan_erasure(erasure, scopes, fed, named, self._policies))

    async def _send(self, erasure: Erasure, how: How) -> None:
        unsent = await self._kept.unsent(erasure.erasure_id, how, SENT_AGAIN_S)
        if unsent:
            await self._publisher.publish([erasure_command(erasure, each) for each in unsent])
            await self._kept.mark_sent(erasure.erasure_id, [each.namespace for each in unsent])

    async def _erase_letters(self, erasure: Erasure, namespaces: frozenset[str]) -> None:
        """Once: nothing of before comes among them any more."""
        if any(each.store == LETTERS for each in await self._kept.removed(erasure.erasure_id)):
            return
        conversations = await self._kept.conversations(erasure.erasure_id)
        removed = await self._letters.erase(erasure, conversations, namespaces)
        await self._kept.count_removed(erasure.erasure_id, LETTERS, removed, self._clock())


def erasure_command(erasure: Erasure, planned: PlannedNamespace) -> Outgoing:
    command = Command(
        command_id=planned.command_id,
        kind=planned.how,
        namespace=planned.namespace,
        at=erasure.at,
        actor=erasure.actor,
        reason=erasure.reason,
        erasure_id=erasure.erasure_id,
    )
    return Outgoing(topic=topics.COMMANDS, key=planned.namespace.encode(), value=codec.encode(command))
