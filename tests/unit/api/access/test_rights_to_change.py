"""Rights to change, purge and uninstall over HTTP, and their audit entries."""

import pytest

from agents.api.access.authentication import NoAuthentication
from tests.api import NOON, Api, a_memory

NEW = {"namespace": "app/ada", "text": "User plays chess."}


@pytest.mark.parametrize("rights", [{"read": "*"}, {"write": "app/bob", "read": "app/ada"}])
async def test_a_key_without_the_right_to_write_cannot_change_memories(api: Api, rights):
    api.memories.put(a_memory())
    client = api.client(**rights)
    answers = [
        await client.post("/v1/memories", json=NEW),
        await client.patch("/v1/memories/m1", json={"text": "New."}),
        await client.delete("/v1/memories/m1"),
        await client.post("/v1/memories/m1/undo", json={}),
        await client.post("/v1/wishes/w1/undo", json={"namespace": "app/ada"}),
        await client.put("/v1/memories/m1/pin"),
        await client.delete("/v1/memories/m1/pin"),
    ]
    assert [answer.status_code for answer in answers] == [403] * 7
    assert api.curation.seen == []


async def test_purging_a_namespace_needs_admin_rights_and_is_audited(api: Api):
    api.memories.put(a_memory(), a_memory("m2", namespace="app/bob"))
    params = {"namespace": "app/ada", "reason": "asked to"}
    assert (await api.client(write="*").delete("/v1/namespaces", params=params)).status_code == 403
    answer = await api.client(admin="app/ada").delete("/v1/namespaces", params=params)
    assert (answer.status_code, answer.json()["change"]) == (200, "purged")
    assert list(api.memories.rows) == ["m2"]
    (entry,) = api.audit.rows
    assert (entry.action, entry.subject, entry.actor, entry.at) == ("namespace.purge", "app/ada", "key 2 (key2)", NOON)
    assert entry.details == {"command_id": answer.json()["command_id"], "reason": "asked to"}


async def test_a_purge_is_refused_while_the_audit_log_is_down(api: Api):
    api.memories.put(a_memory())
    api.audit.down = True
    answer = await api.client(admin="*").delete("/v1/namespaces", params={"namespace": "app/ada"})
    assert answer.status_code == 503
    assert api.curation.seen == []


async def test_uninstalling_an_app_keeps_its_memories_and_is_audited(api: Api):
    api.memories.put(a_memory())
    answer = await api.client(admin="*").post("/v1/namespaces/uninstall", json={"namespace": "app/ada"})
    assert (answer.status_code, answer.json()["status"]) == (200, "accepted")
    assert list(api.memories.rows) == ["m1"]
    assert api.audit.rows[0].action == "namespace.uninstall"


async def test_without_keys_every_client_has_admin_rights():
    api = Api(authentication=NoAuthentication())
    assert (await api.client().post("/v1/memories", json=NEW)).json()["memory"]["created_by"] == "local"
    assert (await api.client().delete("/v1/namespaces", params={"namespace": "app/ada"})).status_code == 200
