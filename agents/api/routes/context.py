"""The context block of a prompt: the memories that fit it, and what was just said."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Response

from agents.api.access.authentication import CallerOf
from agents.api.http.json_bodies import documented, json_body, json_response
from agents.api.http.problems import invalid, not_found
from agents.api.ports import PortsOf
from schemas.retrieval.blocks import Block, BlockQuery

NOT_KNOWN = (
    "no conversation of this id is known that this key may read; for a new one, known about a second after its first message, "
    "say its scope, or the namespaces"
)

router = APIRouter(prefix="/v1/context", tags=["context"])


@router.post("", openapi_extra=documented(Block, takes=BlockQuery))
async def make_context_block(
    asked: Annotated[BlockQuery, Depends(json_body(BlockQuery))], caller: CallerOf, ports: PortsOf
) -> Response:
    """What a prompt needs to know, within a token budget: the best memories, what was said earlier, and what was just said and
    is not yet remembered."""
    for namespace in asked.namespaces:
        caller.require("read", namespace)
    conversation = None
    if asked.conversation_id is not None:
        conversation = await ports.conversations.find(asked.conversation_id, lambda name: caller.may("read", name))
    target = ports.recall.target(asked, conversation)
    if target is None:
        raise (
            not_found(NOT_KNOWN) if asked.conversation_id else invalid("name namespaces, a conversation_id or a scope")
        )
    for namespace in target.namespaces:
        caller.require("read", namespace)
    block = await ports.recall.block(asked, conversation, partial(caller.may, "read"))
    ports.accesses.note(block.memories)
    return json_response(block)
