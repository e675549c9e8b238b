"""Follows one message from its topic to its memories. It needs the right to read the conversation, and shows only namespaces
that the key may read."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Response

from agents.api.access.authentication import CallerOf
from agents.api.conversations.views import in_context
from agents.api.http.json_bodies import documented, json_response
from agents.api.http.problems import not_found
from agents.api.ports import PortsOf
from agents.api.routes.conversations import CONVERSATION_PATH, ConversationId, load_conversation
from agents.api.trails.trail import MessageTrail

MAX_PRUNINGS: Final = 200  # the latest ones, searched for the message

router = APIRouter(prefix="/v1/conversations", tags=["conversations"])


@router.get(f"{CONVERSATION_PATH}/trail", openapi_extra=documented(MessageTrail))
async def follow_message(
    conversation_id: ConversationId,
    message_id: Annotated[str, Query(min_length=1, max_length=256, description="The message's id.")],
    caller: CallerOf,
    ports: PortsOf,
) -> Response:
    """The path of a message, with times: its record, archive, passages, extraction requests, answers with cost, decisions on
    candidates, the memories that have it as a source with their events, and its pruning."""
    conversation = await load_conversation(conversation_id, caller, ports)
    found = await ports.trails.traces(conversation_id, message_id)
    if found is None:
        raise not_found(f"the archive has no message {message_id!r} in this conversation")
    prunings = await ports.conversations.prunings(conversation, MAX_PRUNINGS, None)
    steps, missing = await ports.trails.steps(found, prunings, lambda namespace: caller.may("read", namespace))
    position, state = found.archived.position, conversation.state
    window = state if state is not None and state.partition == found.archived.partition else None
    trail = MessageTrail(
        conversation_id=conversation_id,
        message_id=message_id,
        role=found.archived.role,
        said_at=found.archived.said_at,
        steps=steps,
        extracted=None if window is None else position < max(window.extracted_to, window.opened),
        in_context=None if window is None else in_context(window, position),
        missing=missing,
    )
    return json_response(trail)
