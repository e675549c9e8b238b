"""Users' settings in memory, by the rules of the table."""

import asyncio
from collections import deque
from collections.abc import Collection
from datetime import datetime

from schemas.conversations.user_settings import User
from schemas.conversations.window_choices import WindowChoice


class FakeUserSettings:
    """`failures` are raised by the next calls, one each; `calls` counts the requested users."""

    def __init__(self) -> None:
        self.kept: dict[User, tuple[datetime, WindowChoice]] = {}
        self.failures: deque[Exception] = deque()
        self.calls = 0

    async def _raise_failure(self) -> None:
        await asyncio.sleep(0)
        if self.failures:
            raise self.failures.popleft()

    async def choose(self, user: User, settings: WindowChoice, at: datetime) -> bool:
        await self._raise_failure()
        if user in self.kept and self.kept[user][0] > at:
            return False
        self.kept[user] = (at, settings)
        return True

    async def chosen_by(self, users: Collection[User]) -> dict[User, WindowChoice]:
        await self._raise_failure()
        self.calls += 1
        found = {user: self._counting(user) for user in users}
        return {user: choice for user, choice in found.items() if choice is not None}

    async def chosen_for(self, user: User) -> WindowChoice:
        await self._raise_failure()
        return self.kept[user][1] if user in self.kept else WindowChoice()

    def _counting(self, user: User) -> WindowChoice | None:
        for app_id, tenant_id in (
            (user.app_id, user.tenant_id),
            (user.app_id, None),
            (None, user.tenant_id),
            (None, None),
        ):
            of = self.kept.get(User(user_id=user.user_id, tenant_id=tenant_id, app_id=app_id))
            if of is not None and of[1] != WindowChoice():
                return of[1]
        return None
