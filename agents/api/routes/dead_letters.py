"""Dead letters: records that a stage could not process.

Reading them needs the right to read all namespaces, as they may contain texts of any user. Replaying and discarding them
needs every right, and is audited.
"""

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
from agents.dead_letters.dead_letter_queue import DeadLetterStatus
from agents.dead_letters.reader import DeadLetterFilter, Outcome, parse_places
from schemas.errors import Rejected
from sinks.access.audit import Audited

router = APIRouter(prefix="/v1/dead-letters", tags=["operations"])

MAX_LETTERS = 100  # letters per request

Place = Annotated[str, Path(pattern=r"^\d{1,9}:\d{1,18}$", description="A letter's position, partition:offset.")]
Status = Annotated[
    Literal["waiting", "replayed", "discarded", "any"],
    Query(description="Status of the letters; default: waiting."),
]
Reason = Annotated[str | None, Query(min_length=1, max_length=100, description="Only letters with this reason.")]
Stage = Annotated[str | None, Query(min_length=1, max_length=100, description="Only letters of this stage.")]


PlaceName = Annotated[str, Meta(pattern=r"^\d{1,9}:\d{1,18}$")]


class LetterGroup(Struct, frozen=True, kw_only=True):
    """The number of waiting letters of a stage with the same reason."""

    stage: str
    reason: str
    letters: int


class LetterPage(Struct, frozen=True, kw_only=True):
    """Dead letters, newest first. `waiting` counts all waiting letters by stage and reason, largest count first."""

    letters: tuple[LetterView, ...]
    waiting: tuple[LetterGroup, ...]
    next: str | None = None


class LetterCursor(Struct, frozen=True, array_like=True):
    """The place that a cursor of letters encodes: the number of letters on the previous pages."""

    passed: Annotated[int, Meta(ge=0, le=2**31)]


class LetterChoice(Struct, frozen=True, forbid_unknown_fields=True):
    """Letters by position, partition:offset. With `again`, letters that were already replayed or discarded are included."""

    letters: Annotated[tuple[PlaceName, ...], Meta(min_length=1, max_length=MAX_LETTERS)]
    again: bool = False


class LetterOutcome(Struct, frozen=True, kw_only=True):
    """The outcome for a letter. If there is an `error`, the letter is unchanged."""

    letter: str
    status: Literal["replayed", "discarded", "failed"]
    error: str | None = None


class LetterOutcomes(Struct, frozen=True):
    """The outcome for each selected letter."""

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
    """List dead letters, newest first, in pages, without their contents."""
    caller.require_everywhere("read")
    list_key = (status, stage, reason)
    skipped = decode_cursor(cursor, LetterCursor, list_key).passed if cursor else 0
    all_letters = await ports.dead_letters.statuses()
    selection = DeadLetterFilter(stage=stage, reason=reason)
    found = [
        each
        for each in reversed(all_letters)
        if each.letter in selection and status in ("any", each.outcome or "waiting")
    ]
    page = found[skipped : skipped + limit]
    next_cursor = (
        cursors.encode_cursor(LetterCursor(skipped + limit), list_key) if len(found) > skipped + limit else None
    )
    return json_response(
        LetterPage(letters=tuple(map(letter_view, page)), waiting=waiting_by_reason(all_letters), next=next_cursor)
    )


@router.get("/{letter}", openapi_extra=documented(LetterContentView))
async def get_dead_letter(letter: Place, caller: CallerOf, ports: PortsOf) -> Response:
    """A dead letter with its record, credentials removed. It may contain users' text."""
    caller.require_everywhere("read")
    found = await find_dead_letters(ports, (letter,))
    async for stored, record in ports.dead_letters.contents([each.letter for each in found]):
        return json_response(content_view(next(each for each in found if each.letter is stored), record))
    raise not_found(f"there is no dead letter {letter}")


@router.post("/replay", openapi_extra=documented(LetterOutcomes, request_body=LetterChoice))
async def replay_dead_letters(
    choice: Annotated[LetterChoice, Depends(json_body(LetterChoice))], caller: CallerOf, ports: PortsOf
) -> Response:
    """Publish records again, unchanged and to their source partition. A failure is reported and does not stop the others."""
    return await settle("replayed", choice, caller, ports)


@router.post("/discard", openapi_extra=documented(LetterOutcomes, request_body=LetterChoice))
async def discard_dead_letters(
    choice: Annotated[LetterChoice, Depends(json_body(LetterChoice))], caller: CallerOf, ports: PortsOf
) -> Response:
    """Mark dead letters as done. The topic keeps them until its retention ends."""
    return await settle("discarded", choice, caller, ports)


async def settle(how: Outcome, choice: LetterChoice, caller: Caller, ports: Ports) -> Response:
    """Replays or discards letters. Raises Problem 403, 404 for an unknown letter, 409 if all were already settled, and
    Retryable."""
    caller.require_everywhere("admin")
    found = await find_dead_letters(ports, choice.letters)
    unsettled = [each.letter for each in found if choice.again or each.outcome is None]
    if not unsettled:
        raise conflict("these dead letters were replayed or discarded before: set `again` to include them")
    details = {"letters": [letter.place for letter in unsettled]}
    await ports.audit.record(
        Audited(at=ports.clock(), actor=caller.actor, action=f"dead_letters.{how}", subject=how, details=details)
    )
    outcomes = []
    async for letter, record in ports.dead_letters.contents(unsettled):
        try:
            await ports.dead_letters.settle(letter, record, how)
            outcomes.append(LetterOutcome(letter=letter.place, status=how))
        except Rejected as rejected:
            outcomes.append(LetterOutcome(letter=letter.place, status="failed", error=rejected.detail))
    return json_response(LetterOutcomes(tuple(outcomes)))


async def find_dead_letters(ports: Ports, places: tuple[str, ...]) -> list[DeadLetterStatus]:
    """Returns the dead letters at these positions. Raises Problem 404 if one does not exist."""
    try:
        selection = DeadLetterFilter(places=parse_places(places))
    except ValueError as exc:
        raise invalid(str(exc)) from exc
    found = await ports.dead_letters.statuses(selection)
    if missing := set(places) - {each.letter.place for each in found}:
        raise not_found(f"there is no dead letter {min(missing)}")
    return found


def waiting_by_reason(found: list[DeadLetterStatus]) -> tuple[LetterGroup, ...]:
    counts: dict[tuple[str, str], int] = {}
    for each in found:
        if each.outcome is None:
            key = each.letter.stage, each.letter.reason
            counts[key] = counts.get(key, 0) + 1
    by_count = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(LetterGroup(stage=stage, reason=reason, letters=count) for (stage, reason), count in by_count)
