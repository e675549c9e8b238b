"""`memstream cutover`: a generation in place of what is remembered, and back."""

from typing import Annotated

import typer
from msgspec import structs

from deploy.cli import terminal
from deploy.cli.command import Json, command, one_command
from deploy.settings import load
from deploy.wiring import replay

cli = one_command()


@cli.command()
@command
async def cutover(
    generation: Annotated[str, typer.Argument(help="The generation, as `memstream replay` named it.")],
    undo: Annotated[bool, typer.Option("--undo", help="Take the cutover back.")] = False,
    json: Json = False,
) -> None:
    """Replace live memories by a generation's; `--undo` restores them."""
    async with replay.connected(load()) as parts:
        switch = parts.cutover()
        done = await (switch.undo(generation) if undo else switch.cut_over(generation))
    if json:
        terminal.print_json({"generation": generation, "undone": undo} | structs.asdict(done))
        return
    what = "taken back" if undo else "cut over"
    terminal.print_line(f"{what}: {done.changes} changes in {done.namespaces} namespaces")
    if done.left:
        terminal.print_line(f"{done.left} memories were changed since, and stay as they are")
    if not undo:
        terminal.print_line(f"`memstream cutover {generation} --undo` takes it back")
