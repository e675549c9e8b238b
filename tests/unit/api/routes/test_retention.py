"""Sweeps of the archive over HTTP."""

from datetime import timedelta

from msgspec.structs import replace

from agents.retention.sweeper import manual_sweep
from schemas.consolidation.retention import RetentionStatistics
from tests.api import NOON, Api

SWEEPS = "/v1/retention-sweeps"


async def test_starting_a_retention_sweep_needs_global_admin_rights_and_is_audited_unless_dry(api: Api):
    for rights in ({"admin": "app/*"}, {"write": "*"}):
        assert (await api.client(**rights).post(SWEEPS, json={})).status_code == 403
    dry = await api.client(admin="*").post(SWEEPS, json={"dry_run": True})
    assert (dry.status_code, dry.json()["status"], api.audit.rows) == (202, "pending", [])
    swept = await api.client(admin="*").post(SWEEPS, json={})
    assert swept.json()["sweep_id"] in api.sweeps.by_id and swept.json()["dry_run"] is False
    assert [(row.action, row.subject) for row in api.audit.rows] == [("retention.sweep", swept.json()["sweep_id"])]


async def test_sweeps_are_listed_newest_first_with_their_numbers(api: Api):
    kept = RetentionStatistics(
        policy="p", days=30, messages=5, bytes=50, oldest=NOON, held=1, pruned=2, pruned_bytes=20
    )
    for number in range(3):
        made = manual_sweep(False, "ada", NOON + timedelta(minutes=number))
        await api.sweeps.add(replace(made, sweep_id=f"s{number}", policies=(kept,)))
    client = api.client(read="*")
    first = (await client.get(SWEEPS, params={"limit": 2})).json()
    assert [sweep["sweep_id"] for sweep in first["sweeps"]] == ["s2", "s1"]
    assert first["sweeps"][0]["policies"][0] | {"oldest": None} == {
        "policy": "p",
        "days": 30,
        "messages": 5,
        "bytes": 50,
        "oldest": None,
        "held": 1,
        "pruned": 2,
        "pruned_bytes": 20,
    }
    rest = (await client.get(SWEEPS, params={"cursor": first["next"]})).json()
    assert ([sweep["sweep_id"] for sweep in rest["sweeps"]], rest["next"]) == (["s0"], None)
    assert (await client.get(f"{SWEEPS}/s1")).json()["sweep_id"] == "s1"
    assert (await client.get(f"{SWEEPS}/none")).status_code == 404
    assert (await api.client(read="app/*").get(f"{SWEEPS}/s1")).status_code == 403
