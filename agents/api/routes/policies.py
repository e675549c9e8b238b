"""Policies: the current ones, presets, and changes. A policy may match any conversation, so changes need every right."""

from typing import Annotated, Any, Final, Literal, NamedTuple

from fastapi import APIRouter, Depends, Path, Request, Response
from msgspec import Struct

from agents.api.access.authentication import CallerOf
from agents.api.http.json_bodies import documented, json_response, read_json
from agents.api.http.problems import Problem, conflict, invalid, not_found
from agents.api.policies.policy_preview import Reach
from agents.api.policies.policy_service import AppliedPolicy, PolicyList
from agents.api.ports import PortsOf
from agents.api.routes.statistics import NamespaceOf
from schemas import codec
from schemas.conversations.messages import Moment
from schemas.errors import Rejected
from schemas.policies.policies import Policy
from sinks.access.audit import Audited

MAX_HISTORY: Final = 100

router = APIRouter(prefix="/v1", tags=["policies"])

Name = Annotated[str, Path(min_length=1, max_length=100, description="The policy's name.")]


class PresetList(Struct, frozen=True):
    """Presets by name."""

    presets: tuple[Policy, ...]


class PolicyPut(Struct, frozen=True):
    """The result of a put, with the stored policy and its version."""

    result: Literal["created", "changed", "unchanged"]
    policy: Policy


class PolicyCheck(Struct, frozen=True):
    """The result that a put would have, and the conversations that the policy would match."""

    result: Literal["created", "changed", "unchanged"]
    policy: Policy
    reach: Reach


class PutPolicy(Struct, frozen=True, kw_only=True):
    """A requested change. `policy` is absent if the policy was removed, and in changes that an earlier version of memstream
    recorded."""

    at: Moment
    actor: str
    removed: bool
    policy: dict[str, Any] | None


class PolicyHistory(Struct, frozen=True):
    """Changes, latest first."""

    changes: tuple[PutPolicy, ...]


class SentPolicy(NamedTuple):
    """A policy from a request body, and its version if the body names one."""

    policy: Policy
    version: int | None


async def read_policy(request: Request) -> SentPolicy:
    """Decodes the request body. Raises Problem 413, 415, and Rejected."""
    data = await read_json(request)
    policy = codec.decode_untrusted(data, Policy)
    return SentPolicy(policy, policy.version if "version" in codec.parse(codec.without_lone_surrogates(data)) else None)


@router.get("/policies", openapi_extra=documented(PolicyList))
async def list_policies(caller: CallerOf, ports: PortsOf) -> Response:
    """List policies in the order of matching: the first that matches a conversation applies. Invalid records of the policy topic,
    which are ignored, are listed with their reasons."""
    caller.require_everywhere("read")
    return json_response(await ports.policy_service.listed())


@router.get("/policies/{name}", openapi_extra=documented(AppliedPolicy))
async def get_policy(name: Name, caller: CallerOf, ports: PortsOf) -> Response:
    """One policy: the fields that differ from the defaults."""
    caller.require_everywhere("read")
    found = [each for each in (await ports.policy_service.listed()).policies if each.policy.name == name]
    if not found:
        raise not_found(f"there is no policy {name!r}")
    return json_response(found[0])


@router.put("/policies/{name}", openapi_extra=documented(PolicyPut, request_body=Policy))
async def put_policy(
    name: Name, sent: Annotated[SentPolicy, Depends(read_policy)], caller: CallerOf, ports: PortsOf
) -> Response:
    """Create or replace a policy. It applies in all processes within a second, without a restart.

    With `version` it replaces that version only, otherwise 409; without, any.
    """
    caller.require_everywhere("admin")
    policy, version = sent
    refuse_other_name(name, policy)
    details = {"version": version, "policy": policy}
    await ports.audit.record(
        Audited(at=ports.clock(), actor=caller.actor, action="policy.put", subject=name, details=details)
    )
    try:
        change = await ports.policy_service.put(policy, version)
    except Rejected as exc:
        raise version_conflict(exc) from exc
    return json_response(PolicyPut(change.result, change.policy), 201 if change.result == "created" else 200)


