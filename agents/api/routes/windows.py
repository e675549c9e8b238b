"""Manual changes of a conversation's window. They need the right to write in every namespace that the conversation feeds."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response

from agents.api.access.authentication import CallerOf
from agents.api.access.callers import Caller
from agents.api.conversations.views import in_context
from agents.api.conversations.window_requests import (
    AcceptedRequest,
    ClearQuestion,
    ConversationSettings,
    MarkRequest,
    PruneQuestion,
    clear_question,
    prune_question,
    settings_view,
)
from agents.api.http.json_bodies import documented, json_body, json_response
from agents.api.http.problems import Problem, conflict, invalid, not_found
from agents.api.ports import Ports, PortsOf
from agents.api.routes.conversations import CONVERSATION_PATH, ConversationId, load_conversation
from agents.conversations.control import ByHand
from agents.conversations.lookup import Conversation
from schemas.conversations.adjustments import MOST_MARKS
from schemas.conversations.window_choices import WindowChoice
from schemas.conversations.windows import WindowState
from sinks.archive.messages import ArchivedMessage

router = APIRouter(prefix="/v1/conversations", tags=["conversations"])

ACCEPTED = "Accepted; takes effect within about a second."
ACCEPTED_RESPONSE = documented(AcceptedRequest, status=202, description=ACCEPTED)


@router.post(f"{CONVERSATION_PATH}/flush", openapi_extra=ACCEPTED_RESPONSE)
async def flush_conversation(conversation_id: ConversationId, caller: CallerOf, ports: PortsOf) -> Response:
    """Request the extraction of all messages that wait for it."""
    return await request_window_change(conversation_id, "flush", caller, ports)


@router.post(f"{CONVERSATION_PATH}/prune", openapi_extra=ACCEPTED_RESPONSE)
async def prune_conversation(conversation_id: ConversationId, caller: CallerOf, ports: PortsOf) -> Response:
    """Remove from the context what the current task does not need; `restore` undoes it."""
    return await request_window_change(conversation_id, "prune", caller, ports)


@router.get(f"{CONVERSATION_PATH}/prune", openapi_extra=documented(PruneQuestion))
async def ask_before_prune(conversation_id: ConversationId, caller: CallerOf, ports: PortsOf) -> Response:
    """The question to ask before a prune: what it would remove from the context. Nothing changes."""
    conversation, state = await load_window(conversation_id, "prune", caller, ports)
    return json_response(prune_question(state, *await ports.contexts.prunable(conversation)))


@router.get(f"{CONVERSATION_PATH}/clear", openapi_extra=documented(ClearQuestion))
async def ask_before_clear(conversation_id: ConversationId, caller: CallerOf, ports: PortsOf) -> Response:
    """The question to ask before a clear: what it would remove from the context. Nothing changes."""
    _, state = await load_window(conversation_id, "clear", caller, ports)
    return json_response(clear_question(state))


@router.post(f"{CONVERSATION_PATH}/clear", openapi_extra=ACCEPTED_RESPONSE)
async def clear_conversation(
    conversation_id: ConversationId,
    caller: CallerOf,
    ports: PortsOf,
    confirm: Annotated[
        bool, Query(description="Confirms the clear; required if the policy has `confirm_clear`.")
    ] = False,
) -> Response:
    """Remove everything but the system prompt from the context; waiting messages are still extracted. `restore` undoes it."""
    return await request_window_change(conversation_id, "clear", caller, ports, confirm=confirm)


@router.post(f"{CONVERSATION_PATH}/restore", openapi_extra=ACCEPTED_RESPONSE)
async def restore_conversation(conversation_id: ConversationId, caller: CallerOf, ports: PortsOf) -> Response:
    """Undo the last prune or clear: within ten minutes, and if nothing else left the context since."""
    return await request_window_change(conversation_id, "restore", caller, ports)


@router.post(
    f"{CONVERSATION_PATH}/mark",
    openapi_extra=documented(AcceptedRequest, request_body=MarkRequest, status=202, description=ACCEPTED),
)
async def mark_message(
    conversation_id: ConversationId,
    mark: Annotated[MarkRequest, Depends(json_body(MarkRequest))],
    caller: CallerOf,
    ports: PortsOf,
) -> Response:
    """Mark a sent message in context as pinned, important, expendable, or normal again."""
    conversation, state = await load_window(conversation_id, "mark", caller, ports, write=True)
    require_markable(state, await ports.conversations.message(conversation, mark.message_id), mark)
    await ports.window_control.send(state, "mark", message_id=mark.message_id, importance=mark.importance)
    return json_response(AcceptedRequest(conversation_id=conversation_id, kind="mark"), 202)


@router.get(f"{CONVERSATION_PATH}/settings", openapi_extra=documented(ConversationSettings))
async def get_window_settings(conversation_id: ConversationId, caller: CallerOf, ports: PortsOf) -> Response:
    """The settings of a conversation's context: those that apply, those chosen for it, and those that the policy allows to
    choose."""
    return json_response(settings_view(await load_conversation(conversation_id, caller, ports)))


@router.put(
    f"{CONVERSATION_PATH}/settings",
    openapi_extra=documented(AcceptedRequest, request_body=WindowChoice, status=202, description=ACCEPTED),
)
async def put_window_settings(
    conversation_id: ConversationId,
    choice: Annotated[WindowChoice, Depends(json_body(WindowChoice))],
    caller: CallerOf,
    ports: PortsOf,
) -> Response:
    """Choose settings for one conversation, within the policy's bounds; `{}` returns to the policy's."""
    conversation, state = await load_window(conversation_id, "settings", caller, ports, write=True)
    try:
        choice.require_allowed(conversation.policy.window)
    except ValueError as exc:
        raise invalid(str(exc)) from exc
    await ports.window_control.send(state, "settings", settings=choice)
    return json_response(AcceptedRequest(conversation_id=conversation_id, kind="settings"), 202)


async def request_window_change(
    conversation_id: str, kind: ByHand, caller: Caller, ports: Ports, *, confirm: bool = False
) -> Response:
    """Sends a manual request to the window. Raises Problem 404, 403 without the right to write, and 409 if there is no
    window, if a clear needs confirmation, or if nothing can be restored."""
    conversation, state = await load_window(conversation_id, kind, caller, ports, write=True)
    if kind == "clear" and conversation.policy.window.confirm_clear and not confirm:
        raise Problem(409, "confirmation-required", f"{clear_question(state).question} Confirm with `?confirm=true`")
    if kind == "restore" and (state.restorable is None or state.restorable.until < ports.clock().timestamp()):
        raise conflict(
            "nothing can be restored: the context was not pruned or cleared manually in the last ten minutes, or other "
            "messages left it since"
        )
    await ports.window_control.send(state, kind)
    return json_response(AcceptedRequest(conversation_id=conversation_id, kind=kind), 202)


async def load_window(
    conversation_id: str, kind: ByHand, caller: Caller, ports: Ports, *, write: bool = False
) -> tuple[Conversation, WindowState]:
    """Returns the conversation and its window, which exists about a second after the first message.

    Raises Problem 404, 403 if `write` is set and the right to write is missing, and 409 if there is no window.
    """
    conversation = await load_conversation(conversation_id, caller, ports, ports.window_wait_s)
    if write:
        require_write(conversation, caller)
    return conversation, window_of(conversation, kind)


def require_write(conversation: Conversation, caller: Caller) -> None:
    """Raises Problem 403 without the right to write."""
    for namespace in conversation.namespaces:
        caller.require("write", namespace)


def require_markable(state: WindowState, archived: ArchivedMessage | None, mark: MarkRequest) -> None:
    """Raises Problem 404 for an unknown message, and 409 for a message that left the context or if the number of marks
    reached its limit."""
    if archived is None:
        raise not_found(f"this conversation has no message {mark.message_id!r}")
    if archived.partition == state.partition and not in_context(state, archived.position):
        raise conflict(f"message {mark.message_id!r} has left the context: a mark cannot restore it")
    marks = state.adjustments.marks
    if len(marks) >= MOST_MARKS and mark.message_id not in marks and mark.importance != "normal":
        raise conflict(
            f"{len(marks)} messages of this conversation are marked, the limit is {MOST_MARKS}: mark others `normal` first"
        )


def window_of(conversation: Conversation, kind: ByHand) -> WindowState:
    """Returns the window's state. Raises Problem 409 if there is no window or it has expired."""
    state = conversation.state
    if state is None:
        raise conflict("the conversation has no window yet: retry in a second")
    if state.phase == "forgotten":
        raise conflict(f"the conversation's window has expired: there is nothing left to {kind}")
    return state
