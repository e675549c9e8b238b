"""Users' settings for the contexts of all their conversations: the table `user_settings`."""

from collections.abc import Collection
from datetime import datetime

from schemas.codec import convert
from schemas.conversations.user_settings import User
from schemas.conversations.window_choices import WindowChoice
from sinks.postgres.connection import Pool, storable, translated
from sinks.postgres.queries import query


class UserSettings:
    """Every method raises Retryable."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def choose(self, user: User, settings: WindowChoice, at: datetime) -> bool:
        """Replaces all settings that the user chose before `at` for this tenant and app. False if a later choice exists, or
        the user was erased since."""
        with translated("storing a user's settings"):
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute(query("purges", "share_archive"))
                status = await connection.execute(query("user_settings", "choose"), *fields(user), settings, at)
        return bool(status.endswith(" 1"))

    async def chosen_by(self, users: Collection[User]) -> dict[User, WindowChoice]:
        """The settings for conversations of each user in that tenant and app; users without a choice are missing."""
        keys = list(users)
        if not keys:
            return {}
        columns = [list(column) for column in zip(*map(fields, keys), strict=True)]
        with translated("reading users' settings"):
            rows = await self._pool.fetch(query("user_settings", "chosen_by"), *columns)
        return {keys[row["place"] - 1]: convert(row["settings"], WindowChoice) for row in rows}

    async def chosen_for(self, user: User) -> WindowChoice:
        """The settings chosen for exactly this tenant and app; None means any."""
        with translated("reading a user's settings"):
            found = await self._pool.fetchval(query("user_settings", "chosen_for"), *fields(user))
        return WindowChoice() if found is None else convert(found, WindowChoice)


def fields(user: User) -> tuple[str | None, ...]:
    return tuple(None if value is None else storable(value) for value in (user.user_id, user.tenant_id, user.app_id))
