"""The list of conversations over HTTP: order, pages, filters and rights."""

from typing import Any

import pytest
from msgspec.structs import replace

from agents.conversations import listing
from schemas.conversations.messages import Scope
from tests.api import Api
from tests.fakes.windows import AT_S, a_state

LIST = "/v1/conversations"
HOUR_S = 3_600


async def talked(api: Api, name: str, hour: float, user_id: str = "ada", **fields: Any) -> None:
    """A conversation whose last message was said at an hour."""
    api.archive.say(name, ("user", "Hello."), app_id="app", user_id=user_id)
    scope = Scope(conversation_id=name, app_id="app", user_id=user_id)
    await api.windows.project([a_state(name, scope=scope, last_message_at=AT_S + hour * HOUR_S, **fields)])


async def ids(api: Api, may: str = "app/*", **parameters: Any) -> list[str]:
    answer = await api.client(read=may).get(LIST, params=parameters)
    assert answer.status_code == 200, answer.text
    return [each["conversation_id"] for each in answer.json()["conversations"]]


async def test_a_listed_conversation_has_its_message_counts_context_usage_and_last_activity(api: Api):
    await talked(api, "talk", 1)
    (listed,) = (await api.client(read="app/*").get(LIST)).json()["conversations"]
    assert listed == {
        "conversation_id": "talk",
        "scope": {"conversation_id": "talk", "app_id": "app", "user_id": "ada"},
        "namespaces": ["app/ada"],
        "policy": "app",
        "phase": "open",
        "total_messages": 20,
        "messages_in_context": 8,
        "total_tokens": 1,
        "token_limit": 1_000,
        "context_tokens": 600,
        "percent_used": 60.1,
        "level": "ok",
        "last_active_at": "2026-03-01T13:00:00.250000Z",
    }
    one = (await api.client(read="app/*").get(f"{LIST}/talk")).json()
    assert one["last_message_at"] == "2026-03-01T13:00:00.250000Z"


async def test_conversations_are_paged_from_the_latest_message_to_the_earliest(api: Api):
    for number in (3, 1, 5, 2, 4):
        await talked(api, f"talk-{number}", number)
    client, found, cursor = api.client(read="app/*"), [], {}
    while cursor is not None:
        page = (await client.get(LIST, params={"limit": 2, **cursor})).json()
        found.append([each["conversation_id"] for each in page["conversations"]])
        cursor = {"cursor": page["next"]} if "next" in page else None
    assert found == [["talk-5", "talk-4"], ["talk-3", "talk-2"], ["talk-1"]]


async def test_a_cursor_is_rejected_when_the_filters_differ(api: Api):
    await talked(api, "one", 1)
    await talked(api, "two", 2)
    client = api.client(read="app/*")
    cursor = (await client.get(LIST, params={"limit": 1})).json()["next"]
    assert (await client.get(LIST, params={"limit": 1, "cursor": cursor})).status_code == 200
    assert (await client.get(LIST, params={"phase": "open", "cursor": cursor})).status_code == 422


async def test_conversations_can_be_filtered_by_namespace_user_and_phase(api: Api):
    await talked(api, "adas", 1)
    await talked(api, "bobs", 2, user_id="bob")
    await talked(api, "ended", 3, phase="ended")
    assert await ids(api) == ["ended", "bobs", "adas"]
    assert await ids(api, namespace="app/ada") == ["ended", "adas"]
    assert await ids(api, user_id="bob") == ["bobs"]
    assert await ids(api, user_id="bob", namespace="app/ada") == []
    assert await ids(api, phase="ended") == ["ended"]
    assert await ids(api, namespace="conversation/adas", may="*") == []


async def test_a_conversation_whose_messages_were_all_erased_is_not_found_and_names_its_user_nowhere(api: Api):
    await talked(api, "kept", 1)
    scope = Scope(conversation_id="erased", app_id="app", user_id="ada")
    nothing = replace(a_state().statistics, total_messages=0, messages_in_context=0, pruned_messages=0)
    await api.windows.project([a_state("erased", scope=scope, statistics=nothing)])
    assert await ids(api) == ["kept"]
    assert await ids(api, user_id="ada") == ["kept"]
    for path in ("", "/messages", "/context", "/prunings", "/erasure"):
        assert (await api.client(admin="*").get(f"{LIST}/erased{path}")).status_code == 404
    asked = {"conversation_id": "erased", "text": "What is there to eat?"}
    assert (await api.client(admin="*").post("/v1/context", json=asked)).status_code == 404
    assert (await api.client(admin="app/*").delete(f"{LIST}/erased")).status_code == 200, "a repeated erasure"


async def test_an_end_event_after_the_window_was_forgotten_leaves_the_conversation_in_the_list(api: Api):
    nothing = replace(a_state().statistics, total_messages=0, messages_in_context=0, pruned_messages=0)
    await talked(api, "ended twice", 1, statistics=nothing, phase="ended")
    assert await ids(api) == ["ended twice"]


async def test_a_shared_conversation_is_listed_for_each_participant_and_only_to_keys_that_may_read_all_of_them(
    api: Api,
):
    await talked(api, "both", 1)
    api.archive.say("both", ("user", "Me, too."), app_id="app", user_id="bob")
    api.windows.said["both"] = {"bob"}
    assert await ids(api, namespace="app/bob") == ["both"]
    assert await ids(api, user_id="bob") == ["both"]
    assert await ids(api, may="app/ada") == []
    assert await ids(api, may="app/bob") == []


async def test_a_key_lists_only_conversations_of_its_namespaces_and_may_not_filter_by_others(api: Api):
    await talked(api, "adas", 1)
    await talked(api, "bobs", 2, user_id="bob")
    assert await ids(api, may="app/ada") == ["adas"]
    assert await ids(api, may="other/*") == []
    refused = await api.client(read="app/ada").get(LIST, params={"namespace": "app/bob"})
    assert refused.status_code == 403


async def test_a_page_scans_a_bounded_number_of_windows_and_its_cursor_continues_behind_them(
    api: Api, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(listing, "QUERY_SIZES", (2, 2))
    await talked(api, "mine", 0)
    for number in range(1, 8):
        await talked(api, f"theirs-{number}", number, user_id="bob")
    client, pages, cursor = api.client(read="app/ada"), [], {}
    while cursor is not None:
        page = (await client.get(LIST, params=cursor)).json()
        pages.append([each["conversation_id"] for each in page["conversations"]])
        cursor = {"cursor": page["next"]} if "next" in page else None
    assert pages[:2] == [[], ["mine"]], "four windows a page, of which the key may read one"


async def test_a_page_of_long_conversations_ends_early(api: Api, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(listing, "MAX_MESSAGES", 40)
    for number in range(5):
        await talked(api, f"talk-{number}", number)  # 20 messages each
    client = api.client(read="app/*")
    page = (await client.get(LIST)).json()
    assert [each["conversation_id"] for each in page["conversations"]] == ["talk-4", "talk-3"]
    rest = (await client.get(LIST, params={"cursor": page["next"]})).json()
    assert [each["conversation_id"] for each in rest["conversations"]] == ["talk-2", "talk-1"]


async def test_a_window_without_a_last_message_time_is_ordered_by_its_last_change(api: Api):
    await talked(api, "old", 0)
    known = api.windows.states["old", 3]
    await api.windows.project([replace(known, last_message_at=None)])
    (listed,) = (await api.client(read="app/*").get(LIST)).json()["conversations"]
    assert listed["last_active_at"] > "2026-03-02"
