"""Settings of users in memory and on PostgreSQL are stored and found in the same way."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from schemas.conversations.user_settings import User
from schemas.conversations.window_choices import WindowChoice
from sinks.postgres.connection import connect
from sinks.windows.user_settings import UserSettings
from tests.cases.hostile_text import HARD_TO_STORE
from tests.contract.windows.either import NOON
from tests.fakes.user_settings import FakeUserSettings

SHORT, LONG = WindowChoice(max_messages=20), WindowChoice(strategy="rolling_window", max_messages=90, warning_at=0.6)
LATER = NOON + timedelta(seconds=1)


@pytest.fixture(params=["fake", "postgres"])
async def settings(request: pytest.FixtureRequest, dsn: str) -> AsyncIterator[FakeUserSettings | UserSettings]:
    if request.param == "fake":
        yield FakeUserSettings()
        return
    pool = await connect(dsn, max_size=2)
    yield UserSettings(pool)
    await pool.close()


async def test_stored_settings_are_returned_and_later_ones_replace_them_completely(settings, name):
    user = User(user_id=name)
    assert await settings.chosen_for(user) == WindowChoice()
    assert await settings.choose(user, LONG, NOON)
    assert await settings.chosen_for(user) == LONG
    assert await settings.choose(user, SHORT, LATER)
    assert await settings.chosen_by([user]) == {user: SHORT}


async def test_an_older_event_that_arrives_late_changes_nothing(settings, name):
    user = User(user_id=name)
    await settings.choose(user, SHORT, LATER)
    assert not await settings.choose(user, LONG, NOON)
    assert await settings.chosen_for(user) == SHORT


async def test_app_settings_override_tenant_settings_and_those_override_global_settings_of_a_user(settings, name):
    helpdesk = User(user_id=name, tenant_id="kestrel", app_id="helpdesk")
    for tenant_id, app_id, number in ((None, None, 30), ("kestrel", None, 40), (None, "helpdesk", 50)):
        at = User(user_id=name, tenant_id=tenant_id, app_id=app_id)
        await settings.choose(at, WindowChoice(max_messages=number), NOON)
        assert (await settings.chosen_by([helpdesk]))[helpdesk].max_messages == number
    elsewhere = User(user_id=name, tenant_id="merlin", app_id="shop")
    assert (await settings.chosen_by([helpdesk, elsewhere]))[elsewhere].max_messages == 30


async def test_removing_the_settings_for_an_app_falls_back_to_the_global_settings_of_the_user(settings, name):
    app = User(user_id=name, app_id="helpdesk")
    await settings.choose(app, SHORT, NOON)
    await settings.choose(app, WindowChoice(), LATER)
    assert await settings.chosen_by([app]) == {}
    await settings.choose(User(user_id=name), LONG, NOON)
    assert await settings.chosen_by([app]) == {app: LONG}


async def test_settings_apply_only_to_their_user_and_app(settings, name):
    await settings.choose(User(user_id=name, app_id="helpdesk"), SHORT, NOON)
    others = [User(user_id=name, app_id="shop"), User(user_id=name), User(user_id=f"{name}-2", app_id="helpdesk")]
    assert await settings.chosen_by(others) == {}


@pytest.mark.parametrize("text", HARD_TO_STORE)
async def test_any_text_is_accepted_as_user_and_app_id(settings, name, text):
    user = User(user_id=f"{name}{text}"[:200], app_id=f"a{text}"[:200])
    await settings.choose(user, SHORT, NOON)
    assert await settings.chosen_by([user]) == {user: SHORT}
