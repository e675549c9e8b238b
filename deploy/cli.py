"""The command line: options in, one command's function, answers out. Exit codes: 0 done, 1 cannot be done, 2 wrong usage."""

import asyncio
import logging
import os
import signal
import threading
from pathlib import Path
from typing import Annotated

import typer

from deploy import connections, terminal
from deploy.commands.command import Json, command
from deploy.commands.doctor import examine
from deploy.commands.follow import follow
from deploy.commands.policies import policies_cli
from deploy.commands.publish import publish as publish_lines
from deploy.commands.publish import read
from deploy.commands.search import search as search_memories
from deploy.commands.usage import usage
from deploy.commands.window import window_cli
from deploy.demo.run import run_demo
from deploy.dev import run_dev
from deploy.embedded.stack import Ports
from deploy.settings import DEV_KAFKA_PORT, DEV_POSTGRES_PORT, DEV_QDRANT_PORT, Settings, load, table
from deploy.worker import Worker
from schemas import codec, topics
from schemas.events import MemoryEvent
from sinks.memories import Memories
from sinks.migrate import migrate as apply_migrations
from sinks.reindex import reindex as rebuild
from streams.apps import STAGES
from streams.delivery.fenced_futures import leave_out_fenced_futures
from streams.topics import create, partition_counts, problems, specs

# Typer's own tracebacks show source and may show values; Python's show neither.
cli = typer.Typer(
    name="memstream",
    help="Long-term memory for chat systems that live on Kafka.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
topics_cli = typer.Typer(help="memstream's topics on the cluster.", no_args_is_help=True)
cli.add_typer(topics_cli, name="topics")
cli.add_typer(window_cli, name="window")
cli.add_typer(policies_cli, name="policies")
cli.command("usage")(usage)

DataDir = Annotated[Path | None, typer.Option(help="Where the data goes; default MEMSTREAM_DATA_DIR.")]

DevPort = Annotated[int, typer.Option(min=0, max=65535, help="On loopback; 0 takes any free one.")]

STOP_WITHIN_S = 20.0

QUIET = ("aiokafka", "faust", "mode", "httpx", "httpcore", "httpx2", "httpcore2", "asyncio")


def log_to_stderr(settings: Settings) -> None:
    logging.basicConfig(
        level=settings.log_level.upper(), format="%(asctime)s %(levelname)-7s %(name)s: %(message)s", force=True
    )
    for name in QUIET:
        logging.getLogger(name).setLevel(max(logging.WARNING, logging.getLogger().level))
    leave_out_fenced_futures()


def stop_on_signals() -> asyncio.Event:
    """Set by SIGTERM and SIGINT."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


@cli.command()
@command
async def demo(
    provider: Annotated[
        str | None, typer.Option(help="offline, claude, ollama or auto; default MEMSTREAM_PROVIDER.")
    ] = None,
    json: Json = False,
) -> int:
    """Start everything, publish the sample conversations, show what is remembered, stop everything."""
    return await run_demo(load(**({"provider": provider} if provider else {})), in_json=json)


@cli.command()
@command
async def dev(
    data_dir: DataDir = None,
    kafka_port: DevPort = DEV_KAFKA_PORT,
    postgres_port: DevPort = DEV_POSTGRES_PORT,
    qdrant_port: DevPort = DEV_QDRANT_PORT,
) -> None:
    """Run the embedded stack with a worker, and keep it running; its data survives a restart."""
    settings = load(**({"data_dir": data_dir} if data_dir else {}))
    ports = Ports(kafka_port or None, postgres_port or None, qdrant_port or None)
    await run_dev(settings, ports, stop_on_signals())


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


def end_soon() -> None:
    """Ends the process if it has not ended by itself in time.

    A crashed stage can leave tasks and threads behind that keep a worker alive, heartbeating and deaf, so that nobody gets
    its partitions. Whatever was not stored is done again by another worker.
    """
    timer = threading.Timer(STOP_WITHIN_S, os._exit, (1,))
    timer.daemon = True
    timer.start()


@cli.command()
@command
async def migrate(json: Json = False) -> None:
    """Bring PostgreSQL's schema up to date."""
    applied = await apply_migrations(load().postgres_dsn.get_secret_value())
    if json:
        terminal.emit({"applied": applied})
    else:
        terminal.say("\n".join(f"applied {name}" for name in applied) or "nothing to apply")


@topics_cli.command("create")
@command
async def topics_create(json: Json = False) -> None:
    """Create the topics that are missing; existing ones are left as they are."""
    settings = load()
    names = settings.topics()
    created = await create(settings.cluster().client(), specs(names), names.replication)
    if json:
        terminal.emit({"created": created})
    else:
        terminal.say("\n".join(f"created {name}" for name in created) or "nothing to create")


@topics_cli.command("list")
@command
async def topics_list(json: Json = False) -> int:
    """List the topics as the settings want them and as the cluster has them; exit code 1 when they differ."""
    settings = load()
    wanted = specs(settings.topics())
    found = await partition_counts(settings.cluster().client(), wanted)
    if json:
        for spec in wanted:
            terminal.emit(
                {"topic": spec.name, "partitions": found[spec.name], "wanted": spec.partitions} | spec.configs()
            )
    else:
        rows = [(spec.name, str(found[spec.name]), str(spec.partitions), kept(spec.retention_days)) for spec in wanted]
        terminal.show_table("topics", ("topic", "partitions", "wanted", "kept"), rows)
    return 1 if problems(wanted, found) else 0


def kept(retention_days: int | None) -> str:
    return "latest per key" if retention_days is None else f"{retention_days} d"


@cli.command()
@command
async def publish(
    file: Annotated[Path, typer.Argument(help="JSON Lines: topic, key, value.")], json: Json = False
) -> None:
    """Publish events from a file, as a chat service would."""
    settings = load()
    lines = read(file)
    done = 0
    async with connections.kafka(settings) as publisher:
        async for confirmed in publish_lines(lines, publisher):
            done += len(confirmed)
    if json:
        terminal.emit({"published": done})
    else:
        terminal.say(f"published {done} events")


@cli.command()
@command
async def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    namespace: Annotated[list[str], typer.Option("--namespace", "-n", help="Namespace to search; may be repeated.")],
    limit: Annotated[int, typer.Option(min=1, max=100)] = 10,
    min_score: Annotated[float, typer.Option(min=0.0, max=1.0, help="Least cosine of a hit.")] = 0.2,
    json: Json = False,
) -> None:
    """Find the memories nearest to a query."""
    settings = load()
    await connections.refuse_by_topic(settings)
    async with (
        connections.postgres(settings, max_size=1) as pool,
        connections.embedder(settings) as embedder,
        connections.qdrant(settings, embedder) as vectors,
    ):
        await vectors.verify()
        hits = await search_memories(
            query, namespace, embedder, vectors, Memories(pool), limit=limit, min_score=min_score
        )
    if json:
        for hit in hits:
            terminal.emit(hit)
        return
    rows = [(f"{hit.score:.2f}", hit.memory.kind, hit.memory.text, hit.memory.memory_id) for hit in hits]
    if rows:
        terminal.show_table(f"memories for {query!r}", ("score", "kind", "text", "id"), rows, wide="text")
    else:
        terminal.say("nothing is remembered that has to do with this")


