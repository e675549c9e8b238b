"""Memory events as they happen, as server-sent events."""

from typing import Annotated, Final, Literal

from fastapi import APIRouter, Header, Query, Response, Security
from fastapi.security import HTTPAuthorizationCredentials

from agents.api.access.authentication import BEARER, CallerOf
from agents.api.access.callers import Caller
from agents.api.http.json_bodies import DocumentedBodies
from agents.api.http.problems import Problem, conflict, invalid
from agents.api.live import positions
from agents.api.live.change_notifier import ChangeNotifier
from agents.api.live.event_stream import stream_events
from agents.api.live.positions import Positions
from agents.api.live.streaming import EventStreamResponse
from agents.api.memories.list_parameters import Label
from agents.api.ports import Ports, PortsOf
from schemas.memories.events import ActivityEvent, MemoryEvent

router = APIRouter(prefix="/v1/events", tags=["events"])

MOST_NAMESPACES: Final = 20  # of one stream: each ring asks PostgreSQL once for each
MOST_STREAMS: Final = 1_000  # of one process
MOST_OF_A_KEY: Final = 100  # of these, so that one key does not take them all
FULL_S: Final = 10

STREAM: Final = DocumentedBodies(
    {
        "responses": {
            "200": {
                "description": "Server-sent events: a CloudEvent as `data`, its type as `event`, the place behind it as `id`.",
                "content": {
                    "text/event-stream": {
                        "schema": {"type": "string"},
                        "x-data": {
                            "anyOf": [
                                {"$ref": f"#/components/schemas/{each.__name__}"}
                                for each in (MemoryEvent, ActivityEvent)
                            ]
                        },
                    }
                },
            }
        }
    },
    (MemoryEvent, ActivityEvent),
)


@router.get("", openapi_extra=STREAM)
async def follow_events(
    caller: CallerOf,
    ports: PortsOf,
    sent: Annotated[HTTPAuthorizationCredentials | None, Security(BEARER)],
    namespace: Annotated[
        list[Label],
        Query(min_length=1, max_length=MOST_NAMESPACES, description="One or several, such as `app/user`."),
    ],
    last_event_id: Annotated[
        str | None, Header(description="The `id` of the last event that came: the next come.")
    ] = None,
    after: Annotated[str | None, Query(description="The same, for clients that cannot set headers.")] = None,
    since: Annotated[
        Literal["now", "beginning"], Query(description="Where namespaces begin that no id tells of.")
    ] = "now",
) -> Response:
    """What happens to the memories of namespaces, in each one's order, without end. It goes on exactly behind the last event that
    came, at any replica, however long that is ago; what was erased meanwhile is told as `memstream.namespace.erased`."""
    for each in namespace:
        caller.require("read", each)
    if not positions.fits_in_header(namespace):
        raise invalid(
            f"the names of these {len(namespace)} namespaces make ids of events longer than {positions.LONGEST} characters: "
            "follow them by several streams"
        )
    begun = await start_positions(
        ports, namespace, positions.parse_positions(last_event_id or after or ""), since == "beginning"
    )
    require_free_stream(ports.change_notifier, caller)

    async def allowed() -> bool:
        """Keys are revoked, and streams last for days."""
        still = await ports.authentication.authenticate(sent.credentials if sent else None)
        return still is not None and all(still.may("read", each) for each in namespace)

    return EventStreamResponse(
        stream_events(ports.event_history, ports.change_notifier, begun, allowed, key_id=caller.key_id)
    )


def require_free_stream(notifier: ChangeNotifier, caller: Caller) -> None:
    """To be called after the last wait: streams are counted once they begin."""
    retry = {"Retry-After": str(FULL_S)}
    if notifier.closed or notifier.listeners >= MOST_STREAMS:
        raise Problem(503, "unavailable", "this process takes no more streams now", retry)
    if notifier.listeners_of(caller.key_id) >= MOST_OF_A_KEY:
        raise Problem(429, "too-many-requests", f"this key has {MOST_OF_A_KEY} streams here: end one, or wait", retry)


async def start_positions(ports: Ports, namespaces: list[str], known: Positions, from_beginning: bool) -> Positions:
    """Raises Problem 409 for a place that is not reached yet: what it was told by is gone."""
    heads = await ports.event_history.heads(namespaces)
    begun = {each: known.get(each, 0 if from_beginning else heads[each]) for each in namespaces}
    if ahead := [each for each in namespaces if begun[each] > heads[each]]:
        raise conflict(
            f"{ahead[0]!r} is at {heads[ahead[0]]}, and the last event at {begun[ahead[0]]}: read what is there, and begin anew"
        )
    return begun
