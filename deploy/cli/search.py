"""`memstream search`: the memories and passages that have to do with a question, or the most important memories."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

import typer
from msgspec.structs import asdict

from deploy.cli import terminal
from deploy.cli.command import Json, command, one_command
from deploy.cli.moments import moment
from deploy.settings import load
from deploy.wiring import connections, rerankers
from deploy.wiring.search import index, refuse_by_topic, refuse_if_texts_must_stay, retrieval
from schemas.errors import Misconfigured
from schemas.passages.passages import PassageFilters
from schemas.retrieval.searches import Filters, Found, Hit, Query, SaidHit

cli = one_command()

PARTS = ("cosine", "words")


class Tier(StrEnum):
    """Where to look."""

    memories = "memories"
    said = "said"
    both = "both"


Since = Annotated[
    datetime | None,
    typer.Option("--since", parser=moment, metavar="TIME", help="What was said from then on: 7d, 2026-11-22T14:00."),
]
Until = Annotated[
    datetime | None, typer.Option("--until", parser=moment, metavar="TIME", help="What was said before then.")
]
AskedAt = Annotated[
    datetime | None,
    typer.Option(parser=moment, metavar="TIME", help='What "yesterday" in the query refers to; default now.'),
]


@cli.command("search")
@command
async def search(
    namespace: Annotated[list[str], typer.Option("--namespace", "-n", help="Namespace to search; may be repeated.")],
    query: Annotated[str, typer.Argument(help="What to look for; without it the most important come first.")] = "",
    tier: Annotated[
        Tier, typer.Option("--in", help="memories, said (what was said, word for word), or both.")
    ] = Tier.both,
    kind: Annotated[list[str] | None, typer.Option(help="Memories of this kind; may be repeated.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Memories with this tag; may be repeated.")] = None,
    speaker: Annotated[list[str] | None, typer.Option(help="What this one said; may be repeated.")] = None,
    conversation: Annotated[list[str] | None, typer.Option(help="What was said there; may be repeated.")] = None,
    since: Since = None,
    until: Until = None,
    asked_at: AskedAt = None,
    limit: Annotated[int, typer.Option(min=1, max=100)] = 10,
    floor: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="Least relevance; default the embedding model's.")
    ] = None,
    explain: Annotated[bool, typer.Option(help="Show how each score came about.")] = False,
    json: Json = False,
) -> None:
    """Find the memories, and what was said, that have to do with a question."""
    asked = question(
        namespaces=tuple(namespace),
        text=query,
        filters=Filters(kinds=tuple(kind or ()), tags=tuple(tag or ())),
        passage_filters=PassageFilters(
            conversations=tuple(conversation or ()), speakers=tuple(speaker or ()), said_from=since, said_to=until
        ),
        limit=limit,
        floor=floor,
        explain=explain,
        tier=tier.value,
        asked_at=asked_at,
    )
    found = await searched(asked)
    if json:
        for each in found.mixed:
            terminal.print_json({"tier": "memory" if isinstance(each, Hit) else "said", **asdict(each)})
    else:
        show(asked, found)
    for reason in found.degraded:
        terminal.print_error(
            f"something was out of reach, so more may be found later ({reason}): `memstream doctor` says more"
        )


def question(**fields: Any) -> Query:
    """Raises Misconfigured for options that contradict each other."""
    try:
        return Query(**fields)
    except ValueError as exc:
        raise Misconfigured(str(exc)) from exc


async def searched(asked: Query) -> Found:
    settings = load()
    await refuse_by_topic(settings)
    policies = settings.policies()
    refuse_if_texts_must_stay(settings, policies)
    async with (
        connections.postgres(settings, max_size=2) as pool,
        index(settings) as vectors,
        rerankers.reranked(settings, pool, policies, retrieval(pool, vectors, policies)) as searching,
    ):
        return await searching.search(asked)


def show(asked: Query, found: Found) -> None:
    if not found.mixed:
        terminal.print_line("nothing is remembered, and nothing was said, that has to do with this")
    explained = asked.explain and bool(asked.words)
    if found.hits:
        title = f"memories for {asked.text!r}" if asked.words else "memories, the most important first"
        show_memories(title, found.hits, explained)
    if found.said:
        show_passages(f"said, for {asked.text!r}", found.said, explained)


def show_memories(title: str, hits: Sequence[Hit], explained: bool) -> None:
    columns = ("score", *(PARTS if explained else ("kind",)), "text", "id")
    rows = [
        (
            f"{hit.score:.2f}",
            *(parts(hit) if explained else (hit.memory.kind,)),
            hit.memory.text,
            hit.memory.memory_id,
        )
        for hit in hits
    ]
    terminal.show_table(title, columns, rows, wide="text")


def show_passages(title: str, hits: Sequence[SaidHit], explained: bool) -> None:
    columns = ("score", *(PARTS if explained else ()), "on", "by", "text", "conversation")
    rows = [
        (
            f"{hit.score:.2f}",
            *((cosine(hit.cosine), f"{hit.words:.2f}") if explained else ()),
            f"{hit.passage.said_at:%Y-%m-%d}",
            hit.passage.said_by,
            hit.passage.text,
            hit.passage.conversation_id,
        )
        for hit in hits
    ]
    terminal.show_table(title, columns, rows, wide="text")


def parts(hit: Hit) -> tuple[str, ...]:
    """What the score is made of."""
    explained = hit.parts
    if explained is None:
        return ("",) * len(PARTS)
    return cosine(explained.cosine), f"{explained.lexical or 0:.2f}"


def cosine(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
