"""Budgets on PostgreSQL: workers with separate pools never exceed a budget by more than one call; usage totals are
exact."""

import asyncio
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import count

import pytest
from msgspec.structs import replace

from agents.budgets.budget_guard import OVERALL, LedgerBudgetGuard, scope_of
from agents.budgets.prices import Price, Prices
from agents.budgets.usage_publisher import UsagePublisher
from agents.models.billing import Bill, Payer, PricedWork, reserved_budget
from agents.models.port import Usage
from schemas.budgets.budgets import Amount, Budget
from schemas.budgets.usage import Consumed, Total
from schemas.codec import decode
from schemas.errors import Deferred, Retryable
from schemas.kafka import topics
from schemas.memories.events import ActivityEvent
from sinks.budgets.ledger import Ledger
from sinks.budgets.usage import UsageRecords
from sinks.postgres.connection import Pool, connect
from tests.deployment import eventually
from tests.fakes.publisher import FakePublisher

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MOST = 100
PRICE = Price(model="m", input=Decimal(1), output=Decimal(5), cache_write=Decimal(1), cache_read=Decimal(1))
PRICES = Prices(as_of=date(2026, 1, 1), source="made up", models=(PRICE,))
BUDGET = Budget(tokens_per_hour=2_500, usd_per_hour=0.0025)
OWN = Budget(tokens_per_day=1_000)
BOTH = Payer(namespaces=("a", "b"), budget=OWN)
WORK = PricedWork(operation="extract", payer=BOTH, provider="claude", model="m", max_usage=Usage(input_tokens=MOST))


def energy(pool: Pool) -> LedgerBudgetGuard:
    return LedgerBudgetGuard(Ledger(pool, lambda: NOON), PRICES, BUDGET, lambda: NOON)


async def test_workers_together_never_exceed_a_budget_by_more_than_one_call(dsn: str) -> None:
    pools = [await connect(dsn, max_size=3) for _ in range(4)]
    let_in = count()

    async def work(energy: LedgerBudgetGuard) -> None:
        while True:
            try:
                async with reserved_budget(energy, WORK) as tab:
                    next(let_in)
                    await asyncio.sleep(0)
                    tab.append(Bill(model="m", usage=Usage(input_tokens=MOST)))
            except Deferred as deferred:
                if deferred.until >= NOON + timedelta(hours=1):
                    return

    workers = [energy(pool) for pool in pools]
    await asyncio.gather(*(work(worker) for worker in workers for _ in range(3)))
    names = [OVERALL, scope_of("a"), scope_of("b")]
    levels = await Ledger(pools[0], lambda: NOON).levels(names)
    spent = await pools[0].fetchval("SELECT sum(input_tokens) FROM model_usage")
    assert levels[OVERALL].hour == Amount(spent, spent)
    assert levels[scope_of("a")].day.tokens + levels[scope_of("b")].day.tokens == spent
    assert {level.reserved for level in levels.values()} == {Amount()}
    # The namespaces' budgets are the smaller ones: each has half of a call.
    assert 1_000 <= max(levels[scope_of("a")].day.tokens, levels[scope_of("b")].day.tokens) < 1_000 + MOST / 2
    assert next(let_in) == await pools[0].fetchval("SELECT count(*) FROM model_usage")
    for pool in pools:
        await pool.close()


async def test_a_namespace_name_with_a_nul_character_has_a_budget(pool: Pool) -> None:
    odd = replace(WORK, payer=replace(BOTH, namespaces=("notes/\x00mara",)))
    async with reserved_budget(energy(pool), odd) as tab:
        tab.append(Bill(model="m", usage=Usage(input_tokens=MOST)))
    (level,) = (await Ledger(pool, lambda: NOON).levels([scope_of("notes/\x00mara")])).values()
    assert (level.day, level.reserved) == (Amount(MOST, MOST), Amount())


