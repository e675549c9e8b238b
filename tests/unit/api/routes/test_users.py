"""Exporting and erasing users and conversations over HTTP: rights, progress and complete receipts."""

import json
from collections.abc import Collection
from typing import Any

import pytest

from agents.api.access import erasure as erasing
from schemas.conversations.messages import Scope
from schemas.errors import Retryable
from schemas.extraction.candidates import Source
from schemas.policies.matching import Match
from schemas.policies.policies import Policies, Policy
from sinks.erasure.erasures import ErasedNamespace
from tests.api import NOON, Api, a_memory
from tests.fakes.windows import a_state

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
    api.owners.known_scopes = [
        Scope(conversation_id="c1", app_id="app", user_id="ada"),
        Scope(conversation_id="c2", app_id="notes", user_id="ada"),
        Scope(conversation_id="c3", app_id="app", user_id="bob"),
    ]
    return api


async def test_erasing_a_user_starts_from_the_current_offsets_and_returns_a_receipt(api: Api):
    answer = await api.client(admin="*").post("/v1/users/purge", json=ADA | {"reason": "as asked"})
    assert answer.status_code == 200
    (erasure,) = api.erasures.begun.values()
    assert (erasure.kind, erasure.user_id, erasure.at, erasure.positions) == ("user", "ada", NOON, {0: 7})
    receipt = answer.json()
    assert (receipt["status"], receipt["subject"], receipt["reason"]) == ("complete", ADA, "as asked")
    assert "PostgreSQL, memories" in {each["store"] for each in receipt["stores"]}
    assert [(row.action, row.subject) for row in api.audit.rows] == [("user.erase", "ada")]


async def test_an_erasure_preview_lists_what_would_be_erased_and_erases_nothing(api: Api):
    answer = await api.client(admin="*").get("/v1/users/purge", params=ADA)
    assert answer.json()["own"] == [
        {"namespace": "app/ada", "held": {"memories": 1}},
        {"namespace": "conversation/c2", "held": {"memories": 0}},
    ]
    assert answer.json()["shared"] == [{"namespace": "app", "memories": 1}, {"namespace": "notes", "memories": 0}]
    assert api.erasures.begun == {}


async def test_an_erasure_preview_of_a_namespace_needs_admin_rights(api: Api):
    parameters = {"namespace": "app/ada"}
    answer = await api.client(admin="app/*").get("/v1/namespaces/erasure", params=parameters)
    assert answer.json() == {"namespace": "app/ada", "held": {"memories": 1}}
    assert (await api.client(write="*").get("/v1/namespaces/erasure", params=parameters)).status_code == 403
    assert "app/ada" in {each.namespace for each in api.memories.rows.values()}


async def test_an_erasure_preview_of_a_conversation_erases_nothing_and_needs_admin_rights(api: Api):
    scope = Scope(conversation_id="c1", app_id="app", user_id="ada")
    await api.windows.project([a_state("c1", scope=scope)])
    source = Source(conversation_id="c1", message_id="1")
    api.memories.put(a_memory("c", namespace="app/ada", sources=(source,)))
    answer = await api.client(admin="app/*").get("/v1/conversations/c1/erasure")
    fed = [{"namespace": "app/ada", "memories": 1}]
    assert answer.json() == {"conversation_id": "c1", "messages": 20, "namespaces": fed}
    assert api.erasures.begun == {}
    for patterns in ({"admin": "other/*"}, {"write": "*"}):
        assert (await api.client(**patterns).get("/v1/conversations/c1/erasure")).status_code == 404


@pytest.mark.parametrize("patterns", [{"admin": "app/*"}, {"write": "*"}, {"read": "*"}])
async def test_erasing_a_user_needs_admin_rights_in_every_namespace_of_the_user(api: Api, patterns: dict[str, str]):
    client = api.client(**patterns)
    for user_id in ("ada", "nobody"):
        assert (await client.post("/v1/users/purge", json={"user_id": user_id})).status_code == 403
        assert (await client.get("/v1/users/purge", params={"user_id": user_id})).status_code == 403
    assert api.erasures.begun == {}


@pytest.mark.parametrize("path", ["/v1/users/purge", "/v1/users/export"])
async def test_a_refusal_does_not_reveal_whether_the_user_exists(api: Api, path: str):
    client = api.client(admin="app/bob")
    answers = [(await client.get(path, params={"user_id": user_id})).json() for user_id in ("ada", "nobody")]
    refusals = [(each["status"], each["detail"]) for each in answers]
    assert refusals[0] == refusals[1]
    assert refusals[0][0] == 403


