"""Completes erasures: sends commands to curators, deletes stored conversation data, waits for the owners of windows, then
erases dead letters."""

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
DEAD_LETTERS: Final = "dead_letters"


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
        """Removes the erasure's dead letters and returns their number. Raises Retryable."""


class ErasureAgent:
    """Completes erasures. `partitions` is the number of window partitions whose owners must answer; `named` finds namespaces
    that contain a name; `remains` lists erased data left in Kafka."""

    def __init__(
        self,
        store: ErasureStore,
        dead_letters: DeadLetterTopic,
        publisher: Publisher,
        policies: PolicySelector,
        clock: Callable[[], datetime],
        *,
        partitions: int,
        named: Callable[[str], Awaitable[tuple[str, ...]]],
        remains: Callable[[datetime], Awaitable[Sequence[Remains]]],
    ) -> None:
        self._store = store
        self._dead_letters = dead_letters
        self._publisher = publisher
        self._policies = policies
        self._clock = clock
        self._partitions = partitions
        self._named = named
        self._remains = remains
        # By erasure: no point of it was noted after this time.
        self._last_points: dict[str, datetime | None] = {}

    async def tick(self) -> None:
        """Advances one erasure as far as possible. Raises Retryable."""
        claimed_at = time.monotonic()
        erasure = await self._store.claim(LEASE_S)
        if erasure is None:
            return
        name = erasure.erasure_id
        renew = partial(self._store.renew, name, LEASE_S)
        async with renewed_lease(f"erasure {name}", renew, LEASE_S, claimed_at, time.monotonic) as held:
            try:
                if await self._advance(erasure, held):
                    log.info("erasure %s (kind %s) is complete", name, erasure.kind)
            finally:
                if held():  # otherwise another worker holds the lease
                    await self._store.release(name, self._pause(erasure))

    def _pause(self, erasure: Erasure) -> float:
        """Seconds until the next look; the pause grows while a partition has no owner."""
        waited_s = (self._clock() - erasure.at).total_seconds()
        return min(LONGEST_PAUSE_S, max(PAUSE_S, waited_s / 20))

    async def _advance(self, erasure: Erasure, held: StillHeld) -> bool:
        """Advances the erasure; True if it is complete. The windows' conversations are known only once all owners have
        answered."""
        erasure_id = erasure.erasure_id
        windows = await self._store.windows(erasure_id)
        answered = windows.partitions >= self._partitions
        await self._plan(erasure)
        await self._store.sweep(erasure_id, self._clock())
        await self._send(erasure, "purge")
        if not answered:
            return False
        await self._send(erasure, "forget")
        namespaces = await self._store.namespaces(erasure_id)
        whole = namespaces or erasure.kind != "namespace"  # the curator adds the namespace with the first page
        if not whole or any(each.done_at is None for each in namespaces):
            return False
        if await self._removes_points(erasure_id):
            return False
        if not held():
            return False  # two workers that rewrite the topic would duplicate letters
        await self._erase_dead_letters(erasure, frozenset(each.namespace for each in namespaces if each.how == "purge"))
        now = self._clock()
        await self._store.complete(erasure_id, now, await self._remains(now))
        return True

    async def _removes_points(self, erasure_id: str) -> bool:
        """Whether points of its passages may still be in Qdrant; removals noted later belong to others."""
        if erasure_id not in self._last_points:
            self._last_points[erasure_id] = await self._store.latest_removal()
        noted = self._last_points[erasure_id]
        if noted is not None and await self._store.removes_points(noted):
            return True
        del self._last_points[erasure_id]
        return False

    async def _plan(self, erasure: Erasure) -> None:
        if erasure.namespace is not None:
            await self._store.plan(erasure.erasure_id, [plan_namespace(erasure, erasure.namespace, alone=True)])
            return
        scopes, fed = await self._store.scopes(erasure.erasure_id), await self._store.namespaces_fed(erasure.erasure_id)
        named = await self._named(quote_part(erasure.user_id)) if erasure.user_id else ()
        if erasure.conversation_id:
            scopes = (*scopes, Scope(conversation_id=erasure.conversation_id))
        await self._store.plan(erasure.erasure_id, plan_erasure(erasure, scopes, fed, named, self._policies))

    async def _send(self, erasure: Erasure, how: How) -> None:
        unsent = await self._store.unsent(erasure.erasure_id, how, SENT_AGAIN_S)
        if unsent:
            await self._publisher.publish([erasure_command(erasure, each) for each in unsent])
            await self._store.mark_sent(erasure.erasure_id, [each.namespace for each in unsent])

    async def _erase_dead_letters(self, erasure: Erasure, namespaces: frozenset[str]) -> None:
        """Erases dead letters, once: the fence keeps new ones out."""
        if any(each.store == DEAD_LETTERS for each in await self._store.removed(erasure.erasure_id)):
            return
        conversations = await self._store.conversations(erasure.erasure_id)
        removed = await self._dead_letters.erase(erasure, conversations, namespaces)
        await self._store.count_removed(erasure.erasure_id, DEAD_LETTERS, removed, self._clock())


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
