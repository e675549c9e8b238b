"""Conversations: what is in context and why, what was said, and acting on a window by hand.

A conversation may be read with the right to read in every namespace that it feeds, and acted on with the right to write in
them. One that may not be read is no different from none.
"""

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path, Query, Response
from msgspec import Meta, Struct

from agents.api.access.authentication import CallerOf
from agents.api.access.callers import Caller
from agents.api.access.erasure import ConversationErasurePreview, preview_conversation_erasure
from agents.api.conversations.views import (
    AcceptedRequest,
    ClearQuestion,
    ContextView,
    ConversationSettings,
    ConversationView,
    MarkRequest,
    MessagePage,
    PruningPage,
    clear_question,
    context_view,
    in_context,
    message_view,
    pruning_view,
    settings_view,
    view,
)
from agents.api.http import cursors
from agents.api.http.cursors import CursorOf, LimitOf, decode_cursor
from agents.api.http.json_bodies import documented, json_body, json_response
from agents.api.http.problems import Problem, conflict, invalid, not_found
from agents.api.memories.apply_change import IdempotencyKey
from agents.api.ports import Ports, PortsOf
from agents.api.routes.changes import Reason
from agents.api.routes.erasures import BEGUN, begin_erasure
from agents.conversations.control import ByHand
from agents.conversations.lookup import Conversation
from schemas.conversations.adjustments import MOST_MARKS
from schemas.conversations.contexts import ContextQuery
from schemas.conversations.window_choices import WindowChoice
from schemas.conversations.windows import WindowState
from schemas.erasure.receipts import Receipt
from sinks.archive.messages import ArchivedMessage, Place
from sinks.windows.projection import PruningPlace

router = APIRouter(prefix="/v1/conversations", tags=["conversations"])

# Chat services choose these ids, and some hold slashes: whatever stands between is the id, escaped or not.
ConversationId = Annotated[str, Path(min_length=1, max_length=256, description="A conversation's id.")]
ONE = "/{conversation_id:path}"


@router.get(f"{ONE}/messages", openapi_extra=documented(MessagePage))
async def list_messages(
    conversation_id: ConversationId,
    caller: CallerOf,
    ports: PortsOf,
    limit: LimitOf = 50,
    cursor: CursorOf = None,
    order: Annotated[Literal["oldest", "newest"], Query(description="What comes first.")] = "oldest",
) -> Response:
    """What was said in a conversation, a page at a time, as long as the archive keeps it."""
    conversation = await load_conversation(conversation_id, caller, ports)
    listed = (conversation_id, order)
    beyond = decode_cursor(cursor, MessageCursor, listed).place if cursor else None
    found = await ports.conversations.messages(
        conversation, beyond=beyond, limit=limit + 1, backwards=order == "newest"
    )
    page = found[:limit]
    more = (
        cursors.encode_cursor(MessageCursor(page[-1].partition, page[-1].position), listed)
        if len(found) > limit
        else None
    )
    measured = await ports.contexts.measured(conversation, page)
    views = (message_view(each, conversation.state, *of) for each, of in zip(page, measured, strict=True))
    return json_response(MessagePage(messages=tuple(views), next=more))


@router.get(f"{ONE}/context", openapi_extra=documented(ContextView))
async def get_context(
    conversation_id: ConversationId,
    caller: CallerOf,
    ports: PortsOf,
    max_tokens: Annotated[int | None, Query(ge=1, le=2**31, description="Fewer billed tokens than may be.")] = None,
    model: Annotated[
        str | None, Query(min_length=1, max_length=256, description="The model that will read it.")
    ] = None,
) -> Response:
    """What a model is to be shown of the conversation: pruned by the rules of its policy, with markers and statistics."""
    return await context_response(conversation_id, ContextQuery(max_tokens=max_tokens, model=model), caller, ports)


@router.post(f"{ONE}/context", openapi_extra=documented(ContextView, takes=ContextQuery))
async def make_context(
    conversation_id: ConversationId,
    asked: Annotated[ContextQuery, Depends(json_body(ContextQuery))],
    caller: CallerOf,
    ports: PortsOf,
) -> Response:
    """The same, with a system prompt, or a current message, that was not published."""
    return await context_response(conversation_id, asked, caller, ports)


