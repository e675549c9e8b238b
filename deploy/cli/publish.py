"""`memstream publish`: publishes events from a JSON Lines file, as a chat service would."""

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
from schemas.counts import counted
from schemas.errors import Misconfigured, Rejected
from schemas.kafka.records import Outgoing, Publisher

cli = one_command()

BATCH_SIZE = 50


class Line(Struct, frozen=True, forbid_unknown_fields=True):
    """A line of the file: an event for a topic (logical name), or `raw` text that is published unchanged, even if invalid."""

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
    file: Annotated[Path, typer.Argument(help="JSON Lines with topic, key and value.")], json: Json = False
) -> None:
    """Publish events from a file, as a chat service would."""
    settings = load()
    lines = read_lines(file)
    published = 0
    async with connections.kafka(settings) as publisher:
        async for confirmed in publish(lines, publisher):
            published += len(confirmed)
    if json:
        terminal.print_json({"published": published})
    else:
        terminal.print_line(f"published {counted(published, 'events')}")


def read_lines(path: Path) -> list[Line]:
    """Returns the lines of a file. Raises Misconfigured for an unreadable file, or with the number of the invalid line."""
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
    """Publishes in order and yields the lines that the brokers have confirmed. Raises Retryable."""
    for start in range(0, len(lines), BATCH_SIZE):
        confirmed = lines[start : start + BATCH_SIZE]
        await publisher.publish([line.outgoing() for line in confirmed])
        yield confirmed
