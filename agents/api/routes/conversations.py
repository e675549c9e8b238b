"""Conversations: what is in context and why, what was said, and erasing it.

A conversation may be read with the right to read in every namespace that it feeds. One that may not be read is no different
from none.
"""

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path, Query, Response
from msgspec import Meta, Struct

from agents.api.access.authentication import CallerOf
from agents.api.access.callers import Caller
from agents.api.access.erasure import ConversationErasurePreview, preview_conversation_erasure
from agents.api.conversations.views import (
    ContextView,
    ConversationView,
    MessagePage,
    PruningPage,
    context_view,
    message_view,
    pruning_view,
    view,
)
from agents.api.http import cursors
from agents.api.http.cursors import CursorOf, LimitOf, decode_cursor
from agents.api.http.json_bodies import documented, json_body, json_response
from agents.api.http.problems import not_found
from agents.api.memories.apply_change import IdempotencyKey
from agents.api.ports import Ports, PortsOf
from agents.api.routes.changes import Reason
from agents.api.routes.erasures import BEGUN, begin_erasure
from agents.conversations.lookup import Conversation
from schemas.conversations.contexts import ContextQuery
from schemas.erasure.receipts import Receipt
from sinks.archive.messages import Place
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
