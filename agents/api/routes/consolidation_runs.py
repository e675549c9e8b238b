"""Consolidation runs and dry runs: starting them and following their progress.

A caller may see a run if it may read every namespace of the run. For other callers the run does not exist.
"""

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Path, Query, Response
from msgspec import Meta, Struct
from msgspec.structs import asdict

from agents.api.access.authentication import CallerOf
from agents.api.access.callers import Caller
from agents.api.http import cursors
from agents.api.http.cursors import CursorOf, LimitOf, decode_cursor
from agents.api.http.json_bodies import documented, json_body, json_response
from agents.api.http.problems import conflict, invalid, not_found
from agents.api.ports import Ports, PortsOf
from agents.api.routes.conversations import load_conversation
from agents.consolidation.requests import manual_run
from schemas.budgets.budgets import MICROS
from schemas.consolidation.runs import ConsolidationRun, Finding, RunRequest, RunStatus
from schemas.conversations.messages import Moment
from sinks.access.audit import Audited
from sinks.consolidation.runs import RunFilter

MAX_PENDING: Final = 10  # per key; each run scans all windows

router = APIRouter(prefix="/v1/consolidation-runs", tags=["consolidation"])

RunId = Annotated[str, Path(min_length=1, max_length=256, description="A run's id.")]
OfNamespace = Annotated[str | None, Query(min_length=1, max_length=256, description="Only runs of this namespace.")]


class ConsolidationRunView(ConsolidationRun, frozen=True, kw_only=True):
    """A run, with its scope as a sentence and its cost in US dollars."""

    scope: str
    cost_usd: float


class ConsolidationRunPage(Struct, frozen=True):
    """Runs, newest first. `next` is the cursor of the following page."""

    runs: tuple[ConsolidationRunView, ...]
    next: str | None = None


class FindingPage(Struct, frozen=True):
    """Findings in the order of the dry run."""

    findings: tuple[Finding, ...]
    next: str | None = None


class RunCursor(Struct, frozen=True, array_like=True):
    """The place that a cursor of runs encodes."""

    created_at: Moment
    run_id: str


class FindingCursor(Struct, frozen=True, array_like=True):
    """The place that a cursor of findings encodes."""

    number: Annotated[int, Meta(ge=0, le=2**63 - 1)]


@router.post(
    "",
    openapi_extra=documented(
        ConsolidationRunView, request_body=RunRequest, status=202, description="Accepted; starts within seconds."
    ),
)
async def start_consolidation(
    requested: Annotated[RunRequest, Depends(json_body(RunRequest))], caller: CallerOf, ports: PortsOf
) -> Response:
    """Start the extraction of waiting messages now: of a namespace, a conversation, a policy or everything; or preview it
    with `dry_run`. A dry run calls models and consumes tokens. A key with ten pending runs gets a 409."""
    run = manual_run(requested, await namespaces_of(requested, caller, ports), caller.actor, ports.clock())
    if not await ports.runs.add(run, MAX_PENDING, audit_entry(run, caller)):
        raise conflict(
            f"{MAX_PENDING} runs requested with this key have not started, the limit of one key: wait until one has"
        )
    return json_response(run_view(run), 202)


@router.get("", openapi_extra=documented(ConsolidationRunPage))
async def list_consolidation_runs(
    caller: CallerOf,
    ports: PortsOf,
    namespace: OfNamespace = None,
    policy: Annotated[str | None, Query(min_length=1, max_length=100, description="Only runs of this policy.")] = None,
    status: Annotated[RunStatus | None, Query(description="Only this status.")] = None,
    limit: LimitOf = 50,
    cursor: CursorOf = None,
) -> Response:
    """List runs, newest first, in pages. Without a namespace the key needs the right to read all."""
    if namespace is None:
        caller.require_everywhere("read")
    else:
        caller.require("read", namespace)
    list_key = (namespace, policy, status)
    after = decode_cursor(cursor, RunCursor, list_key) if cursor else None
    run_filter = RunFilter(
        limit=limit + 1,
        namespace=namespace,
        policy=policy,
        status=status,
        behind=(after.created_at, after.run_id) if after else None,
    )
    found = await ports.runs.page(run_filter)
    page = found[:limit]
    next_cursor = (
        cursors.encode_cursor(RunCursor(page[-1].created_at, page[-1].run_id), list_key) if len(found) > limit else None
    )
    return json_response(
        ConsolidationRunPage(tuple(run_view(run) for run in page if may_see(run, caller)), next_cursor)
    )


