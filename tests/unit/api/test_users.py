"""Erasing a user over HTTP: everything that is theirs alone, and a receipt that hides nothing."""

from collections.abc import Collection
from typing import Any

import pytest

from agents.api import erasing
from agents.api.commands import Commands
from schemas import codec, topics
from schemas.errors import Retryable
from schemas.messages import Scope
from schemas.policies import Match, Policies, Policy
from schemas.requests import Command, Source
from tests.api import Api, a_memory
from tests.fakes.publisher import FakePublisher

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


async def test_all_of_many_namespaces_are_told_to_go_before_any_is_waited_for():
    published, outcomes = FakePublisher(), Outcomes(of_the_first=30)
    api = Api(policies=POLICIES, commands=(commands := Commands(published, outcomes, wait_s=0.5)))
    scopes = [Scope(conversation_id=f"c{n:03}", app_id="notes", user_id="ada") for n in range(100)]
    api.owners.conversations = scopes
    answer = await api.client(admin="*").post("/v1/users/purge", json=ADA)
    await commands.close()
    assert answer.status_code == 202
    assert outcomes.asked[0] == 100
    sent = [codec.decode(record.value, Command) for record in published.on(topics.COMMANDS)]
    erased = answer.json()["erased"]
    assert [each.namespace for each in sent] == [f"conversation/{scope.conversation_id}" for scope in scopes]
    assert [each.command_id for each in sent] == [each["command_id"] for each in erased]
    assert [each["status"] for each in erased] == ["accepted"] * 30 + ["pending"] * 70


class Outcomes:
    """Of a worker that stopped after the first so many commands it saw. `asked` is for how many, each time."""

    def __init__(self, of_the_first: int) -> None:
        self.asked: list[int] = []
        self._left = of_the_first

    async def of(self, sent: Collection[tuple[str, str]]) -> dict[tuple[str, str], Any]:
        self.asked.append(len(sent))
        done = sorted(sent)[: self._left]
        self._left -= len(done)
        return {each: {"status": "accepted", "namespace": each[0], "sequence": 1, "change": "purged"} for each in done}


async def test_a_receipt_that_looked_at_a_part_alone_says_so(api: Api, monkeypatch: pytest.MonkeyPatch):
    client = api.client(admin="*")
    assert (await client.post("/v1/users/purge", json=ADA)).json()["whole"] is True
    monkeypatch.setattr(erasing, "MOST", 1)
    assert (await client.post("/v1/users/purge", json=ADA)).json()["whole"] is False


async def test_what_cannot_be_counted_keeps_everything(api: Api):
    async def away(namespace: str, conversation_ids: Collection[str]) -> int:
        raise Retryable("Postgres failed while counting memories of a user's conversations: it is down")

    api.owners.from_conversations = away
    assert (await api.client(admin="*").post("/v1/users/purge", json=ADA)).status_code == 503
    assert (api.curation.seen, api.audit.rows) == ([], [])


async def test_an_audit_that_cannot_be_written_keeps_everything(api: Api):
    api.audit.down = True
    assert (await api.client(admin="*").post("/v1/users/purge", json=ADA)).status_code == 503
    assert api.curation.seen == []
