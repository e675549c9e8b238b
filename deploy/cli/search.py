"""`memstream search`: the memories that have to do with a question, or the most important ones."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer

from deploy.cli import terminal
from deploy.cli.command import Json, command, one_command
from deploy.settings import load
from deploy.wiring import connections, vector_index
from deploy.wiring.search import index, retrieval
from schemas.retrieval.searches import Filters, Found, Hit, Query, SaidHit

cli = one_command()

COLUMNS = ("score", "kind", "text", "id")
PARTS = ("cosine", "words", "relevance", "importance", "recency", "reinforced")


class Tier(StrEnum):
    """Where to look."""

    memories = "memories"
    said = "said"
    both = "both"


@cli.command("search")
@command
async def search(
    namespace: Annotated[list[str], typer.Option("--namespace", "-n", help="Namespace to search; may be repeated.")],
    query: Annotated[str, typer.Argument(help="What to look for; without it the most important come first.")] = "",
    kind: Annotated[list[str] | None, typer.Option(help="Of this kind; may be repeated.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="With this tag; may be repeated.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100)] = 10,
    floor: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="Least relevance; default the embedding model's.")
    ] = None,
    explain: Annotated[bool, typer.Option(help="Show how each score came about.")] = False,
    tier: Annotated[
        Tier, typer.Option("--in", help="memories, said (what was said, word for word), or both.")
    ] = Tier.both,
    json: Json = False,
) -> None:
    """Find the memories, and what was said, that have to do with a question."""
    settings = load()
    await vector_index.refuse_by_topic(settings)
    filters = Filters(kinds=tuple(kind or ()), tags=tuple(tag or ()))
    asked = Query(
        namespaces=tuple(namespace),
        text=query,
        filters=filters,
        limit=limit,
        floor=floor,
        explain=explain,
        tier=tier.value,
    )
    async with (
        connections.postgres(settings, max_size=2) as pool,
        vector_index.embedder(settings) as embedder,
        index(settings, embedder) as vectors,
    ):
        found = await retrieval(pool, embedder, vectors, settings.policies()).search(asked)
    if json:
        for each in found.mixed:
            terminal.emit(each)
    else:
        show(asked, found)
    for reason in found.degraded:
        terminal.complain(f"found without the vector index ({reason}): `memstream doctor` says more")


def show(asked: Query, found: Found) -> None:
    if not found.mixed:
        terminal.say("nothing is remembered, and nothing was said, that has to do with this")
        return
    if found.said:
        show_said(found.said)
    if not found.hits:
        return
    title = f"memories for {asked.text!r}" if asked.text else "memories, the most important first"
    explained = asked.explain and asked.text
    columns = (COLUMNS[0], *PARTS, *COLUMNS[2:]) if explained else COLUMNS
    rows = [
        (
            f"{hit.score:.2f}",
            *(parts(hit) if explained else (hit.memory.kind,)),
            hit.memory.text,
            hit.memory.memory_id,
        )
        for hit in found.hits
    ]
    terminal.show_table(title, columns, rows, wide="text")


def show_said(hits: Sequence[SaidHit]) -> None:
    rows = [
        (f"{hit.score:.2f}", f"{said.said_at:%Y-%m-%d}", said.speaker, said.text, said.conversation_id)
        for hit in hits
        for said in (hit.passage,)
    ]
    terminal.show_table("what was said", ("score", "on", "by", "text", "conversation"), rows, wide="text")


def parts(hit: Hit) -> tuple[str, ...]:
    """What was found, then what each part adds to the score."""
    told = hit.parts
    if told is None:
        return ("",) * len(PARTS)
    cosine = "-" if told.cosine is None else f"{told.cosine:.2f}"
    added = (told.from_relevance, told.from_importance, told.from_recency, told.from_reinforcement)
    return cosine, f"{told.lexical or 0:.2f}", *(f"+{part:.2f}" for part in added)
