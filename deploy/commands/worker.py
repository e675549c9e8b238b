"""`memstream worker`: stages of the pipeline, in this process."""

from pathlib import Path
from typing import Annotated

import typer

from deploy import terminal
from deploy.commands.command import command, one_command
from deploy.process import end_soon, log_to_stderr, stop_on_signals
from deploy.settings import load
from deploy.worker import Worker
from streams.apps import STAGES

cli = one_command()


@cli.command()
@command
async def worker(
    stage: Annotated[list[str] | None, typer.Option(help=f"Run only these stages: {', '.join(STAGES)}.")] = None,
    ready_file: Annotated[Path | None, typer.Option(help="Written once every stage has its partitions.")] = None,
) -> int:
    """Run the stages of the pipeline until SIGTERM."""
    stages = stage or list(STAGES)
    if unknown := [name for name in stages if name not in STAGES]:
        terminal.complain(f"no stage is called {unknown[0]!r}; the stages are {', '.join(STAGES)}")
        return 2
    settings = load()
    log_to_stderr(settings)
    on_ready = (lambda: ready_file.write_text("ready\n")) if ready_file else (lambda: None)
    await Worker(settings, stages).run(stop_on_signals(), on_ready, end_soon)
    return 0
