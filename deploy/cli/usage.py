"""`memstream usage`: shows the usage of model calls and the remaining overall budget."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

import typer
from msgspec.structs import asdict

from agents.budgets.arithmetic import LimitStatus, limit_statuses
from agents.budgets.budget_guard import OVERALL
from deploy.cli import terminal
from deploy.cli.command import Json, command, one_command
from deploy.cli.time_options import parse_time
from deploy.settings import load
from deploy.wiring import budgets, connections
from schemas.budgets.budgets import MICROS
from schemas.budgets.usage import Total
from sinks.budgets.ledger import Ledger
from sinks.budgets.usage import UsageRecords

cli = one_command()


@cli.command()
@command
async def usage(
    namespace: Annotated[
        list[str] | None,
        typer.Option("--namespace", "-n", help="This namespace's share of the calls; may be repeated."),
    ] = None,
    since: Annotated[
        datetime | None,
        typer.Option(
            parser=parse_time,
            metavar="TIME",
            help="Only calls since this time: 24h, 7d, 2026-11-22T14:00; default: 24h.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Show the usage of model calls by operation, lane and model, and the remaining budget."""
    settings = load()
    begin = since or parse_time("24h")
    async with connections.postgres(settings, max_size=1) as pool:
        records = UsageRecords(pool)
        namespaces: Sequence[str | None] = namespace or [None]
        groups = {name: await records.totals(begin, namespace=name) for name in namespaces}
        levels = await Ledger(pool).levels([OVERALL])
    limits = list(limit_statuses(budgets.overall(settings), levels[OVERALL], datetime.now(UTC)))
    if json:
        print_json_lines(groups, limits, begin)
    else:
        show(groups, limits, begin)


def print_json_lines(groups: dict[str | None, list[Total]], limits: list[LimitStatus], begin: datetime) -> None:
    for name, totals in groups.items():
        for total in totals:
            about = {"kind": "usage", "since": begin, "namespace": name}
            terminal.print_json(about | asdict(total) | {"cost_usd": total.cost_micros / MICROS})
    for limit in limits:
        terminal.print_json({"kind": "budget"} | asdict(limit))


def show(groups: dict[str | None, list[Total]], limits: list[LimitStatus], begin: datetime) -> None:
    shown = {name or "": [row(total) for total in totals] for name, totals in groups.items() if totals}
    if shown:
        columns = ("operation", "lane", "model", "calls", "failed", "input", "cached", "output", "USD")
        terminal.show_groups(f"model calls since {begin:%Y-%m-%d %H:%M} UTC", columns, shown, wide="model")
    else:
        terminal.print_line(f"no model calls since {begin.astimezone(UTC):%Y-%m-%d %H:%M} UTC")
    if limits:
        parts = ("limit", "spent", "reserved", "of", "remains")
        rows = [[str(getattr(limit, part)) for part in parts] for limit in limits]
        terminal.show_table("budget of all namespaces", parts, rows)


def row(total: Total) -> tuple[str, ...]:
    cached = total.cache_read_tokens + total.cache_write_tokens
    return (
        *(total.operation, total.lane, f"{total.provider} {total.model}", f"{total.calls:,}", f"{total.failed:,}"),
        *(f"{total.input_tokens:,}", f"{cached:,}", f"{total.output_tokens:,}", cost(total)),
    )


def cost(total: Total) -> str:
    """The cost in US dollars. A plus means that the price of some records is unknown."""
    if total.unpriced == total.answered + total.failed:
        return "unknown"
    return f"{total.cost_micros / MICROS:.4f}{'+' if total.unpriced else ''}"
