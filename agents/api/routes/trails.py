"""One message followed from its topic to its memories. Who may read its conversation may follow it, into namespaces that the key
may read."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Response

from agents.api.access.authentication import CallerOf
from agents.api.conversations.views import in_context
from agents.api.http.json_bodies import documented, json_response
from agents.api.http.problems import not_found
from agents.api.ports import PortsOf
from agents.api.routes.conversations import ONE, ConversationId, load_conversation
from agents.api.trails.trail import MessageTrail

MOST_PRUNINGS: Final = 200  # the latest, looked through for the message

router = APIRouter(prefix="/v1/conversations", tags=["conversations"])


@router.get(f"{ONE}/trail", openapi_extra=documented(MessageTrail))
async def follow_message(
    conversation_id: ConversationId,
    message_id: Annotated[str, Query(min_length=1, max_length=256, description="The message's id.")],
    caller: CallerOf,
    ports: PortsOf,
) -> Response:
    """What became of a message, with times: its record, the archive, passages, extraction requests, answers with their cost,
    what was decided about each candidate, the memories that name it as a source with their events, and leaving the context."""
    conversation = await load_conversation(conversation_id, caller, ports)
    found = await ports.trails.traces(conversation_id, message_id)
    if found is None:
        raise not_found(f"the archive has no message {message_id!r} in this conversation")
    prunings = await ports.conversations.prunings(conversation, MOST_PRUNINGS, None)
    steps, missing = await ports.trails.steps(found, prunings, lambda namespace: caller.may("read", namespace))
    position, state = found.archived.position, conversation.state
    known = state if state is not None and state.partition == found.archived.partition else None
    trail = MessageTrail(
        conversation_id=conversation_id,
        message_id=message_id,
        role=found.archived.role,
        said_at=found.archived.said_at,
        steps=steps,
        extracted=None if known is None else position < max(known.extracted_to, known.opened),
        in_context=None if known is None else in_context(known, position),
        missing=missing,
    )
    return json_response(trail)