async def test_a_reservation_waits_while_another_worker_books_usage(pool: Pool) -> None:
    one, other = energy(pool), energy(pool)
    await one.settle(WORK, await one.reserve(WORK), (), "failed")  # the rows are there
    async with pool.acquire() as slow:
        transaction = slow.transaction()
        await transaction.start()
        hour = "UPDATE energy SET hour = $1, hour_tokens = 2500 WHERE scope = $2"
        await slow.execute(hour, NOON, OVERALL)
        asking = [asyncio.create_task(each.reserve(WORK)) for each in (one, other)]
        waiting = (
            "SELECT count(*) = 2 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        await eventually(lambda: pool.fetchval(waiting), "both wait", within_s=30)
        await transaction.commit()
    for each in await asyncio.gather(*asking, return_exceptions=True):
        assert isinstance(each, Deferred)


async def test_the_database_clock_is_the_default_clock(pool: Pool) -> None:
    seen: list[datetime] = []
    await Ledger(pool).reserve("r", {"s": Amount(1)}, 60, lambda levels, now: seen.append(now))
    now = await pool.fetchval("SELECT clock_timestamp()")
    assert timedelta() <= now - seen[0] < timedelta(minutes=5)


async def test_a_closed_database_pool_is_retryable(dsn: str) -> None:
    ledger, records = Ledger(pool := await connect(dsn)), UsageRecords(pool)
    await pool.close()
    for call in (
        ledger.reserve("r", {"s": Amount(1)}, 60, lambda levels, now: None),
        ledger.settle("r", [], {"s": Amount()}),
        ledger.levels(["s"]),
        records.totals(NOON),
        UsagePublisher(records, FakePublisher()).publish(),
    ):
        with pytest.raises(Retryable):
            await call


@pytest.fixture
def consumed(pool: Pool) -> Callable[..., object]:
    """Books a record; each a minute after the one before."""
    minutes = count()

    async def book(**fields: object) -> None:
        number = next(minutes)
        row = {"operation": "extract", "lane": "live", "outcome": "answered", "provider": "claude", "model": "m"}
        at = {"usage_id": f"u-{number:03}", "at": NOON + timedelta(minutes=number), "calls": 1, "input_tokens": 0}
        await Ledger(pool).settle("none", [Consumed(**(row | at | fields))], {})  # type: ignore[arg-type]

    return book


def total(**fields: object) -> Total:
    names = {"operation": "extract", "lane": "live", "provider": "claude", "model": "m"}
    numbers = {name: 0 for name in Total.__struct_fields__ if name not in names}
    return Total(**(names | numbers | fields))  # type: ignore[arg-type]


async def test_totals_are_by_operation_lane_provider_and_model(pool: Pool, consumed) -> None:
    await consumed(input_tokens=10, output_tokens=3, cache_read_tokens=5, cache_write_tokens=2, cost_micros=40, calls=2)
    await consumed(input_tokens=1, outcome="failed", cost_micros=2)
    await consumed(input_tokens=7)  # a model without a price
    await consumed(operation="summarise", lane="background", model="n", output_tokens=9, cost_micros=9)
    assert await UsageRecords(pool).totals(NOON) == [
        total(
            answered=2,
            failed=1,
            calls=4,
            input_tokens=18,
            output_tokens=3,
            cache_read_tokens=5,
            cache_write_tokens=2,
            cost_micros=42,
            unpriced=1,
        ),
        total(operation="summarise", lane="background", model="n", answered=1, calls=1, output_tokens=9, cost_micros=9),
    ]


async def test_usage_totals_cover_only_the_requested_period(pool: Pool, consumed) -> None:
    for tokens in (1, 10, 100):
        await consumed(input_tokens=tokens)
    records = UsageRecords(pool)
    minute = timedelta(minutes=1)
    assert [each.input_tokens for each in await records.totals(NOON + minute)] == [110]
    assert [each.input_tokens for each in await records.totals(NOON, NOON + minute)] == [1]
    assert await records.totals(NOON + 3 * minute) == []


async def test_usage_of_shared_calls_is_split_evenly_among_namespaces_and_adds_up_to_the_total(
    pool: Pool, consumed
) -> None:
    await consumed(input_tokens=11, output_tokens=2, cost_micros=8, namespaces=("a", "b", "c"))
    await consumed(input_tokens=5, namespaces=("b",))
    await consumed(input_tokens=1_000, namespaces=("d",))
    records = UsageRecords(pool)
    shares = {name: await records.totals(NOON, namespace=name) for name in ("a", "b", "c", "e")}
    assert [(each.input_tokens, each.output_tokens, each.cost_micros) for each in shares["a"]] == [(4, 1, 3)]
    assert [(each.input_tokens, each.output_tokens, each.cost_micros) for each in shares["b"]] == [(4 + 5, 1, 3)]
    assert [(each.input_tokens, each.output_tokens, each.cost_micros) for each in shares["c"]] == [(3, 0, 2)]
    assert shares["b"][0].unpriced == 1
    assert shares["e"] == []
    assert [part.tokens for part in Amount(11).split(3)] == [4, 4, 3]  # as budgets share it


async def test_usage_records_are_published_to_kafka_once_and_in_order(pool: Pool, consumed) -> None:
    for number in range(3):
        await consumed(input_tokens=number, conversation_id="c", namespaces=("a",), cost_micros=number)
    await consumed(operation="compact", namespaces=("a",))
    publisher = FakePublisher()
    notices = UsagePublisher(UsageRecords(pool), publisher)
    publisher.failures.append(Retryable("the brokers are away"))
    with pytest.raises(Retryable):
        await notices.publish()
    assert await notices.publish() == 4
    assert await notices.publish() == 0
    events = [decode(record.value, ActivityEvent) for record in publisher.on(topics.ACTIVITY)]
    assert [record.key for record in publisher.on(topics.ACTIVITY)] == [b"c", b"c", b"c", b"a"]
    assert [event.data["tokens"] for event in events] == [0, 1, 2, 0]
    assert {event.type for event in events} == {"memstream.usage.recorded"}
    assert len({event.id for event in events}) == 4
    assert events[1].subject == "c"
    assert events[1].time == NOON + timedelta(minutes=1)
    assert events[1].data["cost_micros"] == 1
    assert events[3].data["cost_micros"] is None
    assert events[3].data["namespaces"] == ["a"]


async def test_two_publishers_never_read_the_same_unpublished_usage_record(pool: Pool, consumed) -> None:
    for _ in range(5):
        await consumed()
    records = UsageRecords(pool)
    async with records.unpublished(3) as first, records.unpublished(10) as second:
        usage_ids = [each.usage_id for each in (*first, *second)]
    assert sorted(usage_ids) == [f"u-{number:03}" for number in range(5)]
