"""Consolidation runs and what dry runs found, for a terminal or a script."""

from typing import Any, Final

from msgspec.structs import asdict

from deploy.cli import terminal
from schemas.budgets.budgets import MICROS
from schemas.consolidation.runs import ConsolidationRun, Finding
from sinks.consolidation.runs import Runs

COLUMNS: Final = ("run", "at", "about", "is", "done", "memories", "cost")
PAGE: Final = 500


def row(run: ConsolidationRun) -> tuple[str, ...]:
    """A line of the list of runs."""
    status = "dry run" if run.dry_run and run.status == "completed" else run.status
    done = f"{run.processed} of {run.conversations}"
    return run.run_id, f"{run.due_at:%m-%d %H:%M}", run.scope, status, done, memories(run), cost(run)


def memories(run: ConsolidationRun) -> str:
    """What came of the candidates, in short: created, said again, superseded."""
    return f"+{run.created} ={run.reinforced + run.merged} -{run.superseded}"


def cost(run: ConsolidationRun) -> str:
    return f"${run.cost_micros / MICROS:.4f}"


def show_run(run: ConsolidationRun) -> None:
    """A run, line by line."""
    would = "would be " if run.dry_run else ""
    asked = f"{', '.join(run.providers)} ({', '.join(run.models)})" if run.providers else "nobody yet"
    missed = f", and {run.missed} moments before that were missed" if run.missed else ""
    lines = {
        "run": run.run_id + (", a dry run" if run.dry_run else ""),
        "about": run.scope,
        "asked for by": f"{run.asked_by}, for {run.due_at:%Y-%m-%d %H:%M:%S} UTC{missed}",
        "is": run.status,
        "conversations": f"{run.processed} of {run.conversations}",
        "requests": f"{run.requests}, of which {run.failed_requests} without an answer",
        "candidates": f"{run.created} {would}created, {run.reinforced} {would}reinforced, {run.merged} {would}merged, "
        f"{run.superseded} {would}superseded, {run.dropped} {would}dropped",
        "asked": f"{asked}: {run.tokens:,} tokens, {cost(run)}",
    }
    for name, value in (lines | ({"error": run.error} if run.error else {})).items():
        terminal.print_line(f"{name:14} {value}")


async def show_findings(runs: Runs, run_id: str, json: bool) -> None:
    """All that a dry run found, a line each; what users said is in it."""
    after = 0
    while page := await runs.findings(run_id, after=after, limit=PAGE):
        for finding in page:
            if json:
                terminal.print_json(finding)
            else:
                terminal.print_line(line(finding))
        after = page[-1].number


def line(finding: Finding) -> str:
    known = f" <- {finding.known}" if finding.known and finding.known != finding.text else ""
    why = f" ({finding.reason})" if finding.reason and finding.result == "dropped" else ""
    return f"{finding.result:11} {finding.namespace}: {finding.kind}: {finding.text}{known}{why}"


def as_json(run: ConsolidationRun) -> dict[str, Any]:
    """Every field, those at their defaults too."""
    return asdict(run) | {"scope": run.scope, "cost_usd": run.cost_micros / MICROS}
