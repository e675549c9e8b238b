"""Manual actions on windows over HTTP, and their rights."""

import asyncio

import pytest
from msgspec.structs import replace

from agents.conversations.lookup import Conversations
from schemas.codec import decode
from schemas.conversations.adjustments import Adjustments
from schemas.conversations.messages import Scope
from schemas.conversations.window_choices import WindowChoice
from schemas.conversations.window_settings import Adjustable, WindowSettings
from schemas.conversations.windows import Cause, Restorable, WindowState
from schemas.errors import Retryable
from schemas.kafka import topics
from schemas.policies.policies import Policies, Policy
from schemas.windows.window_controls import WindowControl
from tests.api import POLICIES, Api
from tests.fakes.archive import FakeArchive
from tests.fakes.windows import FakeWindows, a_pruning, a_state
from tests.unit.api.talks import ADA, OURS, known


@pytest.mark.parametrize("kind", ["flush", "prune", "clear"])
async def test_a_window_action_publishes_a_control_event_to_the_partition_of_the_conversation(talk: Api, kind: str):
    response = await talk.client(write="app/*").post(f"{OURS}/{kind}")
    assert (response.status_code, response.json()) == (202, {"conversation_id": "talk", "kind": kind})
    (record,) = talk.published.on(topics.WINDOW_CONTROL)
    assert (record.key, record.partition) == (b"talk", 3)
    assert decode(record.value, WindowControl) == WindowControl(conversation_id="talk", kind=kind, at=talk.now)


async def test_clearing_a_window_needs_confirmation_if_the_policy_requires_it():
    policy = Policy(name="app", namespaces=("{app_id}/{user_id}",), window=WindowSettings(confirm_clear=True))
    windows = FakeWindows()
    talk = Api(conversations=Conversations(windows, FakeArchive(), Policies((policy,))))
    await windows.project([known()])
    client = talk.client(write="app/*")
    refused = await client.post(f"{OURS}/clear")
    assert (refused.status_code, refused.json()["type"]) == (409, "urn:memstream:problem:confirmation-required")
    body = (await client.get(f"{OURS}/clear")).json()
    assert body["messages"] == 4 and body["question"] in refused.json()["detail"]
    assert talk.published.records == []
    assert (await client.post(f"{OURS}/clear", params={"confirm": True})).status_code == 202
    assert len(talk.published.on(topics.WINDOW_CONTROL)) == 1


async def test_a_prune_preview_reports_the_messages_and_tokens_to_be_removed(talk: Api):
    nothing = (await talk.client(read="app/*").get(f"{OURS}/prune")).json()
    assert (nothing["messages"], nothing["tokens"], "remove nothing" in nothing["question"]) == (0, 0, True)
    talk.archive.say("long", *[("user", f"Word {n} " * 40) for n in range(60)], app_id="app", user_id="ada")
    scope = Scope(conversation_id="long", **ADA)
    figures = replace(known().statistics, messages_in_context=60)
    await talk.windows.project([a_state("long", scope=scope, statistics=figures, model="gpt-4")])
    body = (await talk.client(read="app/*").get("/v1/conversations/long/prune")).json()
    assert 0 < body["messages"] < 60 and body["tokens"] > 50 * body["messages"]
    assert body["question"] == f"Prune the context? {body['messages']} of 60 messages leave."
    assert talk.published.records == []
    refused = await talk.client(read="other/*").get("/v1/conversations/long/prune")
    assert refused.status_code == 404


@pytest.mark.parametrize("cause", ["manual", "cleared"])
async def test_a_manual_removal_can_be_restored_until_it_expires_or_another_pruning_follows(talk: Api, cause: Cause):
    client = talk.client(write="app/*")
    assert (await client.post(f"{OURS}/restore")).status_code == 409, "there was none"
    at = talk.now.timestamp()
    left = Restorable(at + 60, cause, 12)
    await talk.windows.project([replace(known(cleared_at=at), revision=2, restorable=left)])
    body = (await client.get(OURS)).json()
    assert body["restorable_until"] > body["cleared_at"]
    assert (body["restorable_cause"], body["restorable_messages"]) == (cause, 12)
    assert (await client.post(f"{OURS}/restore")).json() == {"conversation_id": "talk", "kind": "restore"}
    await talk.windows.project([replace(known(cleared_at=at), revision=3)])
    assert (await client.post(f"{OURS}/restore")).status_code == 409, "others left since"
    await talk.windows.project([replace(known(cleared_at=at), revision=4, restorable=replace(left, until=at - 1))])
    assert (await client.post(f"{OURS}/restore")).status_code == 409, "its time is over"


