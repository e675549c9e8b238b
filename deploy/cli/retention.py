"""`memstream retention`: a sweep of the archive by hand, and what each policy keeps."""

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
from schemas.errors import Misconfigured
from sinks.archive.retention import Sweeps
from sinks.postgres.connection import Pool

LOOK_S: Final = 0.5
BEGINS_WITHIN_S: Final = 30.0
WAIT_S: Final = 600  # a step takes about a second, and goes through 200 conversations or takes out 1,000 messages
UNDER_WAY: Final = ("pending", "running")
COLUMNS = ("policy", "days", "kept", "bytes", "oldest", "old, and stays", "left", "its bytes")

cli = one_command()


class Sweeping(Protocol):
    """sinks.archive.retention.Sweeps."""

    async def add(self, sweep: Sweep) -> None: ...

    async def of(self, sweep_id: str) -> Sweep | None: ...


@cli.command()
@command
async def retention(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count what would leave, and let it stay.")] = False,
    last: Annotated[bool, typer.Option("--last", help="Show the latest sweep, and ask for none.")] = False,
    wait: Annotated[int, typer.Option(min=1, metavar="SECONDS", help="How long to wait for its end.")] = WAIT_S,
    json: Json = False,
) -> None:
    """Delete old consolidated messages from the archive, as workers do every day."""
    async with connections.postgres(load(), max_size=1) as pool:
        asked = manual_sweep(dry_run, getuser(), datetime.now(UTC))
        sweep = await latest(pool) if last else await over(Sweeps(pool), asked, wait)
    if json:
        terminal.print_json(sweep)
    else:
        show(sweep)


async def latest(pool: Pool) -> Sweep:
    """Raises Misconfigured where there was none."""
    if not (found := await Sweeps(pool).page(1)):
        raise Misconfigured("there was no sweep yet: one is made every day by workers with the stage archive")
    return found[0]


async def over(
    sweeps: Sweeping, sweep: Sweep, wait_s: float, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
) -> Sweep:
    """The sweep at its end. Raises Misconfigured where nobody begins it, or it is not over in time."""
    waited_s = 0.0
    await sweeps.add(sweep)
    while sweep.status in UNDER_WAY:
        if sweep.status == "pending" and waited_s >= min(wait_s, BEGINS_WITHIN_S):
            raise Misconfigured(
                f"the sweep {sweep.sweep_id} has not begun: it waits for a worker with the stage archive"
            )
        if waited_s >= wait_s:
            raise Misconfigured(
                f"the sweep {sweep.sweep_id} is not over after {wait_s:g} s; workers go on with it: "
                "`memstream retention --last` shows how far it is, --wait waits for longer"
            )
        await sleep(LOOK_S)
        waited_s += LOOK_S
        sweep = await sweeps.of(sweep.sweep_id) or sweep
    return sweep


def show(sweep: Sweep) -> None:
    what = "what would leave the archive" if sweep.dry_run else "what left the archive"
    if sweep.policies:
        terminal.show_table(what, COLUMNS, [row(each) for each in sweep.policies])
    else:
        terminal.print_line("the archive holds nothing of any conversation")
    if sweep.status in UNDER_WAY:
        terminal.print_line(f"the sweep is {sweep.status}: these are its numbers so far")
    would = "would leave" if sweep.dry_run else "left"
    terminal.print_line(f"{sweep.usage} records of model calls and {sweep.prunings} of prunings {would} their tables")


def row(kept: RetentionStatistics) -> tuple[str, ...]:
    oldest = f"{kept.oldest:%Y-%m-%d}" if kept.oldest else ""
    days = str(kept.days) if kept.days else "for ever"
    return (
        *(kept.policy, days, f"{kept.messages:,}", f"{kept.bytes:,}", oldest, f"{kept.held:,}"),
        *(f"{kept.pruned:,}", f"{kept.pruned_bytes:,}"),
    )
