"""Views with partial results of a degraded search show them with a notice, in a browser over fakes."""

import numpy as np
from playwright.async_api import expect

from schemas.extraction.links import Link
from tests.api import NOON, a_memory
from tests.fakes.sinks import Fuse
from tests.integration.panel.panel import Panel

PART = "Part of the search did not answer: there may be more results."


async def test_a_partially_failed_search_shows_the_remaining_results_with_a_notice(panel: Panel):
    panel.api.said.say("My cello is from 1890.", at=NOON)
    tab = await panel.signed_in("/memories?ns=app%2Fada&q=cello", read="app/*")
    await expect(tab.rows).to_have_count(1)
    await expect(tab.page.get_by_text(PART)).to_have_count(0)
    panel.api.said.degraded = ("vectors_failed",)
    await tab.page.reload()
    await expect(tab.page.locator(".notice")).to_have_text(PART)
    await expect(tab.rows).to_contain_text("My cello is from 1890.")
    assert await tab.serious_findings() == []


async def test_a_partially_failed_context_block_shows_the_remaining_content_with_a_notice(panel: Panel):
    panel.api.searched.memories = [a_memory("m1", text="User plays the cello.")]
    tab = await panel.signed_in("/profile?ns=app%2Fada", read="app/*")
    block = tab.page.locator("section").filter(has_text="Context block")
    await expect(block.locator(".prompt")).to_contain_text("User plays the cello.")
    await expect(block.get_by_text(PART)).to_have_count(0)
    panel.api.searched.degraded = ("embedder_slow",)
    await tab.page.get_by_label("A message of the user").fill("What do I play?")
    await tab.page.get_by_role("button", name="Show").click()
    await expect(block.locator(".notice")).to_have_text(PART)
    await expect(block.locator(".prompt")).to_contain_text("User plays the cello.")
    assert await tab.serious_findings() == []


async def test_related_memories_without_the_vector_index_show_links_with_a_notice(panel: Panel):
    panel.api.memories.put(
        a_memory("m1", text="User plays the cello."),
        a_memory("m2", text="The cello is from 1890.", links=(Link(type="refines", memory_id="m1"),)),
    )
    panel.api.memories.vectors["m1"] = np.array((1, 0, 0), dtype=np.float32)
    panel.api.vectors.fuse = Fuse(at=1)
    tab = await panel.signed_in("/memories/m1?ns=app%2Fada&tab=related", read="app/*")
    await expect(tab.page.locator(".notice")).to_have_text("Similar memories cannot be looked up at the moment.")
    await expect(tab.page.locator(".chosen .relation")).to_have_text(["More detail in"])
    assert await tab.serious_findings() == []
    await tab.page.reload()
    await expect(tab.page.locator(".chosen .relation")).to_have_text(["More detail in"])
    await expect(tab.page.locator(".notice")).to_have_count(0)
