"""`memstream retention`: starts a sweep of the archive, and shows how much each policy keeps."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from getpass import getuser
from typing import Annotated, Final, Protocol

import typer

from agents.retention.sweeper import manual_sweep
from deploy.cli import terminal
from deploy.cli.command import Json, command, one_command
from deploy.settings import load
from deploy.wiring import connections
from schemas.consolidation.retention import RetentionStatistics, Sweep
from schemas.counts import counted
from schemas.errors import Misconfigured
from sinks.archive.retention import Sweeps
from sinks.postgres.connection import Pool

POLL_S: Final = 0.5
START_TIMEOUT_S: Final = 30.0
WAIT_S: Final = 600  # a step takes about a second and covers 200 conversations or deletes 1,000 messages
UNFINISHED: Final = ("pending", "running")
COLUMNS = ("policy", "days", "messages", "bytes", "oldest", "old, but held", "deleted", "deleted bytes")

cli = one_command()


class SweepStore(Protocol):
    """Stores sweeps (sinks.archive.retention.Sweeps)."""

    async def add(self, sweep: Sweep) -> None: ...

    async def of(self, sweep_id: str) -> Sweep | None: ...


@cli.command()
@command
async def retention(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count the messages to delete; delete nothing.")] = False,
    last: Annotated[bool, typer.Option("--last", help="Show the latest sweep; start none.")] = False,
    wait: Annotated[int, typer.Option(min=1, metavar="SECONDS", help="Maximum wait in seconds.")] = WAIT_S,
    json: Json = False,
) -> None:
    """Delete old consolidated messages from the archive, as workers do every day."""
    async with connections.postgres(load(), max_size=1) as pool:
        sweep_request = manual_sweep(dry_run, getuser(), datetime.now(UTC))
        sweep = await latest(pool) if last else await wait_for_sweep(Sweeps(pool), sweep_request, wait)
    if json:
        terminal.print_json(sweep)
    else:
        show(sweep)


async def latest(pool: Pool) -> Sweep:
    """Returns the latest sweep. Raises Misconfigured if there is none."""
    if not (found := await Sweeps(pool).page(1)):
        raise Misconfigured("there was no sweep yet: workers with the stage archive start one every day")
    return found[0]


async def wait_for_sweep(
    sweeps: SweepStore, sweep: Sweep, wait_s: float, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
) -> Sweep:
    """Adds the sweep, waits until it ends and returns it. Raises Misconfigured if no worker starts it, or if it does not end
    in time."""
    waited_s = 0.0
    await sweeps.add(sweep)
    while sweep.status in UNFINISHED:
        if sweep.status == "pending" and waited_s >= min(wait_s, START_TIMEOUT_S):
            raise Misconfigured(f"the sweep {sweep.sweep_id} has not started: start a worker with the stage archive")
        if waited_s >= wait_s:
            raise Misconfigured(
                f"the sweep {sweep.sweep_id} has not ended within {wait_s:g} s and continues: "
                "`memstream retention --last` shows its progress, --wait sets a longer limit"
            )
        await sleep(POLL_S)
        waited_s += POLL_S
        sweep = await sweeps.of(sweep.sweep_id) or sweep
    return sweep


def show(sweep: Sweep) -> None:
    title = "retention of the archive, a dry run" if sweep.dry_run else "retention of the archive"
    if sweep.policies:
        terminal.show_table(title, COLUMNS, [row(each) for each in sweep.policies])
    else:
        terminal.print_line("the archive is empty")
    if sweep.status in UNFINISHED:
        terminal.print_line(f"the sweep is {sweep.status}: these are its numbers so far")
    verb = "would be deleted" if sweep.dry_run else "deleted"
    terminal.print_line(f"{counted(sweep.usage, 'records')} of model calls and {sweep.prunings:,} of prunings {verb}")


def row(statistics: RetentionStatistics) -> tuple[str, ...]:
    oldest = f"{statistics.oldest:%Y-%m-%d}" if statistics.oldest else ""
    days = str(statistics.days) if statistics.days else "forever"
    return (
        *(statistics.policy, days, f"{statistics.messages:,}", f"{statistics.bytes:,}", oldest, f"{statistics.held:,}"),
        *(f"{statistics.pruned:,}", f"{statistics.pruned_bytes:,}"),
    )
