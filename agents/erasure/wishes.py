"""Erases users who ask in a conversation to have everything about them erased, where the policy allows it."""

import logging
from collections.abc import Callable, Collection, Mapping
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

from schemas import ids
from schemas.conversations.messages import Scope
from schemas.erasure.erasures import ErasureKind, Fences
from schemas.extraction.candidates import CandidateBatch, Wish
from schemas.policies.policies import Policy
from schemas.policies.shadows import is_reserved

log = logging.getLogger(__name__)

# An erasure also deletes what was said between the wish and its start. Operators decide about a wish that is processed late.
MAX_WISH_AGE: Final = timedelta(days=7)
REASON: Final = "the user asked for it, in message {message_id} of conversation {conversation_id}"


class ErasureLookup(Protocol):
    """sinks.erasure.erasures.Erasures. Every method raises Retryable."""

    async def get(self, erasure_id: str) -> Any | None: ...

    async def fences(
        self, namespaces: Collection[str] = (), conversations: Collection[str] = (), users: Collection[str] = ()
    ) -> Fences: ...


class ErasureStarter(Protocol):
    """agents.erasure.begin.ErasureService."""

    async def begin(
        self, erasure_id: str, kind: ErasureKind, actor: str, reason: str | None = None, **subject: str | None
    ) -> None: ...


class ErasureWishes:
    """Erases each person once per message that asks for it, for any number of namespaces and redeliveries."""

    def __init__(self, service: ErasureStarter, erasures: ErasureLookup, clock: Callable[[], datetime]) -> None:
        self._service = service
        self._erasures = erasures
        self._clock = clock

    async def begin(self, batch: CandidateBatch, policy: Policy) -> Mapping[str, str]:
        """The erasures begun for these wishes, now or before, by wish id. A replay erases nothing. Raises Retryable."""
        erasures: dict[str, str] = {}
        for wish in batch.wishes:
            if not wish.everything or wish.scope is None or is_reserved(batch.namespace):
                continue
            who = wish.scope.user_id or f"a user of conversation {batch.conversation_id}"
            log.warning(
                "%s asks for everything to be erased, in message %s; on_erasure_wish of the policy: %s",
                who,
                wish.message.message_id,
                policy.on_erasure_wish,
            )
            if policy.on_erasure_wish == "erase" and await self._begin(batch, wish, wish.scope):
                erasures[wish.wish_id] = erasure_id(batch, wish)
        return erasures

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
        """Whether the wish is too old, or precedes an earlier erasure."""
        said_at: datetime | None = wish.message.timestamp
        if said_at is None or said_at < self._clock() - MAX_WISH_AGE:
            return True
        users = [scope.user_id] if scope.user_id else []
        fences = await self._erasures.fences([batch.namespace], [batch.conversation_id], users)
        place = (said_at, batch.partition, wish.message.position)
        return any(fence.refuses(*place) for fence in fences.of(scope, [batch.namespace]))


def erasure_id(batch: CandidateBatch, wish: Wish) -> str:
    return ids.derive("erasure wish", batch.request_id, wish.message.message_id)
