"""Consolidation runs: asking for one, or for a dry run of it, and following what comes of it.

Who may see a run are those who may read every namespace it is about; one that may not be seen is no different from none.
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

MOST_PENDING: Final = 10  # of one key; to begin a run is to look at every window

router = APIRouter(prefix="/v1/consolidation-runs", tags=["consolidation"])

RunId = Annotated[str, Path(min_length=1, max_length=256, description="A run's id.")]
OfNamespace = Annotated[str | None, Query(min_length=1, max_length=256, description="About this namespace alone.")]


class ConsolidationRunView(ConsolidationRun, frozen=True, kw_only=True):
    """A run, with its scope in words and its cost in US dollars."""

    scope: str
    cost_usd: float


class ConsolidationRunPage(Struct, frozen=True):
    """The newest first; `next` is the cursor of the page behind this one."""

    runs: tuple[ConsolidationRunView, ...]
    next: str | None = None


class FindingPage(Struct, frozen=True):
    """In the order in which they were found."""

    findings: tuple[Finding, ...]
    next: str | None = None


class RunCursor(Struct, frozen=True, array_like=True):
    """What a cursor of runs stands for."""

    created_at: Moment
    run_id: str


class FindingCursor(Struct, frozen=True, array_like=True):
    """What a cursor of findings stands for."""

    number: Annotated[int, Meta(ge=0, le=2**63 - 1)]


@router.post(
    "",
    openapi_extra=documented(
        ConsolidationRunView, takes=RunRequest, status=202, description="It begins within seconds; its id tells of it."
    ),
)
async def start_consolidation(
    wanted: Annotated[RunRequest, Depends(json_body(RunRequest))], caller: CallerOf, ports: PortsOf
) -> Response:
    """Have what waits extracted now, without waiting for a schedule: of a namespace, a conversation, a policy or everything; or
    see with `dry_run` what would come of it. A dry run asks models, and its tokens count. While ten runs that a key asked for
    have not begun, it gets a 409 for another one."""
    run = manual_run(wanted, await namespaces_of(wanted, caller, ports), caller.actor, ports.clock())
    if not await ports.runs.add(run, MOST_PENDING, audit_entry(run, caller)):
        raise conflict(f"{MOST_PENDING} runs that this key asked for have not begun yet: wait until they have")
    return json_response(view(run), 202)


@router.get("", openapi_extra=documented(ConsolidationRunPage))
async def list_consolidation_runs(
    caller: CallerOf,
    ports: PortsOf,
    namespace: OfNamespace = None,
    policy: Annotated[str | None, Query(min_length=1, max_length=100, description="Of this policy alone.")] = None,
    status: Annotated[RunStatus | None, Query(description="In this status alone.")] = None,
    limit: LimitOf = 50,
    cursor: CursorOf = None,
) -> Response:
    """Runs, the newest first, a page at a time. Without a namespace it needs a key that may read all of them."""
    if namespace is None:
        caller.require_everywhere("read")
    else:
        caller.require("read", namespace)
    listed = (namespace, policy, status)
    behind = decode_cursor(cursor, RunCursor, listed) if cursor else None
    asked = RunFilter(
        limit=limit + 1,
        namespace=namespace,
        policy=policy,
        status=status,
        behind=(behind.created_at, behind.run_id) if behind else None,
    )
    found = await ports.runs.page(asked)
    page = found[:limit]
    more = (
        cursors.encode_cursor(RunCursor(page[-1].created_at, page[-1].run_id), listed) if len(found) > limit else None
    )
    return json_response(ConsolidationRunPage(tuple(view(run) for run in page if may_see(run, caller)), more))


@router.get("/{run_id}", openapi_extra=documented(ConsolidationRunView))
async def get_consolidation_run(run_id: RunId, caller: CallerOf, ports: PortsOf) -> Response:
    """One run: how far it is, what came of it, what it consumed."""
    return json_response(view(await load_run(run_id, caller, ports)))


@router.get("/{run_id}/findings", openapi_extra=documented(FindingPage))
async def list_findings(
    run_id: RunId,
    caller: CallerOf,
    ports: PortsOf,
    namespace: OfNamespace = None,
    limit: LimitOf = 50,
    cursor: CursorOf = None,
) -> Response:
    """What a dry run found: what would be created, reinforced, merged, superseded and dropped, and of what."""
    run = await load_run(run_id, caller, ports)
    listed = (run_id, namespace)
    after = decode_cursor(cursor, FindingCursor, listed).number if cursor else 0
    found = await ports.runs.findings(run.run_id, after=after, limit=limit + 1, namespace=namespace)
    page = found[:limit]
    more = cursors.encode_cursor(FindingCursor(page[-1].number), listed) if len(found) > limit else None
    return json_response(FindingPage(page, more))


def audit_entry(run: ConsolidationRun, caller: Caller) -> Audited | None:
    """Of a run about what nobody but an administrator may have done, and it costs."""
    if run.namespaces:
        return None
    details = {"policy": run.policy, "dry_run": run.dry_run}
    return Audited(
        at=run.created_at, actor=caller.actor, action="consolidation.run", subject=run.run_id, details=details
    )


async def namespaces_of(wanted: RunRequest, caller: Caller, ports: Ports) -> tuple[str, ...]:
    """Those that the run is about, where they can be named. Raises Problem 403, 404, 422."""
    if wanted.namespace is not None:
        caller.require("write", wanted.namespace)
        return (wanted.namespace,)
    if wanted.conversation_id is not None:
        conversation = await load_conversation(wanted.conversation_id, caller, ports)
        for namespace in conversation.namespaces:
            caller.require("write", namespace)
        return conversation.namespaces
    caller.require_everywhere("admin")
    if wanted.policy is not None:
        policy = ports.policies.by_name(wanted.policy)
        if policy.name != wanted.policy:
            raise not_found(f"no policy is called {wanted.policy!r}")
        if not policy.extract:
            raise invalid(f"under the policy {wanted.policy!r} nothing is extracted, so nothing waits")
    return ()


async def load_run(run_id: str, caller: Caller, ports: Ports) -> ConsolidationRun:
    """Raises Problem 404, also for one that the caller may not see."""
    run = await ports.runs.of(run_id)
    if run is None or not may_see(run, caller):
        raise not_found("no run of this id is known that this key may see")
    return run


def may_see(run: ConsolidationRun, caller: Caller) -> bool:
    if not run.namespaces:
        return caller.may_everywhere("read")
    return all(caller.may("read", namespace) for namespace in run.namespaces)


def view(run: ConsolidationRun) -> ConsolidationRunView:
    return ConsolidationRunView(**asdict(run), scope=run.scope, cost_usd=run.cost_micros / MICROS)
