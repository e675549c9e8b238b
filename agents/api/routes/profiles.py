"""The profile of a namespace: the few memories that every prompt about it needs, as a text that seldom changes."""

from typing import Annotated

from fastapi import APIRouter, Header, Query, Response

from agents.api.access.authentication import CallerOf
from agents.api.http.json_bodies import documented, json_response
from agents.api.ports import PortsOf
from schemas.profile.profiles import Profile

UNCHANGED = "The profile is the one that `If-None-Match` names."

router = APIRouter(prefix="/v1/profile", tags=["context"])


@router.get("", openapi_extra=documented(Profile, without_body={304: UNCHANGED}))
async def get_profile(
    caller: CallerOf,
    ports: PortsOf,
    namespace: Annotated[str, Query(min_length=1, max_length=256, description="The namespace, such as `app/user`.")],
    if_none_match: Annotated[str | None, Header(max_length=1_000, description="The ETag of the one at hand.")] = None,
) -> Response:
    """Hard constraints, standing wishes, name, languages, work and pinned memories, each line with its memories.

    For the system prompt: the text stays the same until a memory of it changes.
    """
    caller.require("read", namespace)
    made = await ports.profiles.of((namespace,), ports.policies.governing(namespace))
    tag = f'"{made.version}"'
    if tag in tags_of(if_none_match):
        return Response(status_code=304, headers={"ETag": tag})
    return json_response(made, headers={"ETag": tag})


def tags_of(header: str | None) -> list[str]:
    """Of `If-None-Match`: weak tags compare like strong ones."""
    return [tag.strip().removeprefix("W/") for tag in (header or "").split(",")]
