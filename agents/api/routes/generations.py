"""Generations: the results of replays beside live memories, their differences, cutover and undo.

The command line starts replays, as they take minutes or days. Reading the differences in a namespace needs the right to read
it; a cutover needs rights in all namespaces.
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

MAX_GENERATIONS: Final = 100
CONFLICT: Final = {409: "The generation is in another state."}
TOO_MANY: Final = {409: "The namespace has too many memories for one request: use `memstream diff`."}

GenerationIdOf = Annotated[str, Path(min_length=1, max_length=64, description="A generation's id.")]


class GenerationView(Struct, frozen=True, kw_only=True):
    """A replay: its scope, its progress and its outcome. `policies` names the policies that applied only to the replay."""

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
    """Generations, newest first."""

    generations: tuple[GenerationView, ...]


class DifferencePage(Struct, frozen=True):
    """Live memories with their fate, then new memories. `next` is the cursor of the following page."""

    differences: tuple[Difference, ...]
    next: str | None = None


class DifferenceCursor(Struct, frozen=True, array_like=True):
    """The place that a cursor of differences encodes."""

    number: Annotated[int, Meta(ge=0, le=2**31 - 1)]


@router.get("", openapi_extra=documented(GenerationList))
async def list_generations(caller: CallerOf, ports: PortsOf) -> Response:
    """List the latest generations."""
    caller.require_everywhere("read")
    found = await ports.replays.latest(MAX_GENERATIONS)
    return json_response(GenerationList(tuple([await generation_view(each, ports) for each in found])))


@router.get("/{generation_id}", openapi_extra=documented(GenerationView))
async def get_generation(generation_id: GenerationIdOf, caller: CallerOf, ports: PortsOf) -> Response:
    """One generation: progress and outcome."""
    caller.require_everywhere("read")
    return json_response(await generation_view(await load_generation(generation_id, ports), ports))


@router.get("/{generation_id}/differences", openapi_extra=documented(DifferencePage, without_body=TOO_MANY))
async def list_differences(
    generation_id: GenerationIdOf,
    namespace: Annotated[str, Query(min_length=1, max_length=256, description="The namespace to compare.")],
    caller: CallerOf,
    ports: PortsOf,
    limit: LimitOf = 50,
    cursor: CursorOf = None,
) -> Response:
    """The differences between a generation and a live namespace, with the source messages of both sides."""
    caller.require("read", namespace)
    generation = await load_generation(generation_id, ports)
    list_key = ("differences", generation_id, namespace)
    first = decode_cursor(cursor, DifferenceCursor, list_key).number if cursor else 0
    try:
        found = await ports.replays.differences(generation, namespace)
    except Misconfigured as exc:
        raise Problem(409, "conflict", str(exc)) from exc
    end = first + limit
    next_cursor = cursors.encode_cursor(DifferenceCursor(end), list_key) if end < len(found) else None
    return json_response(DifferencePage(tuple(found[first:end]), next_cursor))


@router.post("/{generation_id}/cutover", openapi_extra=documented(CutoverResult, without_body=CONFLICT))
async def cut_over(generation_id: GenerationIdOf, caller: CallerOf, ports: PortsOf) -> Response:
    """Replace live memories by a generation's. After an interruption, send the request again to continue."""
    return await switch_generation(generation_id, caller, ports, "generation.cutover", ports.replays.cut_over)


@router.post("/{generation_id}/undo", openapi_extra=documented(CutoverResult, without_body=CONFLICT))
async def undo_cutover(generation_id: GenerationIdOf, caller: CallerOf, ports: PortsOf) -> Response:
    """Undo a cutover. Later changes stay."""
    return await switch_generation(generation_id, caller, ports, "generation.undo", ports.replays.undo)


async def switch_generation(
    generation_id: str, caller: Caller, ports: Ports, action: str, switch: Callable[[str], Awaitable[CutoverResult]]
) -> Response:
    """Records the action in the audit log, then switches; without the audit entry nothing changes. Raises Problem 403, 404
    and 409."""
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
    """Returns the generation. Raises Problem 404."""
    generation = await ports.replays.get(generation_id)
    if generation is None:
        raise not_found(f"there is no generation {generation_id!r}")
    return generation


async def generation_view(generation: Generation, ports: Ports) -> GenerationView:
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
