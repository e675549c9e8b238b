"""Consolidation runs over HTTP: rights to request and to read them."""

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from agents.consolidation.requests import manual_run
from schemas.consolidation.runs import ConsolidationRun, Finding, RunRequest, Scheduled
from schemas.conversations.messages import Scope
from schemas.policies.triggers import Schedule
from tests.api import NOON, Api
from tests.fakes.windows import a_state

RUNS = "/v1/consolidation-runs"
ADA = {"namespace": "app/ada"}


def a_run(run_id: str, namespaces: tuple[str, ...] = ("app/ada",), **fields: Any) -> ConsolidationRun:
    return replace(manual_run(RunRequest(), namespaces, "ada", NOON), **({"run_id": run_id} | fields))


async def test_starting_a_run_of_a_namespace_needs_the_right_to_write_and_returns_a_pending_run(api: Api):
    answer = await api.client(write="app/*").post(RUNS, json=ADA | {"lane": "live"})
    assert answer.status_code == 202
    body = answer.json()
    assert (body["status"], body["scope"], body["lane"], body["dry_run"]) == (
        "pending",
        "namespace app/ada",
        "live",
        False,
    )
    assert (body["conversations"], body["processed"], body["cost_usd"]) == (0, 0, 0.0)
    (run,) = api.runs.by_id.values()
    assert (run.run_id, run.namespaces, run.trigger, run.due_at) == (body["run_id"], ("app/ada",), "hand", NOON)
    assert (await api.client(read="app/*").post(RUNS, json=ADA)).status_code == 403
    assert api.audit.rows == [], "it is no administrator's business"


async def test_starting_a_run_of_a_conversation_needs_the_right_to_write_in_all_its_namespaces(api: Api):
    scope = Scope(conversation_id="c", app_id="app", user_id="ada")
    await api.windows.project([a_state("c", scope=scope)])
    body = {"conversation_id": "c", "dry_run": True}
    assert (await api.client(read="app/*").post(RUNS, json=body)).status_code == 403
    assert (await api.client(write="app/bob").post(RUNS, json=body)).status_code == 404
    answer = await api.client(write="app/*").post(RUNS, json=body)
    assert (answer.status_code, answer.json()["namespaces"], answer.json()["dry_run"]) == (202, ["app/ada"], True)


@pytest.mark.parametrize("body", [{"policy": "app"}, {}])
async def test_starting_a_run_of_a_policy_or_of_everything_needs_global_admin_rights_and_is_audited(
    api: Api, body: dict[str, Any]
):
    assert (await api.client(admin="app/*").post(RUNS, json=body)).status_code == 403
    assert (await api.client(write="*").post(RUNS, json=body)).status_code == 403
    answer = await api.client(admin="*").post(RUNS, json=body)
    assert (answer.status_code, answer.json()["namespaces"]) == (202, [])
    audited = [(row.action, row.subject, row.details["policy"]) for row in api.runs.audited]
    assert audited == [("consolidation.run", answer.json()["run_id"], body.get("policy"))]


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        ({"policy": "nobody's"}, 404, "there is no policy"),
        ({"policy": "app", "namespace": "app/ada"}, 422, "not several"),
        ({"most": 5}, 422, "for a dry_run only"),
        ({"dry_run": True, "most": 0}, 422, "most"),
        ({"everything": True}, 422, "everything"),
    ],
)
async def test_an_invalid_run_request_is_rejected_with_a_reason(api: Api, body: dict[str, Any], status: int, says: str):
    answer = await api.client(admin="*").post(RUNS, json=body)
    assert answer.status_code == status and says in answer.json()["detail"]
    assert api.runs.by_id == {}


async def test_a_key_may_have_at_most_ten_pending_runs(api: Api):
    client = api.client(write="app/*")
    first = (await client.post(RUNS, json=ADA)).json()
    run = api.runs.by_id[first["run_id"]]
    for number in range(9):
        api.runs.put(replace(run, run_id=f"r{number}"))
    answer = await client.post(RUNS, json=ADA | {"dry_run": True})
    assert answer.status_code == 409 and "10 runs" in answer.json()["detail"]
    assert len(api.runs.by_id) == 10
    api.runs.put(replace(run, status="running"))
    assert (await client.post(RUNS, json=ADA | {"dry_run": True})).status_code == 202


async def test_a_run_of_everything_over_the_pending_limit_is_not_audited(api: Api):
    client = api.client(admin="*")
    first = (await client.post(RUNS, json={})).json()
    run = api.runs.by_id[first["run_id"]]
    for number in range(9):
        api.runs.put(replace(run, run_id=f"r{number}"))
    assert (await client.post(RUNS, json={"dry_run": True})).status_code == 409
    assert [row.subject for row in api.runs.audited] == [first["run_id"]]
    assert api.audit.rows == []


