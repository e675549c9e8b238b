"""The kinds of memories of a namespace, for whoever shows or filters them."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Response
from msgspec import Struct

from agents.api.access.authentication import CallerOf
from agents.api.http.json_bodies import documented, json_response
from agents.api.ports import PortsOf
from schemas.memories.kinds import Kind
from sinks.memories.kinds import UsedKind

router = APIRouter(prefix="/v1/kinds", tags=["memories"])

NONE: Final = UsedKind(name="")


class KindView(UsedKind, frozen=True, kw_only=True, omit_defaults=True):
    """A kind. `of_policy`: it is one of the policy's; others were made by commands, tools or models."""

    of_policy: bool = False


class KindList(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The policy's kinds in its order, then the others by name. `open`: the policy lets commands, tools and models make more."""

    kinds: tuple[KindView, ...]
    open: bool = False


@router.get("", openapi_extra=documented(KindList))
async def list_kinds(
    caller: CallerOf,
    ports: PortsOf,
    namespace: Annotated[str, Query(min_length=1, max_length=256, description="The namespace, such as `app/user`.")],
) -> Response:
    """The kinds that memories of a namespace have or may have, each with its description, its icon and how many have it."""
    caller.require("read", namespace)
    policy = ports.policies.governing(namespace)
    used = {kind.name: kind for kind in await ports.kinds.of(namespace)}
    own = tuple(of_policy(kind, used.pop(kind.name, NONE)) for kind in policy.described_kinds)
    made = tuple(
        KindView(name=kind.name, description=kind.description, icon=kind.icon, memories=kind.memories)
        for kind in used.values()
    )
    return json_response(KindList(kinds=(*own, *made), open=policy.unknown_kinds == "create"))


def of_policy(kind: Kind, used: UsedKind) -> KindView:
    """A policy's own words count before those of a command."""
    return KindView(
        name=kind.name,
        description=kind.description or used.description,
        icon=kind.icon or used.icon,
        memories=used.memories,
        of_policy=True,
    )
