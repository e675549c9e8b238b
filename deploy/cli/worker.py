"""`memstream worker`: runs stages of the pipeline in this process."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from deploy.cli.command import WrongUsage, command, one_command
from deploy.runtime.process import STOP_WITHIN_S, exit_after, log_fatal_errors, log_to_stderr, stop_on_signals
from deploy.runtime.tracing import export_traces
from deploy.runtime.worker import Worker
from deploy.settings import load
from streams.kafka.topics import STAGES

cli = one_command()


@cli.command()
@command
async def worker(
    stage: Annotated[list[str] | None, typer.Option(help=f"Run only these stages: {', '.join(STAGES)}.")] = None,
    ready_file: Annotated[
        Path | None, typer.Option(help="File that exists while every stage has its partitions.")
    ] = None,
) -> None:
    """Run the stages of the pipeline until SIGTERM."""
    stages = stage or list(STAGES)
    if unknown := [name for name in stages if name not in STAGES]:
        raise WrongUsage(f"there is no stage {unknown[0]!r}; the stages are {', '.join(STAGES)}")
    settings = load()
    log_to_stderr(settings)
    with log_fatal_errors(), export_traces(settings, "memstream-worker"):
        await Worker(settings, stages).run(stop_on_signals(), *notifier(ready_file, settings.stop_s + STOP_WITHIN_S))


def notifier(ready_file: Path | None, end_within_s: float) -> tuple[Callable[[], None], Callable[[], None]]:
    """Returns callbacks for readiness and stopping, between which the ready file exists. Removes a stale ready file first."""
    if ready_file is None:
        return (lambda: None), (lambda: exit_after(end_within_s))
    ready_file.unlink(missing_ok=True)

    def ready() -> None:
        ready_file.write_text("ready\n")

    def stopping() -> None:
        ready_file.unlink(missing_ok=True)
        exit_after(end_within_s)

    return ready, stopping
