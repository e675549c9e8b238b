"""`memstream runs`: shows consolidation runs, scheduled and manual, and their results."""

from typing import Annotated

import typer
from msgspec import ValidationError, convert

from deploy.cli import terminal
from deploy.cli.command import Json, WrongUsage, command, several_commands
from deploy.cli.run_view import COLUMNS, as_json, row, show_findings, show_run
from deploy.settings import load
from deploy.wiring import connections
from schemas.consolidation.runs import RunStatus, Scheduled
from schemas.errors import Misconfigured
from schemas.policies.triggers import Schedule
from sinks.consolidation.runs import RunFilter, Runs

cli = several_commands("Show consolidation runs: scope, progress, results.")


@cli.command("list")
@command
async def list_runs(
    policy: Annotated[str | None, typer.Option(help="Only runs of this policy.")] = None,
    namespace: Annotated[str | None, typer.Option("--namespace", "-n", help="Only runs of this namespace.")] = None,
    status: Annotated[str | None, typer.Option(help="pending, running, completed or failed.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="Maximum number of runs.")] = 20,
    json: Json = False,
) -> None:
    """List runs, newest first."""
    run_filter = RunFilter(limit=limit, namespace=namespace, policy=policy, status=parse_status(status))
    async with connections.postgres(load(), max_size=1) as pool:
        found = await Runs(pool).page(run_filter)
    none = "there are no such runs"
    terminal.show_list(found, json, "consolidation runs", COLUMNS, row, fields=as_json, wide="run", empty_text=none)


@cli.command()
@command
async def show(
    run_id: Annotated[str, typer.Argument(metavar="RUN", help="A run's id, as `runs list` shows it.")],
    json: Json = False,
) -> None:
    """Show a run, and its findings if it is a dry run."""
    async with connections.postgres(load(), max_size=1) as pool:
        run = await Runs(pool).of(run_id)
        if run is None:
            raise Misconfigured(f"there is no run {run_id!r}: `memstream runs list` shows all")
        if json:
            terminal.print_json(as_json(run))
        else:
            show_run(run)
        if run.dry_run:
            await show_findings(Runs(pool), run_id, json)


@cli.command("next")
@command
async def next_runs(json: Json = False) -> None:
    """List the time of the next run of each policy with a schedule."""
    async with connections.postgres(load(), max_size=1) as pool:
        found = await Runs(pool).schedules()
    none = "no policy has a schedule that a worker with the stage extraction has read"
    terminal.show_list(found, json, "next runs", ("policy", "at (UTC)", "schedule"), next_row, empty_text=none)


def next_row(next_run: Scheduled) -> tuple[str, ...]:
    return next_run.policy, f"{next_run.next_due:%Y-%m-%d %H:%M}", in_words(next_run.schedule)


def in_words(schedule: Schedule) -> str:
    days = ", ".join(schedule.weekdays) or "every day"
    return f"{schedule.at} {schedule.time_zone}, {days}"


def parse_status(status: str | None) -> RunStatus | None:
    """Parses a status. Raises WrongUsage for an unknown one."""
    try:
        parsed: RunStatus | None = convert(status, RunStatus | None)
    except ValidationError as exc:
        raise WrongUsage(f"--status {status!r}: use pending, running, completed or failed") from exc
    return parsed
