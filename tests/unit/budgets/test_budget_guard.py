"""Budgets shared by many workers: admission, booking, and at most one call above the limit."""

import asyncio
from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from agents.budgets.budget_guard import LASTS_S, OVERALL, LedgerBudgetGuard, scope_of
from agents.budgets.prices import Price, Prices
from agents.models.billing import Bill, Payer, PricedWork, reserved_budget
from agents.models.port import Usage
from schemas.budgets.budgets import Amount, Budget, Level
from schemas.errors import Deferred, Rejected, Retryable
from tests.fakes.budget_guard import FakeLedger
from tests.fakes.clock import settled, utc

DOLLAR = Price(model="m", input=Decimal(1), output=Decimal(5), cache_write=Decimal("1.25"), cache_read=Decimal("0.1"))
PRICES = Prices(as_of=date(2026, 1, 1), source="made up", models=(DOLLAR,), free_providers=("ollama",))
PAYER = Payer(namespaces=("a", "b"), request_id="r-1", conversation_id="c-1", budget=Budget(tokens_per_hour=1_000))
MOST = Usage(input_tokens=400, output_tokens=100)
WORK = PricedWork(operation="extract", payer=PAYER, provider="claude", model="m", max_usage=MOST)


def energy(ledger: FakeLedger, overall: Budget | None = None) -> LedgerBudgetGuard:
    return LedgerBudgetGuard(ledger, PRICES, overall or Budget(tokens_per_hour=10_000), utc)


def bill(tokens: int, model: str = "m") -> Bill:
    return Bill(model=model, usage=Usage(input_tokens=tokens))


@pytest.fixture
async def ledger() -> FakeLedger:
    return FakeLedger(utc)


async def test_a_call_reserves_its_maximum_and_books_its_actual_usage(ledger):
    async with reserved_budget(energy(ledger), WORK) as tab:
        levels = await ledger.levels([OVERALL, scope_of("a"), scope_of("b")])
        assert [level.reserved for level in levels.values()] == [Amount(250, 450), Amount(250, 450), Amount(500, 900)]
        tab.append(bill(300))
        tab.append(bill(1))
    booked = await ledger.levels([OVERALL, scope_of("a"), scope_of("b")])
    assert booked[OVERALL] == Level(hour=Amount(301, 301), day=Amount(301, 301))
    assert booked[scope_of("a")].hour == Amount(151, 151)
    assert booked[scope_of("b")].hour == Amount(150, 150)


async def test_a_usage_record_has_the_operation_lane_model_namespaces_and_request(ledger):
    async with reserved_budget(energy(ledger), WORK) as tab:
        tab.append(Bill(model="m-20260101", usage=Usage(input_tokens=10, cache_read_tokens=100, output_tokens=3)))
    (record,) = ledger.recorded.values()
    assert (record.operation, record.lane, record.outcome) == ("extract", "live", "answered")
    assert (record.provider, record.model, record.calls) == ("claude", "m-20260101", 1)
    assert (record.input_tokens, record.output_tokens, record.cache_read_tokens) == (10, 3, 100)
    assert record.cost_micros == 10 + 15 + 10
    assert (record.namespaces, record.request_id, record.conversation_id) == (("a", "b"), "r-1", "c-1")
    assert record.at == utc()


async def test_usage_billed_for_a_failed_call_is_booked(ledger):
    with pytest.raises(Rejected):
        async with reserved_budget(energy(ledger), WORK) as tab:
            tab.append(bill(200))
            raise Rejected("refused", "no")
    (record,) = ledger.recorded.values()
    assert (record.outcome, record.input_tokens) == ("failed", 200)
    assert (await ledger.levels([OVERALL]))[OVERALL].hour == Amount(200, 200)


async def test_a_failed_call_without_a_bill_releases_its_reservation_and_leaves_no_record(ledger):
    with pytest.raises(Retryable):
        async with reserved_budget(energy(ledger), WORK):
            raise Retryable("the line is dead")
    assert ledger.recorded == {}
    assert ledger.reservations == {}


async def test_a_spent_budget_defers_until_the_hour_ends(ledger):
    async with reserved_budget(energy(ledger), WORK) as tab:
        tab.append(bill(2_000))
    with pytest.raises(Deferred) as deferred:
        async with reserved_budget(energy(ledger), WORK):
            pytest.fail("no room for it")
    assert deferred.value.reason == "budget"
    assert deferred.value.until == utc().replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    await asyncio.sleep((deferred.value.until - utc()).total_seconds())
    async with reserved_budget(energy(ledger), WORK):
        """The next hour has a budget of its own."""


