"""Prints consolidation runs and the findings of dry runs, as tables or JSON."""

from typing import Any, Final

from msgspec.structs import asdict

from deploy.cli import terminal
from schemas.budgets.budgets import MICROS
from schemas.consolidation.runs import ConsolidationRun, Finding
from schemas.counts import counted
from sinks.consolidation.runs import Runs

COLUMNS: Final = ("run", "at", "scope", "status", "done", "memories", "cost")
PAGE: Final = 500


def row(run: ConsolidationRun) -> tuple[str, ...]:
    """Returns a row of the table of runs."""
    status = "dry run" if run.dry_run and run.status == "completed" else run.status
    done = f"{run.processed} of {run.conversations}"
    return run.run_id, f"{run.due_at:%m-%d %H:%M}", run.scope, status, done, memories(run), cost(run)


def memories(run: ConsolidationRun) -> str:
    """Returns the results in short: +created, =reinforced or merged, -superseded."""
    return f"+{run.created} ={run.reinforced + run.merged} -{run.superseded}"


def cost(run: ConsolidationRun) -> str:
    return f"${run.cost_micros / MICROS:.4f}"


def show_run(run: ConsolidationRun) -> None:
    """Prints a run, one field per line."""
    prefix = "would be " if run.dry_run else ""
    models = f"{', '.join(run.providers)} ({', '.join(run.models)})" if run.providers else "none"
    missed = f", and {counted(run.missed, 'missed schedules')} before" if run.missed else ""
    lines = {
        "run": run.run_id + (", a dry run" if run.dry_run else ""),
        "scope": run.scope,
        "requested by": f"{run.asked_by}, for {run.due_at:%Y-%m-%d %H:%M:%S} UTC{missed}",
        "status": run.status,
        "conversations": f"{run.processed} of {run.conversations}",
        "requests": f"{run.requests}, {run.failed_requests} of them failed",
        "candidates": f"{run.created} {prefix}created, {run.reinforced} {prefix}reinforced, {run.merged} {prefix}merged, "
        f"{run.superseded} {prefix}superseded, {run.dropped} {prefix}dropped",
        "models": f"{models}: {run.tokens:,} tokens, {cost(run)}",
    }
    for name, value in (lines | ({"error": run.error} if run.error else {})).items():
        terminal.print_line(f"{name:14} {value}")


async def show_findings(runs: Runs, run_id: str, json: bool) -> None:
    """Prints all findings of a dry run, one per line. They contain users' text."""
    after = 0
    while page := await runs.findings(run_id, after=after, limit=PAGE):
        for finding in page:
            if json:
                terminal.print_json(finding)
            else:
                terminal.print_line(finding_line(finding))
        after = page[-1].number


def finding_line(finding: Finding) -> str:
    known = f" <- {finding.known}" if finding.known and finding.known != finding.text else ""
    why = f" ({finding.reason})" if finding.reason and finding.result == "dropped" else ""
    return f"{finding.result:11} {finding.namespace}: {finding.kind}: {finding.text}{known}{why}"


def as_json(run: ConsolidationRun) -> dict[str, Any]:
    """Returns all fields, including defaults, the scope and the cost in US dollars."""
    return asdict(run) | {"scope": run.scope, "cost_usd": run.cost_micros / MICROS}
