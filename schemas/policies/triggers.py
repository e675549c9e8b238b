"""Triggers of extraction, and schedules of runs: parts of a policy."""

from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from msgspec import Meta, Struct

Seconds = Annotated[float, Meta(gt=0.0)]

Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


class Schedule(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A time of day in a time zone, on some weekdays or on all. Raises ValueError for an unknown time zone.

    - `at`: time of day of the run, from 00:00 to 23:59
    - `weekdays`: days of the run; none: every day
    - `time_zone`: IANA name of the time zone, such as Europe/Lisbon
    """

    at: Annotated[str, Meta(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")]
    weekdays: tuple[Weekday, ...] = ()
    time_zone: str = "UTC"

    def __post_init__(self) -> None:
        try:
            ZoneInfo(self.time_zone)
        except (KeyError, OSError, ValueError) as exc:
            raise ValueError(f"time_zone {self.time_zone!r} is not known: name one like Europe/Lisbon") from exc


class Triggers(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Triggers of extraction; the first one wins. A manual flush always extracts.

    `on_end`: the conversation ended. `on_exchange`: the assistant answered the user. `after_tokens`: this many tokens wait.
    `idle_s`: silence of this length. `age_s`: age of the oldest waiting message. `schedule`: times of runs that extract what
    waits. `abandoned_s`: silence after which everything left is extracted, whatever else is set.
    """

    on_end: bool = True
    on_exchange: bool = False
    after_tokens: Annotated[int, Meta(ge=1)] | None = None
    idle_s: Seconds | None = None
    age_s: Seconds | None = None
    schedule: Schedule | None = None
    abandoned_s: Seconds = 86_400.0
