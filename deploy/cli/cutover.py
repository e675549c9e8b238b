"""`memstream cutover`: replaces live memories by those of a generation, and undoes it."""

from typing import Annotated

import typer
from msgspec import structs

from deploy.cli import terminal
from deploy.cli.command import Json, command, one_command
from deploy.settings import load
from deploy.wiring import replay
from schemas.counts import counted

cli = one_command()


@cli.command()
@command
async def cutover(
    generation: Annotated[str, typer.Argument(help="The generation's id, as `memstream replay` prints it.")],
    undo: Annotated[bool, typer.Option("--undo", help="Undo the cutover.")] = False,
    json: Json = False,
) -> None:
    """Replace live memories by a generation's; `--undo` restores them."""
    async with replay.connected(load()) as parts:
        switch = parts.cutover()
        result = await (switch.undo(generation) if undo else switch.cut_over(generation))
    if json:
        terminal.print_json({"generation": generation, "undone": undo} | structs.asdict(result))
        return
    what = "undone" if undo else "cut over"
    terminal.print_line(f"{what}: {counted(result.changes, 'changes')} in {counted(result.namespaces, 'namespaces')}")
    if result.left:
        terminal.print_line(f"{counted(result.left, 'memories')} changed since the cutover: left unchanged")
    if not undo:
        terminal.print_line(f"`memstream cutover {generation} --undo` undoes it")
