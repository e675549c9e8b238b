"""Live memory events as server-sent events."""

from typing import Annotated, Final, Literal

from fastapi import APIRouter, Header, Query, Response, Security
from fastapi.security import HTTPAuthorizationCredentials

from agents.api.access.authentication import BEARER, CallerOf
from agents.api.access.callers import Caller
from agents.api.http.json_bodies import DocumentedBodies
from agents.api.http.problems import Problem, conflict, invalid
from agents.api.live import positions
from agents.api.live.change_notifier import ChangeNotifier
from agents.api.live.event_stream import EventStreamResponse, stream_events
from agents.api.live.positions import Positions
from agents.api.memories.list_parameters import Label
from agents.api.ports import Ports, PortsOf
from schemas.memories.events import ActivityEvent, MemoryEvent

router = APIRouter(prefix="/v1/events", tags=["events"])

MAX_NAMESPACES: Final = 20  # per stream: each notification queries PostgreSQL once per namespace
MAX_STREAMS: Final = 1_000  # per process
MAX_STREAMS_PER_KEY: Final = 100  # per key and process
RETRY_AFTER_S: Final = 10

STREAM: Final = DocumentedBodies(
    {
        "responses": {
            "200": {
                "description": "Server-sent events: a CloudEvent as `data`, its type as `event`, the position after it as `id`.",
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
    credentials: Annotated[HTTPAuthorizationCredentials | None, Security(BEARER)],
    namespace: Annotated[
        list[Label],
        Query(min_length=1, max_length=MAX_NAMESPACES, description="Namespaces to follow, such as `app/user`."),
    ],
    last_event_id: Annotated[
        str | None, Header(description="The `id` of the last event received; the stream continues after it.")
    ] = None,
    after: Annotated[str | None, Query(description="The same, for clients that cannot set headers.")] = None,
    since: Annotated[
        Literal["now", "beginning"], Query(description="Start of namespaces without a position in the id.")
    ] = "now",
) -> Response:
    """An endless stream of the memory events of namespaces, in the order of each namespace. It resumes after the last event
    received, at any replica and after any time; `memstream.namespace.erased` reports an erasure in between:
    then read the memories again."""
    for each in namespace:
        caller.require("read", each)
    if not positions.fits_in_header(namespace):
        raise invalid(
            f"event ids for these {len(namespace)} namespaces would be longer than {positions.MAX_CHARACTERS} characters: "
            "follow them in several streams"
        )
    start = await start_positions(
        ports, namespace, positions.parse_positions(last_event_id or after or ""), since == "beginning"
    )
    require_free_stream(ports.change_notifier, caller)

    async def allowed() -> bool:
        """Whether the key is still valid and has its rights. Streams may stay open for days."""
        current = await ports.authentication.authenticate(credentials.credentials if credentials else None)
        return current is not None and all(current.may("read", each) for each in namespace)

    return EventStreamResponse(
        stream_events(ports.event_history, ports.change_notifier, start, allowed, key_id=caller.key_id)
    )


def require_free_stream(notifier: ChangeNotifier, caller: Caller) -> None:
    """Raises Problem 503 or 429 if the process or the key has too many open streams. Call it after the last await: streams
    are counted once they begin."""
    retry = {"Retry-After": str(RETRY_AFTER_S)}
    if notifier.closed or notifier.subscribers >= MAX_STREAMS:
        raise Problem(503, "unavailable", "this process has too many open event streams: try again later", retry)
    if notifier.subscribers_of(caller.key_id) >= MAX_STREAMS_PER_KEY:
        raise Problem(
            429,
            "too-many-requests",
            f"this key has {MAX_STREAMS_PER_KEY} event streams open on this process, the limit: close one, or try again later",
            retry,
        )


async def start_positions(ports: Ports, namespaces: list[str], received: Positions, from_beginning: bool) -> Positions:
    """Returns the position in each namespace at which the stream begins. Raises Problem 409 for a position after the latest
    event: the store that issued it is gone."""
    heads = await ports.event_history.heads(namespaces)
    start = {each: received.get(each, 0 if from_beginning else heads[each]) for each in namespaces}
    if ahead := [each for each in namespaces if start[each] > heads[each]]:
        raise conflict(
            f"the event id names sequence {start[ahead[0]]} of {ahead[0]!r}, which is at {heads[ahead[0]]}: read the memories "
            "again and follow without an event id"
        )
    return start
