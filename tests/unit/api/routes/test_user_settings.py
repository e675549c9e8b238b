"""A user's settings for all their conversations, over HTTP."""

from datetime import UTC, datetime, timedelta

import pytest

from agents.conversations.lookup import Conversations
from schemas.codec import decode
from schemas.conversations.adjustments import Adjustments
from schemas.conversations.messages import Scope
from schemas.conversations.user_settings import User
from schemas.conversations.window_choices import WindowChoice
from schemas.conversations.window_settings import Adjustable, WindowSettings
from schemas.kafka import topics
from schemas.policies.matching import Match
from schemas.policies.policies import Policies, Policy
from schemas.windows.window_controls import WindowControl
from tests.api import Api
from tests.fakes.archive import FakeArchive
from tests.fakes.windows import FakeWindows, a_state

ADJUSTABLE = Adjustable(strategy=("rolling_window", "hybrid"), max_messages=(20, 60), min_recent=(2, 20))
POLICY = Policy(
    name="app",
    match=Match(app_id="app"),
    namespaces=("{app_id}/{user_id}",),
    window=WindowSettings(adjustable=ADJUSTABLE),
)
ADA, OF_APP = "/v1/users/ada/settings", {"app_id": "app"}
FEW = {"max_messages": 30}


@pytest.fixture
def api() -> Api:
    return Api(policies=Policies((POLICY,)))


async def test_user_settings_are_stored_and_published_to_the_open_windows_of_the_user(api: Api):
    await api.windows.project(
        [
            a_state("c1", scope=Scope(conversation_id="c1", app_id="app", user_id="ada")),
            a_state("c2", scope=Scope(conversation_id="c2", app_id="app", user_id="bob")),
            a_state("c3", scope=Scope(conversation_id="c3", app_id="app", user_id="ada"), phase="forgotten"),
        ]
    )
    client = api.client(write="app/*")
    answer = await client.put(ADA, params=OF_APP, json=FEW)
    assert (answer.status_code, answer.json()["windows"], answer.json()["chosen"]) == (200, 1, FEW)
    assert await api.user_settings.chosen_for(User(user_id="ada", app_id="app")) == WindowChoice(max_messages=30)
    (record,) = api.published.on(topics.WINDOW_CONTROL)
    event = decode(record.value, WindowControl)
    assert (event.kind, event.conversation_id, event.settings, record.partition) == ("user_settings", "c1", None, 3)
    assert (await client.get(ADA, params=OF_APP)).json()["chosen"] == FEW
    assert (await client.put(ADA, params=OF_APP, json={})).json()["chosen"] == {}


async def test_user_settings_older_than_the_stored_ones_are_a_conflict_and_not_published(api: Api):
    await api.windows.project([a_state("c1", scope=Scope(conversation_id="c1", app_id="app", user_id="ada"))])
    later = datetime.now(UTC) + timedelta(days=1)
    await api.user_settings.choose(User(user_id="ada", app_id="app"), WindowChoice(max_messages=40), later)
    client = api.client(write="app/*")
    answer = await client.put(ADA, params=OF_APP, json=FEW)
    assert (answer.status_code, answer.json()["type"]) == (409, "urn:memstream:problem:conflict")
    assert "choose again" in answer.json()["detail"]
    assert (await client.get(ADA, params=OF_APP)).json()["chosen"] == {"max_messages": 40}
    assert api.published.on(topics.WINDOW_CONTROL) == []


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"max_messages": 0}, "max_messages is 0 and must lie within 1 and 1000"),
        ({"warning_at": 1.5}, "warning_at is 1.5 and must lie within 0.01 and 0.99"),
        ({"strategy": "newest"}, "strategy"),
        ({"max_massages": 30}, "max_massages"),
    ],
)
async def test_user_settings_that_no_policy_could_allow_are_rejected(api: Api, wrong: dict[str, object], why: str):
    answer = await api.client(write="*").put(ADA, json=wrong)
    assert (answer.status_code, why in answer.json()["detail"], api.user_settings.kept) == (422, True, {})


async def test_settings_of_a_user_of_any_app_need_rights_in_every_namespace(api: Api):
    assert (await api.client(write="app/*").put(ADA, json=FEW)).status_code == 403
    assert (await api.client(read="app/*").get(ADA)).status_code == 403
    assert (await api.client(write="*").put(ADA, json=FEW)).status_code == 200


async def test_user_settings_need_the_right_to_write_all_namespaces_the_user_feeds(api: Api):
    assert (await api.client(read="app/*").put(ADA, params=OF_APP, json=FEW)).status_code == 403
    assert (await api.client(write="app/bob").put(ADA, params=OF_APP, json=FEW)).status_code == 403
    api.owners.known_scopes = [Scope(conversation_id="c1", app_id="app", user_id="ada")]
    api.owners.feeds = {"c1": ("team",)}
    assert (await api.client(write="app/*").put(ADA, params=OF_APP, json=FEW)).status_code == 403
    assert api.user_settings.kept == {}


async def test_conversation_settings_report_whether_policy_user_or_conversation_decided_each():
    windows = FakeWindows()
    api = Api(conversations=Conversations(windows, FakeArchive(), Policies((POLICY,))))
    chosen = Adjustments(
        settings=WindowChoice(min_recent=4), user_settings=WindowChoice(max_messages=30, min_recent=7, warning_at=0.5)
    )
    scope = Scope(conversation_id="c1", app_id="app", user_id="ada")
    await windows.project([a_state("c1", scope=scope, adjustments=chosen)])
    client = api.client(read="app/*")
    body = (await client.get("/v1/conversations/c1/settings")).json()
    shown = (await client.get("/v1/conversations/c1/context")).json()
    by = {"strategy": "policy", "max_messages": "user", "max_tokens": "policy", "min_recent": "conversation"}
    assert body["chosen_by"] == shown["chosen_by"] == by | {"warning_at": "policy"}
    assert body["by_user"] == {"max_messages": 30, "min_recent": 7, "warning_at": 0.5}
    assert body["settings"] == shown["settings"]
    assert (shown["settings"]["max_messages"], shown["settings"]["min_recent"]) == (30, 4)
