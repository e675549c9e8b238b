"""`memstream worker`: stages of the pipeline, in this process."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from deploy.cli import terminal
from deploy.cli.command import command, one_command
from deploy.runtime.process import STOP_WITHIN_S, end_logged, end_soon, log_to_stderr, stop_on_signals
from deploy.runtime.tracing import traced
from deploy.runtime.worker import Worker
from deploy.settings import load
from streams.kafka.topics import STAGES

cli = one_command()


@cli.command()
@command
async def worker(
    stage: Annotated[list[str] | None, typer.Option(help=f"Run only these stages: {', '.join(STAGES)}.")] = None,
    ready_file: Annotated[
        Path | None, typer.Option(help="There from when every stage has its partitions until the worker stops.")
    ] = None,
) -> int:
    """Run the stages of the pipeline until SIGTERM."""
    stages = stage or list(STAGES)
    if unknown := [name for name in stages if name not in STAGES]:
        terminal.print_error(f"no stage is called {unknown[0]!r}; the stages are {', '.join(STAGES)}")
        return 2
    settings = load()
    log_to_stderr(settings)
    with end_logged(), traced(settings, "memstream-worker"):
        await Worker(settings, stages).run(stop_on_signals(), *told_by(ready_file, settings.stop_s + STOP_WITHIN_S))
    return 0


def told_by(ready_file: Path | None, end_within_s: float) -> tuple[Callable[[], None], Callable[[], None]]:
    """What a worker does when it is ready, and when it is stopping: the file is there between the two, whatever was before."""
    if ready_file is None:
        return (lambda: None), (lambda: end_soon(end_within_s))
    ready_file.unlink(missing_ok=True)

    def ready() -> None:
        ready_file.write_text("ready\n")

    def stopping() -> None:
        ready_file.unlink(missing_ok=True)
        end_soon(end_within_s)

    return ready, stopping
