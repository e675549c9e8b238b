"""`memstream mcp`: the agent tools for a client that starts its servers itself, as desktop applications and editors do."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Annotated

import typer

from agents.api.accesses import FLUSH_S, AccessCounter
from agents.api.commands import Commands
from agents.api.tools.mcp import serve_stdio
from agents.api.tools.ports import Blocks
from agents.api.tools.tools import Reach, Tools, kinds_of
from agents.conversations.finding import Conversations
from agents.policies import collected
from agents.retrieval.recall import Recall
from deploy import connections, indexing, models, searching
from deploy.chores import Chores
from deploy.commands.command import command, one_command
from deploy.process import log_to_stderr
from deploy.settings import Settings, load
from deploy.wiring import now
from schemas.policies import Policies
from sinks.accesses import Accesses
from sinks.archive import Archive
from sinks.carried_out import CarriedOut
from sinks.memories import Memories
from sinks.windows import Windows

cli = one_command()


@cli.command("mcp")
@command
async def mcp(
    namespace: Annotated[
        list[str],
        typer.Option("--namespace", "-n", help="Namespace that is searched; memories are created in the first one."),
    ],
    read_only: Annotated[bool, typer.Option("--read-only", help="Without the tool that creates memories.")] = False,
    actor: Annotated[str, typer.Option(help="Who is said to have created a memory.")] = "mcp",
) -> None:
    """Give a model's client tools over memories: a server of the Model Context Protocol on standard input and output."""
    settings = load()
    log_to_stderr(settings)  # standard output is the protocol's
    await indexing.refuse_by_topic(settings)
    known = await policies(settings)
    reach = Reach(
        namespaces=tuple(namespace),
        writable=() if read_only else tuple(namespace),
        actor=actor,
        kinds=kinds_of(known, namespace),
    )
    async with wired(settings, reach, known) as tools:
        await serve_stdio(tools, version("memstream"))


async def policies(settings: Settings) -> Policies:
    """Those that were put on their topic, over those of the settings. Raises Retryable."""
    async with connections.policy_topic(settings) as topic:
        return collected(await topic.to_end()).over(settings.policies())


@asynccontextmanager
async def wired(settings: Settings, reach: Reach, policies: Policies) -> AsyncIterator[Tools]:
    """The tools over the deployment that the settings name."""
    async with (
        connections.postgres(settings, max_size=4) as pool,
        connections.kafka(settings) as publisher,
        indexing.embedder(settings) as embedder,
        searching.index(settings, embedder) as vectors,
    ):
        memories, archive, commands = Memories(pool), Archive(pool), Commands(publisher, CarriedOut(pool))
        retrieval = searching.retrieval(pool, embedder, vectors)
        blocks = Blocks(
            Conversations(Windows(pool), archive, policies),
            Recall(retrieval, archive, policies, models.token_counter(settings), now),
        )
        accesses, chores = AccessCounter(Accesses(pool), now), Chores()
        chores.add("reads", FLUSH_S, accesses.flush)
        try:
            yield Tools(reach, retrieval, memories, commands, now, blocks, accesses.note)
        finally:
            await commands.close()
            await chores.stop()
            await accesses.flush()