async def test_erasing_a_user_needs_rights_to_co_speakers_namespaces_and_to_formerly_fed_ones(api: Api):
    api.owners.known_scopes = [
        Scope(conversation_id="c", app_id="app", user_id="ada"),
        Scope(conversation_id="c", app_id="app", user_id="bob"),
    ]
    api.owners.feeds = {"c": ("formerly/ada",)}
    body = (await api.client(admin="*").get("/v1/users/purge", params=ADA)).json()
    assert [each["namespace"] for each in body["own"]] == ["app/ada"]
    assert [each["namespace"] for each in body["shared"]] == ["app", "app/bob", "conversation/c", "formerly/ada"]
    assert (await api.client(admin="app*").post("/v1/users/purge", json=ADA)).status_code == 403
    assert (await api.client(admin="*").post("/v1/users/purge", json=ADA)).status_code == 200


async def test_an_erasure_that_is_not_complete_in_time_is_pending_and_its_receipt_can_be_polled(api: Api):
    api.erasures.complete = False
    answer = await api.client(admin="*").post("/v1/users/purge", json=ADA)
    assert (answer.status_code, answer.json()["status"]) == (202, "pending")
    api.erasures.complete = True
    again = await api.client(admin="*").get(answer.headers["Location"])
    assert (again.status_code, again.json()["status"]) == (200, "complete")


async def test_an_idempotency_key_prevents_a_second_erasure_by_the_same_caller(api: Api):
    client = api.client(admin="*")
    responses = [await client.post("/v1/users/purge", json=ADA, headers={"Idempotency-Key": "k"}) for _ in range(2)]
    assert len({each.json()["erasure_id"] for each in responses}) == len(api.erasures.begun) == 1
    other = await client.post("/v1/users/purge", json={"user_id": "bob"}, headers={"Idempotency-Key": "k"})
    assert other.json()["erasure_id"] not in {each.json()["erasure_id"] for each in responses}


async def test_a_receipt_is_visible_only_with_admin_rights_to_every_namespace_in_it(api: Api):
    receipt = (await api.client(admin="*").post("/v1/users/purge", json=ADA)).json()
    name = receipt["erasure_id"]
    counts = {"memories": 1, "versions": 2, "vectors": 1}
    api.erasures.erased[name] = (ErasedNamespace(namespace="app/ada", how="purge", done_at=NOON, **counts),)
    assert (await api.client(admin="app/bob").get(f"/v1/erasures/{name}")).status_code == 404
    seen = (await api.client(admin="app/ada").get(f"/v1/erasures/{name}")).json()
    assert seen["namespaces"] == [{"namespace": "app/ada", "how": "purge", "status": "done"} | counts]


async def test_a_complete_receipt_says_that_nothing_was_found_and_any_removed_data_says_otherwise(api: Api):
    api.erasures.complete = False
    client = api.client(admin="*")
    begun = await client.delete("/v1/conversations/unknown")
    assert (begun.status_code, "nothing_found" in begun.json()) == (202, False)
    api.erasures.complete = True
    assert (await client.get(begun.headers["Location"])).json()["nothing_found"] is True
    erased = ErasedNamespace(namespace="app", how="forget", done_at=NOON, memories=1, versions=1, vectors=1)
    api.erasures.erased[begun.json()["erasure_id"]] = (erased,)
    assert "nothing_found" not in (await client.get(begun.headers["Location"])).json()


async def test_no_erasure_starts_if_counting_or_auditing_fails(api: Api):
    async def away(namespace: str, conversation_ids: Collection[str]) -> int:
        raise Retryable("PostgreSQL failed while counting memories of a user's conversations: it is down")

    api.owners.count_memories = away
    assert (await api.client(admin="*").get("/v1/users/purge", params=ADA)).status_code == 503
    api.audit.down = True
    assert (await api.client(admin="*").post("/v1/users/purge", json=ADA)).status_code == 503
    assert (api.erasures.begun, api.audit.rows) == ({}, [])


