"""Policies over HTTP: what applies, what ships, and changing it, which needs every right: a policy may match any conversation."""

from typing import Annotated, Any, Final, Literal, NamedTuple

from fastapi import APIRouter, Depends, Path, Request, Response
from msgspec import Struct

from agents.api.access.authentication import CallerOf
from agents.api.http.json_bodies import documented, json_response, read_json
from agents.api.http.problems import Problem, conflict, invalid, not_found
from agents.api.policies.policy_book import AppliedPolicy
from agents.api.policies.reach import Reach
from agents.api.ports import PortsOf
from agents.api.routes.statistics import NamespaceOf
from schemas import codec
from schemas.conversations.messages import Moment
from schemas.errors import Rejected
from schemas.policies.policies import Policy
from sinks.access.audit import Audited

MOST_HISTORY: Final = 100

router = APIRouter(prefix="/v1", tags=["policies"])

Name = Annotated[str, Path(min_length=1, max_length=100, description="The policy's name.")]


class PolicyList(Struct, frozen=True):
    """In the order in which they are tried."""

    policies: tuple[AppliedPolicy, ...]


class PresetList(Struct, frozen=True):
    """By their names."""

    presets: tuple[Policy, ...]


class PolicyPut(Struct, frozen=True):
    """What became of a policy that was put, with its version."""

    result: Literal["created", "changed", "unchanged"]
    policy: Policy


class PolicyCheck(Struct, frozen=True):
    """What would become of a policy that is put, and what it would reach."""

    result: Literal["created", "changed", "unchanged"]
    policy: Policy
    reach: Reach


class PutPolicy(Struct, frozen=True, kw_only=True):
    """A change that was asked for. `policy` is missing where it was removed, and of changes that an earlier version recorded."""

    at: Moment
    actor: str
    removed: bool
    policy: dict[str, Any] | None


class PolicyHistory(Struct, frozen=True):
    """The latest first."""

    changes: tuple[PutPolicy, ...]


class SentPolicy(NamedTuple):
    """A policy as it was sent, and the version that it names, if it does."""

    policy: Policy
    version: int | None


async def read_policy(request: Request) -> SentPolicy:
    """The body, as a policy. Raises Problem 413, 415, and Rejected."""
    data = await read_json(request)
    policy = codec.decode_untrusted(data, Policy)
    return SentPolicy(policy, policy.version if "version" in codec.parse(data) else None)


@router.get("/policies", openapi_extra=documented(PolicyList))
async def list_policies(caller: CallerOf, ports: PortsOf) -> Response:
    """All policies, in the order in which they are tried: the first that matches a conversation applies."""
    caller.require_everywhere("read")
    return json_response(PolicyList(await ports.policy_book.applied()))


@router.get("/policies/{name}", openapi_extra=documented(AppliedPolicy))
async def get_policy(name: Name, caller: CallerOf, ports: PortsOf) -> Response:
    """One policy: only what differs from the defaults."""
    caller.require_everywhere("read")
    found = [each for each in await ports.policy_book.applied() if each.policy.name == name]
    if not found:
        raise not_found(f"no policy is called {name!r}")
    return json_response(found[0])


@router.put("/policies/{name}", openapi_extra=documented(PolicyPut, takes=Policy))
async def put_policy(
    name: Name, wanted: Annotated[SentPolicy, Depends(read_policy)], caller: CallerOf, ports: PortsOf
) -> Response:
    """Put a policy in the place of one of its name. It applies in all processes within a second, without a restart.

    With `version` it is put only over that version, else 409; without, over any.
    """
    caller.require_everywhere("admin")
    policy, version = wanted
    refuse_other_name(name, policy)
    details = {"version": version, "policy": policy}
    await ports.audit.record(
        Audited(at=ports.clock(), actor=caller.actor, action="policy.put", subject=name, details=details)
    )
    try:
        made = await ports.policy_book.put(policy, version)
    except Rejected as exc:
        raise version_conflict(exc) from exc
    return json_response(PolicyPut(made.result, made.policy), 201 if made.result == "created" else 200)


@router.post("/policies/{name}/check", openapi_extra=documented(PolicyCheck, takes=Policy))
async def check_policy(
    name: Name, wanted: Annotated[SentPolicy, Depends(read_policy)], caller: CallerOf, ports: PortsOf
) -> Response:
    """What putting a policy would come to: whether it is valid, and which conversations would fall under it. Nothing changes."""
    caller.require_everywhere("read")
    policy, version = wanted
    refuse_other_name(name, policy)
    try:
        planned = await ports.policy_book.planned(policy, version)
    except Rejected as exc:
        raise version_conflict(exc) from exc
    reach = await ports.reach.of(name, planned.before, planned.after)
    return json_response(PolicyCheck(planned.change.result, planned.change.policy, reach))


@router.get("/policies/{name}/history", openapi_extra=documented(PolicyHistory))
async def list_policy_history(name: Name, caller: CallerOf, ports: PortsOf) -> Response:
    """Who put or removed a policy over HTTP, the latest first. What the command line published is not in the audit."""
    caller.require_everywhere("read")
    pages = [
        await ports.audit.page(MOST_HISTORY, action=action, subject=name) for action in ("policy.put", "policy.delete")
    ]
    found = sorted((each for page in pages for each in page), key=lambda each: each.id, reverse=True)
    changes = (
        PutPolicy(
            at=each.at, actor=each.actor, removed=each.action == "policy.delete", policy=each.details.get("policy")
        )
        for each in found[:MOST_HISTORY]
    )
    return json_response(PolicyHistory(tuple(changes)))


@router.delete("/policies/{name}", status_code=204, openapi_extra=documented(status=204, description="It is gone."))
async def delete_policy(name: Name, caller: CallerOf, ports: PortsOf) -> Response:
    """Take a policy away; one of that name in a process' own file applies again."""
    caller.require_everywhere("admin")
    await ports.audit.record(
        Audited(at=ports.clock(), actor=caller.actor, action="policy.delete", subject=name, details={})
    )
    if await ports.policy_book.remove(name) is None:
        raise not_found(f"the topic has no policy {name!r}")
    return Response(status_code=204)


@router.get("/settings", openapi_extra=documented(Policy))
async def get_settings(namespace: NamespaceOf, caller: CallerOf, ports: PortsOf) -> Response:
    """The policy that governs a namespace, as far as its name tells. Write it under `/v1/policies`."""
    caller.require("read", namespace)
    return json_response(ports.policies.governing(namespace))


@router.get("/presets", openapi_extra=documented(PresetList))
async def list_presets(caller: CallerOf, ports: PortsOf) -> Response:
    """The policies that ship: take one, name it, say what it matches, and put it."""
    return json_response(PresetList(tuple(ports.policy_book.presets.values())))


@router.get("/presets/{name}", openapi_extra=documented(Policy))
async def get_preset(name: Name, caller: CallerOf, ports: PortsOf) -> Response:
    """One of them."""
    if name not in ports.policy_book.presets:
        raise not_found(f"no preset is called {name!r}; there are {', '.join(ports.policy_book.presets)}")
    return json_response(ports.policy_book.presets[name])


def refuse_other_name(name: str, policy: Policy) -> None:
    """Raises Problem 422."""
    if policy.name != name:
        raise invalid(
            f"the address names the policy {name!r}, and its `name` is {policy.name!r}: they should be the same"
        )


def version_conflict(rejected: Rejected) -> Problem:
    """The problem of a policy that was made from another version than stands there."""
    if rejected.reason != "outdated":
        raise rejected
    return conflict(f"{rejected.detail}: read it again, or leave `version` out to put this one over it")
