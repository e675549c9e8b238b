"""Policies over HTTP: current ones, presets and replacement."""

import pytest

from schemas import codec
from schemas.conversations.messages import Scope
from schemas.kafka.records import Outgoing
from schemas.policies.policies import Policy
from tests.api import Api
from tests.fakes.windows import a_state


async def put(api: Api, name: str = "kitchen", **fields: object):
    return await api.client(admin="*").put(f"/v1/policies/{name}", json={"name": name} | fields)


async def test_a_created_policy_is_published_to_the_topic_and_listed_first(api: Api):
    answer = await put(api, match={"app_id": "kitchen"})
    assert (answer.status_code, answer.json()["result"], answer.json()["policy"]["name"]) == (201, "created", "kitchen")
    (record,) = api.policy_records.records
    assert record.key == b"kitchen"
    assert codec.decode(record.value, Policy).match.app_id == "kitchen"
    listed = (await api.client(read="*").get("/v1/policies")).json()["policies"]
    assert [(each["policy"]["name"], each["origin"]) for each in listed] == [
        ("kitchen", "topic"),
        ("app", "file"),
        ("default", "built in"),
    ]


async def test_putting_an_equal_policy_changes_nothing_and_a_different_one_increments_the_version(api: Api):
    await put(api)
    assert (await put(api)).json()["result"] == "unchanged"
    changed = await put(api, max_memories=5)
    assert (changed.status_code, changed.json()["result"], changed.json()["policy"]["version"]) == (200, "changed", 2)
    assert len(api.policy_records.records) == 2


async def test_putting_a_policy_based_on_a_stale_version_is_a_conflict(api: Api):
    await put(api)
    await put(api, max_memories=5)
    answer = await put(api, max_memories=6, version=1)
    assert answer.status_code == 409
    assert "the policy 'kitchen' is at 2 now" in answer.json()["detail"]
    assert (await put(api, max_memories=6, version=2)).json()["policy"]["version"] == 3


async def test_a_deleted_policy_continues_its_version_numbers_when_recreated(api: Api):
    await put(api)
    client = api.client(admin="*")
    assert (await client.delete("/v1/policies/kitchen")).status_code == 204
    assert (await client.delete("/v1/policies/kitchen")).status_code == 404
    assert (await client.get("/v1/policies/kitchen")).status_code == 404
    assert (await put(api)).json()["policy"]["version"] == 2


@pytest.mark.parametrize(("key", "name"), [(b"caf\xe9", "caf%5Cxe9"), (b"notes", "notes")])
async def test_an_invalid_record_is_deleted_by_its_key_in_which_bytes_that_are_no_text_are_escaped(api: Api, key, name):
    await api.policy_records.publish([Outgoing(topic="memory.policies", key=key, value=b"{")])
    client = api.client(admin="*")
    assert (await client.delete(f"/v1/policies/{name}")).status_code == 204
    assert [(each.key, each.value) for each in api.policy_records.records] == [(key, b"{"), (key, None)]
    assert (await client.delete(f"/v1/policies/{name}")).status_code == 404


async def test_invalid_records_are_listed_by_name_with_their_reasons_until_they_are_replaced(api: Api):
    await put(api)
    for key in (b"kitchen", b"caf\xe9", None):
        await api.policy_records.publish([Outgoing(topic="memory.policies", key=key, value=b"{")])
    client = api.client(admin="*")
    listed = (await client.get("/v1/policies")).json()
    assert listed["policies"][0]["policy"]["name"] == "kitchen"
    assert [each["name"] for each in listed["invalid"]] == ["", "caf\\xe9", "kitchen"]
    assert listed["invalid"][1]["reason"].startswith("a record of 'caf\\xe9' at offset 2 is ignored: ")
    await put(api, max_memories=7)
    listed = (await client.get("/v1/policies")).json()
    assert [each["name"] for each in listed["invalid"]] == ["", "caf\\xe9"]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"max_memories": 0}, "max_memories"),
        ({"max_memory": 5}, "max_memory"),
        ({"namespaces": ["{user}"]}, "name fields of a conversation"),
    ],
)
async def test_an_invalid_policy_is_rejected_with_the_offending_field(api: Api, fields, said):
    answer = await put(api, **fields)
    assert (answer.status_code, said in answer.json()["detail"]) == (422, True)
    assert api.policy_records.records == []