async def test_erasing_a_conversation_needs_admin_rights_in_every_namespace_that_it_feeds(api: Api):
    scope = Scope(conversation_id="c/1", app_id="app", user_id="ada")
    await api.windows.project([a_state("c/1", scope=scope)])
    for patterns in ({"admin": "app/bob"}, {"write": "*"}):
        assert (await api.client(**patterns).delete("/v1/conversations/c%2F1")).status_code == 404
    answer = await api.client(admin="app/*").delete("/v1/conversations/c%2F1", params={"reason": "a slip"})
    assert answer.json()["subject"] == {"conversation_id": "c/1"}
    assert [each.reason for each in api.erasures.begun.values()] == ["a slip"]
    name, counts = answer.json()["erasure_id"], {"memories": 0, "versions": 0, "vectors": 0}
    api.erasures.erased[name] = tuple(
        ErasedNamespace(namespace=namespace, how="forget", done_at=NOON, **counts)
        for namespace in ("app/ada", "conversation/c%2F1")
    )
    assert (await api.client(admin="app/*").get(f"/v1/erasures/{name}")).status_code == 200
    assert (await api.client(admin="conversation/*").get(f"/v1/erasures/{name}")).status_code == 404


async def test_erasing_a_conversation_known_only_to_kafka_needs_global_admin_rights(api: Api):
    assert (await api.client(admin="app*").delete("/v1/conversations/unknown")).status_code == 404
    assert (await api.client(admin="*").delete("/v1/conversations/unknown")).status_code == 200


async def exported(api: Api, **params: str) -> dict[str, list[dict[str, Any]]]:
    """Everything that the export of ada has, by `memory` and `message`."""
    answer = await api.client(read="*").get("/v1/users/export", params=ADA | params)
    assert answer.headers["content-type"] == "application/x-ndjson"
    records = [json.loads(line) for line in answer.text.splitlines()]
    return {kind: [each[kind] for each in records if kind in each] for kind in ("memory", "message")}


async def test_an_export_of_a_user_has_memories_of_every_status_with_versions(api: Api):
    client = api.client(write="*")
    made = (await client.post("/v1/memories", json={"namespace": "app/ada", "text": "User has a dog"})).json()
    api.memories.put(a_memory("gone", namespace="app/ada", status="deleted"))
    memories = {each["memory_id"]: each for each in (await exported(api))["memory"]}
    assert memories.keys() == {"a", "gone", made["memory_id"]}
    assert [version["change"] for version in memories[made["memory_id"]]["versions"]] == ["created"]


async def test_an_export_of_a_user_has_what_the_user_told_in_shared_namespaces_and_nobody_else(api: Api):
    mine = Source(conversation_id="c1", message_id="1", user_id="ada")
    bobs = Source(conversation_id="c1", message_id="2", user_id="bob")
    api.memories.put(
        a_memory("both", namespace="app", sources=(bobs, mine), told_by=("bob", "ada")),
        a_memory("bobs", namespace="app", sources=(bobs,), told_by=("bob",)),
        a_memory("command", namespace="app", told_by=("ada",)),
        a_memory("elsewhere", namespace="app", sources=(Source(conversation_id="c9", message_id="1", user_id="ada"),)),
    )
    memories = {each["memory_id"]: each for each in (await exported(api))["memory"]}
    assert memories.keys() == {"a", "both", "command"}
    assert "bob" not in json.dumps(memories["both"])


async def test_an_export_of_a_user_has_the_users_messages_and_replies_to_the_user_alone(api: Api):
    api.owners.known_scopes = [
        Scope(conversation_id="alone", app_id="app", user_id="ada"),
        Scope(conversation_id="group", app_id="app", user_id="ada"),
        Scope(conversation_id="group", app_id="app", user_id="bob"),
    ]
    for conversation_id in ("alone", "group"):
        api.archive.say(conversation_id, ("user", "I ski."), app_id="app", user_id="ada")
        api.archive.say(conversation_id, ("assistant", "Nice."), app_id="app")
        api.archive.say(
            conversation_id, *[("user", f"Run {number}.") for number in range(200)], app_id="app", user_id="ada"
        )
    api.archive.say("group", ("user", "I sail."), app_id="app", user_id="bob")
    messages = (await exported(api))["message"]
    said = {
        name: [each["content"] for each in messages if each["conversation_id"] == name] for name in ("alone", "group")
    }
    assert (said["alone"][:3], len(said["alone"])) == (["I ski.", "Nice.", "Run 0."], 202)
    assert (said["group"][:2], len(said["group"])) == (["I ski.", "Run 0."], 201)


