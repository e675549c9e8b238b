"""Acting on a conversation's window by hand, with the right to write in every namespace that the conversation feeds."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response

from agents.api.access.authentication import CallerOf
from agents.api.access.callers import Caller
from agents.api.conversations.by_hand import (
    AcceptedRequest,
    ClearQuestion,
    ConversationSettings,
    MarkRequest,
    clear_question,
    settings_view,
)
from agents.api.conversations.views import in_context
from agents.api.http.json_bodies import documented, json_body, json_response
from agents.api.http.problems import Problem, conflict, invalid, not_found
from agents.api.ports import Ports, PortsOf
from agents.api.routes.conversations import ONE, ConversationId, load_conversation
from agents.conversations.control import ByHand
from agents.conversations.lookup import Conversation
from schemas.conversations.adjustments import MOST_MARKS
from schemas.conversations.window_choices import WindowChoice
from schemas.conversations.windows import WindowState
from sinks.archive.messages import ArchivedMessage

router = APIRouter(prefix="/v1/conversations", tags=["conversations"])

SENT_TOLD = "It is asked for, and the conversation tells of it after about a second."
SENT = documented(AcceptedRequest, status=202, description=SENT_TOLD)


@router.post(f"{ONE}/flush", openapi_extra=SENT)
async def flush_conversation(conversation_id: ConversationId, caller: CallerOf, ports: PortsOf) -> Response:
    """Ask for the extraction of all that was said and is not extracted yet."""
    return await request_window_change(conversation_id, "flush", caller, ports)


@router.post(f"{ONE}/prune", openapi_extra=SENT)
async def prune_conversation(conversation_id: ConversationId, caller: CallerOf, ports: PortsOf) -> Response:
    """Take out of the context what the current task does not need."""
    return await request_window_change(conversation_id, "prune", caller, ports)


@router.get(f"{ONE}/clear", openapi_extra=documented(ClearQuestion))
async def ask_before_clear(conversation_id: ConversationId, caller: CallerOf, ports: PortsOf) -> Response:
    """The question to ask before a clear: what it would take out of the context. Nothing changes."""
    return json_response(clear_question(window_of(await load_conversation(conversation_id, caller, ports), "clear")))


@router.post(f"{ONE}/clear", openapi_extra=SENT)
async def clear_conversation(
    conversation_id: ConversationId,
    caller: CallerOf,
    ports: PortsOf,
    confirm: Annotated[
        bool, Query(description="Whoever asks was asked; needed where the policy has `confirm_clear`.")
    ] = False,
) -> Response:
    """Take everything out of the context but the system prompt; what is not extracted yet still will be. `restore` undoes it."""
    return await request_window_change(conversation_id, "clear", caller, ports, confirm=confirm)


@router.post(f"{ONE}/restore", openapi_extra=SENT)
async def restore_conversation(conversation_id: ConversationId, caller: CallerOf, ports: PortsOf) -> Response:
    """Undo the last clear: for ten minutes after it, and while nothing else has left the context."""
    return await request_window_change(conversation_id, "restore", caller, ports)


@router.post(
    f"{ONE}/mark", openapi_extra=documented(AcceptedRequest, takes=MarkRequest, status=202, description=SENT_TOLD)
)
async def mark_message(
    conversation_id: ConversationId,
    asked: Annotated[MarkRequest, Depends(json_body(MarkRequest))],
    caller: CallerOf,
    ports: PortsOf,
) -> Response:
    """Mark a message in context that was sent already: pinned, important, expendable, or normal again."""
    conversation = await load_conversation(conversation_id, caller, ports)
    require_write(conversation, caller)
    state = window_of(conversation, "mark")
    require_markable(state, await ports.conversations.message(conversation, asked.message_id), asked)
    await ports.window_control.send(state, "mark", message_id=asked.message_id, importance=asked.importance)
    return json_response(AcceptedRequest(conversation_id=conversation_id, kind="mark"), 202)


@router.get(f"{ONE}/settings", openapi_extra=documented(ConversationSettings))
async def get_window_settings(conversation_id: ConversationId, caller: CallerOf, ports: PortsOf) -> Response:
    """The settings of a conversation's context: what holds, what was chosen for it, and what may be."""
    return json_response(settings_view(await load_conversation(conversation_id, caller, ports)))


@router.put(
    f"{ONE}/settings",
    openapi_extra=documented(AcceptedRequest, takes=WindowChoice, status=202, description=SENT_TOLD),
)
async def put_window_settings(
    conversation_id: ConversationId,
    asked: Annotated[WindowChoice, Depends(json_body(WindowChoice))],
    caller: CallerOf,
    ports: PortsOf,
) -> Response:
    """Choose settings for one conversation, within what its policy lets be chosen; `{}` goes back to the policy's."""
    conversation = await load_conversation(conversation_id, caller, ports)
    require_write(conversation, caller)
    state = window_of(conversation, "settings")
    try:
        asked.require_allowed(conversation.policy.window)
    except ValueError as exc:
        raise invalid(str(exc)) from exc
    await ports.window_control.send(state, "settings", settings=asked)
    return json_response(AcceptedRequest(conversation_id=conversation_id, kind="settings"), 202)


async def request_window_change(
    conversation_id: str, kind: ByHand, caller: Caller, ports: Ports, *, confirm: bool = False
) -> Response:
    """Raises Problem 404, 403 without the right to write, 409 for a window that is not there, a clear that is to be
    confirmed, and one that cannot be undone any more."""
    conversation = await load_conversation(conversation_id, caller, ports)
    require_write(conversation, caller)
    state = window_of(conversation, kind)
    if kind == "clear" and conversation.policy.window.confirm_clear and not confirm:
        raise Problem(409, "confirmation-required", f"{clear_question(state).question} Ask again with `?confirm=true`")
    if kind == "restore" and (state.restorable_until or 0.0) < ports.clock().timestamp():
        raise conflict("no clear can be undone: there was none in the last ten minutes, or something else left since")
    await ports.window_control.send(state, kind)
    return json_response(AcceptedRequest(conversation_id=conversation_id, kind=kind), 202)


def require_write(conversation: Conversation, caller: Caller) -> None:
    """Raises Problem 403."""
    for namespace in conversation.namespaces:
        caller.require("write", namespace)


def require_markable(state: WindowState, archived: ArchivedMessage | None, asked: MarkRequest) -> None:
    """Raises Problem 404 for a message that is not there, 409 for one out of context and where no further mark has room."""
    if archived is None:
        raise not_found(f"no message {asked.message_id!r} is known of this conversation")
    if archived.partition == state.partition and not in_context(state, archived.position):
        raise conflict(f"message {asked.message_id!r} has left the context: a mark brings nothing back")
    marks = state.adjustments.marks
    if len(marks) >= MOST_MARKS and asked.message_id not in marks and asked.importance != "normal":
        raise conflict(f"{len(marks)} messages are marked, and there may be {MOST_MARKS}: make others `normal` first")


def window_of(conversation: Conversation, kind: ByHand) -> WindowState:
    """Raises Problem 409 for a window that is not there."""
    state = conversation.state
    if state is None:
        raise conflict("the conversation's window is not known yet: ask again in a second")
    if state.phase == "forgotten":
        raise conflict(f"the conversation's window is forgotten: there is nothing left to {kind}")
    return state