async def test_a_spent_namespace_budget_does_not_defer_calls_for_other_namespaces(ledger):
    async with reserved_budget(energy(ledger), WORK) as tab:
        tab.append(bill(2_000))
    other = replace(WORK, payer=replace(PAYER, namespaces=("c",)))
    async with reserved_budget(energy(ledger), other):
        """Let in."""
    with pytest.raises(Deferred):
        await energy(ledger).reserve(replace(WORK, payer=replace(PAYER, namespaces=("b", "c"))))


async def test_namespaces_with_equal_stored_names_share_a_budget_and_their_charges(ledger):
    odd = replace(WORK, payer=replace(PAYER, namespaces=("a\x00", "a\ufffd", "b")))
    async with reserved_budget(energy(ledger), odd) as tab:
        tab.append(bill(300))
    levels = await ledger.levels([scope_of("a\x00"), scope_of("b")])
    assert [level.hour.tokens for level in levels.values()] == [200, 100]
    assert [level.reserved for level in levels.values()] == [Amount(), Amount()]


async def test_a_reservation_is_settled_even_if_the_policy_limit_was_removed_meanwhile(ledger):
    one = energy(ledger)
    reservation = await one.reserve(WORK)
    unlimited = replace(WORK, payer=replace(PAYER, budget=Budget()))
    await one.settle(unlimited, reservation, [bill(300)], "answered")
    assert ledger.reservations == {}
    assert (await ledger.levels([scope_of("a")]))[scope_of("a")].hour.tokens == 150


async def test_usage_is_booked_for_a_namespace_limited_only_after_the_reservation(ledger):
    one = energy(ledger)
    reservation = await one.reserve(replace(WORK, payer=replace(PAYER, budget=Budget())))
    await one.settle(WORK, reservation, [bill(300)], "answered")
    assert ledger.reservations == {}
    assert (await ledger.levels([scope_of("a")]))[scope_of("a")].hour.tokens == 150


async def test_background_work_is_deferred_while_live_work_may_continue(ledger):
    async with reserved_budget(energy(ledger), replace(WORK, payer=replace(PAYER, namespaces=("a",)))) as tab:
        tab.append(bill(801))
    with pytest.raises(Deferred):
        await energy(ledger).reserve(replace(WORK, payer=replace(PAYER, namespaces=("a",), lane="background")))
    assert await energy(ledger).reserve(replace(WORK, payer=replace(PAYER, namespaces=("a",))))


async def test_the_reservation_of_a_crashed_worker_expires(ledger):
    one = energy(ledger, Budget(tokens_per_hour=500))
    await one.reserve(WORK)
    with pytest.raises(Deferred):
        await one.reserve(WORK)
    await asyncio.sleep(LASTS_S)
    assert await one.reserve(WORK)


async def test_a_free_provider_is_limited_by_tokens_but_not_by_dollars(ledger):
    local = replace(WORK, provider="ollama", model="local", payer=replace(PAYER, budget=Budget()))
    money = energy(ledger, Budget(usd_per_hour=0.000001))
    hosted = replace(local, provider="claude", model="m")
    async with reserved_budget(money, hosted) as tab:
        tab.append(bill(100))
    with pytest.raises(Deferred):
        await money.reserve(hosted)
    async with reserved_budget(money, local) as tab:
        tab.append(bill(100, "local"))
    assert [record.cost_micros for record in ledger.recorded.values()] == [100, 0]
    with pytest.raises(Deferred):
        await energy(ledger, Budget(tokens_per_day=200)).reserve(local)


async def test_usage_of_a_model_without_a_price_is_recorded_without_a_cost(ledger):
    nameless = replace(WORK, model="unheard-of")
    async with reserved_budget(energy(ledger), nameless) as tab:
        tab.append(bill(70, "unheard-of"))
    (record,) = ledger.recorded.values()
    assert (record.tokens, record.cost_micros) == (70, None)


async def test_a_dollar_limit_for_a_model_without_a_price_logs_an_error(ledger, caplog):
    await energy(ledger, Budget(usd_per_day=1.0)).reserve(replace(WORK, model="unheard-of"))
    assert "unheard-of has no price" in caplog.text


async def test_batched_calls_cost_half(ledger):
    async with reserved_budget(energy(ledger), WORK) as tab:
        tab.append(Bill(model="m", usage=Usage(input_tokens=100, batched=True)))
    (record,) = ledger.recorded.values()
    assert (record.cost_micros, record.batched) == (50, True)


