"""The kinds of memories of a namespace, for clients that show or filter them."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Response
from msgspec import Struct

from agents.api.access.authentication import CallerOf
from agents.api.http.json_bodies import documented, json_response
from agents.api.ports import PortsOf
from schemas.policies.kinds import Kind
from sinks.memories.kinds import UsedKind

router = APIRouter(prefix="/v1/kinds", tags=["memories"])

UNUSED_KIND: Final = UsedKind(name="")


class KindView(UsedKind, frozen=True, kw_only=True, omit_defaults=True):
    """A kind. `of_policy` is true for kinds that the policy defines; others were made by commands, tools or models."""

    of_policy: bool = False


class KindList(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The policy's kinds in its order, then the others by name. `open` is true if the policy allows commands, tools and
    models to make more kinds."""

    kinds: tuple[KindView, ...]
    open: bool = False


@router.get("", openapi_extra=documented(KindList))
async def list_kinds(
    caller: CallerOf,
    ports: PortsOf,
    namespace: Annotated[str, Query(min_length=1, max_length=256, description="The namespace, such as `app/user`.")],
) -> Response:
    """The kinds of a namespace, used or allowed, each with description, icon and number of memories."""
    caller.require("read", namespace)
    policy = ports.policies.governing(namespace)
    used = {kind.name: kind for kind in await ports.kinds.of(namespace)}
    policy_kinds = tuple(policy_kind_view(kind, used.pop(kind.name, UNUSED_KIND)) for kind in policy.described_kinds)
    other_kinds = tuple(
        KindView(name=kind.name, description=kind.description, icon=kind.icon, memories=kind.memories)
        for kind in used.values()
    )
    return json_response(KindList(kinds=(*policy_kinds, *other_kinds), open=policy.unknown_kinds == "create"))


def policy_kind_view(kind: Kind, used: UsedKind) -> KindView:
    """Builds the view of a policy's kind. Its description and icon take precedence over those of a command."""
    return KindView(
        name=kind.name,
        description=kind.description or used.description,
        icon=kind.icon or used.icon,
        memories=used.memories,
        of_policy=True,
    )
