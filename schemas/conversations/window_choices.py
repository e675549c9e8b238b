"""Settings chosen for one conversation, or for all conversations of a user, within the bounds of their policy."""

from typing import Any, Final, Literal, TypeAlias, cast

from msgspec import Struct, structs

from schemas.conversations.window_settings import BOUNDS, Strategy, WindowSettings

NUMBERS: Final = ("max_messages", "max_tokens", "min_recent", "warning_at")

ChosenBy: TypeAlias = Literal["policy", "user", "conversation"]


class WindowChoice(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Settings that replace the policy's settings of the same names; absent ones stay as in the policy."""

    strategy: Strategy | None = None
    max_messages: int | None = None
    max_tokens: int | None = None
    min_recent: int | None = None
    warning_at: float | None = None

    def require_allowed(self, settings: WindowSettings) -> None:
        """Raises ValueError with the setting, the value and the allowed values."""
        for name, value in structs.asdict(self).items():
            if value is not None and not _allows(settings, name, value):
                raise ValueError(f"{name} is {value}, and the policy allows {_allowed_text(settings, name)}")
        _replaced(settings, self)

    def require_plausible(self) -> None:
        """Raises ValueError for values that no policy could allow."""
        for name, value in structs.asdict(self).items():
            if name in BOUNDS and value is not None and not BOUNDS[name][0] <= value <= BOUNDS[name][1]:
                least, most = BOUNDS[name]
                raise ValueError(f"{name} is {value} and must lie within {least:g} and {most:g}")

    def applied(self, settings: WindowSettings) -> WindowSettings:
        """The settings with the chosen values, moved into the policy's current bounds; contradictory choices have no effect."""
        try:
            return _replaced(settings, self)
        except ValueError:
            return settings


class WindowChoices(Struct, frozen=True):
    """A user's choices for all their conversations, and the choices for one conversation, which take precedence."""

    user: WindowChoice | None = None
    conversation: WindowChoice | None = None

    def applied(self, settings: WindowSettings) -> WindowSettings:
        """The settings with all choices. If these contradict each other, only those for the conversation apply; if these
        contradict each other too, only those of the user."""
        return self._decided(settings)[0]

    def chosen_by(self, settings: WindowSettings) -> dict[str, ChosenBy]:
        """The source of each adjustable setting: policy, user or conversation."""
        by, sources = self._decided(settings)[1], dict.fromkeys(WindowChoice.__struct_fields__, "policy")
        return cast(dict[str, ChosenBy], sources | by)

    def _decided(self, settings: WindowSettings) -> tuple[WindowSettings, dict[str, ChosenBy]]:
        """The settings, and the source of each."""
        user, own = (_possible(settings, each) for each in (self.user, self.conversation))
        by_user, by_own = dict.fromkeys(user, "user"), dict.fromkeys(own, "conversation")
        for values, by in ((user | own, by_user | by_own), (own, by_own), (user, by_user)):
            try:
                return _replaced(settings, WindowChoice(**values)), cast(dict[str, ChosenBy], by)
            except ValueError:
                continue
        return settings, {}


def _possible(settings: WindowSettings, choice: WindowChoice | None) -> dict[str, Any]:
    """The part of a choice that the policy allows."""
    chosen = {} if choice is None else structs.asdict(choice)
    adjustable = settings.adjustable
    return {
        name: value
        for name, value in chosen.items()
        if value is not None and (value in adjustable.strategy if name == "strategy" else getattr(adjustable, name))
    }


def _allows(settings: WindowSettings, name: str, value: object) -> bool:
    allowed = getattr(settings.adjustable, name)
    if name == "strategy":
        return value in allowed
    return allowed is not None and allowed[0] <= value <= allowed[1]


def _allowed_text(settings: WindowSettings, name: str) -> str:
    allowed = getattr(settings.adjustable, name)
    if not allowed:
        return f"no {name}"
    return " or ".join(allowed) if name == "strategy" else f"{allowed[0]} to {allowed[1]}"


def _replaced(settings: WindowSettings, choice: WindowChoice) -> WindowSettings:
    fields: dict[str, object] = {}
    if choice.strategy in settings.adjustable.strategy:
        fields["strategy"] = choice.strategy
    for name in NUMBERS:
        allowed, value = getattr(settings.adjustable, name), getattr(choice, name)
        if allowed is not None and value is not None:
            fields[name] = min(max(value, allowed[0]), allowed[1])
    fields |= _lowered(settings, fields.get("warning_at"))
    return structs.replace(settings, **fields)


def _lowered(settings: WindowSettings, warning_at: object) -> dict[str, float]:
    """Lowers the targets in proportion to the level."""
    if not isinstance(warning_at, float) or warning_at >= settings.warning_at:
        return {}
    share = warning_at / settings.warning_at
    return {
        "warning_target": settings.warning_target * share,
        "aggressive_target": settings.aggressive_target * share,
    }