async def test_an_export_of_a_user_has_neither_the_words_of_guests_nor_replies_that_may_be_to_them(api: Api):
    guest = Source(conversation_id="c1", message_id="3", guest_id="g")
    api.memories.put(
        a_memory("mine", namespace="conversation/c1"),
        a_memory("guests", namespace="conversation/c1", sources=(guest,)),
    )
    api.owners.known_scopes = [Scope(conversation_id=name, app_id="notes", user_id="ada") for name in ("c1", "c2")]
    for conversation_id, second in (("c1", "Rob"), ("c2", "ada smith")):
        api.archive.say(conversation_id, ("user", "I ski."), app_id="notes", user_id="ada", name="Ada")
        api.archive.say(conversation_id, ("user", "I am ill."), app_id="notes", name=second)
        api.archive.say(conversation_id, ("assistant", "Get well soon."), app_id="notes")
    found = await exported(api)
    assert {each["memory_id"] for each in found["memory"]} == {"a", "mine"}
    assert [(each["conversation_id"], each["content"]) for each in found["message"]] == [
        ("c1", "I ski."),
        ("c2", "I ski."),
        ("c2", "I am ill."),
        ("c2", "Get well soon."),
    ]


async def test_a_name_without_a_user_id_is_the_users_in_an_export_too_if_the_user_has_no_name(api: Api):
    api.owners.known_scopes = [Scope(conversation_id="c1", app_id="notes", user_id="ada")]
    api.archive.say("c1", ("user", "I ski."), app_id="notes", user_id="ada")
    api.archive.say("c1", ("user", "I sail."), app_id="notes", name="Ada")
    api.archive.say("c1", ("assistant", "Nice."), app_id="notes")
    assert [each["content"] for each in (await exported(api))["message"]] == ["I ski.", "I sail.", "Nice."]


async def test_an_export_of_a_user_of_one_app_leaves_out_the_same_id_in_another_app(api: Api):
    api.archive.say("c1", ("user", "In the app."), app_id="app", user_id="ada")
    api.archive.say("c1", ("user", "In the notes."), app_id="notes", user_id="ada")
    assert [each["content"] for each in (await exported(api, app_id="app"))["message"]] == ["In the app."]


@pytest.mark.parametrize("patterns", [{"admin": "app/*"}, {"read": "app*"}])
async def test_an_export_of_a_user_needs_the_right_to_read_in_every_namespace_of_the_user(
    api: Api, patterns: dict[str, str]
):
    for user_id in ("ada", "nobody"):
        answer = await api.client(**patterns).get("/v1/users/export", params={"user_id": user_id})
        assert answer.status_code == 403


async def test_the_scope_of_a_user_is_complete_however_many_pages_it_has(api: Api, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(erasing, "PAGE_SIZE", 2)
    api.owners.known_scopes = [
        Scope(conversation_id=f"c{number}", app_id="app", user_id=user_id)
        for number in range(5)
        for user_id in ("ada", "bob")[: 1 + (number == 4)]
    ]
    api.owners.feeds = {"c4": ("formerly/ada",)}
    api.memories.put(*(a_memory(f"n{number}", namespace=f"app/ada{number}") for number in range(5)))
    api.memories.put(a_memory("z", namespace="zoo/ada"))
    for number in range(5):
        api.archive.say(f"c{number}", ("user", f"Run {number}."), app_id="app", user_id="ada")
    body = (await api.client(admin="*").get("/v1/users/purge", params=ADA)).json()
    assert [each["namespace"] for each in body["own"]] == ["app/ada", "zoo/ada"]
    assert [each["namespace"] for each in body["shared"]] == ["app", "app/bob", "conversation/c4", "formerly/ada"]
    assert body["conversations"] == 5
    assert (await api.client(admin="app*").post("/v1/users/purge", json=ADA)).status_code == 403
    assert [each["content"] for each in (await exported(api))["message"]] == [f"Run {number}." for number in range(5)]


async def test_an_export_of_a_user_is_in_the_audit_log_and_refused_without_an_entry(api: Api):
    await exported(api, app_id="app")
    entry = ("key 1 (key1)", "user.export", "ada", {"app_id": "app"})
    assert [(row.actor, row.action, row.subject, row.details) for row in api.audit.rows] == [entry]
    assert (await api.client(read="app/bob").get("/v1/users/export", params=ADA)).status_code == 403
    api.audit.down = True
    assert (await api.client(read="*").get("/v1/users/export", params=ADA)).status_code == 503
    assert len(api.audit.rows) == 1
