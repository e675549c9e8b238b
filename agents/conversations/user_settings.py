"""Users' settings for the contexts of all their conversations: stored, and published to existing windows."""

from collections.abc import Callable
from datetime import datetime
from typing import Final, Protocol

from agents.conversations.control import WindowControlSender
from schemas.conversations.user_settings import User
from schemas.conversations.window_choices import WindowChoice
from schemas.conversations.windows import WindowAddress
from schemas.errors import Rejected

MAX_NOTIFIED: Final = 1_000  # windows; others read the settings with their next message


class UserSettingsStore(Protocol):
    """sinks.windows.user_settings.UserSettings. Every method raises Retryable."""

    async def choose(self, user: User, settings: WindowChoice, at: datetime) -> bool: ...

    async def chosen_for(self, user: User) -> WindowChoice: ...


class WindowsOfUser(Protocol):
    """sinks.windows.projection.Windows."""

    async def places_of(self, user: User, limit: int) -> tuple[WindowAddress, ...]:
        """Addresses of active windows of the user's conversations, latest first. Raises Retryable."""


class UserSettingsService:
    """Every method raises Retryable."""

    def __init__(
        self,
        store: UserSettingsStore,
        windows: WindowsOfUser,
        control: WindowControlSender,
        clock: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._windows = windows
        self._control = control
        self._clock = clock

    async def of(self, user: User) -> WindowChoice:
        """The settings chosen for exactly this tenant and app; None means any."""
        return await self._store.chosen_for(user)

    async def choose(self, user: User, settings: WindowChoice) -> int:
        """Replaces the user's settings; returns how many windows were notified. New windows, and those beyond MAX_NOTIFIED,
        look them up. Raises Rejected `overtaken` if an erasure or another choice has a later time."""
        at = self._clock()
        if not await self._store.choose(user, settings, at):
            raise Rejected(
                "overtaken",
                f"nothing was stored: by the time of this process ({at.isoformat(timespec='milliseconds')}), other settings were "
                "chosen, or the user was erased, later. Read the user's settings and choose again; if that is refused too, this "
                "process's clock is behind: synchronise it",
            )
        places = await self._windows.places_of(user, MAX_NOTIFIED)
        if places:
            await self._control.send_to(places, "user_settings")
        return len(places)
