"""Erasing a user over HTTP: everything that is theirs alone, and a receipt that hides nothing."""

import pytest

from schemas.messages import Scope
from schemas.policies import Match, Policies, Policy
from schemas.requests import Source
from tests.api import Api, a_memory

POLICIES = Policies(
    (
        Policy(name="both", match=Match(app_id="app"), namespaces=("{app_id}/{user_id}", "{app_id}")),
        Policy(name="shared", match=Match(app_id="notes"), namespaces=("{app_id}",)),
    )
)
ADA = {"user_id": "ada"}


@pytest.fixture
def api() -> Api:
    api = Api(policies=POLICIES)
    mine = Source(conversation_id="c1", message_id="1")
    api.memories.put(a_memory("a", namespace="app/ada"), a_memory("b", namespace="app/bob"))
    api.memories.put(a_memory("s", namespace="app", sources=(mine,)), a_memory("t", namespace="app"))
    api.owners.conversations = [
        Scope(conversation_id="c1", app_id="app", user_id="ada"),
        Scope(conversation_id="c2", app_id="notes", user_id="ada"),
        Scope(conversation_id="c3", app_id="app", user_id="bob"),
    ]
    return api


async def test_what_is_theirs_alone_goes_and_what_they_share_is_told(api: Api):
    answer = await api.client(admin="*").post("/v1/users/purge", json=ADA | {"reason": "as asked"})
    assert answer.status_code == 200
    receipt = answer.json()
    assert [(each["namespace"], each["status"], each["held"], each["left"]) for each in receipt["erased"]] == [
        ("app/ada", "accepted", {"memories": 1}, {"memories": 0}),
        ("conversation/c2", "accepted", {"memories": 0}, {"memories": 0}),
    ]
    assert receipt["shared"] == [{"namespace": "app", "memories": 1}, {"namespace": "notes", "memories": 0}]
    assert any("chat.messages" in sentence for sentence in receipt["kept"])
    assert set(api.memories.rows) == {"b", "s", "t"}
    assert [command.kind for command in api.curation.seen] == ["purge", "purge"]
    assert [(row.action, row.subject) for row in api.audit.rows] == [("user.purge", "ada")]


async def test_a_namespace_that_only_commands_fed_is_found_by_its_name(api: Api):
    api.owners.conversations = []
    receipt = (await api.client(admin="*").post("/v1/users/purge", json=ADA)).json()
    assert [each["namespace"] for each in receipt["erased"]] == ["app/ada"]
    other_app = (await api.client(admin="*").post("/v1/users/purge", json={"user_id": "bob", "app_id": "notes"})).json()
    assert other_app["erased"] == []
    assert "b" in api.memories.rows


@pytest.mark.parametrize("patterns", [{"admin": "app/*"}, {"write": "*"}, {"read": "*"}])
async def test_every_right_in_every_namespace_concerned_is_needed(api: Api, patterns: dict[str, str]):
    client = api.client(**patterns)
    for user_id in ("ada", "nobody"):
        assert (await client.post("/v1/users/purge", json={"user_id": user_id})).status_code == 403
    assert api.curation.seen == []


async def test_what_is_not_erased_in_time_is_said(api: Api):
    api.curation.late = True
    answer = await api.client(admin="*").post("/v1/users/purge", json=ADA)
    assert answer.status_code == 202
    assert {each["status"] for each in answer.json()["erased"]} == {"pending"}


async def test_an_audit_that_cannot_be_written_keeps_everything(api: Api):
    api.audit.down = True
    assert (await api.client(admin="*").post("/v1/users/purge", json=ADA)).status_code == 503
    assert api.curation.seen == []
