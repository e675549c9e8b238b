"""`memstream consolidate`: extracts waiting messages now, or previews the result in a dry run."""

import asyncio
from datetime import UTC, datetime
from getpass import getuser
from typing import Annotated

import typer

from agents.consolidation.requests import manual_run
from deploy.cli import terminal
from deploy.cli.command import Json, WrongUsage, command, one_command
from deploy.cli.run_view import as_json, show_findings, show_run
from deploy.settings import Settings, load
from deploy.wiring import connections
from deploy.wiring.policy_store import policies_in_effect, stored_policies, unknown_policy
from schemas.consolidation.runs import MOST_LOOKED_AT, ConsolidationRun, RunRequest
from schemas.counts import counted
from schemas.errors import Misconfigured
from sinks.consolidation.runs import Runs
from sinks.postgres.connection import Pool

POLL_S = 0.5
START_TIMEOUT_S = 30.0

cli = one_command()


@cli.command()
@command
async def consolidate(
    policy: Annotated[str | None, typer.Option(help="Only conversations of this policy.")] = None,
    namespace: Annotated[
        str | None, typer.Option("--namespace", "-n", help="Only conversations that feed this namespace.")
    ] = None,
    conversation: Annotated[str | None, typer.Option(help="Only this conversation.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the result without storing it; calls models.")
    ] = False,
    most: Annotated[
        int | None,
        typer.Option(min=1, max=MOST_LOOKED_AT, help="Maximum number of conversations in a dry run."),
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="Use the live lane: before background requests, and not in batches.")
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait until the run ends, or print its id at once.")
    ] = True,
    json: Json = False,
) -> int:
    """Extract waiting messages now: all, or those that the options select."""
    try:
        requested = RunRequest(
            policy=policy,
            namespace=namespace,
            conversation_id=conversation,
            dry_run=dry_run,
            most=most,
            lane="live" if live else "background",
        )
    except ValueError as exc:
        raise WrongUsage(str(exc)) from exc
    settings = load()
    if policy is not None:
        await require_extracting(settings, policy)
    async with connections.postgres(settings, max_size=1) as pool:
        run = manual_run(requested, (namespace,) if namespace else (), getuser(), datetime.now(UTC))
        await Runs(pool).add(run)
        if wait:
            run = await wait_for_run(pool, run, json)
        if json:
            terminal.print_json(as_json(run))
        else:
            show_run(run)
        if wait and run.dry_run:
            await show_findings(Runs(pool), run.run_id, json)
    return 1 if run.status == "failed" else 0


async def require_extracting(settings: Settings, name: str) -> None:
    """Raises Misconfigured unless a policy of this name is in effect and extracts, and Retryable."""
    policies = policies_in_effect(settings, await stored_policies(settings))
    policy = policies.by_name(name)
    if policy.name != name:
        raise unknown_policy(name, policies)
    if not policy.extract:
        raise Misconfigured(f"the policy {name!r} extracts nothing, so no messages wait for a run")


async def wait_for_run(pool: Pool, run: ConsolidationRun, json: bool) -> ConsolidationRun:
    """Waits until the run ends and returns it. Raises Misconfigured if no scheduler starts it."""
    printed, waited_s = -1, 0.0
    while run.status in ("pending", "running"):
        await asyncio.sleep(POLL_S)
        waited_s += POLL_S
        run = await Runs(pool).of(run.run_id) or run
        if run.status == "pending" and waited_s >= START_TIMEOUT_S:
            raise Misconfigured(
                f"the run {run.run_id} has not started: start a worker with the stage extraction; "
                "`memstream runs show` shows its state"
            )
        if run.status == "running" and run.processed != printed and not json:
            printed = run.processed
            terminal.print_line(f"{run.processed:,} of {counted(run.conversations, 'conversations')}")
    return run
