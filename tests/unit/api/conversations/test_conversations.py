"""Conversations over HTTP: context with reasons, messages, manual actions and rights."""

from typing import Any

import pytest
from msgspec.structs import replace

from agents.api.http import cursors
from agents.conversations.lookup import Conversations
from schemas.conversations.adjustments import Adjustments
from schemas.conversations.messages import Scope
from schemas.conversations.window_choices import WindowChoice
from schemas.conversations.window_settings import Adjustable, WindowSettings
from schemas.conversations.windows import Run
from schemas.policies.policies import Policies, Policy
from streams.windows.pruning.reasons import SENTENCES
from tests.api import Api
from tests.fakes.archive import FakeArchive
from tests.fakes.windows import FakeWindows, a_pruning
from tests.unit.api.talks import ADA, OURS, known

READS = ("", "/messages", "/context", "/prunings")
ACTS = ("/flush", "/prune", "/clear", "/restore")


async def test_a_conversation_is_returned_with_its_statistics_and_gaps(talk: Api):
    body = (await talk.client(read="app/*").get(OURS)).json()
    assert {name: body[name] for name in ("conversation_id", "namespaces", "policy", "phase", "extracted_to")} == {
        "conversation_id": "talk",
        "namespaces": ["app/ada"],
        "policy": "app",
        "phase": "open",
        "extracted_to": 4,
    }
    assert body["scope"] == {"conversation_id": "talk", **ADA}
    assert body["headline"].startswith("4 messages (2 pruned ")
    statistics = body["statistics"]
    assert (statistics["messages_in_context"], statistics["percent_used"], statistics["level"]) == (4, 60.1, "ok")
    assert statistics["last_prune"] == {"at": "2026-03-01T12:00:00.250000Z", "cause": "usage", "removed": 2}
    assert statistics["oldest_message_at"] == "2026-03-01T12:00:00.250000Z"
    assert "oldest messages leave first" in statistics["explanation"]
    (gap,) = body["gaps"]
    assert gap == {"first": 2, "last": 3, "count": 2, "tokens": 6, "marker": "... [2 messages removed] ..."}


async def test_a_conversation_has_the_phase_new_until_its_window_is_stored(api: Api):
    api.archive.say("talk", ("user", "Hi."), **ADA)
    client = api.client(admin="*")
    body = (await client.get(OURS)).json()
    assert (body["phase"], "statistics" in body) == ("new", False)
    assert [each["content"] for each in (await client.get(f"{OURS}/context")).json()["messages"]] == ["Hi."]
    assert (await client.get(f"{OURS}/prunings")).json() == {"prunings": []}
    refused = await client.post(f"{OURS}/flush")
    assert (refused.status_code, "retry in a second" in refused.json()["detail"]) == (409, True)


async def test_statistics_report_the_pruning_thresholds_in_tokens_under_the_effective_settings():
    adjustable = Adjustable(warning_at=(0.1, 0.8))
    policy = Policy(name="app", namespaces=("{app_id}/{user_id}",), window=WindowSettings(adjustable=adjustable))
    windows = FakeWindows()
    api = Api(conversations=Conversations(windows, FakeArchive(), Policies((policy,))))

    async def levels(revision: int, choice: WindowChoice, **figures: int) -> tuple[int, int]:
        state = known(adjustments=Adjustments(settings=choice))
        await windows.project([replace(state, revision=revision, statistics=replace(state.statistics, **figures))])
        statistics = (await api.client(read="app/*").get(OURS)).json()["statistics"]
        return statistics["warning_at_tokens"], statistics["aggressive_at_tokens"]

    whole, low = {"context_tokens": 10_000, "token_limit": 8_000}, {"context_tokens": 10_000, "token_limit": 4_000}
    assert await levels(2, WindowChoice(), **whole) == (8_000, 9_000)
    assert await levels(3, WindowChoice(warning_at=0.5), **whole) == (5_000, 9_000)
    assert await levels(4, WindowChoice(), **low) == (4_000, 4_500)


async def test_messages_are_paged_with_flags_for_in_context_and_extracted(talk: Api):
    client = talk.client(read="app/ada")
    talk.archive.say("talk", ("user", "Astray."), partition=9, **ADA)
    for order, positions in (("oldest", [1, 2, 3, 4, 5, 6, 7]), ("newest", [7, 6, 5, 4, 3, 2, 1])):
        found, cursor = [], {}
        while cursor is not None:
            page = (await client.get(f"{OURS}/messages", params={"limit": 3, "order": order, **cursor})).json()
            found += page["messages"]
            cursor = {"cursor": page["next"]} if "next" in page else None
        assert [each["position"] for each in found] == positions
    found.reverse()
    assert [each.get("in_context") for each in found] == [True, False, False, True, True, True, None]
    assert [each.get("extracted") for each in found] == [True, True, True, False, False, False, None]
    assert (found[0]["message_id"], found[0]["role"], found[0]["content"]) == ("talk-1", "user", "Message of user.")
    assert (await client.get(f"{OURS}/messages", params={"cursor": "none-of-ours"})).status_code == 422


