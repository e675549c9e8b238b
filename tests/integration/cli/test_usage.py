"""`memstream usage` prints the consumption of model calls as tables and for scripts."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agents.budgets.budget_guard import OVERALL
from schemas.budgets.budgets import Amount
from schemas.budgets.usage import Consumed
from sinks.budgets.ledger import Ledger
from sinks.postgres.connection import connect
from tests.budget_day import tomorrow
from tests.command_line import Run, lines, run

BUDGET = '{"tokens_per_day": 10000, "usd_per_hour": 0.5}'


def consumed(usage_id: str, ago: timedelta, **fields: Any) -> Consumed:
    row = {"operation": "extract", "lane": "live", "outcome": "answered", "provider": "claude"}
    row |= {"usage_id": usage_id, "at": datetime.now(UTC) - ago, "model": "claude-haiku-5-5", "calls": 1}
    return Consumed(**(row | fields))


@pytest.fixture
async def memstream(deploy: Callable[..., Awaitable[Any]], tmp_path: Path) -> Run:
    """Runs a command beside three records: of now, of ten days ago, and one of a model without a price."""
    deployment = await deploy("usage")
    pool = await connect(deployment.settings.postgres_dsn.get_secret_value())
    recent = consumed(
        "u-1", timedelta(minutes=1), input_tokens=2_001, output_tokens=300, cost_micros=351, namespaces=("a", "b")
    )
    old = consumed("u-2", timedelta(days=10), input_tokens=40_000, cost_micros=4_000, namespaces=("a",))
    other = consumed("u-3", timedelta(minutes=1), operation="compact", lane="background", model="llama", input_tokens=7)
    ledger = Ledger(pool, tomorrow)  # whose row counts today too, so that no hour ends meanwhile
    await ledger.settle("none", [recent, old, other], {OVERALL: Amount(2_301, 351)})
    await ledger.reserve("r-1", {OVERALL: Amount(1_000, 100)}, 3_600, lambda levels, now: None)
    await pool.close()
    return partial(run, deployment.settings, tmp_path)


async def test_usage_shows_consumption_and_the_remaining_budget(memstream: Run):
    done = memstream("usage", budget=BUDGET)
    assert (done.returncode, done.stderr) == (0, "")
    shown = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert "extract live claude claude-haiku-5-5 1 0 2,001 0 300 0.0004" in shown
    assert "compact background claude llama 1 0 7 0 0 unknown" in shown
    assert "tokens_per_day 2301 1000 10000 6699" in shown
    assert "usd_per_hour 0.000351 0.0001 0.5 0.499549" in shown


async def test_usage_as_json_has_named_fields(memstream: Run):
    totals = lines(memstream("usage", "--json", "--since", "30d", budget=BUDGET))
    compaction, extraction = (line for line in totals if line["kind"] == "usage")
    assert (compaction["operation"], compaction["unpriced"], compaction["cost_usd"]) == ("compact", 1, 0.0)
    assert (extraction["answered"], extraction["input_tokens"]) == (2, 42_001)
    assert (extraction["cost_micros"], extraction["cost_usd"]) == (4_351, 0.004351)
    tokens, money = (line for line in totals if line["kind"] == "budget")
    assert tokens == {
        "kind": "budget", "limit": "tokens_per_day", "spent": 2_301, "reserved": 1_000, "of": 10_000, "remains": 6_699
    }  # fmt: skip
    assert (money["limit"], money["of"]) == ("usd_per_hour", 0.5)


async def test_usage_of_a_namespace_is_its_share(memstream: Run):
    totals = lines(memstream("usage", "--json", "-n", "a", "-n", "b", "-n", "c"))
    assert [(line["namespace"], line["input_tokens"], line["output_tokens"]) for line in totals] == [
        ("a", 1_001, 150),
        ("b", 1_000, 150),
    ]
    done = memstream("usage", "-n", "b")
    assert "\nb\n" in done.stdout


async def test_usage_without_model_calls_prints_a_sentence(memstream: Run):
    done = memstream("usage", "-n", "nobody")
    assert done.returncode == 0
    assert done.stdout.startswith("no model calls since 20")


async def test_an_invalid_time_is_a_usage_error(memstream: Run):
    done = memstream("usage", "--since", "yesterday")
    assert done.returncode == 2
    assert "'yesterday' is not a time: write 24h, 7d" in " ".join(done.stderr.replace("│", " ").split())
    midnight = f"{datetime.now(UTC):%Y-%m-%d}"
    assert memstream("usage", "--since", midnight).returncode == 0


async def test_an_invalid_budget_is_an_error_that_names_the_setting(memstream: Run):
    for wrong in ('{"tokens_per_week": 1}', '{"usd_per_day": -1}'):
        done = memstream("usage", budget=wrong)
        assert (done.returncode, done.stdout) == (1, "")
        assert "MEMSTREAM_BUDGET" in done.stderr
