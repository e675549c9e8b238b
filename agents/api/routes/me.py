"""What the key of a request may do: for programs that offer only what will be allowed."""

from fastapi import APIRouter, Response
from msgspec import Struct

from agents.api.access.authentication import CallerOf
from agents.api.access.callers import LOCAL
from agents.api.http.json_bodies import documented, json_response
from schemas.access.keys import Grant

router = APIRouter(prefix="/v1/me", tags=["access"])


class Me(Struct, frozen=True, kw_only=True):
    """The caller. A grant holds for every namespace that its pattern covers, where `*` stands for any characters. A server that
    asks for no keys (`keyed` is false) lets everybody do everything."""

    key_id: str
    name: str
    grants: tuple[Grant, ...]
    keyed: bool


@router.get("", openapi_extra=documented(Me))
async def get_me(caller: CallerOf) -> Response:
    """Who the caller is, and what the key may do."""
    return json_response(
        Me(key_id=caller.key_id, name=caller.name, grants=caller.grants, keyed=caller.key_id != LOCAL.key_id)
    )
