"""The rights of a key and the namespaces that it may read."""

from datetime import timedelta

from agents.api.access.authentication import NoAuthentication
from tests.api import NOON, Api, a_memory


async def test_the_me_endpoint_returns_the_grants_of_the_key(api: Api):
    answer = await api.client(read="app/*", write="app/ada").get("/v1/me")
    assert answer.json() == {
        "key_id": "key1",
        "name": "key 1",
        "grants": [{"right": "read", "namespaces": "app/*"}, {"right": "write", "namespaces": "app/ada"}],
        "keyed": True,
    }


async def test_the_me_endpoint_of_a_server_without_keys_reports_admin_rights_and_no_key():
    answer = await Api(authentication=NoAuthentication()).client().get("/v1/me")
    assert answer.json()["keyed"] is False
    assert answer.json()["grants"] == [{"right": "admin", "namespaces": "*"}]


async def test_namespaces_are_listed_only_if_the_key_may_read_them(api: Api):
    for number, namespace in enumerate(("app/bob", "app/ada", "app/ada", "other/eve", "~0a1b2c3d/app/ada")):
        api.memories.put(a_memory(f"m{number}", namespace=namespace))
    answer = await api.client(read="app/*").get("/v1/namespaces")
    assert answer.json() == {"namespaces": [{"namespace": "app/ada", "live": 2}, {"namespace": "app/bob", "live": 1}]}
    everywhere = await api.client(read="*").get("/v1/namespaces")
    assert [each["namespace"] for each in everywhere.json()["namespaces"]] == ["app/ada", "app/bob", "other/eve"]


async def test_namespaces_are_paged_and_filtered_by_a_part_of_their_names(api: Api):
    for name in ("app/ada", "app/bob", "other/eve"):
        api.memories.put(a_memory(name, namespace=name, created_at=NOON + timedelta(days=1)))
    client = api.client(read="*")
    first = (await client.get("/v1/namespaces", params={"limit": 2})).json()
    second = (await client.get("/v1/namespaces", params={"limit": 2, "cursor": first["next"]})).json()
    assert [each["namespace"] for each in first["namespaces"] + second["namespaces"]] == [
        "app/ada",
        "app/bob",
        "other/eve",
    ]
    assert "next" not in second
    under = (await client.get("/v1/namespaces", params={"containing": "EVE"})).json()
    assert [each["namespace"] for each in under["namespaces"]] == ["other/eve"]
