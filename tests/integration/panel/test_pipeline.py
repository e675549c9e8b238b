"""The panel over the running pipeline shows published messages, and its changes take effect."""

from typing import Any
from uuid import uuid4

import pytest
from playwright.async_api import expect

from tests.builders.chat_events import end, message
from tests.deployment import eventually
from tests.integration.panel import pipeline_walk
from tests.integration.panel.panel import CHROMIUM, NO_CHROMIUM

ARRIVES_MS = 60_000


@pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM)  # before any server is started
async def test_a_published_message_is_seen_live_found_corrected_and_traced_back(open_panel: Any, deploy: Any):
    user = f"ada-{uuid4().hex[:6]}"
    namespace = f"kitchen%2F{user}"
    deployment = await deploy("panel")
    await deployment.worker()
    tab = await open_panel(await deployment.api())
    await tab.go("/live", ns=namespace)
    await expect(tab.page.get_by_text("Following")).to_be_visible()
    said = {"app_id": "kitchen", "user_id": user}
    await deployment.publish(
        message("talk", 1, "I'm allergic to peanuts.", **said),
        message("talk", 2, "I will keep that in mind.", role="assistant", **said),
        end("talk", message_count=2),
        pipeline_walk.MALFORMED,
    )
    happened = tab.page.locator(".event").filter(has_text="User is allergic to peanuts.")
    await expect(happened).to_contain_text("Created", timeout=ARRIVES_MS)
    await happened.get_by_role("link").click()
    await expect(tab.page.locator(".message.source")).to_contain_text("I'm allergic to peanuts.")

    await pipeline_walk.correct(tab)
    (kept,) = await deployment.fetch("SELECT text, version FROM memories WHERE status = 'active'")
    assert (kept["text"], kept["version"]) == ("User is allergic to peanuts and almonds.", 2)

    await tab.go(ns=namespace, q="allergic")
    await expect(tab.rows.filter(has_text="almonds")).to_contain_text("meaning")
    await tab.go("/profile", ns=namespace)
    await expect(tab.page.locator(".lines li").filter(has_text="almonds").first).to_be_visible()
    await tab.go("/operations", ns=namespace)
    await expect(tab.page.locator(".stage")).to_have_count(5)
    await expect(tab.page.locator(".state.good").filter(has_text="Running")).to_have_count(5)
    await expect(tab.page.locator(".notice")).to_have_count(0)
    await pipeline_walk.trace_message(tab, namespace)
    await tab.go("/conversations", ns=namespace, phase="ended")
    await expect(tab.rows).to_contain_text("2 of 2 messages in context")
    await tab.rows.press("Enter")
    await expect(tab.page.locator(".window")).to_contain_text("2 of 2 messages in context")
    await tab.page.get_by_role("tab", name="Model context").click()
    await expect(tab.page.locator(".message").first).to_contain_text("I'm allergic to peanuts.")

    counted = "SELECT 1 FROM retrieval_counts WHERE operation = 'search' AND found > 0"
    await eventually(lambda: deployment.fetch(counted), "the search is counted")  # in PostgreSQL, every two seconds
    await tab.go("/insights", ns=namespace)
    await expect(tab.page.get_by_role("region", name="Hit rates")).to_contain_text(
        "Searches that found something100% 1 of 1"
    )
    await pipeline_walk.what_left_the_context(tab, namespace)
    newer = await pipeline_walk.moved(deployment, **said)
    await pipeline_walk.what_is_remembered(tab, namespace, newer)
    await pipeline_walk.operations(tab, namespace, deployment, **said)
    await pipeline_walk.erase_namespace(tab, f"kitchen/{user}")
    assert await deployment.fetch("SELECT text FROM memories") == []
