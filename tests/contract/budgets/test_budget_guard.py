"""The budget ledger in memory and on PostgreSQL admit, book and forget the same."""

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import TypeAlias
from uuid import uuid4

import pytest

from schemas.budgets.budgets import Amount, Level
from schemas.budgets.usage import Consumed
from sinks.budgets.ledger import Ledger
from sinks.postgres.connection import connect
from tests.fakes.budget_guard import FakeLedger

AnyLedger: TypeAlias = Ledger | FakeLedger

LATE = datetime(2026, 11, 22, 23, 50, tzinfo=UTC)
LONG_S = 3 * 3_600.0


class Time:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = LATE

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture(params=["fake", "postgres"])
async def ledger(request: pytest.FixtureRequest, dsn: str, time: Time) -> AsyncIterator[AnyLedger]:
    if request.param == "fake":
        yield FakeLedger(time)
        return
    pool = await connect(dsn, max_size=4)
    yield Ledger(pool, time)
    await pool.close()


@pytest.fixture
def scope() -> str:
    return f"namespace {uuid4().hex}"


def granted(levels: Mapping[str, Level], now: datetime) -> None:
    return None


def record(usage_id: str | None = None, **fields: object) -> Consumed:
    row = {
        "usage_id": usage_id or uuid4().hex,
        "at": LATE,
        "operation": "extract",
        "lane": "live",
        "outcome": "answered",
        "provider": "claude",
        "model": "m",
        "calls": 1,
        "input_tokens": 10,
        "cost_micros": 10,
    }
    return Consumed(**(row | fields))  # type: ignore[arg-type]


async def reserve(ledger: AnyLedger, scope: str, amount: Amount, name: str = "r-1", lasts_s: float = LONG_S) -> None:
    assert await ledger.reserve(name, {scope: amount}, lasts_s, granted) is None


async def test_an_unknown_scope_has_no_consumption(ledger: AnyLedger, scope: str) -> None:
    assert await ledger.levels([scope]) == {scope: Level()}


async def test_the_decision_callback_receives_spent_and_reserved_amounts_and_the_time(
    ledger: AnyLedger, scope: str
) -> None:
    other = f"{scope} too"
    await reserve(ledger, scope, Amount(100, 7))
    await ledger.settle("none", [record()], {scope: Amount(30, 2), other: Amount(1, 1)})
    shown: list[tuple[Mapping[str, Level], datetime]] = []

    def look(levels: Mapping[str, Level], now: datetime) -> None:
        shown.append((levels, now))

    await ledger.reserve("r-2", {other: Amount(5), scope: Amount(5)}, LONG_S, look)
    spent = Amount(30, 2)
    assert shown == [
        (
            {
                scope: Level(hour=spent, day=spent, reserved=Amount(100, 7)),
                other: Level(hour=Amount(1, 1), day=Amount(1, 1)),
            },
            LATE,
        )
    ]


async def test_a_refused_reservation_reserves_nothing_and_returns_when_to_retry(ledger: AnyLedger, scope: str) -> None:
    later = LATE + timedelta(minutes=10)
    assert await ledger.reserve("r-1", {scope: Amount(5)}, LONG_S, lambda levels, now: later) == later
    assert (await ledger.levels([scope]))[scope] == Level()


async def test_settle_replaces_a_reservation_by_the_spent_amount(ledger: AnyLedger, scope: str) -> None:
    await reserve(ledger, scope, Amount(100, 100))
    await reserve(ledger, scope, Amount(50, 50), "r-2")
    await ledger.settle("r-1", [record()], {scope: Amount(20, 3)})
    spent = Amount(20, 3)
    assert (await ledger.levels([scope]))[scope] == Level(hour=spent, day=spent, reserved=Amount(50, 50))


async def test_settle_books_only_in_scopes_that_were_reserved_or_are_limited_now(ledger: AnyLedger, scope: str) -> None:
    reserved, limited, neither = scope, f"{scope} limited", f"{scope} neither"
    await reserve(ledger, reserved, Amount(100, 100))
    spent = {name: Amount(20, 3) for name in (reserved, limited, neither)}
    await ledger.settle("r-1", [record()], spent, [limited])
    levels = await ledger.levels([reserved, limited, neither])
    assert [levels[name].hour for name in (reserved, limited, neither)] == [Amount(20, 3), Amount(20, 3), Amount()]
    assert levels[reserved].reserved == Amount()