@pytest.mark.parametrize(
    ("order", "limit", "middle", "positions"),
    [
        ("oldest", 3, 20, [19, 20, 21]),
        ("oldest", 4, 20, [19, 20, 21, 22]),
        ("oldest", 1, 20, [20]),
        ("newest", 3, 20, [21, 20, 19]),
        ("oldest", 5, 2, [1, 2, 3, 4, 5]),
        ("oldest", 5, 40, [38, 39, 40]),
        ("newest", 5, 39, [40, 39, 38, 37, 36]),
    ],
)
async def test_a_page_of_messages_can_be_centered_on_a_message(
    api: Api, order: str, limit: int, middle: int, positions: list[int]
):
    api.archive.say("talk", *[("user", f"Turn {n}.") for n in range(1, 41)], **ADA)
    parameters = {"around": f"talk-{middle}", "limit": limit, "order": order}
    page = (await api.client(read="app/*").get(f"{OURS}/messages", params=parameters)).json()
    assert [each["position"] for each in page["messages"]] == positions


async def test_the_cursor_of_a_page_around_a_message_continues_behind_it(api: Api):
    api.archive.say("talk", *[("user", f"Turn {n}.") for n in range(1, 41)], **ADA)
    client = api.client(read="app/*")
    page = (await client.get(f"{OURS}/messages", params={"around": "talk-20", "limit": 3})).json()
    behind = (await client.get(f"{OURS}/messages", params={"cursor": page["next"], "limit": 3})).json()
    assert [each["position"] for each in behind["messages"]] == [22, 23, 24]


async def test_a_page_around_a_message_that_is_not_in_the_archive_is_not_found(talk: Api):
    client = talk.client(read="app/*")
    missing = await client.get(f"{OURS}/messages", params={"around": "talk-99"})
    assert (missing.status_code, "talk-99" in missing.json()["detail"]) == (404, True)
    both = await client.get(f"{OURS}/messages", params={"around": "talk-1", "cursor": "any"})
    assert (both.status_code, "give one of them" in both.json()["detail"]) == (422, True)


async def test_a_pruned_message_has_the_reason_and_time_of_its_pruning(talk: Api):
    removed = (Run("completed_task", 2, 2, 1), Run("oldest", 3, 3, 1))
    await talk.windows.project([replace(known(revision=2), prunings=(replace(a_pruning(3), removed=removed),))])
    page = (await talk.client(read="app/*").get(f"{OURS}/messages")).json()["messages"]
    assert [each.get("pruned_for") for each in page[:4]] == [None, "completed_task", "oldest", None]
    assert page[1]["pruned_why"] == SENTENCES["completed_task"]
    assert page[2]["pruned_at"] == "2026-03-01T12:03:00.250000Z"


async def test_each_message_has_its_token_count_and_importance(talk: Api):
    page = (await talk.client(read="app/*").get(f"{OURS}/messages")).json()["messages"]
    assert [each["tokens"] for each in page] == [6] * 6
    assert all(0.0 <= each["importance"] <= 1.0 for each in page)
    assert page[-1]["importance"] > page[0]["importance"], "the newest are more important"


async def test_messages_before_a_reopened_window_count_as_extracted_and_out_of_context(talk: Api):
    await talk.windows.project([known(opened=5, revision=2)])
    page = (await talk.client(read="app/*").get(f"{OURS}/messages")).json()["messages"]
    assert [each["extracted"] for each in page] == [True] * 4 + [False] * 2
    assert [each["in_context"] for each in page] == [False] * 4 + [True] * 2


async def test_the_model_context_has_gap_markers_and_reasons_and_fits_its_token_limit(talk: Api):
    client = talk.client(read="app/*")
    body = (await client.get(f"{OURS}/context")).json()
    assert [each["content"] for each in body["messages"]] == [
        *("Message of user.", "... [2 messages removed] ...", "Message of assistant."),
        *("Message of user.", "Message of assistant."),
    ]
    assert [each["role"] for each in body["messages"]] == ["user", "marker", "assistant", "user", "assistant"]
    assert body["messages"][-1]["why"] == "It is one of the most recent messages, which always stay."
    assert 0.0 <= body["messages"][0]["importance"] <= 1.0
    assert (body["tokens"], body["limit_tokens"], body["statistics"]["messages_in_context"]) == (36, 800, 4)
    less = (await client.get(f"{OURS}/context", params={"max_tokens": 30})).json()
    assert less["billed_tokens"] <= 30
    assert [each["reason"] for each in less["left_out"]] == ["oldest", "oldest"]
    refused = await client.get(f"{OURS}/context", params={"max_tokens": 5})
    assert (refused.status_code, refused.json()["type"]) == (422, "urn:memstream:problem:context_too_small")
    assert "current message 6" in refused.json()["detail"]


