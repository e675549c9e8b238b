"""The context block over HTTP."""

import pytest

from schemas.extraction.candidates import Source
from tests.api import Api, a_memory

ADA = {"app_id": "app", "user_id": "ada"}


async def test_a_context_block_combines_memories_and_recent_messages(api: Api):
    api.archive.say("talk", ("user", "I moved to Ghent."), ("assistant", "How nice!"), **ADA)
    said = (Source(conversation_id="talk", message_id="talk-1"),)
    api.searched.memories = [a_memory("m-of-today", sources=said), a_memory("m-of-before", text="User likes tea.")]
    body = {"conversation_id": "talk", "text": "Where do I live?", "cite": True}
    answer = await api.client(read="app/*").post("/v1/context", json=body)
    block = answer.json()
    assert answer.status_code == 200
    assert "- [FACT] User likes tea. (importance: 0.5, said: 2026-03-02) [m-of-bef]" in block["text"]
    assert "user: I moved to Ghent.\nassistant: How nice!" in block["text"]
    assert "lives in Ghent" not in block["text"]
    assert [(each["memory_id"], each["reference"]) for each in block["memories"]] == [("m-of-before", "m-of-bef")]
    assert [each["message_id"] for each in block["messages"]] == ["talk-1", "talk-2"]
    assert (block["memories_known"], block["conversation_known"], block["namespaces"]) == (1, True, ["app/ada"])
    assert block["tokens"] <= block["max_tokens"] == 1_000
    await api.ports.accesses.flush()
    assert list(api.accesses.rows) == ["m-of-before"], "what is told counts as read, what is left out does not"


async def test_a_token_budget_that_is_too_small_is_rejected_with_the_smallest_size(api: Api):
    api.searched.memories = [a_memory()]
    refused = await api.client(read="app/*").post("/v1/context", json={"namespaces": ["app/ada"], "max_tokens": 3})
    assert (refused.status_code, refused.json()["type"]) == (422, "urn:memstream:problem:budget_too_small")
    assert "max_tokens is 3, and the smallest block takes about" in refused.json()["detail"]


async def test_a_context_of_an_unreadable_namespace_is_rejected_without_searching(api: Api):
    body = {"namespaces": ["app/ada", "other/eve"], "text": "What?"}
    assert (await api.client(read="app/*").post("/v1/context", json=body)).status_code == 403
    assert api.searched.queries == []


async def test_an_unreadable_conversation_is_indistinguishable_from_an_unknown_one(api: Api):
    api.archive.say("hers", ("user", "Eve's secret."), app_id="other", user_id="eve")
    client = api.client(read="app/*")
    alone = [(await client.post("/v1/context", json={"conversation_id": name})).json() for name in ("hers", "none")]
    assert [each["status"] for each in alone] == [404, 404]
    assert alone[0]["detail"] == alone[1]["detail"]
    beside = [
        (await client.post("/v1/context", json={"conversation_id": name, "namespaces": ["app/ada"]})).json()
        for name in ("hers", "none")
    ]
    assert beside[0] == beside[1]
    assert (beside[0]["text"], beside[0]["conversation_known"]) == ("", False)


async def test_a_context_omits_messages_of_a_conversation_with_an_unreadable_participant(api: Api):
    api.archive.say("talk", ("user", "Ada's words."), **ADA)
    api.archive.say("talk", ("user", "Eve's words."), app_id="other", user_id="eve")
    body = {"conversation_id": "talk", "namespaces": ["app/ada"]}
    assert (await api.client(read="app/*").post("/v1/context", json=body)).json()["text"] == ""
    assert "Eve's words." in (await api.client(read="*").post("/v1/context", json=body)).json()["text"]


async def test_the_namespaces_derived_from_a_scope_need_the_right_to_read(api: Api):
    api.searched.memories = [a_memory()]
    for user, status in (("ada", 200), ("eve", 403)):
        body = {"conversation_id": "new", "scope": {"app_id": "app", "user_id": user}}
        assert (await api.client(read="app/ada").post("/v1/context", json=body)).status_code == status
    assert [body.namespaces for body in api.searched.queries] == [("app/ada",)]


async def test_a_block_for_one_of_several_people_needs_the_right_to_read_that_persons_namespace(api: Api):
    api.archive.say("talk", ("user", "I moved to Ghent."), **ADA)
    for user, status in (("ada", 200), ("bob", 403)):
        body = {"conversation_id": "talk", "scope": {"user_id": user}}
        assert (await api.client(read="app/ada").post("/v1/context", json=body)).status_code == status
    answer = await api.client(read="app/*").post("/v1/context", json=body)
    assert answer.json()["namespaces"] == ["app/bob"], "also before bob's first message is known"


async def test_a_context_request_without_namespaces_conversation_or_scope_is_rejected(api: Api):
    refused = await api.client(read="*").post("/v1/context", json={"text": "What?"})
    assert (refused.status_code, "a `conversation_id` or a `scope`" in refused.json()["detail"]) == (422, True)


@pytest.mark.parametrize(("scope", "lacks"), [({"user_id": "ada"}, "app_id"), ({"app_id": "app"}, "user_id")])
async def test_an_incomplete_scope_without_a_conversation_is_rejected_with_the_missing_field(api: Api, scope, lacks):
    refused = await api.client(read="*").post("/v1/context", json={"text": "What?", "scope": scope})
    assert (refused.status_code, f"it lacks {lacks}." in refused.json()["detail"]) == (422, True)
    in_conversation = {"text": "What?", "scope": scope, "conversation_id": "new"}
    answer = await api.client(read="*").post("/v1/context", json=in_conversation)
    assert answer.json()["namespaces"] == ["conversation/new"]