@cli.command()
@command
async def events(
    keep_following: Annotated[bool, typer.Option("--follow", "-f", help="Wait for new events.")] = False,
    from_beginning: Annotated[bool, typer.Option(help="Begin with the oldest; default when not following.")] = False,
    json: Json = False,
) -> None:
    """Print memory events, one a line."""
    beginning = from_beginning or not keep_following
    async for record in follow(load(), topics.EVENTS, from_beginning=beginning, until_end=not keep_following):
        event = codec.decode(record.value, MemoryEvent)
        if json:
            terminal.emit(event)
        else:
            data = event.data
            terminal.say(f"{event.time:%H:%M:%S} {data.namespace} #{data.sequence} {data.change}: {data.memory.text}")


@cli.command()
@command
async def reindex(json: Json = False) -> None:
    """Rebuild Qdrant from PostgreSQL; only what another model embedded is embedded again. Safe beside running workers."""
    settings = load()
    await connections.refuse_by_topic(settings)
    async with (
        connections.postgres(settings, max_size=4) as pool,
        connections.embedder(settings) as embedder,
        connections.qdrant(settings, embedder) as vectors,
    ):
        rebuilt = await rebuild(pool, vectors, embedder)
    if json:
        terminal.emit(rebuilt)
    else:
        terminal.say(f"reindexed: {rebuilt}")


@cli.command()
@command
async def doctor(json: Json = False) -> int:
    """Check every dependency and say what to do; exit code 1 when something is wrong."""
    findings = await examine(load())
    for finding in findings:
        if json:
            terminal.emit(finding)
        else:
            terminal.say(f"{'ok  ' if finding.ok else 'FAIL'} {finding.name}: {finding.said}")
    return 0 if all(finding.ok for finding in findings) else 1


@cli.command("settings")
@command
async def list_settings(json: Json = False) -> None:
    """List the environment variables that memstream reads, with their defaults."""
    if json:
        for name, default, meaning in table():
            terminal.emit({"name": name, "default": default, "meaning": meaning})
        return
    terminal.show_table("settings", ("variable", "default", "meaning"), table(), wide="meaning")


def main() -> None:
    """The `memstream` command."""
    cli()


if __name__ == "__main__":
    main()
