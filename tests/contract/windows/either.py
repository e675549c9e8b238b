"""The type of both projections of windows, and timestamps for their tests."""

from datetime import UTC, datetime
from typing import TypeAlias

from sinks.windows.projection import Windows
from tests.fakes.windows import FakeWindows

AnyWindows: TypeAlias = Windows | FakeWindows

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)

MUCH_LATER = datetime(2100, 1, 1, tzinfo=UTC)  # than anything that is projected
