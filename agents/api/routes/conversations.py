"""Conversations: their context and its prunings, their messages, and their erasure.

A caller may read a conversation if it may read every namespace that the conversation feeds. For other callers the
conversation does not exist.
"""

from collections.abc import Sequence
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Depends, Path, Query, Response
from msgspec import Meta, Struct

from agents.api.access.authentication import CallerOf
from agents.api.access.callers import Caller
from agents.api.access.erasure import ConversationErasurePreview, preview_conversation_erasure
from agents.api.conversations.shapes import (
    ContextView,
    ConversationPage,
    ConversationView,
    MessagePage,
    MessageView,
    PruningPage,
)
from agents.api.conversations.views import (
    context_view,
    conversation_view,
    message_view,
    pruning_view,
    summary_view,
    with_reason,
)
from agents.api.http import cursors
from agents.api.http.cursors import CursorOf, LimitOf, decode_cursor
from agents.api.http.json_bodies import documented, json_body, json_response
from agents.api.http.problems import invalid, not_found
from agents.api.memories.apply_change import IdempotencyKey
from agents.api.ports import Ports, PortsOf
from agents.api.routes.changes import Reason
from agents.api.routes.erasures import IN_PROGRESS, begin_erasure
from agents.conversations.listing import ConversationQuery
from agents.conversations.lookup import Conversation
from schemas.conversations.contexts import ContextQuery
from schemas.conversations.windows import Phase, WindowPlace
from schemas.erasure.receipts import Receipt
from sinks.archive.messages import Place
from sinks.windows.projection import PruningPlace

router = APIRouter(prefix="/v1/conversations", tags=["conversations"])

# Chat services choose these ids and some contain slashes, so the path parameter matches slashes, escaped or not.
ConversationId = Annotated[str, Path(min_length=1, max_length=256, description="A conversation's id.")]
CONVERSATION_PATH = "/{conversation_id:path}"
MAX_PRUNINGS: Final = 200  # searched for the reason why a message left


@router.get("", openapi_extra=documented(ConversationPage))
async def list_conversations(
    caller: CallerOf,
    ports: PortsOf,
    namespace: Annotated[
        str | None, Query(min_length=1, max_length=256, description="Only conversations that feed this namespace.")
    ] = None,
    user_id: Annotated[
        str | None, Query(min_length=1, max_length=256, description="Only conversations with messages of this user.")
    ] = None,
    phase: Annotated[Phase | None, Query(description="Only conversations in this phase.")] = None,
    limit: LimitOf = 50,
    cursor: CursorOf = None,
) -> Response:
    """List the conversations that the key may read, the one with the latest message first, in pages."""
    if namespace is not None:
        caller.require("read", namespace)
    list_key = ("conversations", namespace, user_id, phase)
    after = decode_cursor(cursor, ConversationCursor, list_key).place if cursor else None
    query = ConversationQuery(namespace=namespace, user_id=user_id, phase=phase, after=after, limit=limit)
    page = await ports.conversation_list.page(query, lambda name: caller.may("read", name))
    next_cursor = cursors.encode_cursor(ConversationCursor(*page.next_place), list_key) if page.next_place else None
    return json_response(ConversationPage(conversations=tuple(map(summary_view, page.conversations)), next=next_cursor))


