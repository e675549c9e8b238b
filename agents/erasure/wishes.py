"""Carries out what users say in conversations who want everything about them erased, where a policy has it so."""

import logging
from collections.abc import Callable, Collection, Mapping
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

from schemas import ids
from schemas.conversations.messages import Scope
from schemas.erasure.erasures import ErasureKind, Fences
from schemas.extraction.candidates import CandidateBatch, Wish
from schemas.policies.policies import Policy
from schemas.replay.shadows import is_reserved

log = logging.getLogger(__name__)

# An erasure takes whatever is there when it begins, also what was said after the wish. A wish out of an old conversation, which
# is read late, is left to people.
LATEST: Final = timedelta(days=7)
REASON: Final = "the user asked for it, in message {message_id} of conversation {conversation_id}"


class ErasureLookup(Protocol):
    """sinks.erasure.erasures.Erasures. Every method raises Retryable."""

    async def get(self, erasure_id: str) -> Any | None: ...

    async def fences(
        self, namespaces: Collection[str] = (), conversations: Collection[str] = (), users: Collection[str] = ()
    ) -> Fences: ...


class Erasing(Protocol):
    """agents.erasure.begin.ErasureService."""

    async def begin(
        self, erasure_id: str, kind: ErasureKind, actor: str, reason: str | None = None, **subject: str | None
    ) -> None: ...


class ErasureWishes:
    """Erases each person once for each message that asks for it, however many namespaces that person feeds, and whatever is
    redelivered."""

    def __init__(self, service: Erasing, erasures: ErasureLookup, clock: Callable[[], datetime]) -> None:
        self._service = service
        self._erasures = erasures
        self._clock = clock

    async def begin(self, batch: CandidateBatch, policy: Policy) -> Mapping[str, str]:
        """By the ids of wishes the erasures that are begun for them, now or before. A replay erases nothing. Raises Retryable."""
        begun: dict[str, str] = {}
        for wish in batch.wishes:
            if not wish.everything or wish.scope is None or is_reserved(batch.namespace):
                continue
            who = wish.scope.user_id or f"whoever speaks in {batch.conversation_id}"
            log.warning(
                "%s wants everything erased, in message %s: %s", who, wish.message.message_id, policy.on_erasure_wish
            )
            if policy.on_erasure_wish == "erase" and await self._begin(batch, wish, wish.scope):
                begun[wish.wish_id] = erasure_id(batch, wish)
        return begun

    async def _begin(self, batch: CandidateBatch, wish: Wish, scope: Scope) -> bool:
        named = erasure_id(batch, wish)
        if await self._erasures.get(named) is not None:
            return True
        if await self._is_over(batch, wish, scope):
            return False
        reason = REASON.format(message_id=wish.message.message_id, conversation_id=batch.conversation_id)
        if scope.user_id is None:
            await self._service.begin(named, "conversation", "user", reason, conversation_id=batch.conversation_id)
        else:
            subject = {"user_id": scope.user_id, "tenant_id": scope.tenant_id, "app_id": scope.app_id}
            await self._service.begin(named, "user", "user", reason, **subject)
        return True

    async def _is_over(self, batch: CandidateBatch, wish: Wish, scope: Scope) -> bool:
        """Whether it is of long ago, or of before an erasure that was."""
        said_at: datetime | None = wish.message.timestamp
        if said_at is None or said_at < self._clock() - LATEST:
            return True
        users = [scope.user_id] if scope.user_id else []
        fences = await self._erasures.fences([batch.namespace], [batch.conversation_id], users)
        place = (said_at, batch.partition, wish.message.position)
        return any(fence.refuses(*place) for fence in fences.of(scope, [batch.namespace]))


def erasure_id(batch: CandidateBatch, wish: Wish) -> str:
    return ids.derive("erasure wish", batch.request_id, wish.message.message_id)