async def test_an_undone_pruning_is_marked_and_no_longer_explains_removed_messages(talk: Api):
    client = talk.client(read="app/*")
    undone = replace(a_pruning(3), undone_at=a_pruning(3).at + 30)
    await talk.windows.project([replace(known(), revision=2, prunings=(undone,))])
    first, second, *_ = (await client.get(f"{OURS}/prunings")).json()["prunings"]
    assert first["undone_at"] > first["at"]
    assert "undone_at" not in second
    (gone,) = [each for each in (await client.get(f"{OURS}/messages")).json()["messages"] if each["position"] == 2]
    assert gone["pruned_at"] == second["at"], "by an earlier one, though the undone one tells of the same position"


async def test_a_window_action_needs_the_right_to_write_and_a_live_window(talk: Api):
    refused = await talk.client(read="app/*").post(f"{OURS}/clear")
    assert (refused.status_code, refused.json()["type"]) == (403, "urn:memstream:problem:forbidden")
    await talk.windows.project([known(phase="forgotten")])
    refused = await talk.client(write="app/*").post(f"{OURS}/clear")
    assert (refused.status_code, "nothing left to clear" in refused.json()["detail"]) == (409, True)
    assert talk.published.records == []


class LateWindows(FakeWindows):
    """The window is projected after the first look."""

    async def of(self, conversation_id: str) -> WindowState | None:
        found = await super().of(conversation_id)
        await self.project([known()])
        return found


@pytest.mark.parametrize(("wait_s", "status"), [(0.0, 409), (5.0, 202)])
async def test_a_window_action_on_a_new_conversation_waits_for_its_window(wait_s: float, status: int):
    archive = FakeArchive()
    archive.say("talk", ("user", "Hi."), **ADA)
    api = Api(conversations=Conversations(LateWindows(), archive, POLICIES), window_wait_s=wait_s)
    answer = await api.client(write="app/*").post(f"{OURS}/flush")
    assert (answer.status_code, len(api.published.on(topics.WINDOW_CONTROL))) == (status, int(status == 202))


async def test_a_window_action_returns_503_with_retry_after_if_publishing_fails(talk: Api):
    talk.published.failures.append(Retryable("no broker"))
    refused = await talk.client(write="app/*").post(f"{OURS}/flush")
    assert (refused.status_code, "retry-after" in refused.headers) == (503, True)


async def test_a_window_action_returns_503_if_kafka_does_not_acknowledge_in_time(talk: Api):
    async def never(records: object) -> None:
        await asyncio.Event().wait()

    talk.published.publish = never  # type: ignore[assignment]
    refused = await talk.client(write="app/*").post(f"{OURS}/clear")
    assert (refused.status_code, "did not confirm clear within 0.1 s" in refused.json()["detail"]) == (503, True)


async def test_marking_a_message_publishes_a_mark_event(talk: Api):
    client = talk.client(write="app/*")
    body = {"message_id": "talk-5", "importance": "pinned"}
    answer = await client.post(f"{OURS}/mark", json=body)
    assert (answer.status_code, answer.json()) == (202, {"conversation_id": "talk", "kind": "mark"})
    (record,) = talk.published.on(topics.WINDOW_CONTROL)
    event = decode(record.value, WindowControl)
    assert (event.kind, event.message_id, event.importance, record.partition) == ("mark", "talk-5", "pinned", 3)


