"""Users' settings for all their conversations, applied to their windows."""

import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from math import inf
from typing import Any, Final, Protocol, TypeAlias

from agents.windows.cache import WindowCache
from agents.windows.erasures import Decoded
from agents.windows.terms import WindowTerms
from schemas.conversations.messages import Scope
from schemas.conversations.user_settings import User
from schemas.conversations.window_choices import WindowChoice
from schemas.conversations.window_settings import Adjustable
from schemas.errors import Retryable
from schemas.windows.window_controls import WindowControl
from streams.delivery.batch import Batch
from streams.windows.arrival import merged_scope
from streams.windows.window import Window

log = logging.getLogger(__name__)

CACHE_S: Final = 5.0  # seconds that settings are cached, unless an event reports a change
MAX_CACHED: Final = 20_000

Controls: TypeAlias = Sequence[tuple[Any, WindowControl]]


class UserSettingsStore(Protocol):
    """sinks.windows.user_settings.UserSettings. Every method raises Retryable."""

    async def choose(self, user: User, settings: WindowChoice, at: datetime) -> bool: ...

    async def chosen_by(self, users: Collection[User]) -> dict[User, WindowChoice]: ...


class UserChoices:
    """Asks PostgreSQL for users whose policy lets them choose settings, once in `CACHE_S` seconds: at most one statement per
    batch. A window keeps its settings in its row, so neither timers nor restarts ask, and windows work on while
    PostgreSQL is away. Only a window that first learns its user from the batch waits.

    A conversation has the settings of its own user, the first that its messages name; other speakers do not matter. `clock`
    returns seconds, from any origin.
    """

    def __init__(
        self, store: UserSettingsStore, terms: WindowTerms, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store = store
        self._terms = terms
        self._clock = clock
        self._known: dict[User, tuple[float, WindowChoice | None]] = {}
        self._ask_at = -inf  # no earlier look-up, unless a window needs it

    async def look_up(self, batch: Batch, events: Iterable[Decoded], cache: WindowCache) -> None:
        """Looks up the users of a batch of messages before it is applied. Raises Retryable if a window would begin without
        its user's settings."""
        if not batch.current or not self._terms.adjustable:
            return
        cache.enter(batch.epoch)
        names = {message.conversation_id for _, message in events}
        before = {name: cache.scope(name, batch.partition) for name in names}
        scopes = dict(before)
        for _, message in events:
            scopes[message.conversation_id] = merged_scope(scopes[message.conversation_id], message)
        users = {name: user for name, scope in scopes.items() if (user := self._user_of(scope)) is not None}
        users_needed = set(users.values())
        for user in users_needed & self._known.keys():
            self._known[user] = self._known.pop(user)  # the least recently requested users are evicted first
        new = {user for name, user in users.items() if user != user_of(before[name])}
        stale = self._stale(users_needed)
        await self._renew(stale, needed=not new.isdisjoint(stale))

    async def apply_controls(self, batch: Batch, events: Controls, cache: WindowCache) -> None:
        """Stores the settings of a batch of control events before it is applied, and looks them up again. Raises Retryable."""
        controls = [control for _, control in events if control.kind == "user_settings"]
        if not controls or not batch.current:
            return
        cache.enter(batch.epoch)
        users = {each.conversation_id: user_of(cache.scope(each.conversation_id, batch.partition)) for each in controls}
        for control in controls:
            user = users[control.conversation_id]
            if control.settings is not None and user is not None:
                await self._store.choose(user, control.settings, control.at)
        await self._read({user for user in users.values() if user is not None})

    def apply_to(self, window: Window) -> None:
        """Applies the settings to a window; one whose user was not looked up keeps its own."""
        user = self._user_of(window.head.scope)
        if user is not None and user in self._known:
            window.adopt(self._known[user][1])

    def forget(self, window: Window) -> None:
        """Forgets the settings of a window's erased user."""
        if (user := user_of(window.head.scope)) is not None:
            self._known.pop(user, None)

    def _user_of(self, scope: Scope) -> User | None:
        adjusts = self._terms.policy(scope).window.adjustable != Adjustable()
        return user_of(scope) if adjusts else None

    def _stale(self, users: Collection[User]) -> set[User]:
        oldest = self._clock() - CACHE_S
        return {user for user in users if user not in self._known or self._known[user][0] <= oldest}

    async def _renew(self, users: Collection[User], *, needed: bool) -> None:
        """Reads the settings of these users, or forgets the stale ones: another worker may have newer ones. Raises Retryable
        if `needed`."""
        if needed or self._clock() >= self._ask_at:
            try:
                return await self._read(users)
            except Retryable as exc:
                self._ask_at = self._clock() + CACHE_S
                if needed:
                    raise
                log.warning("users' settings cannot be looked up, windows keep those that they have: %s", exc.plain)
        for user in self._stale(users):
            self._known.pop(user, None)
        return None

    async def _read(self, users: Collection[User]) -> None:
        if not users:
            return
        at = self._clock()
        found: Mapping[User, WindowChoice] = await self._store.chosen_by(users)
        for user in users:
            if user in self._known and self._known[user][0] > at:
                continue  # a read that began later has ended already
            self._known.pop(user, None)
            self._known[user] = (at, found.get(user))
        while len(self._known) > MAX_CACHED:
            del self._known[next(iter(self._known))]


def user_of(scope: Scope) -> User | None:
    if scope.user_id is None:
        return None
    return User(user_id=scope.user_id, tenant_id=scope.tenant_id, app_id=scope.app_id)