async def test_a_failed_booking_does_not_fail_the_call_and_is_retried_exactly_once(ledger, caplog):
    one = energy(ledger)
    async with reserved_budget(one, WORK) as tab:
        tab.append(bill(300))
        ledger.failures.extend([Retryable("postgres away"), Retryable("postgres away")])
    assert "trying again later" in caplog.text
    with pytest.raises(Retryable, match="1 record of model calls"):
        await one.book()
    await one.book()
    await one.book()
    assert (await ledger.levels([OVERALL]))[OVERALL] == Level(hour=Amount(300, 300), day=Amount(300, 300))


async def test_a_call_cancelled_during_booking_is_booked_later(ledger):
    one = energy(ledger)

    async def call() -> None:
        async with reserved_budget(one, WORK) as tab:
            tab.append(bill(300))

    calling = asyncio.create_task(call())
    await settled(2)
    assert ledger.reservations
    assert not ledger.recorded
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    await one.book()
    assert len(ledger.recorded) == 1
    assert ledger.reservations == {}


class Call:
    """One call of a schedule: how much it takes of the most it might, whom it is for, and whether its worker dies."""

    def __init__(self, most: int, share: float, lane: str, names: tuple[str, ...], dies: bool) -> None:
        self.takes = int(most * share)
        self.dies = dies
        payer = Payer(namespaces=names, budget=Budget(tokens_per_hour=700, usd_per_day=0.002), lane=lane)
        self.work = PricedWork(
            operation="extract", payer=payer, provider="claude", model="m", max_usage=Usage(input_tokens=most)
        )


calls = st.builds(
    Call,
    most=st.integers(1, 900),
    share=st.sampled_from([1.0, 0.9, 0.5, 0.0]),
    lane=st.sampled_from(["live", "background"]),
    names=st.sampled_from([(), ("a",), ("b",), ("a", "b")]),
    dies=st.sampled_from([False, False, False, True]),
)
# What happens next: a call begins, the n-th call under way ends, or time passes.
times = st.sampled_from([timedelta(minutes=10), timedelta(hours=1)])
steps = st.lists(st.one_of(calls, calls, calls, calls, st.integers(0, 5), times), min_size=10, max_size=60)
LIMITS = {OVERALL: (1_500, 4_000), scope_of("a"): (700, 2_000), scope_of("b"): (700, 2_000)}


@settings(max_examples=300)
@given(schedule=steps)
def test_in_any_order_of_calls_no_budget_is_exceeded_by_more_than_one_call(schedule):
    with asyncio.Runner() as runner:
        runner.run(play(schedule))


async def play(schedule) -> None:
    now = [utc().replace(hour=20, minute=30)]
    ledger = FakeLedger(lambda: now[0])
    workers = [
        LedgerBudgetGuard(ledger, PRICES, Budget(tokens_per_hour=1_500, usd_per_day=0.004), lambda: now[0])
        for _ in range(3)
    ]
    under_way: list[tuple[LedgerBudgetGuard, Call, str]] = []
    booked: dict[tuple[str, str, datetime], list[int]] = {}
    for number, step in enumerate([*schedule, timedelta(hours=1)]):
        if isinstance(step, timedelta):
            # Whoever is not dead ends before its reservation does.
            for worker, call, reservation in [each for each in under_way if not each[1].dies]:
                await end(worker, call, reservation, booked, now[0])
            under_way = []
            now[0] += step
        elif isinstance(step, int):
            alive = [each for each in under_way if not each[1].dies]
            if alive:
                ending = alive[step % len(alive)]
                under_way.remove(ending)
                await end(*ending, booked, now[0])
        else:
            worker = workers[number % 3]
            try:
                under_way.append((worker, step, await worker.reserve(step.work)))
            except Deferred as deferred:
                assert deferred.until > now[0]
    for (scope, unit, _), taken in booked.items():
        limit = LIMITS[scope][unit == "day"]
        assert sum(taken) - max(taken) < limit, f"{scope} took {taken} of {limit} in one {unit}"


async def end(worker, call, reservation, booked, now) -> None:
    await worker.settle(call.work, reservation, [bill(call.takes)] if call.takes else [], "answered")
    names = call.work.payer.namespaces
    shares = {OVERALL: call.takes} | {
        scope_of(name): part.tokens
        for name, part in zip(names, Amount(call.takes).split(len(names) or 1), strict=False)
    }
    for scope, tokens in shares.items():
        booked.setdefault((scope, "hour", now.replace(minute=0, second=0, microsecond=0)), []).append(tokens)
        booked.setdefault((scope, "day", now.replace(hour=0, minute=0, second=0, microsecond=0)), []).append(tokens)
