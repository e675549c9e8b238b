"""The profile of a namespace: the few memories that belong in every prompt, as a text that seldom changes."""

from typing import Annotated

from fastapi import APIRouter, Header, Query, Response

from agents.api.access.authentication import CallerOf
from agents.api.http.json_bodies import documented, json_response
from agents.api.ports import PortsOf
from schemas.profile.profiles import Profile

UNCHANGED = "The profile matches `If-None-Match`."

router = APIRouter(prefix="/v1/profile", tags=["context"])


@router.get("", openapi_extra=documented(Profile, without_body={304: UNCHANGED}))
async def get_profile(
    caller: CallerOf,
    ports: PortsOf,
    namespace: Annotated[str, Query(min_length=1, max_length=256, description="The namespace, such as `app/user`.")],
    if_none_match: Annotated[
        str | None, Header(max_length=1_000, description="The `ETag` that the caller has.")
    ] = None,
) -> Response:
    """Hard constraints, standing wishes, name, languages, work and pinned memories, each line with its memories.

    For the system prompt: the text stays the same until one of its memories changes.
    """
    caller.require("read", namespace)
    profile = await ports.profiles.of((namespace,), ports.policies.governing(namespace))
    tag = f'"{profile.version}"'
    if tag in etags_in(if_none_match):
        return Response(status_code=304, headers={"ETag": tag})
    return json_response(profile, headers={"ETag": tag})


def etags_in(header: str | None) -> list[str]:
    """Returns the tags of `If-None-Match`. The prefix of weak tags is removed, as weak and strong tags compare equal here."""
    return [tag.strip().removeprefix("W/") for tag in (header or "").split(",")]
