"""The context block for a prompt: relevant memories and recent messages."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Response

from agents.api.access.authentication import CallerOf
from agents.api.http.json_bodies import documented, json_body, json_response
from agents.api.http.problems import invalid, not_found
from agents.api.ports import PortsOf
from schemas.retrieval.blocks import Block, BlockQuery

UNKNOWN_CONVERSATION = (
    "there is no conversation with this id, or this key may not read it; a new one appears about a second after its first "
    "message: until then give its scope or the namespaces"
)

router = APIRouter(prefix="/v1/context", tags=["context"])


@router.post("", openapi_extra=documented(Block, request_body=BlockQuery))
async def make_context_block(
    query: Annotated[BlockQuery, Depends(json_body(BlockQuery))], caller: CallerOf, ports: PortsOf
) -> Response:
    """Text for a prompt within a token budget: the memories that fit best, passages of earlier messages, and recent messages
    that are not extracted yet."""
    for namespace in query.namespaces:
        caller.require("read", namespace)
    conversation = None
    if query.conversation_id is not None:
        conversation = await ports.conversations.find(query.conversation_id, lambda name: caller.may("read", name))
    target = ports.recall.target(query, conversation)
    if target is None:
        raise (
            not_found(UNKNOWN_CONVERSATION)
            if query.conversation_id
            else invalid("give `namespaces`, a `conversation_id` or a `scope`")
        )
    for namespace in target.namespaces:
        caller.require("read", namespace)
    block = await ports.recall.block(query, conversation, partial(caller.may, "read"))
    ports.accesses.note(block.memories)
    ports.retrieval_counts.note("context", target.namespaces, bool(block.memories))
    return json_response(block)