@router.get("/{run_id}", openapi_extra=documented(ConsolidationRunView))
async def get_consolidation_run(run_id: RunId, caller: CallerOf, ports: PortsOf) -> Response:
    """One run: progress, outcome, consumption."""
    return json_response(run_view(await load_run(run_id, caller, ports)))


@router.get("/{run_id}/findings", openapi_extra=documented(FindingPage))
async def list_findings(
    run_id: RunId,
    caller: CallerOf,
    ports: PortsOf,
    namespace: OfNamespace = None,
    limit: LimitOf = 50,
    cursor: CursorOf = None,
) -> Response:
    """The findings of a dry run: memories that would be created, reinforced, merged, superseded or dropped, with their
    sources."""
    run = await load_run(run_id, caller, ports)
    list_key = (run_id, namespace)
    after = decode_cursor(cursor, FindingCursor, list_key).number if cursor else 0
    found = await ports.runs.findings(run.run_id, after=after, limit=limit + 1, namespace=namespace)
    page = found[:limit]
    next_cursor = cursors.encode_cursor(FindingCursor(page[-1].number), list_key) if len(found) > limit else None
    return json_response(FindingPage(page, next_cursor))


def audit_entry(run: ConsolidationRun, caller: Caller) -> Audited | None:
    """Returns the audit entry of a run without named namespaces, which only administrators may start; None for other runs."""
    if run.namespaces:
        return None
    details = {"policy": run.policy, "dry_run": run.dry_run}
    return Audited(
        at=run.created_at, actor=caller.actor, action="consolidation.run", subject=run.run_id, details=details
    )


async def namespaces_of(requested: RunRequest, caller: Caller, ports: Ports) -> tuple[str, ...]:
    """Returns the namespaces of the run, empty if it covers a policy or everything, and checks the caller's rights. Raises
    Problem 403, 404 and 422."""
    if requested.namespace is not None:
        caller.require("write", requested.namespace)
        return (requested.namespace,)
    if requested.conversation_id is not None:
        conversation = await load_conversation(requested.conversation_id, caller, ports)
        for namespace in conversation.namespaces:
            caller.require("write", namespace)
        return conversation.namespaces
    caller.require_everywhere("admin")
    if requested.policy is not None:
        policy = ports.policies.by_name(requested.policy)
        if policy.name != requested.policy:
            raise not_found(f"there is no policy {requested.policy!r}")
        if not policy.extract:
            raise invalid(f"the policy {requested.policy!r} extracts nothing, so no messages wait for a run")
    return ()


async def load_run(run_id: str, caller: Caller, ports: Ports) -> ConsolidationRun:
    """Returns the run. Raises Problem 404, also if the caller may not see it."""
    run = await ports.runs.of(run_id)
    if run is None or not may_see(run, caller):
        raise not_found("there is no run with this id, or this key may not read it")
    return run


def may_see(run: ConsolidationRun, caller: Caller) -> bool:
    if not run.namespaces:
        return caller.may_everywhere("read")
    return all(caller.may("read", namespace) for namespace in run.namespaces)


def run_view(run: ConsolidationRun) -> ConsolidationRunView:
    return ConsolidationRunView(**asdict(run), scope=run.scope, cost_usd=run.cost_micros / MICROS)