@router.get(f"{CONVERSATION_PATH}/messages", openapi_extra=documented(MessagePage))
async def list_messages(
    conversation_id: ConversationId,
    caller: CallerOf,
    ports: PortsOf,
    limit: LimitOf = 50,
    cursor: CursorOf = None,
    order: Annotated[Literal["oldest", "newest"], Query(description="The order.")] = "oldest",
    around: Annotated[
        str | None,
        Query(min_length=1, max_length=256, description="Return the page that has this message in its middle."),
    ] = None,
) -> Response:
    """List the archived messages of a conversation, in pages."""
    if cursor is not None and around is not None:
        raise invalid("`cursor` and `around` exclude each other: give one of them")
    conversation = await load_conversation(conversation_id, caller, ports)
    list_key, backwards = (conversation_id, order), order == "newest"
    after = decode_cursor(cursor, MessageCursor, list_key).place if cursor else None
    if around is not None:
        after = await page_start_around(around, conversation, limit, backwards, ports)
    found = await ports.conversations.messages(conversation, beyond=after, limit=limit + 1, backwards=backwards)
    page = found[:limit]
    next_cursor = (
        cursors.encode_cursor(MessageCursor(page[-1].partition, page[-1].position), list_key)
        if len(found) > limit
        else None
    )
    measured = await ports.contexts.measured(conversation, page)
    views = [message_view(each, conversation.state, *of) for each, of in zip(page, measured, strict=True)]
    return json_response(MessagePage(messages=await with_reasons(views, conversation, ports), next=next_cursor))


async def page_start_around(
    message_id: str, conversation: Conversation, limit: int, backwards: bool, ports: Ports
) -> Place | None:
    """Returns the place before a page that has the message in its middle; None if that is the first page.

    Raises Problem 404 if the archive does not have the message.
    """
    middle = await ports.conversations.message(conversation, message_id)
    if middle is None:
        raise not_found(f"the archive has no message {message_id!r} in this conversation")
    before = (limit - 1) // 2
    place = middle.partition, middle.position
    found = await ports.conversations.messages(conversation, beyond=place, limit=before + 1, backwards=not backwards)
    return (found[before].partition, found[before].position) if len(found) > before else None


async def with_reasons(
    views: Sequence[MessageView], conversation: Conversation, ports: Ports
) -> tuple[MessageView, ...]:
    """Adds the reason to messages that left the context."""
    if all(each.in_context is not False for each in views):
        return tuple(views)
    prunings = await ports.conversations.prunings(conversation, MAX_PRUNINGS, None)
    return tuple(with_reason(each, prunings) if each.in_context is False else each for each in views)


@router.get(f"{CONVERSATION_PATH}/context", openapi_extra=documented(ContextView))
async def get_context(
    conversation_id: ConversationId,
    caller: CallerOf,
    ports: PortsOf,
    max_tokens: Annotated[
        int | None, Query(ge=1, le=2**31, description="A limit of billed tokens below the policy's.")
    ] = None,
    model: Annotated[
        str | None, Query(min_length=1, max_length=256, description="The model that will read the context.")
    ] = None,
) -> Response:
    """The messages of a conversation to show to a model: pruned by its policy, with markers and statistics."""
    return await context_response(conversation_id, ContextQuery(max_tokens=max_tokens, model=model), caller, ports)


@router.post(f"{CONVERSATION_PATH}/context", openapi_extra=documented(ContextView, request_body=ContextQuery))
async def make_context(
    conversation_id: ConversationId,
    query: Annotated[ContextQuery, Depends(json_body(ContextQuery))],
    caller: CallerOf,
    ports: PortsOf,
) -> Response:
    """The context of a conversation, with a system prompt or a current message that was not published."""
    return await context_response(conversation_id, query, caller, ports)


@router.get(f"{CONVERSATION_PATH}/prunings", openapi_extra=documented(PruningPage))
async def list_prunings(
    conversation_id: ConversationId, caller: CallerOf, ports: PortsOf, limit: LimitOf = 50, cursor: CursorOf = None
) -> Response:
    """List prunings, newest first, in pages: when messages left the context, how many, and why."""
    conversation = await load_conversation(conversation_id, caller, ports)
    before = decode_cursor(cursor, PruningCursor, conversation_id).place if cursor else None
    found = await ports.conversations.prunings(conversation, limit + 1, before)
    page = found[:limit]
    next_cursor = (
        cursors.encode_cursor(PruningCursor(page[-1].at, page[-1].number), conversation_id)
        if len(found) > limit
        else None
    )
    return json_response(PruningPage(prunings=tuple(map(pruning_view, page)), next=next_cursor))


