"""Settings that somebody chooses for one conversation, within what its policy lets be chosen."""

from typing import Final

from msgspec import Struct, structs

from schemas.conversations.window_settings import Strategy, WindowSettings

NUMBERS: Final = ("max_messages", "max_tokens", "min_recent", "warning_at")


class WindowChoice(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What holds in place of the policy's setting of the same name; what is left out stays as the policy has it."""

    strategy: Strategy | None = None
    max_messages: int | None = None
    max_tokens: int | None = None
    min_recent: int | None = None
    warning_at: float | None = None

    def require_allowed(self, settings: WindowSettings) -> None:
        """Raises ValueError, naming the setting, the value and what may be chosen."""
        for name, value in structs.asdict(self).items():
            if value is not None and not _allows(settings, name, value):
                raise ValueError(f"{name} is {value}, and the policy lets {_told(settings, name)} be chosen")
        _replaced(settings, self)

    def applied(self, settings: WindowSettings) -> WindowSettings:
        """The settings with what is chosen, brought within what the policy lets be chosen now; contradictions change nothing."""
        try:
            return _replaced(settings, self)
        except ValueError:
            return settings


def _allows(settings: WindowSettings, name: str, value: object) -> bool:
    allowed = getattr(settings.adjustable, name)
    if name == "strategy":
        return value in allowed
    return allowed is not None and allowed[0] <= value <= allowed[1]


def _told(settings: WindowSettings, name: str) -> str:
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
    """The targets go down with the level that they belong to."""
    if not isinstance(warning_at, float) or warning_at >= settings.warning_at:
        return {}
    share = warning_at / settings.warning_at
    return {
        "warning_target": settings.warning_target * share,
        "aggressive_target": settings.aggressive_target * share,
    }
