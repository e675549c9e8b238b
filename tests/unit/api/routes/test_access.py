"""Keys and the audit log over HTTP."""

from datetime import timedelta

from sinks.access.audit import Audited
from tests.api import NOON, Api

GRANTS = [{"right": "read", "namespaces": "app/*"}]


async def test_only_administrators_create_list_and_revoke_keys(api: Api):
    for rights in ({"admin": "app/*"}, {"write": "*"}):
        other = api.client(**rights)
        assert (await other.get("/v1/keys")).status_code == 403
        assert (await other.post("/v1/keys", json={"name": "mine", "grants": GRANTS})).status_code == 403
        assert (await other.delete("/v1/keys/key1")).status_code == 403
    client = api.client(admin="*")
    made = await client.post("/v1/keys", json={"name": "reader", "grants": GRANTS})
    assert (made.status_code, made.headers["cache-control"], made.json()["key"]["grants"]) == (201, "no-store", GRANTS)
    token, key_id = made.json()["token"], made.json()["key"]["key_id"]
    listed = await client.get("/v1/keys")
    assert "reader" in [key["name"] for key in listed.json()["keys"]]
    assert token not in listed.text
    me = await api.client().get("/v1/me", headers={"Authorization": f"Bearer {token}"})
    assert me.json()["grants"] == GRANTS
    assert (await client.post("/v1/keys", json={"name": "reader", "grants": GRANTS})).status_code == 409
    assert (await client.delete(f"/v1/keys/{key_id}")).json()["revoked_at"] is not None
    assert (await client.delete(f"/v1/keys/{key_id}")).status_code == 404


async def test_creating_a_key_without_grants_or_with_an_expiry_in_the_past_is_rejected(api: Api):
    client = api.client(admin="*")
    past = (NOON - timedelta(days=1)).isoformat()
    assert (await client.post("/v1/keys", json={"name": "none", "grants": []})).status_code == 422
    assert (
        await client.post("/v1/keys", json={"name": "old", "grants": GRANTS, "expires_at": past})
    ).status_code == 422


async def test_only_administrators_read_the_audit_log_page_by_page(api: Api):
    for number in range(3):
        done = Audited(at=NOON, actor="ada", action="policy.put", subject=f"p{number}", details={"version": number})
        await api.audit.record(done)
    assert (await api.client(read="*").get("/v1/audit")).status_code == 403
    client = api.client(admin="*")
    first = (await client.get("/v1/audit", params={"limit": 2})).json()
    assert [entry["subject"] for entry in first["entries"]] == ["p2", "p1"]
    rest = (await client.get("/v1/audit", params={"limit": 2, "cursor": first["next"]})).json()
    assert ([entry["subject"] for entry in rest["entries"]], rest["next"]) == (["p0"], None)
    one = (await client.get("/v1/audit", params={"action": "policy.put", "subject": "p1"})).json()
    assert [entry["details"] for entry in one["entries"]] == [{"version": 1}]