async def test_settle_without_usage_releases_the_reservation(ledger: AnyLedger, scope: str) -> None:
    await reserve(ledger, scope, Amount(100, 100))
    await ledger.settle("r-1", [], {scope: Amount()})
    assert (await ledger.levels([scope]))[scope] == Level()


async def test_a_usage_record_settled_twice_is_booked_once(ledger: AnyLedger, scope: str) -> None:
    once = record()
    for _ in range(2):
        await ledger.settle("r-1", [once], {scope: Amount(20, 3)})
    assert (await ledger.levels([scope]))[scope].hour == Amount(20, 3)


async def test_hourly_consumption_resets_each_hour_and_daily_consumption_each_day(
    ledger: AnyLedger, scope: str, time: Time
) -> None:
    time.now = LATE - timedelta(hours=2)
    await ledger.settle("r-1", [record()], {scope: Amount(20, 3)})
    time.now = LATE
    assert (await ledger.levels([scope]))[scope] == Level(hour=Amount(), day=Amount(20, 3))
    await ledger.settle("r-2", [record()], {scope: Amount(1, 1)})
    assert (await ledger.levels([scope]))[scope] == Level(hour=Amount(1, 1), day=Amount(21, 4))
    time.now = LATE + timedelta(minutes=10)
    assert (await ledger.levels([scope]))[scope] == Level()


async def test_a_reservation_also_counts_in_the_next_hour(ledger: AnyLedger, scope: str, time: Time) -> None:
    await reserve(ledger, scope, Amount(100, 100))
    time.now = LATE + timedelta(minutes=10)
    assert (await ledger.levels([scope]))[scope] == Level(reserved=Amount(100, 100))


async def test_a_clock_that_is_behind_does_not_reopen_a_past_hour(ledger: AnyLedger, scope: str, time: Time) -> None:
    time.now = LATE + timedelta(minutes=10)
    await ledger.settle("r-1", [record()], {scope: Amount(20, 3)})
    time.now = LATE
    await ledger.settle("r-2", [record()], {scope: Amount(1, 1)})
    time.now = LATE + timedelta(minutes=11)
    assert (await ledger.levels([scope]))[scope] == Level(hour=Amount(21, 4), day=Amount(21, 4))


async def test_a_reservation_expires_and_its_late_settlement_is_still_booked(
    ledger: AnyLedger, scope: str, time: Time
) -> None:
    await reserve(ledger, scope, Amount(100, 100), lasts_s=300)
    time.now = LATE + timedelta(seconds=299)
    assert (await ledger.levels([scope]))[scope].reserved == Amount(100, 100)
    time.now = LATE + timedelta(seconds=300)
    assert (await ledger.levels([scope]))[scope].reserved == Amount()
    await reserve(ledger, scope, Amount(1, 1), "r-2")
    await ledger.settle("r-1", [record()], {scope: Amount(20, 3)})
    spent = Amount(20, 3)
    assert (await ledger.levels([scope]))[scope] == Level(hour=spent, day=spent, reserved=Amount(1, 1))


async def test_a_call_without_a_budget_limit_can_be_settled(ledger: AnyLedger) -> None:
    await ledger.settle("r-1", [record()], {})


@pytest.mark.parametrize("text", ["a\x00b", "'; DROP TABLE energy; --", "{a,b}", '"', "👩\u200d👧", "x" * 256])
async def test_any_text_in_a_namespace_name_gives_a_separate_scope(ledger: AnyLedger, scope: str, text: str) -> None:
    await reserve(ledger, scope + text, Amount(100, 100))
    await ledger.settle("r-2", [record(namespaces=(scope + text, "n"))], {scope + text: Amount(2, 2)})
    (level,) = (await ledger.levels([scope + text])).values()
    assert level == Level(hour=Amount(2, 2), day=Amount(2, 2), reserved=Amount(100, 100))
    assert await ledger.levels([scope]) == {scope: Level()}
