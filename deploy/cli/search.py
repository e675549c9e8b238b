"""`memstream search`: searches memories and passages, or lists the most important memories."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

import typer
from msgspec.structs import asdict

from deploy.cli import terminal
from deploy.cli.command import Json, WrongUsage, command, one_command
from deploy.cli.namespace_options import valid_namespaces
from deploy.cli.time_options import parse_time
from deploy.settings import load
from deploy.wiring import connections, rerankers
from deploy.wiring.policy_store import policies_in_effect, stored_policies
from deploy.wiring.search import check_local_only, index, retrieval
from schemas.passages.passages import PassageFilters
from schemas.retrieval.searches import Filters, Found, Hit, Query, SaidHit

cli = one_command()

SCORE_PARTS = ("cosine", "words")


class Tier(StrEnum):
    """The tiers to search."""

    memories = "memories"
    said = "said"
    both = "both"


Since = Annotated[
    datetime | None,
    typer.Option(
        "--since", parser=parse_time, metavar="TIME", help="Only passages since this time: 7d, 2026-11-22T14:00."
    ),
]
Until = Annotated[
    datetime | None, typer.Option("--until", parser=parse_time, metavar="TIME", help="Only passages before this time.")
]
AskedAt = Annotated[
    datetime | None,
    typer.Option(
        parser=parse_time, metavar="TIME", help='Time that "yesterday" in the query relates to; default: now.'
    ),
]


@cli.command("search")
@command
async def search(
    namespace: Annotated[list[str], typer.Option("--namespace", "-n", help="Namespace to search; may be repeated.")],
    query: Annotated[str, typer.Argument(help="The query; without it, the most important memories.")] = "",
    tier: Annotated[
        Tier, typer.Option("--in", help="memories, said (passages of messages, word for word), or both.")
    ] = Tier.both,
    kind: Annotated[list[str] | None, typer.Option(help="Only memories of this kind; may be repeated.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Only memories with this tag; may be repeated.")] = None,
    speaker: Annotated[list[str] | None, typer.Option(help="Only passages of this speaker; may be repeated.")] = None,
    conversation: Annotated[
        list[str] | None, typer.Option(help="Only passages of this conversation; may be repeated.")
    ] = None,
    since: Since = None,
    until: Until = None,
    asked_at: AskedAt = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="Maximum number of hits.")] = 10,
    floor: Annotated[
        float | None,
        typer.Option(min=0.0, max=1.0, help="Minimum relevance; default: the embedding model's threshold."),
    ] = None,
    explain: Annotated[bool, typer.Option(help="Show the parts of each score.")] = False,
    json: Json = False,
) -> None:
    """Search memories and passages of messages by a question."""
    search_query = build_query(
        namespaces=valid_namespaces(namespace),
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
    found = await search_once(search_query)
    if json:
        for each in found.mixed:
            terminal.print_json(hit_json(each))
    else:
        show(search_query, found)
    for reason in found.degraded:
        terminal.print_error(
            f"part of the search was unavailable, so hits may be missing ({reason}): run `memstream doctor`"
        )


def build_query(**fields: Any) -> Query:
    """Builds the query. Raises WrongUsage for options that contradict each other."""
    try:
        return Query(**fields)
    except ValueError as exc:
        raise WrongUsage(str(exc)) from exc


async def search_once(query: Query) -> Found:
    settings = load()
    policies = policies_in_effect(settings, await stored_policies(settings))
    check_local_only(settings, policies)
    async with (
        connections.postgres(settings, max_size=2) as pool,
        index(settings) as vectors,
        rerankers.reranked(settings, pool, policies, retrieval(pool, vectors, policies)) as searching,
    ):
        return await searching.search(query)


def hit_json(hit: Hit | SaidHit) -> dict[str, Any]:
    """A hit as one line of JSON."""
    if isinstance(hit, Hit):
        return {"tier": "memory", **asdict(hit)}
    return {"tier": "said", **asdict(hit), "message_ids": hit.message_ids}


def show(query: Query, found: Found) -> None:
    if not found.mixed:
        terminal.print_line("no memory or passage matches")
    explained = query.explain and bool(query.words)
    if found.hits:
        title = f"memories for {query.text!r}" if query.words else "memories, the most important first"
        show_memories(title, found.hits, explained)
    if found.said:
        show_passages(f"said, for {query.text!r}", found.said, explained)


def show_memories(title: str, hits: Sequence[Hit], explained: bool) -> None:
    columns = ("score", *(SCORE_PARTS if explained else ("kind",)), "text", "id")
    rows = [
        (
            f"{hit.score:.2f}",
            *(score_parts(hit) if explained else (hit.memory.kind,)),
            hit.memory.text,
            hit.memory.memory_id,
        )
        for hit in hits
    ]
    terminal.show_table(title, columns, rows, wide="text")


def show_passages(title: str, hits: Sequence[SaidHit], explained: bool) -> None:
    columns = ("score", *(SCORE_PARTS if explained else ()), "on", "by", "text", "conversation")
    rows = [
        (
            f"{hit.score:.2f}",
            *((cosine(hit.cosine), f"{hit.words:.2f}") if explained else ()),
            f"{hit.passage.said_at:%Y-%m-%d}",
            hit.passage.said_by,
            passage_text(hit),
            hit.passage.conversation_id,
        )
        for hit in hits
    ]
    terminal.show_table(title, columns, rows, wide="text")


def passage_text(hit: SaidHit) -> str:
    """Returns the text of a passage; with neighbours, one line per message with its speaker."""
    if not hit.neighbours:
        return hit.passage.text
    return "\n".join(f"{each.said_by}: {each.text}" for each in hit.exchange)


def score_parts(hit: Hit) -> tuple[str, ...]:
    """Returns the parts of a score as table cells."""
    explained = hit.parts
    if explained is None:
        return ("",) * len(SCORE_PARTS)
    return cosine(explained.cosine), f"{explained.lexical or 0:.2f}"


def cosine(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
