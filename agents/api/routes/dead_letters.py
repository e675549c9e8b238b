"""Dead letters: records that a stage could not process. Reading them needs the right to read all namespaces, as their texts may
be anybody's; replaying and discarding them needs every right, and is audited."""

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path, Query, Response
from msgspec import Meta, Struct

from agents.api.access.authentication import CallerOf
from agents.api.access.callers import Caller
from agents.api.dead_letters.views import LetterContentView, LetterView, content_view, letter_view
from agents.api.http import cursors
from agents.api.http.cursors import CursorOf, LimitOf, decode_cursor
from agents.api.http.json_bodies import documented, json_body, json_response
from agents.api.http.problems import conflict, invalid, not_found
from agents.api.ports import Ports, PortsOf
from agents.dead_letters.letters import LetterStatus
from agents.dead_letters.reader import How, LetterFilter, places
from schemas.errors import Rejected
from sinks.access.audit import Audited

router = APIRouter(prefix="/v1/dead-letters", tags=["operations"])

MOST_AT_ONCE = 100  # letters that one request settles

Place = Annotated[str, Path(pattern=r"^\d{1,9}:\d{1,18}$", description="A letter's place, partition:offset.")]
Status = Annotated[
    Literal["waiting", "replayed", "discarded", "any"],
    Query(description="What became of them; those that wait by default."),
]
Reason = Annotated[str | None, Query(min_length=1, max_length=100, description="With this reason alone.")]
Stage = Annotated[str | None, Query(min_length=1, max_length=100, description="Of this stage alone.")]


PlaceName = Annotated[str, Meta(pattern=r"^\d{1,9}:\d{1,18}$")]


class LetterGroup(Struct, frozen=True, kw_only=True):
    """Letters that wait, by stage and reason."""

    stage: str
    reason: str
    letters: int


class LetterPage(Struct, frozen=True, kw_only=True):
    """The newest first; `waiting` counts all that wait, by stage and reason, the most first."""

    letters: tuple[LetterView, ...]
    waiting: tuple[LetterGroup, ...]
    next: str | None = None


class LetterCursor(Struct, frozen=True, array_like=True):
    """What a cursor of letters stands for."""

    passed: Annotated[int, Meta(ge=0, le=2**31)]


class LetterChoice(Struct, frozen=True, forbid_unknown_fields=True):
    """Places of letters, partition:offset. With `again` also letters that were replayed or discarded before."""

    letters: Annotated[tuple[PlaceName, ...], Meta(min_length=1, max_length=MOST_AT_ONCE)]
    again: bool = False


class LetterOutcome(Struct, frozen=True, kw_only=True):
    """What became of a letter; with an `error` nothing was done."""

    letter: str
    status: Literal["replayed", "discarded", "failed"]
    error: str | None = None


class LetterOutcomes(Struct, frozen=True):
    """Of each letter that was named."""

    outcomes: tuple[LetterOutcome, ...]


@router.get("", openapi_extra=documented(LetterPage))
async def list_dead_letters(
    caller: CallerOf,
    ports: PortsOf,
    status: Status = "waiting",
    stage: Stage = None,
    reason: Reason = None,
    limit: LimitOf = 50,
    cursor: CursorOf = None,
) -> Response:
    """Dead letters, the newest first, a page at a time, without their contents."""
    caller.require_everywhere("read")
    listed = (status, stage, reason)
    passed = decode_cursor(cursor, LetterCursor, listed).passed if cursor else 0
    every = await ports.dead_letters.statuses()
    wanted = LetterFilter(stage=stage, reason=reason)
    found = [each for each in reversed(every) if each.letter in wanted and status in ("any", each.became or "waiting")]
    page = found[passed : passed + limit]
    more = cursors.encode_cursor(LetterCursor(passed + limit), listed) if len(found) > passed + limit else None
    return json_response(LetterPage(letters=tuple(map(letter_view, page)), waiting=groups(every), next=more))


@router.get("/{letter}", openapi_extra=documented(LetterContentView))
async def get_dead_letter(letter: Place, caller: CallerOf, ports: PortsOf) -> Response:
    """A dead letter with its record, without what looks like a credential. It may include users' text."""
    caller.require_everywhere("read")
    found = await named(ports, (letter,))
    async for of, record in ports.dead_letters.contents([each.letter for each in found]):
        return json_response(content_view(next(each for each in found if each.letter is of), record))
    raise not_found(f"there is no dead letter {letter}")


@router.post("/replay", openapi_extra=documented(LetterOutcomes, takes=LetterChoice))
async def replay_dead_letters(
    wanted: Annotated[LetterChoice, Depends(json_body(LetterChoice))], caller: CallerOf, ports: PortsOf
) -> Response:
    """Publish letters again, unchanged and to their source partition. One that fails is told, and the others are done."""
    return await settle("replayed", wanted, caller, ports)


@router.post("/discard", openapi_extra=documented(LetterOutcomes, takes=LetterChoice))
async def discard_dead_letters(
    wanted: Annotated[LetterChoice, Depends(json_body(LetterChoice))], caller: CallerOf, ports: PortsOf
) -> Response:
    """Mark letters as done. The topic keeps them until its retention ends."""
    return await settle("discarded", wanted, caller, ports)


async def settle(how: How, wanted: LetterChoice, caller: Caller, ports: Ports) -> Response:
    """Raises Problem 403, 404 for a letter that is not there, 409 where all were settled before, and Retryable."""
    caller.require_everywhere("admin")
    found = await named(ports, wanted.letters)
    left = [each.letter for each in found if wanted.again or each.became is None]
    if not left:
        raise conflict("these letters were replayed or discarded before: `again` means them too")
    details = {"letters": [letter.place for letter in left]}
    await ports.audit.record(
        Audited(at=ports.clock(), actor=caller.actor, action=f"dead_letters.{how}", subject=how, details=details)
    )
    outcomes = []
    async for letter, record in ports.dead_letters.contents(left):
        try:
            await ports.dead_letters.settle(letter, record, how)
            outcomes.append(LetterOutcome(letter=letter.place, status=how))
        except Rejected as rejected:
            outcomes.append(LetterOutcome(letter=letter.place, status="failed", error=rejected.detail))
    return json_response(LetterOutcomes(tuple(outcomes)))


async def named(ports: Ports, letters: tuple[str, ...]) -> list[LetterStatus]:
    """Raises Problem 404 unless all are there."""
    try:
        wanted = LetterFilter(places=places(letters))
    except ValueError as exc:
        raise invalid(str(exc)) from exc
    found = await ports.dead_letters.statuses(wanted)
    if missing := set(letters) - {each.letter.place for each in found}:
        raise not_found(f"there is no dead letter {min(missing)}")
    return found


def groups(found: list[LetterStatus]) -> tuple[LetterGroup, ...]:
    counted: dict[tuple[str, str], int] = {}
    for each in found:
        if each.became is None:
            key = each.letter.stage, each.letter.reason
            counted[key] = counted.get(key, 0) + 1
    by_count = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    return tuple(LetterGroup(stage=stage, reason=reason, letters=count) for (stage, reason), count in by_count)
