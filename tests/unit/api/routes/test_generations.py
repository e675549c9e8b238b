"""Generations over HTTP: progress, differences, cutover and revert."""

from typing import Any

import pytest
from msgspec.structs import replace

from agents.replay.comparison import Difference
from schemas.policies.policies import Policies
from schemas.replay.generations import Generation, Plan
from tests.api import NOON, Api, a_memory

READY = Generation(
    generation_id="0a1b2c3d",
    plan=Plan(until=NOON, policies=Policies(), namespaces="app/*", overridden=("notes",)),
    status="ready",
    created_at=NOON,
    changed_at=NOON,
)
PATH = "/v1/generations/0a1b2c3d"


@pytest.fixture
def api() -> Api:
    api = Api()
    added = [
        Difference(fate="added", after=a_memory(f"m{number}", namespace="app/ada", text=f"fact {number}"))
        for number in range(3)
    ]
    api.replays.put(READY, app_ada=added)
    return api


async def test_a_generation_is_returned_with_its_build_progress(api: Api):
    client = api.client(read="*")
    (listed,) = (await client.get("/v1/generations")).json()["generations"]
    assert listed == (await client.get(PATH)).json()
    generation: dict[str, Any] = {"generation_id": "0a1b2c3d", "status": "ready", "namespaces": "app/*", "done": 2}
    assert listed.items() >= (generation | {"policies": ["notes"], "namespaces_fed": 1}).items()


async def test_differences_of_a_generation_are_paged_and_need_the_right_to_read_the_namespace(api: Api):
    client = api.client(read="app/ada")
    first = (await client.get(f"{PATH}/differences", params={"namespace": "app/ada", "limit": 2})).json()
    rest = (
        await client.get(f"{PATH}/differences", params={"namespace": "app/ada", "limit": 2, "cursor": first["next"]})
    ).json()
    found = [*first["differences"], *rest["differences"]]
    assert [each["after"]["text"] for each in found] == ["fact 0", "fact 1", "fact 2"]
    assert rest["next"] is None
    assert (await client.get(f"{PATH}/differences", params={"namespace": "app/bob"})).status_code == 403


async def test_a_comparison_that_is_too_large_for_a_request_points_to_the_command_line(api: Api):
    api.replays.at_most = 2
    answer = await api.client(read="*").get(f"{PATH}/differences", params={"namespace": "app/ada"})
    assert answer.status_code == 409
    assert "`memstream diff 0a1b2c3d -n app/ada`" in answer.json()["detail"]


async def test_a_global_admin_cuts_over_to_a_generation_and_undoes_it_and_both_are_audited(api: Api):
    client = api.client(admin="*")
    assert (await client.post(f"{PATH}/cutover")).json() == {"namespaces": 1, "changes": 2, "left": 0}
    assert (await client.post(f"{PATH}/undo")).status_code == 200
    assert (await client.post(f"{PATH}/undo")).status_code == 409
    assert [row.action for row in api.audit.rows] == ["generation.cutover", "generation.undo", "generation.undo"]
    assert (await client.post("/v1/generations/ffffffff/cutover")).status_code == 404


@pytest.mark.parametrize("grants", [{"admin": "app/*"}, {"read": "*"}, {"write": "*"}])
async def test_a_cutover_without_global_admin_rights_is_rejected(api: Api, grants: dict[str, str]):
    for action in ("cutover", "undo"):
        assert (await api.client(**grants).post(f"{PATH}/{action}")).status_code == 403
    assert api.replays.by_id["0a1b2c3d"] == READY


async def test_a_cutover_to_a_generation_that_is_still_being_built_is_rejected(api: Api):
    api.replays.put(replace(READY, status="building"))
    answer = await api.client(admin="*").post(f"{PATH}/cutover")
    assert answer.status_code == 409
    assert "building" in answer.json()["detail"]


async def test_a_generation_being_discarded_is_reported_as_such_and_rejects_cutover_and_undo(api: Api):
    api.replays.put(replace(READY, status="discarding"))
    client = api.client(admin="*")
    assert (await client.get(PATH)).json()["status"] == "discarding"
    for action in ("cutover", "undo"):
        answer = await client.post(f"{PATH}/{action}")
        assert answer.status_code == 409
        assert "`memstream generations discard 0a1b2c3d` removes the rest" in answer.json()["detail"]
    assert api.replays.by_id["0a1b2c3d"].status == "discarding"
