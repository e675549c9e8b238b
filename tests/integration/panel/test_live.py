"""Live events in a browser, over fakes."""

import pytest
from playwright.async_api import expect

from tests.integration.panel.panel import Panel
from tests.integration.panel.test_frame import PHONE


@pytest.mark.parametrize("context", [{}, {"color_scheme": "dark"}, PHONE], ids=["light", "dark", "phone"])
async def test_live_events_can_be_read_by_everybody(panel: Panel, context: dict[str, object]):
    panel.api.event_history.at["app/ada"] = 3
    tab = await panel.signed_in("/live?ns=app%2Fada", context=context, read="app/*")
    await expect(tab.page.get_by_text("Following")).to_be_visible()
    assert await tab.serious_findings() == []
    await tab.page.get_by_role("button", name="Show earlier events").press("Enter")
    await expect(tab.page.locator(".event")).to_have_count(3)
    await tab.page.get_by_role("button", name="Pause").press("Enter")
    await expect(tab.page.get_by_text("Paused")).to_be_visible()
    assert await tab.serious_findings() == []