@router.post("/policies/{name}/check", openapi_extra=documented(PolicyCheck, request_body=Policy))
async def check_policy(
    name: Name, sent: Annotated[SentPolicy, Depends(read_policy)], caller: CallerOf, ports: PortsOf
) -> Response:
    """Validate a policy, and list the conversations that it would apply to. Nothing changes."""
    caller.require_everywhere("read")
    policy, version = sent
    refuse_other_name(name, policy)
    try:
        planned = await ports.policy_service.plan(policy, version)
    except Rejected as exc:
        raise version_conflict(exc) from exc
    preview = await ports.policy_preview.of(name, planned.before, planned.after)
    return json_response(PolicyCheck(planned.change.result, planned.change.policy, preview))


@router.get("/policies/{name}/history", openapi_extra=documented(PolicyHistory))
async def list_policy_history(name: Name, caller: CallerOf, ports: PortsOf) -> Response:
    """List who put or deleted a policy over HTTP, latest first. Changes made on the command line are not recorded."""
    caller.require_everywhere("read")
    pages = [
        await ports.audit.page(MAX_HISTORY, action=action, subject=name) for action in ("policy.put", "policy.delete")
    ]
    found = sorted((each for page in pages for each in page), key=lambda each: each.id, reverse=True)
    changes = (
        PutPolicy(
            at=each.at, actor=each.actor, removed=each.action == "policy.delete", policy=each.details.get("policy")
        )
        for each in found[:MAX_HISTORY]
    )
    return json_response(PolicyHistory(tuple(changes)))


@router.delete("/policies/{name}", status_code=204, openapi_extra=documented(status=204, description="Deleted."))
async def delete_policy(name: Name, caller: CallerOf, ports: PortsOf) -> Response:
    """Delete a policy. If a process has a policy of that name in its file, that one applies again."""
    caller.require_everywhere("admin")
    await ports.audit.record(
        Audited(at=ports.clock(), actor=caller.actor, action="policy.delete", subject=name, details={})
    )
    if not await ports.policy_service.remove(name):
        raise not_found(f"the topic has no policy {name!r}")
    return Response(status_code=204)


@router.get("/settings", openapi_extra=documented(Policy))
async def get_settings(namespace: NamespaceOf, caller: CallerOf, ports: PortsOf) -> Response:
    """The policy that applies to a namespace, as far as its name determines it. Change it under `/v1/policies`."""
    caller.require("read", namespace)
    return json_response(ports.policies.governing(namespace))


@router.get("/presets", openapi_extra=documented(PresetList))
async def list_presets(caller: CallerOf, ports: PortsOf) -> Response:
    """List the policies that ship with memstream, as templates: name one, set its match, and put it."""
    return json_response(PresetList(tuple(ports.policy_service.presets.values())))


@router.get("/presets/{name}", openapi_extra=documented(Policy))
async def get_preset(name: Name, caller: CallerOf, ports: PortsOf) -> Response:
    """One preset."""
    if name not in ports.policy_service.presets:
        raise not_found(f"there is no preset {name!r}; the presets are {', '.join(ports.policy_service.presets)}")
    return json_response(ports.policy_service.presets[name])


def refuse_other_name(name: str, policy: Policy) -> None:
    """Raises Problem 422 if the body has another name than the path."""
    if policy.name != name:
        raise invalid(f"the path names the policy {name!r}, but the body names {policy.name!r}: use the same name")


def version_conflict(rejected: Rejected) -> Problem:
    """Returns the Problem for a policy that is based on an outdated version. Re-raises other rejections."""
    if rejected.reason != "outdated":
        raise rejected
    return conflict(f"{rejected.detail}: read it again, or omit `version` to overwrite it")
