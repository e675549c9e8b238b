"""The relations of a memory in a browser, over fakes: link graph and timeline of validity."""

from datetime import UTC, datetime

import pytest
from playwright.async_api import expect

from schemas.extraction.links import Link
from tests.api import a_memory
from tests.integration.panel.panel import Panel

GHENT, BRUGES, LILLE = (datetime(year, 5, 1, tzinfo=UTC) for year in (2019, 2022, 2025))


@pytest.fixture
def moves(panel: Panel) -> Panel:
    """Somebody moved twice; the second place is told more of."""
    panel.api.memories.put(
        a_memory("m1", text="User lives in Ghent.", status="superseded", superseded_by="m2", valid_from=GHENT),
        a_memory(
            "m2",
            text="User lives in Bruges.",
            status="superseded",
            supersedes="m1",
            superseded_by="m3",
            valid_from=BRUGES,
            valid_until=LILLE,
        ),
        a_memory("m3", text="User lives in Lille.", supersedes="m2", valid_from=LILLE),
        a_memory("m4", text="User rents a flat in Bruges.", links=(Link(type="refines", memory_id="m2"),)),
    )
    return panel


async def test_a_timeline_shows_the_validity_of_each_memory_across_all_replacements(moves: Panel):
    tab = await moves.signed_in("/memories/m3?ns=app%2Fada", read="app/*")
    await tab.page.get_by_role("tab", name="Time line").click()
    held = tab.page.locator(".timeline li")
    await expect(held).to_have_count(3)
    for at, said in enumerate(
        (
            "Valid from 1 May 2019 until 1 May 2022",
            "Valid from 1 May 2022 until 1 May 2025",
            "Valid since 1 May 2025",
        )
    ):
        await expect(held.nth(at)).to_contain_text(said)
    await expect(held.last).to_contain_text("This memory")
    assert await tab.serious_findings() == []
    await held.first.get_by_role("link", name="User lives in Ghent.").focus()
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.get_by_role("heading", name="User lives in Ghent.")).to_be_visible()


async def test_a_graph_shows_the_same_links_as_the_list_below_it(moves: Panel):
    tab = await moves.signed_in("/memories/m2?ns=app%2Fada&tab=related", read="app/*")
    graph = tab.page.locator(".graph")
    await expect(graph.locator(".node")).to_have_count(4)
    await expect(graph.locator("path.supersedes, path.superseded_by, path.refined_by")).to_have_count(3)
    relations = tab.page.locator(".chosen .relation")
    await expect(relations).to_have_text(["Replaces", "Replaced by", "More detail in"])
    assert await tab.serious_findings() == []
