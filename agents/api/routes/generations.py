"""Generations: what replays remember beside live memories, what differs, switching to one and back.

A replay is begun on the command line: it is work for minutes or days. What it would change in a namespace is told to who may read
that namespace; a switch concerns all of them.
"""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Final

from fastapi import APIRouter, Path, Query, Response
from msgspec import Meta, Struct
from msgspec.structs import asdict

from agents.api.access.authentication import CallerOf
from agents.api.access.callers import Caller
from agents.api.http import cursors
from agents.api.http.cursors import CursorOf, LimitOf, decode_cursor
from agents.api.http.json_bodies import documented, json_response
from agents.api.http.problems import Problem, not_found
from agents.api.ports import Ports, PortsOf
from agents.replay.comparison import Difference
from agents.replay.cutover import CutoverResult
from schemas.conversations.messages import Moment
from schemas.errors import Misconfigured
from schemas.replay.generations import Generation, GenerationStatus, ReplaySource
from sinks.access.audit import Audited

router = APIRouter(prefix="/v1/generations", tags=["generations"])

MOST: Final = 100
CONFLICT: Final = {409: "It is not in a state for that."}
TOO_MANY: Final = {409: "The namespace holds more memories than a request compares: the command line does."}

GenerationIdOf = Annotated[str, Path(min_length=1, max_length=64, description="A generation's id.")]


class GenerationView(Struct, frozen=True, kw_only=True):
    """A replay: what it goes through, how far it is, and what became of it. `policies` are those that it was made with and that
    did not apply until then."""

    generation_id: str
    status: GenerationStatus
    created_at: Moment
    changed_at: Moment
    namespaces: str
    since: Moment | None
    until: Moment
    source: ReplaySource
    policies: tuple[str, ...]
    provider: str | None
    model: str | None
    conversations: int
    done: int
    slices: int
    failed: int
    failure: str | None
    namespaces_fed: int


class GenerationList(Struct, frozen=True):
    """The youngest first."""

    generations: tuple[GenerationView, ...]


class DifferencePage(Struct, frozen=True):
    """Live memories with what becomes of them, then what is new; `next` is the cursor of the page behind this one."""

    differences: tuple[Difference, ...]
    next: str | None = None


class DifferenceCursor(Struct, frozen=True, array_like=True):
    """What a cursor of differences stands for."""

    number: Annotated[int, Meta(ge=0, le=2**31 - 1)]


@router.get("", openapi_extra=documented(GenerationList))
async def list_generations(caller: CallerOf, ports: PortsOf) -> Response:
    """The latest generations."""
    caller.require_everywhere("read")
    found = await ports.replays.latest(MOST)
    return json_response(GenerationList(tuple([await view(each, ports) for each in found])))


@router.get("/{generation_id}", openapi_extra=documented(GenerationView))
async def get_generation(generation_id: GenerationIdOf, caller: CallerOf, ports: PortsOf) -> Response:
    """One generation: how far it is, what became of it."""
    caller.require_everywhere("read")
    return json_response(await view(await load_generation(generation_id, ports), ports))


@router.get("/{generation_id}/differences", openapi_extra=documented(DifferencePage, without_body=TOO_MANY))
async def list_differences(
    generation_id: GenerationIdOf,
    namespace: Annotated[str, Query(min_length=1, max_length=256, description="In this namespace.")],
    caller: CallerOf,
    ports: PortsOf,
    limit: LimitOf = 50,
    cursor: CursorOf = None,
) -> Response:
    """What a generation would change in a namespace, and what it leaves alone, with the messages that both sides come from."""
    caller.require("read", namespace)
    generation = await load_generation(generation_id, ports)
    listed = ("differences", generation_id, namespace)
    first = decode_cursor(cursor, DifferenceCursor, listed).number if cursor else 0
    try:
        found = await ports.replays.differences(generation, namespace)
    except Misconfigured as exc:
        raise Problem(409, "conflict", str(exc)) from exc
    behind = first + limit
    more = cursors.encode_cursor(DifferenceCursor(behind), listed) if behind < len(found) else None
    return json_response(DifferencePage(tuple(found[first:behind]), more))


@router.post("/{generation_id}/cutover", openapi_extra=documented(CutoverResult, without_body=CONFLICT))
async def cut_over(generation_id: GenerationIdOf, caller: CallerOf, ports: PortsOf) -> Response:
    """Replace live memories by a generation's. After an interruption, send the request again to continue."""
    return await switch_generation(generation_id, caller, ports, "generation.cutover", ports.replays.cut_over)


@router.post("/{generation_id}/undo", openapi_extra=documented(CutoverResult, without_body=CONFLICT))
async def undo_cutover(generation_id: GenerationIdOf, caller: CallerOf, ports: PortsOf) -> Response:
    """Take a cutover back; what was changed since stays as it is."""
    return await switch_generation(generation_id, caller, ports, "generation.undo", ports.replays.undo)


async def switch_generation(
    generation_id: str, caller: Caller, ports: Ports, action: str, switch: Callable[[str], Awaitable[CutoverResult]]
) -> Response:
    """Audited first: what cannot be told is not done. Raises Problem 403, 404, 409."""
    caller.require_everywhere("admin")
    await load_generation(generation_id, ports)
    details: dict[str, Any] = {"generation_id": generation_id}
    audited = Audited(at=ports.clock(), actor=caller.actor, action=action, subject=generation_id, details=details)
    await ports.audit.record(audited)
    try:
        return json_response(await switch(generation_id))
    except Misconfigured as exc:
        raise Problem(409, "conflict", str(exc)) from exc


async def load_generation(generation_id: str, ports: Ports) -> Generation:
    """Raises Problem 404."""
    generation = await ports.replays.get(generation_id)
    if generation is None:
        raise not_found(f"there is no generation {generation_id!r}")
    return generation


async def view(generation: Generation, ports: Ports) -> GenerationView:
    plan, progress = generation.plan, asdict(await ports.replays.progress(generation.generation_id))
    return GenerationView(
        generation_id=generation.generation_id,
        status=generation.status,
        created_at=generation.created_at,
        changed_at=generation.changed_at,
        namespaces=plan.namespaces,
        since=plan.since,
        until=plan.until,
        source=plan.source,
        policies=plan.overridden,
        provider=plan.provider,
        model=plan.model,
        namespaces_fed=progress.pop("namespaces"),
        **progress,
    )