async def test_a_mark_that_cannot_take_effect_is_rejected_with_the_reason(talk: Api):
    client = talk.client(write="app/*")

    async def refused(importance: str, message_id: str) -> tuple[int, str]:
        answer = await client.post(f"{OURS}/mark", json={"message_id": message_id, "importance": importance})
        return answer.status_code, answer.json()["detail"]

    assert await refused("pinned", "nobody") == (404, "this conversation has no message 'nobody'")
    assert await refused("pinned", "talk-2") == (
        409,
        "message 'talk-2' has left the context: a mark cannot restore it",
    )
    assert (await refused("holy", "talk-5"))[0] == 422
    marks = {f"other-{number}": "important" for number in range(64)}
    await talk.windows.project([replace(known(adjustments=Adjustments(marks=marks)), revision=2)])
    status, detail = await refused("pinned", "talk-5")
    assert (status, "64 messages of this conversation are marked" in detail) == (409, True)
    forbidden = await talk.client(read="app/*").post(
        f"{OURS}/mark", json={"message_id": "talk-5", "importance": "normal"}
    )
    assert forbidden.status_code == 403


async def test_marks_are_returned_with_messages_and_determine_importance_in_the_context(talk: Api):
    marks = Adjustments(marks={"talk-5": "expendable", "talk-4": "pinned"}, ratings={"talk-6": 1})
    await talk.windows.project([replace(known(adjustments=marks), revision=2)])
    client = talk.client(read="app/*")
    messages = {each["message_id"]: each for each in (await client.get(f"{OURS}/messages")).json()["messages"]}
    assert [(messages[f"talk-{n}"].get("mark"), messages[f"talk-{n}"]["importance"]) for n in (4, 5)] == [
        ("pinned", 1.0),
        ("expendable", 0.0),
    ]
    assert (messages["talk-6"]["rating"], messages["talk-6"]["importance"], "rating" in messages["talk-5"]) == (
        1,
        0.5,
        False,
    )
    shown = (await client.get(f"{OURS}/context")).json()["messages"]
    assert {each["message_id"]: each.get("mark") for each in shown if "message_id" in each} == {
        "talk-1": None,
        "talk-4": "pinned",
        "talk-5": "expendable",
        "talk-6": None,
    }


ADJUSTABLE = Policy(
    name="app",
    namespaces=("{app_id}/{user_id}",),
    window=WindowSettings(adjustable=Adjustable(strategy=("rolling_window",), max_messages=(20, 60))),
)


async def test_conversation_settings_must_stay_within_the_bounds_of_the_policy():
    windows = FakeWindows()
    talk = Api(conversations=Conversations(windows, FakeArchive(), Policies((ADJUSTABLE,))))
    await windows.project([known()])
    client = talk.client(write="app/*")
    assert (await client.put(f"{OURS}/settings", json={"max_messages": 30})).status_code == 202
    (record,) = talk.published.on(topics.WINDOW_CONTROL)
    event = decode(record.value, WindowControl)
    assert (event.kind, event.settings) == ("settings", WindowChoice(max_messages=30))
    for wrong, why in (
        ({"max_messages": 61}, "max_messages is 61, and the policy allows 20 to 60"),
        ({"strategy": "hybrid"}, "strategy is hybrid, and the policy allows rolling_window"),
        ({"max_tokens": 900}, "max_tokens is 900, and the policy allows no max_tokens"),
    ):
        refused = await client.put(f"{OURS}/settings", json=wrong)
        assert (refused.status_code, refused.json()["detail"]) == (422, why)
    assert len(talk.published.on(topics.WINDOW_CONTROL)) == 1
    assert (await talk.client(read="app/*").put(f"{OURS}/settings", json={})).status_code == 403


async def test_effective_settings_are_returned_beside_the_chosen_ones():
    windows = FakeWindows()
    talk = Api(conversations=Conversations(windows, FakeArchive(), Policies((ADJUSTABLE,))))
    chosen = Adjustments(settings=WindowChoice(max_messages=30, min_recent=3))
    await windows.project([known(adjustments=chosen)])
    body = (await talk.client(read="app/*").get(f"{OURS}/settings")).json()
    assert (body["settings"]["max_messages"], body["settings"]["min_recent"], body["settings"]["strategy"]) == (
        *(30, 10),
        "hybrid",
    )
    assert body["chosen"] == {"max_messages": 30, "min_recent": 3}
    assert body["adjustable"] == {"strategy": ["rolling_window"], "max_messages": [20, 60]}
