"""The rights of the request's key, so that clients can offer only permitted actions."""

from fastapi import APIRouter, Response
from msgspec import Struct

from agents.api.access.authentication import CallerOf
from agents.api.access.callers import LOCAL
from agents.api.http.json_bodies import documented, json_response
from schemas.access.keys import Grant

router = APIRouter(prefix="/v1/me", tags=["access"])


class Me(Struct, frozen=True, kw_only=True):
    """The caller. A grant holds in every namespace that matches its pattern, in which `*` stands for any characters. If
    `keyed` is false, the server requires no keys and every caller has every right."""

    key_id: str
    name: str
    grants: tuple[Grant, ...]
    keyed: bool


@router.get("", openapi_extra=documented(Me))
async def get_me(caller: CallerOf) -> Response:
    """The caller's key: name and rights."""
    return json_response(
        Me(key_id=caller.key_id, name=caller.name, grants=caller.grants, keyed=caller.key_id != LOCAL.key_id)
    )
