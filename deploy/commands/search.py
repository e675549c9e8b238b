"""`memstream search`: the nearest live memories of the named namespaces."""

from collections.abc import Sequence
from typing import Annotated

import typer
from msgspec import Struct

from deploy import connections, indexing, terminal
from deploy.commands.command import Json, command, one_command
from deploy.settings import load
from schemas.memories import Memory
from sinks.embeddings.port import Embedder
from sinks.memories import Memories
from sinks.vectors import VectorIndex

cli = one_command()


class Hit(Struct, frozen=True):
    """A memory and the cosine of its vector with the query's."""

    score: float
    memory: Memory


@cli.command("search")
@command
async def search_memories(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    namespace: Annotated[list[str], typer.Option("--namespace", "-n", help="Namespace to search; may be repeated.")],
    limit: Annotated[int, typer.Option(min=1, max=100)] = 10,
    min_score: Annotated[float, typer.Option(min=0.0, max=1.0, help="Least cosine of a hit.")] = 0.2,
    json: Json = False,
) -> None:
    """Find the memories nearest to a query."""
    settings = load()
    await indexing.refuse_by_topic(settings)
    async with (
        connections.postgres(settings, max_size=1) as pool,
        indexing.embedder(settings) as embedder,
        indexing.qdrant(settings, embedder) as vectors,
    ):
        await vectors.verify()
        hits = await search(query, namespace, embedder, vectors, Memories(pool), limit=limit, min_score=min_score)
    if json:
        for hit in hits:
            terminal.emit(hit)
        return
    rows = [(f"{hit.score:.2f}", hit.memory.kind, hit.memory.text, hit.memory.memory_id) for hit in hits]
    if rows:
        terminal.show_table(f"memories for {query!r}", ("score", "kind", "text", "id"), rows, wide="text")
    else:
        terminal.say("nothing is remembered that has to do with this")


async def search(
    query: str,
    namespaces: Sequence[str],
    embedder: Embedder,
    vectors: VectorIndex,
    memories: Memories,
    *,
    limit: int,
    min_score: float,
) -> list[Hit]:
    """At most `limit` live memories, nearest first. Raises Retryable."""
    (vector,) = await embedder.embed([query])
    found = await vectors.search(vector, namespaces=namespaces, limit=limit, min_score=min_score)
    known = await memories.by_ids([neighbour.memory_id for neighbour in found])
    return [Hit(found.score, known[found.memory_id]) for found in found if found.memory_id in known]
