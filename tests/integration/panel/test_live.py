"""Live events in a browser, over fakes."""

import re

import pytest
from playwright.async_api import expect

from schemas.memories.events import Cause, MemoryEvent
from sinks.memories.writer import memory_changed
from tests.api import NOON, a_memory
from tests.deployment import eventually
from tests.integration.panel.panel import SCREENS, Opened, Panel


@pytest.mark.parametrize("screen", SCREENS)
async def test_the_live_events_view_is_accessible(panel: Panel, screen: str):
    panel.api.event_history.at["app/ada"] = 3
    tab = await panel.signed_in("/live?ns=app%2Fada", context=SCREENS[screen], read="app/*")
    await expect(tab.page.get_by_text("Following")).to_be_visible()
    assert await tab.serious_findings() == []
    assert await tab.serious_findings_in_dark_colours() == []
    await tab.page.get_by_role("button", name="Show earlier events").press("Enter")
    await expect(tab.page.locator(".event")).to_have_count(3)
    await tab.page.get_by_role("button", name="Pause").press("Enter")
    await expect(tab.page.get_by_text("Paused")).to_be_visible()
    assert await tab.serious_findings() == []
    assert await tab.serious_findings_in_dark_colours() == []


async def test_events_are_held_while_paused_and_shown_with_their_cause_after_resuming(panel: Panel):
    tab = await following(panel)
    happens(panel, 1, "User lives in Ghent.")
    events = tab.page.locator(".event")
    await expect(events).to_have_text([re.compile("Created.*by ada-1.*Because of reason 1.*User lives in Ghent.")])
    await tab.page.get_by_role("button", name="Pause").click()
    happens(panel, 2, "User keeps bees.")
    happens(panel, 3, "User plays the cello.")
    await expect(tab.page.get_by_text("Paused: 2 new")).to_be_visible()
    await expect(events).to_have_count(1)
    await tab.page.get_by_role("button", name="Resume").click()
    await expect(events).to_contain_text(["User plays the cello.", "User keeps bees.", "User lives in Ghent."])
    await expect(tab.page.get_by_text("Following")).to_be_visible()


async def test_a_lost_stream_is_reported_and_resumes_where_it_stopped(panel: Panel):
    tab = await following(panel)
    panel.api.change_notifier.close()  # as a server that stops
    await expect(tab.page.get_by_text("The connection was lost; trying again")).to_be_visible()
    await expect(tab.page.get_by_role("alert")).to_contain_text("too many open event streams")
    assert await tab.serious_findings() == []
    happens(panel, 1, "User lives in Ghent.")
    panel.api.change_notifier.closed = False
    await expect(tab.page.locator(".event")).to_contain_text("User lives in Ghent.")
    await expect(tab.page.get_by_text("Following")).to_be_visible()
    await expect(tab.page.get_by_role("alert")).to_have_count(0)


async def test_unreadable_calls_and_budget_are_reported_beside_the_events(panel: Panel):
    panel.api.usage.down = True
    tab = await following(panel)
    await expect(tab.page.get_by_role("alert")).to_contain_text("Calls and budget cannot be read: PostgreSQL failed")
    happens(panel, 1, "User lives in Ghent.")
    await expect(tab.page.locator(".event")).to_contain_text("User lives in Ghent.")
    assert await tab.serious_findings() == []


async def following(panel: Panel) -> Opened:
    """A tab whose stream is open."""
    tab = await panel.signed_in("/live?ns=app%2Fada", read="app/*")

    async def is_open() -> bool:
        return panel.api.change_notifier.subscribers > 0

    await eventually(is_open, "the stream is open")
    return tab


def happens(panel: Panel, number: int, text: str) -> None:
    cause = Cause(actor=f"ada-{number}", reason=f"Because of reason {number}")
    change = memory_changed("created", None, a_memory(f"m{number}", text=text, sequence=number), cause)
    panel.api.event_history.events["app/ada", number] = MemoryEvent.of(change, NOON)
    panel.api.event_history.at["app/ada"] = number
    panel.api.change_notifier.notify("app/ada")
