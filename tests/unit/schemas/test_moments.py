"""Timestamps outside the range of the stores are rejected on input."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from agents.api.memories.change_requests import ChangedMemory, NewMemory
from agents.api.memories.imports import ImportedLine
from agents.models.dates.iso_times import UnreadableTime, read_end, read_moment
from schemas import codec
from schemas.errors import Rejected
from schemas.memories.commands import Command

BEYOND = (
    "9999-12-31T23:59:59-14:00",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59.999999Z",
    "0001-01-01T00:00:00Z",
)
WITHIN = ("9999-12-29T00:00:00Z", "0001-01-02T00:00:00Z", "1789-07-14T12:00:00+00:09")
COMMAND = {"command_id": "c", "kind": "create", "namespace": "n", "at": "2026-03-01T12:00:00Z", "text": "t"}
ORIGINS = ("created_at", "event_time", "valid_from", "last_reinforced_at")
PLACES: list[tuple[type, dict[str, Any]]] = [
    (Command, COMMAND | {"at": "?"}),
    (Command, COMMAND | {"expires_at": "?"}),
    *((Command, COMMAND | {"origin": {name: "?"}}) for name in ORIGINS),
    (NewMemory, {"namespace": "n", "text": "t", "expires_at": "?"}),
    (ChangedMemory, {"expires_at": "?"}),
    *((ImportedLine, {"text": "t", name: "?"}) for name in (*ORIGINS, "expires_at")),
]


def written(fields: dict[str, Any], time: str) -> bytes:
    return json.dumps(fields).replace('"?"', f'"{time}"').encode()


@pytest.mark.parametrize(("shape", "fields"), PLACES, ids=lambda value: str(value)[-60:])
def test_a_time_outside_the_years_1_to_9999_in_utc_is_rejected_in_every_field(
    shape: type, fields: dict[str, Any]
) -> None:
    for time in WITHIN:
        assert codec.decode_untrusted(written(fields, time), shape)
    for time in BEYOND:
        with pytest.raises(Rejected, match="years 1 and 9999"):
            codec.decode_untrusted(written(fields, time), shape)


def test_an_out_of_range_time_in_a_model_response_is_dropped() -> None:
    for time in BEYOND:
        with pytest.raises(UnreadableTime):
            read_moment(time, UTC)
        with pytest.raises(UnreadableTime):
            read_end(time, UTC)
    assert read_moment("1789-07-14", UTC) == datetime(1789, 7, 14, tzinfo=UTC)