class MessageCursor(Struct, frozen=True, array_like=True):
    """The place that a cursor of messages encodes."""

    partition: Annotated[int, Meta(ge=0, le=2**31 - 1)]
    position: Annotated[int, Meta(ge=0, le=2**63 - 1)]

    @property
    def place(self) -> Place:
        return self.partition, self.position


class ConversationCursor(Struct, frozen=True, array_like=True):
    """The place that a cursor of conversations encodes. `at` is in Unix seconds; its bounds are within the range of
    PostgreSQL's timestamps."""

    at: Annotated[float, Meta(ge=-(2**38), le=2**38)]
    conversation_id: Annotated[str, Meta(max_length=256)]

    @property
    def place(self) -> WindowPlace:
        return self.at, self.conversation_id


class PruningCursor(Struct, frozen=True, array_like=True):
    """The place that a cursor of prunings encodes. `at` is in Unix seconds; its bounds are within the range of PostgreSQL's
    timestamps."""

    at: Annotated[float, Meta(ge=0, le=2**38)]
    number: Annotated[int, Meta(ge=0, le=2**63 - 1)]

    @property
    def place(self) -> PruningPlace:
        return self.at, self.number


@router.get(f"{CONVERSATION_PATH}/erasure", openapi_extra=documented(ConversationErasurePreview))
async def foresee_erasure(conversation_id: ConversationId, caller: CallerOf, ports: PortsOf) -> Response:
    """Preview the erasure of the conversation. It needs the same rights."""
    conversation = await ports.conversations.find(conversation_id, lambda namespace: caller.may("admin", namespace))
    if conversation is None:
        raise not_found("there is no conversation with this id, or this key may not erase it")
    return json_response(await preview_conversation_erasure(ports.owners, conversation))


@router.delete(CONVERSATION_PATH, openapi_extra=documented(Receipt, with_same_body=IN_PROGRESS))
async def erase_conversation(
    conversation_id: ConversationId,
    caller: CallerOf,
    ports: PortsOf,
    key: IdempotencyKey = None,
    reason: Reason = None,
) -> Response:
    """Erase a conversation irreversibly: its messages, its window, and memories whose only source it is.

    The key needs every right in all namespaces that the conversation feeds; for an unknown conversation, in all namespaces.
    """
    conversation = await ports.conversations.find(
        conversation_id, lambda namespace: caller.may("admin", namespace), with_empty=True
    )
    if conversation is None and not caller.may_everywhere("admin"):
        raise not_found("there is no conversation with this id, or this key may not erase it")
    return await begin_erasure(ports, caller, "conversation", key, reason, conversation_id=conversation_id)


# The last route, because its path matches the others too.
@router.get(CONVERSATION_PATH, openapi_extra=documented(ConversationView))
async def get_conversation(conversation_id: ConversationId, caller: CallerOf, ports: PortsOf) -> Response:
    """A conversation's owner, and the statistics of its context."""
    return json_response(conversation_view(await load_conversation(conversation_id, caller, ports), ports.clock()))


async def load_conversation(
    conversation_id: str, caller: Caller, ports: Ports, window_wait_s: float = 0.0
) -> Conversation:
    """Returns the conversation; waits up to `window_wait_s` seconds for its window. Raises Problem 404, also if the caller may
    not read it, or if all of its messages were erased."""
    conversation = await ports.conversations.find_with_window(
        conversation_id, lambda namespace: caller.may("read", namespace), window_wait_s
    )
    if conversation is None:
        raise not_found("there is no conversation with this id, or this key may not read it")
    return conversation


async def context_response(conversation_id: str, query: ContextQuery, caller: Caller, ports: Ports) -> Response:
    conversation = await load_conversation(conversation_id, caller, ports)
    return json_response(context_view(conversation, await ports.contexts.build(conversation, query), ports.clock()))
