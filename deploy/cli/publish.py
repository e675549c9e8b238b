"""`memstream publish`: events from a JSON Lines file, as a chat service would."""

from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer
from msgspec import Struct

from deploy.cli import terminal
from deploy.cli.command import Json, command, one_command
from deploy.settings import load
from deploy.wiring import connections
from schemas import codec
from schemas.errors import Misconfigured, Rejected
from schemas.kafka.records import Outgoing, Publisher

cli = one_command()

AT_ONCE = 50


class Line(Struct, frozen=True, forbid_unknown_fields=True):
    """One line: an event for a topic (logical name), or `raw` text that is published as it stands, valid or not."""

    topic: str
    key: str
    value: dict[str, object] | None = None
    raw: str | None = None

    def outgoing(self) -> Outgoing:
        value = self.raw.encode() if self.raw is not None else codec.encode(self.value)
        return Outgoing(topic=self.topic, key=self.key.encode(), value=value)


@cli.command("publish")
@command
async def publish_file(
    file: Annotated[Path, typer.Argument(help="JSON Lines: topic, key, value.")], json: Json = False
) -> None:
    """Publish events from a file, as a chat service would."""
    settings = load()
    lines = read(file)
    done = 0
    async with connections.kafka(settings) as publisher:
        async for confirmed in publish(lines, publisher):
            done += len(confirmed)
    if json:
        terminal.print_json({"published": done})
    else:
        terminal.print_line(f"published {done} events")


def read(path: Path) -> list[Line]:
    """The lines of a file. Raises Misconfigured naming the line that is wrong, or the file that cannot be read."""
    try:
        texts = path.read_bytes().splitlines()
    except OSError as exc:
        raise Misconfigured(f"cannot read {path}: {exc.strerror}") from exc
    return list(_parsed(path, texts))


def _parsed(path: Path, texts: Iterable[bytes]) -> Iterable[Line]:
    for number, text in enumerate(texts, start=1):
        if not text.strip():
            continue
        try:
            yield codec.decode(text, Line)
        except Rejected as exc:
            raise Misconfigured(
                f'{path}, line {number}: {exc.detail}; a line is {{"topic": ..., "key": ..., "value": {{...}}}}'
            ) from exc


async def publish(lines: Sequence[Line], publisher: Publisher) -> AsyncIterator[Sequence[Line]]:
    """Publishes in order and yields what the brokers have confirmed. Raises Retryable."""
    for start in range(0, len(lines), AT_ONCE):
        confirmed = lines[start : start + AT_ONCE]
        await publisher.publish([line.outgoing() for line in confirmed])
        yield confirmed