async def test_a_context_can_include_an_unpublished_system_prompt_and_current_message(talk: Api):
    parameters = {"system": "Be brief.", "current": {"content": "And now?"}}
    body = (await talk.client(read="app/*").post(f"{OURS}/context", json=parameters)).json()
    assert [each["content"] for each in body["messages"]][:: len(body["messages"]) - 1] == ["Be brief.", "And now?"]
    wrong = await talk.client(read="app/*").post(f"{OURS}/context", json={"currant": {"content": "And now?"}})
    assert (wrong.status_code, "currant" in wrong.json()["detail"]) == (422, True)
    early = {"current": {"content": "And now?", "timestamp": "0001-01-01T00:00:00Z"}}
    assert (await talk.client(read="app/*").post(f"{OURS}/context", json=early)).status_code == 422


async def test_prunings_are_listed_newest_first_with_reasons_in_words(talk: Api):
    prunings = (await talk.client(read="app/*").get(f"{OURS}/prunings")).json()["prunings"]
    assert [(each["number"], each["count"], each["cause"]) for each in prunings] == [(2, 12, "usage"), (1, 12, "usage")]
    assert prunings[0]["removed"][1] == {
        "reason": "completed_task",
        "why": "It belonged to a completed task.",
        "first": 9,
        "last": 12,
        "count": 4,
    }


async def test_prunings_are_paged_and_invalid_cursors_are_rejected(talk: Api):
    await talk.windows.project([replace(known(revision=2), prunings=(a_pruning(3), replace(a_pruning(3), number=4)))])
    client = talk.client(read="app/*")
    found, params = [], {"limit": 1}
    while params:
        page = (await client.get(f"{OURS}/prunings", params=params)).json()
        found += page["prunings"]
        params = {"limit": 1, "cursor": page["next"]} if "next" in page else {}
    assert [each["number"] for each in found] == [4, 3, 2, 1]
    for cursor in ("none-of-ours", *(cursors.encode_cursor(at, "talk") for at in ([-1.5, 3], [1e30, 3], ["a", 1]))):
        assert (await client.get(f"{OURS}/prunings", params={"cursor": cursor})).status_code == 422


@pytest.mark.parametrize(
    "rights",
    [{"read": "other/*"}, {"admin": "app"}, {"admin": "app/bob"}, {"admin": "conversation/talk"}, {"write": "app/ad"}],
    ids=lambda rights: next(iter(rights.values())),
)
async def test_an_unreadable_conversation_gets_the_same_404_as_an_unknown_one(talk: Api, rights: dict[str, str]):
    client = talk.client(**rights)
    answers = [(await client.get(OURS + read), await client.get(f"/v1/conversations/none{read}")) for read in READS]
    answers += [(await client.post(OURS + act), await client.post(f"/v1/conversations/none{act}")) for act in ACTS]
    body = {"current": {"content": "Hi."}}
    answers.append(
        (
            await client.post(f"{OURS}/context", json=body),
            await client.post("/v1/conversations/none/context", json=body),
        )
    )
    for ours, none in answers:
        assert (ours.status_code, none.status_code) == (404, 404)
        assert unlike(ours.json()) == unlike(none.json())
        assert "Message of" not in ours.text
    assert talk.published.records == []


def unlike(problem: dict[str, Any]) -> dict[str, Any]:
    """Without what tells two requests apart."""
    return {name: value for name, value in problem.items() if name not in ("instance", "request_id")}


async def test_a_conversation_is_readable_only_with_the_right_to_read_all_its_speakers(talk: Api):
    talk.archive.say("talk", ("user", "Bob's secret."), app_id="app", user_id="bob")
    for read in READS:
        assert (await talk.client(read="app/ada").get(OURS + read)).status_code == 404
        assert (await talk.client(read="app/bob").get(OURS + read)).status_code == 404
        assert (await talk.client(read="app/*").get(OURS + read)).status_code == 200


@pytest.mark.parametrize("name", ["slack/C1/17.5", "a%2Fb", "50%", "Grüße?", "a/messages/b"])
async def test_a_conversation_id_may_contain_any_characters_in_the_path(api: Api, name: str):
    api.archive.say(name, ("user", "Hi."), **ADA)
    await api.windows.project([replace(known(), scope=Scope(conversation_id=name, **ADA))])
    client = api.client(write="app/*")
    place = "/v1/conversations/" + name.replace("%", "%25").replace("?", "%3F")
    assert (await client.get(place)).json()["conversation_id"] == name
    assert (await client.get(f"{place}/messages")).json()["messages"][0]["content"] == "Hi."
    assert (await client.post(f"{place}/flush")).status_code == 202
    escaped = place.replace("/", "%2F").replace("%2Fv1%2Fconversations%2F", "/v1/conversations/")
    assert (await client.get(f"{escaped}/context")).status_code == 200


async def test_reads_of_a_conversation_return_503_while_the_archive_is_down(talk: Api):
    talk.archive.down = True
    for read in READS:
        assert (await talk.client(read="app/*").get(OURS + read)).status_code == 503
