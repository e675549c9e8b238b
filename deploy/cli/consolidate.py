"""`memstream consolidate`: what waits is extracted now, or a dry run shows what would come of it."""

import asyncio
from datetime import UTC, datetime
from getpass import getuser
from typing import Annotated

import typer

from agents.consolidation.requests import manual_run
from deploy.cli import terminal
from deploy.cli.command import Json, command, one_command
from deploy.cli.run_view import as_json, show_findings, show_run
from deploy.settings import load
from deploy.wiring import connections
from schemas.consolidation.runs import MOST_LOOKED_AT, ConsolidationRun, RunRequest
from schemas.errors import Misconfigured
from sinks.consolidation.runs import Runs
from sinks.postgres.connection import Pool

LOOK_S = 0.5
BEGINS_WITHIN_S = 30.0

cli = one_command()


@cli.command()
@command
async def consolidate(
    policy: Annotated[str | None, typer.Option(help="Of this policy's conversations.")] = None,
    namespace: Annotated[
        str | None, typer.Option("--namespace", "-n", help="Of the conversations that feed this namespace.")
    ] = None,
    conversation: Annotated[str | None, typer.Option(help="Of this conversation.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would come of it; models are asked.")] = False,
    most: Annotated[
        int | None,
        typer.Option(min=1, max=MOST_LOOKED_AT, help="Conversations that a dry run looks at, at most."),
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="Before what waits in the background, and not in batches.")
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait until it is over, or say its id at once.")
    ] = True,
    json: Json = False,
) -> int:
    """Extract waiting messages now: all, or those that the options select."""
    try:
        wanted = RunRequest(
            policy=policy,
            namespace=namespace,
            conversation_id=conversation,
            dry_run=dry_run,
            most=most,
            lane="live" if live else "background",
        )
    except ValueError as exc:
        raise Misconfigured(str(exc)) from exc
    async with connections.postgres(load(), max_size=1) as pool:
        run = manual_run(wanted, (namespace,) if namespace else (), getuser(), datetime.now(UTC))
        await Runs(pool).add(run)
        if wait:
            run = await over(pool, run, json)
        if json:
            terminal.print_json(as_json(run))
        else:
            show_run(run)
        if wait and run.dry_run:
            await show_findings(Runs(pool), run.run_id, json)
    return 1 if run.status == "failed" else 0


async def over(pool: Pool, run: ConsolidationRun, json: bool) -> ConsolidationRun:
    """The run at its end. Raises Misconfigured where nobody begins it."""
    shown, waited_s = -1, 0.0
    while run.status in ("pending", "running"):
        await asyncio.sleep(LOOK_S)
        waited_s += LOOK_S
        run = await Runs(pool).of(run.run_id) or run
        if run.status == "pending" and waited_s >= BEGINS_WITHIN_S:
            raise Misconfigured(
                f"the run {run.run_id} has not begun: it waits for a worker with the stage extraction; "
                "`memstream runs show` tells of it"
            )
        if run.status == "running" and run.processed != shown and not json:
            shown = run.processed
            terminal.print_line(f"{run.processed} of {run.conversations} conversations")
    return run
