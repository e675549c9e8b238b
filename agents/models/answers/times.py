"""The times of a draft, read from the text that a model writes for them."""

from collections.abc import Callable
from datetime import datetime
from functools import partial

from msgspec import Struct

from agents.models.answers.drafts import Draft
from agents.models.dates.dates import local
from agents.models.dates.iso_times import NOON, UnreadableTime, read_end, read_moment
from schemas.extraction.requests import SliceMessage


class Times(Struct, frozen=True):
    """The times of a draft in UTC; None for missing and unreadable ones. `unreadable` is the number of unreadable ones."""

    event_time: datetime | None
    valid_from: datetime | None
    valid_until: datetime | None
    unreadable: int


def times_of(draft: Draft, source: SliceMessage) -> Times:
    """Reads the times of a draft. Times without an offset are in the time zone of the speaker of `source`. A day in `valid_until`
    is included."""
    zone = local(source.timestamp, source.time_zone).tzinfo
    event_time = read_or_none(draft.event_time, partial(read_moment, zone=zone, time_of_day=NOON))
    valid_from = read_or_none(draft.valid_from, partial(read_moment, zone=zone))
    valid_until = read_or_none(draft.valid_until, partial(read_end, zone=zone))
    pairs = ((draft.event_time, event_time), (draft.valid_from, valid_from), (draft.valid_until, valid_until))
    return Times(event_time, valid_from, valid_until, sum(bool(given) and read is None for given, read in pairs))


def read_or_none(written: str | None, read: Callable[[str], datetime]) -> datetime | None:
    """The time that `read` finds; None for no text, or an unreadable one."""
    try:
        return read(written.strip()) if written else None
    except UnreadableTime:
        return None