async def test_a_policy_whose_name_differs_from_the_path_is_rejected(api: Api):
    answer = await api.client(admin="*").put("/v1/policies/kitchen", json={"name": "other"})
    assert answer.status_code == 422
    assert "use the same name" in answer.json()["detail"]


async def test_writing_policies_needs_global_admin_rights_and_is_audited(api: Api):
    for patterns in ({"admin": "app/*"}, {"write": "*"}):
        client = api.client(**patterns)
        assert (await client.put("/v1/policies/kitchen", json={"name": "kitchen"})).status_code == 403
        assert (await client.delete("/v1/policies/kitchen")).status_code == 403
    assert api.audit.rows == []
    await put(api)
    await api.client(admin="*").delete("/v1/policies/kitchen")
    assert [(row.action, row.subject) for row in api.audit.rows] == [
        ("policy.put", "kitchen"),
        ("policy.delete", "kitchen"),
    ]
    assert (await api.client(read="app/*").get("/v1/policies")).status_code == 403


async def test_the_settings_of_a_namespace_are_those_of_its_policy(api: Api):
    client = api.client(read="app/*")
    assert (await client.get("/v1/settings", params={"namespace": "app/ada"})).json()["name"] == "app"
    assert (await client.get("/v1/settings", params={"namespace": "other/ada"})).status_code == 403


async def test_presets_are_listed_and_usable_as_new_policies(api: Api):
    client = api.client(read="app/*")
    assert [each["name"] for each in (await client.get("/v1/presets")).json()["presets"]] == ["app-notes"]
    preset = (await client.get("/v1/presets/app-notes")).json()
    answer = await put(api, **(preset | {"name": "kitchen"}))
    assert answer.status_code == 201
    assert (await client.get("/v1/presets/none")).status_code == 404


async def test_policy_requests_return_503_while_the_brokers_are_down(api: Api):
    api.policy_records.down = True
    assert (await put(api)).status_code == 503
    assert (await api.client(read="*").get("/v1/policies")).status_code == 503


async def test_checking_a_policy_previews_its_effect_without_storing_it(api: Api):
    for number in range(3):
        scope = Scope(conversation_id=f"c{number}", app_id="app" if number else "kitchen", user_id="ada")
        await api.windows.project([a_state(f"c{number}", scope=scope)])
    wanted = {"name": "kitchen", "match": {"app_id": "kitchen"}, "namespaces": ["cook/{user_id}"]}
    client = api.client(read="*")
    body = (await client.post("/v1/policies/kitchen/check", json=wanted)).json()
    assert (body["result"], body["policy"]["name"]) == ("created", "kitchen")
    assert body["reach"] == {
        "looked_at": 3,
        "before": 0,
        "after": 1,
        "moves": [{"before": "default", "after": "kitchen", "conversations": 1}],
        "namespaces": ["cook/ada"],
    }
    assert api.policy_records.records == []
    assert (await client.post("/v1/policies/kitchen/check", json=wanted | {"nonsense": 1})).status_code == 422
    assert (await client.post("/v1/policies/other/check", json=wanted)).status_code == 422
    assert (await api.client(read="app/*").post("/v1/policies/kitchen/check", json=wanted)).status_code == 403


async def test_the_history_of_a_policy_lists_all_versions_and_its_removal(api: Api):
    await put(api, max_memories=5)
    await put(api, max_memories=6)
    await api.client(admin="*").delete("/v1/policies/kitchen")
    changes = (await api.client(read="*").get("/v1/policies/kitchen/history")).json()["changes"]
    assert [(each["removed"], (each["policy"] or {}).get("max_memories")) for each in changes] == [
        (True, None),
        (False, 6),
        (False, 5),
    ]
