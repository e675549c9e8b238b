"""Insights in a browser, over fakes: what happened over time, what it cost, sizes, and the map."""

from datetime import date

import numpy as np
from playwright.async_api import expect

from sinks.memories.insights import NamespaceDay
from tests.api import a_memory
from tests.integration.panel.panel import Panel

INSIGHTS = "/insights?ns=app%2Fada"


def remembered(panel: Panel, tokens: int = 700) -> None:
    texts = ("User lives in Ghent.", "User lives near Ghent.", "<img src=x onerror='window.attacked = 1'>")
    panel.api.memories.put(*(a_memory(f"m{n}", text=text, importance=1 - n / 10) for n, text in enumerate(texts)))
    panel.api.memories.put(a_memory("b", namespace="app/bob"))
    for name, vector in {"m0": (1, 0, 0), "m1": (0.9, 0.1, 0), "m2": (0, 1, 0)}.items():
        panel.api.memories.vectors[name] = np.array(vector, dtype=np.float32)
    changes = {"created": 3, "reinforced": 2, "superseded": 1}
    panel.api.insights.told = [
        NamespaceDay(day=date(2026, 3, 1), changes=changes, calls=2, tokens=tokens, cost_usd=0.02)
    ]


async def test_days_costs_and_sizes_are_charts_that_can_be_read_as_words(panel: Panel):
    remembered(panel)
    tab = await panel.signed_in(INSIGHTS, read="app/*")
    over_time = tab.page.get_by_role("region", name="Over time")
    await expect(over_time.get_by_role("img", name="Memories: Created 3, Said again 2, Replaced 1")).to_be_visible()
    await over_time.get_by_text("As a table").click()
    await expect(over_time.get_by_role("row").last).to_contain_text("Mar 1, 2026")
    await expect(over_time.get_by_role("row").last).to_contain_text("700")
    await expect(over_time.locator("figcaption")).to_contain_text(["at most 6 a day", "at most 700 a day"])
    costly = tab.page.get_by_role("region", name="What memories cost")
    await expect(costly.get_by_role("listitem")).to_have_count(3)
    largest = tab.page.get_by_role("region", name="Largest namespaces")
    await expect(largest.get_by_role("listitem").first).to_contain_text("app/ada3 memories")
    assert await tab.serious_findings() == []
    await over_time.get_by_label("Days shown").select_option("7")
    await expect(over_time.locator(".chart").first.locator("g")).to_have_count(7)


async def test_a_chart_of_nothing_says_so(panel: Panel):
    remembered(panel, tokens=0)
    tab = await panel.signed_in(INSIGHTS, read="app/*")
    await expect(tab.page.locator("figcaption")).to_contain_text(["at most 6 a day", "at most 0 a day"])


async def test_the_map_is_explored_by_keyboard_and_shows_texts_as_text(panel: Panel):
    remembered(panel)
    tab = await panel.signed_in(INSIGHTS, read="app/*")
    plane = tab.page.get_by_role("application", name="Map of memories")
    await expect(plane.locator("circle")).to_have_count(3)
    await plane.focus()
    await tab.page.keyboard.press("ArrowRight")
    chosen = tab.page.locator(".map-chosen")
    await expect(chosen).to_contain_text("User lives in Ghent.")
    await tab.page.keyboard.press("+")
    await expect(tab.page.locator(".map-side")).to_contain_text("<img src=x onerror")
    await expect(tab.page.locator("img")).to_have_count(0)
    assert await tab.page.evaluate("window.attacked") is None
    assert await tab.serious_findings() == []
    await plane.focus()
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.get_by_role("heading", name="User lives in Ghent.")).to_be_visible()


async def test_insights_without_data_and_with_a_server_that_fails_say_so(panel: Panel):
    tab = await panel.signed_in("/insights?ns=app%2Feve", read="app/*")
    await expect(tab.page.get_by_text("Nothing happened in these days")).to_be_visible()
    await expect(tab.page.get_by_text("A map needs three memories with vectors.")).to_be_visible()
    panel.api.memories.down = True
    await tab.go("/insights", ns="app%2Fada")
    await expect(tab.page.get_by_role("button", name="Try again").first).to_be_visible()
    assert await tab.serious_findings() == []
