"""A passage of an archived message, with the memories that come from the message."""

from functools import partial
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Response
from msgspec import Struct

from agents.api.access.authentication import CallerOf
from agents.api.http.json_bodies import documented, json_response
from agents.api.http.problems import not_found
from agents.api.memories.views import MemoryView, memory_view
from agents.api.ports import PortsOf
from agents.retrieval.read_rights import may_read_any
from schemas.passages.passages import Passage

router = APIRouter(prefix="/v1/passages", tags=["search"])

PassageId = Annotated[UUID, Path(description="A passage's id.")]


class PassageAnswer(Struct, frozen=True, kw_only=True):
    """A passage. `memories` are the live memories in the passage's namespace that come from its message."""

    passage: Passage
    memories: tuple[MemoryView, ...]


@router.get("/{passage_id}", openapi_extra=documented(PassageAnswer))
async def get_passage(passage_id: PassageId, caller: CallerOf, ports: PortsOf) -> Response:
    """A passage with speaker and time, and the memories that come from its message. The key needs the right to read a
    namespace of a person or a conversation that owns it."""
    found = (await ports.passages.by_ids([str(passage_id)])).get(str(passage_id))
    if found is None or not may_read_any(partial(caller.may, "read"), found.owners):
        raise not_found(f"there is no passage {str(passage_id)!r}")
    passage = found.passage
    message = (passage.conversation_id, passage.message_id)
    memory_ids = (await ports.stored.from_messages([message], [passage.namespace])).get(message, ())
    memories = await ports.memories.by_ids(memory_ids)
    return json_response(
        PassageAnswer(passage=passage, memories=tuple(memory_view(each, "short") for each in memories.values()))
    )
