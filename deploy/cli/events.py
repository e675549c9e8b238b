"""`memstream events`: prints memory events as a consumer receives them."""

from typing import Annotated

import typer

from deploy.cli import terminal
from deploy.cli.command import Json, command, one_command
from deploy.settings import load
from deploy.wiring.follow import follow
from schemas import codec
from schemas.kafka import topics
from schemas.memories.events import MemoryEvent

cli = one_command()


@cli.command()
@command
async def events(
    keep_following: Annotated[bool, typer.Option("--follow", "-f", help="Keep printing new events.")] = False,
    from_beginning: Annotated[
        bool, typer.Option(help="Start with the oldest event; default without --follow.")
    ] = False,
    json: Json = False,
) -> None:
    """Print memory events, one per line."""
    beginning = from_beginning or not keep_following
    async for record in follow(load(), topics.EVENTS, from_beginning=beginning, until_end=not keep_following):
        event = codec.decode(record.value, MemoryEvent)
        if json:
            terminal.print_json(event)
        else:
            data = event.data
            terminal.print_line(
                f"{event.time:%H:%M:%S} {data.namespace} #{data.sequence} {data.change}: {data.memory.text}"
            )