async def test_a_run_is_visible_only_to_keys_that_may_read_all_its_namespaces(api: Api):
    api.runs.put(a_run("one", status="running", conversations=10, processed=4, created=3, cost_micros=2_500_000))
    api.runs.put(a_run("two", ("app/ada", "other")))
    api.runs.put(a_run("all", ()))
    body = (await api.client(read="app/*").get(f"{RUNS}/one")).json()
    assert (body["processed"], body["conversations"], body["created"], body["cost_usd"]) == (4, 10, 3, 2.5)
    statuses = [(await api.client(read="app/*").get(f"{RUNS}/{run}")).status_code for run in ("two", "all", "none")]
    assert statuses == [404, 404, 404]
    assert (await api.client(read="*").get(f"{RUNS}/all")).status_code == 200


async def test_runs_are_listed_newest_first_in_pages_without_unreadable_ones(api: Api):
    for number in range(3):
        api.runs.put(a_run(f"r{number}", created_at=NOON + timedelta(minutes=number)))
    api.runs.put(a_run("shared", ("app/ada", "other"), created_at=NOON + timedelta(hours=1)))
    client = api.client(read="app/*")
    first = (await client.get(RUNS, params=ADA | {"limit": 2})).json()
    assert [run["run_id"] for run in first["runs"]] == ["r2"], "the other one is about what the key may not read"
    rest = (await client.get(RUNS, params=ADA | {"limit": 2, "cursor": first["next"]})).json()
    assert ([run["run_id"] for run in rest["runs"]], rest["next"]) == (["r1", "r0"], None)
    assert (await client.get(RUNS)).status_code == 403
    everything = (await api.client(read="*").get(RUNS, params={"status": "pending"})).json()
    assert [run["run_id"] for run in everything["runs"]] == ["shared", "r2", "r1", "r0"]


async def test_the_findings_of_a_dry_run_are_paged(api: Api):
    api.runs.put(a_run("dry", dry_run=True))
    api.runs.found["dry"] = [
        Finding(
            namespace="app/ada",
            conversation_id="c",
            result="created",
            kind="fact",
            text=f"User has {number} dogs.",
            message_ids=("m1",),
            number=number,
        )
        for number in (2, 4, 6)
    ]
    client = api.client(read="app/*")
    first = (await client.get(f"{RUNS}/dry/findings", params={"limit": 2})).json()
    assert [each["text"] for each in first["findings"]] == ["User has 2 dogs.", "User has 4 dogs."]
    rest = (await client.get(f"{RUNS}/dry/findings", params={"cursor": first["next"]})).json()
    assert ([each["number"] for each in rest["findings"]], rest["next"]) == ([6], None)
    assert (await api.client(read="other").get(f"{RUNS}/dry/findings")).status_code == 404


async def test_schedules_are_listed_soonest_first_to_keys_that_may_read_everything(api: Api):
    for hours, name in ((2, "later"), (1, "sooner")):
        schedule = Schedule(at="02:00", weekdays=("mon",))
        api.runs.scheduled.append(Scheduled(policy=name, schedule=schedule, next_due=NOON + timedelta(hours=hours)))
    schedules = (await api.client(read="*").get("/v1/consolidation-schedules")).json()["schedules"]
    assert [each["policy"] for each in schedules] == ["sooner", "later"]
    assert (schedules[0]["schedule"], schedules[0]["next_due"]) == (
        {"at": "02:00", "weekdays": ["mon"]},
        "2026-03-02T13:00:00Z",
    )
    assert (await api.client(read="app/*").get("/v1/consolidation-schedules")).status_code == 403


async def test_a_schedule_reports_its_own_last_run_and_ignores_manual_runs(api: Api):
    api.runs.scheduled.append(Scheduled(policy="app", schedule=Schedule(at="02:00"), next_due=NOON))
    for day in (3, 1, 2):
        begun = manual_run(RunRequest(policy="app"), (), "the schedule", NOON - timedelta(days=day))
        api.runs.put(replace(begun, run_id=f"r{day}", trigger="schedule", status="failed", cost_micros=500_000))
    api.runs.put(manual_run(RunRequest(policy="app"), (), "ada", NOON))
    (schedule,) = (await api.client(read="*").get("/v1/consolidation-schedules")).json()["schedules"]
    last = schedule["last_run"]
    assert (last["run_id"], last["status"], last["cost_usd"]) == ("r1", "failed", 0.5)