@router.get(f"{ONE}/prunings", openapi_extra=documented(PruningPage))
async def list_prunings(
    conversation_id: ConversationId, caller: CallerOf, ports: PortsOf, limit: LimitOf = 50, cursor: CursorOf = None
) -> Response:
    """When messages left the context, how many and why, the newest first, a page at a time."""
    conversation = await load_conversation(conversation_id, caller, ports)
    before = decode_cursor(cursor, PruningCursor, conversation_id).place if cursor else None
    found = await ports.conversations.prunings(conversation, limit + 1, before)
    page = found[:limit]
    more = (
        cursors.encode_cursor(PruningCursor(page[-1].at, page[-1].number), conversation_id)
        if len(found) > limit
        else None
    )
    return json_response(PruningPage(prunings=tuple(map(pruning_view, page)), next=more))


class MessageCursor(Struct, frozen=True, array_like=True):
    """What a cursor of messages stands for."""

    partition: Annotated[int, Meta(ge=0, le=2**31 - 1)]
    position: Annotated[int, Meta(ge=0, le=2**63 - 1)]

    @property
    def place(self) -> Place:
        return self.partition, self.position


class PruningCursor(Struct, frozen=True, array_like=True):
    """What a cursor of prunings stands for. PostgreSQL's times end later than these, in Unix seconds."""

    at: Annotated[float, Meta(ge=0, le=2**38)]
    number: Annotated[int, Meta(ge=0, le=2**63 - 1)]

    @property
    def place(self) -> PruningPlace:
        return self.at, self.number


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


@router.get(f"{ONE}/erasure", openapi_extra=documented(ConversationErasurePreview))
async def foresee_erasure(conversation_id: ConversationId, caller: CallerOf, ports: PortsOf) -> Response:
    """What erasing the conversation would take; nothing is erased. It needs the same rights."""
    found = await ports.conversations.find(conversation_id, lambda namespace: caller.may("admin", namespace))
    if found is None:
        raise not_found("no conversation of this id is known that this key may erase")
    return json_response(await preview_conversation_erasure(ports.owners, found))


@router.delete(ONE, openapi_extra=documented(Receipt, with_same_body=BEGUN))
async def erase_conversation(
    conversation_id: ConversationId,
    caller: CallerOf,
    ports: PortsOf,
    key: IdempotencyKey = None,
    reason: Reason = None,
) -> Response:
    """Erase a conversation for good: what was said in it, its window, and every memory that came of nothing else.

    It needs every right in all namespaces that it feeds; where nothing is known of it, in all there are.
    """
    found = await ports.conversations.find(conversation_id, lambda namespace: caller.may("admin", namespace))
    if found is None and not caller.may_everywhere("admin"):
        raise not_found("no conversation of this id is known that this key may erase")
    return await begin_erasure(ports, caller, "conversation", key, reason, conversation_id=conversation_id)


@router.get(ONE, openapi_extra=documented(ConversationView))  # the last: its address begins all others
async def get_conversation(conversation_id: ConversationId, caller: CallerOf, ports: PortsOf) -> Response:
    """What is known of a conversation: whose it is, and how full its context is with what."""
    return json_response(view(await load_conversation(conversation_id, caller, ports), ports.clock()))


async def load_conversation(conversation_id: str, caller: Caller, ports: Ports) -> Conversation:
    """Raises Problem 404, also for one that the caller may not read."""
    found = await ports.conversations.find(conversation_id, lambda namespace: caller.may("read", namespace))
    if found is None:
        raise not_found("no conversation of this id is known that this key may read")
    return found


async def context_response(conversation_id: str, asked: ContextQuery, caller: Caller, ports: Ports) -> Response:
    conversation = await load_conversation(conversation_id, caller, ports)
    return json_response(context_view(conversation, await ports.contexts.build(conversation, asked), ports.clock()))


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
