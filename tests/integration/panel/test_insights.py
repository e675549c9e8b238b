"""Insights in a browser, over fakes: changes over time, costs, sizes and the map."""

from datetime import date

import numpy as np
import pytest
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
    panel.api.insights.known_days = [
        NamespaceDay(day=date(2026, 3, 1), changes=changes, calls=2, tokens=tokens, cost_usd=0.02)
    ]


async def test_days_costs_and_sizes_are_charts_with_text_alternatives(panel: Panel):
    remembered(panel)
    tab = await panel.signed_in(INSIGHTS, read="app/*")
    over_time = tab.page.get_by_role("region", name="Over time")
    await expect(over_time.get_by_role("img", name="Memories: Created 3, Said again 2, Replaced 1")).to_be_visible()
    await over_time.get_by_text("As a table").click()
    await expect(over_time.get_by_role("row").last).to_contain_text("1 Mar 2026")
    await expect(over_time.get_by_role("row").last).to_contain_text("700")
    await expect(over_time.locator("figcaption")).to_contain_text(["at most 6 a day", "at most 700 a day"])
    costly = tab.page.get_by_role("region", name="Cost of memories")
    await expect(costly.get_by_role("listitem")).to_have_count(3)
    largest = tab.page.get_by_role("region", name="Largest namespaces")
    await expect(largest.get_by_role("listitem").first).to_contain_text("app/ada3 memories")
    assert await tab.serious_findings() == []
    days = over_time.get_by_label("Days shown")
    await days.focus()
    await days.select_option("7")
    await expect(over_time.locator(".chart").first.locator("g")).to_have_count(7)
    await expect(days).to_be_focused()
    assert "days=7" in tab.page.url
    await tab.page.reload()  # as whoever gets the address sees it
    await expect(days).to_have_value("7")


async def test_hit_rates_of_contexts_and_searches_are_shown(panel: Panel):
    remembered(panel)
    counts = {"contexts": 40, "contexts_with_memories": 30, "searches": 5, "searches_found": 1}
    panel.api.insights.known_days = [NamespaceDay(day=date(2026, 3, 1), cost_usd=0.0123, **counts)]
    tab = await panel.signed_in(INSIGHTS, read="app/*")
    hits = tab.page.get_by_role("region", name="Hit rates")
    await expect(hits.locator("dl > div")).to_have_text(
        ["Contexts with memories75% 30 of 40", "Searches that found something20% 1 of 5"]
    )
    for chart in (
        "Contexts: With memories 30, Without memories 10",
        "Searches: Found something 1, Found nothing 4",
    ):
        await expect(tab.page.get_by_role("img", name=chart)).to_be_visible()
    await expect(tab.page.get_by_role("img", name="Cost: Cost US$0.012")).to_be_visible()
    assert await tab.serious_findings() == []


async def test_the_table_has_the_rates_of_each_day(panel: Panel):
    remembered(panel)
    retrievals = {"contexts": 8, "contexts_with_memories": 2, "searches": 3, "searches_found": 3}
    panel.api.insights.known_days = [
        NamespaceDay(day=date(2026, 3, 1), contexts=4, contexts_with_memories=3, reads=10, reads_cached=1),
        NamespaceDay(day=date(2026, 3, 2), **retrievals),
    ]
    tab = await panel.signed_in(INSIGHTS, read="app/*")
    over_time = tab.page.get_by_role("region", name="Over time")
    await over_time.get_by_text("As a table").click()
    columns = await over_time.get_by_role("columnheader").all_inner_texts()
    rates = ["Contexts with memories", "Searches that found something", "Reads from a cache"]
    assert columns[-3:] == rates
    for day, shares in {
        "1 Mar 2026": ["75% (3 of 4)", "–", "10% (1 of 10)"],
        "2 Mar 2026": ["25% (2 of 8)", "100% (3 of 3)", "–"],
    }.items():
        cells = over_time.get_by_role("row").filter(has_text=day).get_by_role("cell")
        assert (await cells.all_inner_texts())[-3:] == shares


async def test_a_chart_has_round_ticks_up_to_its_highest_day_and_bars_of_that_scale(panel: Panel):
    remembered(panel, tokens=32_400)
    tab = await panel.signed_in(INSIGHTS, read="app/*")
    charts = tab.page.locator(".chart")
    await expect(charts.nth(0).locator(".scale span")).to_have_text(["0", "2", "4", "6"])
    await expect(charts.nth(1).locator(".scale span")).to_have_text(["0", "10k", "20k", "30k", "40k"])
    heights = (
        await charts.nth(0)
        .locator("rect:not(.hit)")
        .evaluate_all("all => all.map((each) => each.height.baseVal.value)")
    )
    assert sum(heights) == pytest.approx(130)  # six of six, in the day that has any
    stacked = [round(height) for height in heights if height]
    assert stacked == [65, 43, 22]
    await expect(charts.nth(0).locator(".days span").first).to_be_visible()


async def test_the_cost_axis_has_distinct_tick_labels_for_very_small_costs(panel: Panel):
    tab = await panel.signed_in("/memories?ns=app%2Fada", read="app/*")
    chart = tab.page.locator(".chart").filter(has_text="Cost")
    for cost, ticks in {
        0.0123: ["0.000", "0.005", "0.010", "0.015"],
        0.00031: ["0.0000", "0.0001", "0.0002", "0.0003", "0.0004"],
        37.5: ["0.00", "10.00", "20.00", "30.00", "40.00"],
    }.items():
        panel.api.insights.known_days = [NamespaceDay(day=date(2026, 3, 1), cost_usd=cost)]
        await tab.go("/insights", ns=f"app%2F{cost}")  # each of a namespace that was not read before
        await expect(chart.locator(".scale span")).to_have_text([f"US${each}" for each in ticks])


async def test_a_chart_without_values_states_a_maximum_of_zero(panel: Panel):
    remembered(panel, tokens=0)
    tab = await panel.signed_in(INSIGHTS, read="app/*")
    await expect(tab.page.locator("figcaption")).to_contain_text(["at most 6 a day", "at most 0 a day"])


async def test_the_map_is_explored_by_keyboard_and_shows_user_content_as_text(panel: Panel):
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


async def test_insights_show_missing_data_and_server_failures(panel: Panel):
    tab = await panel.signed_in("/insights?ns=app%2Feve", read="app/*")
    await expect(tab.page.get_by_text("Nothing happened in these days")).to_be_visible()
    await expect(tab.page.get_by_text("A map needs three memories with vectors.")).to_be_visible()
    panel.api.memories.down = True
    await tab.go("/insights", ns="app%2Fada")
    await expect(tab.page.get_by_role("button", name="Try again").first).to_be_visible()
    assert await tab.serious_findings() == []
