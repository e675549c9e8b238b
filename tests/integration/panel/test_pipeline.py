"""The panel over the running pipeline: what a chat service publishes comes into sight, and what is changed there holds."""

from typing import Any
from uuid import uuid4

import pytest
from playwright.async_api import expect

from tests.chat_events import end, message
from tests.integration.panel.panel import CHROMIUM, NO_CHROMIUM

ARRIVES_MS = 60_000


@pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM)  # before any server is started
async def test_what_is_said_is_seen_live_found_corrected_and_traced_back(open_panel: Any, deploy: Any):
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
    )
    happened = tab.page.locator(".event").filter(has_text="User is allergic to peanuts.")
    await expect(happened).to_contain_text("Created", timeout=ARRIVES_MS)
    await happened.get_by_role("link").click()
    await expect(tab.page.locator(".message.source")).to_contain_text("I'm allergic to peanuts.")

    await tab.page.get_by_role("button", name="Edit", exact=True).click()
    await tab.page.get_by_label("What is to be remembered").fill("User is allergic to peanuts and almonds.")
    await tab.page.get_by_label("Reason").fill("The doctor said so.")
    await tab.page.get_by_role("button", name="Save").click()
    await expect(tab.page.get_by_role("heading", name="User is allergic to peanuts and almonds.")).to_be_visible()
    await tab.page.get_by_role("tab", name="History").click()
    newest = tab.page.locator(".version").first
    await expect(newest).to_contain_text("The doctor said so.")
    await expect(newest.locator(".diff ins")).to_contain_text("almonds")
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
    await tab.go("/follow", ns=namespace, conversation="talk", message="talk-1")
    trail = tab.page.locator(".trail")
    for step in (
        "In its topic",
        "Archived",
        "Searchable as it was said",
        "Extraction asked for",
        "Answered",
        "Decided",
        "Completed",
    ):
        await expect(trail).to_contain_text(step)
    await expect(trail.locator("li").filter(has_text="User is allergic to peanuts.").first).to_contain_text("Created")
    await expect(trail.locator("li").filter(has_text="almonds")).to_contain_text("Came of something else")
    await tab.go("/conversations/talk", ns=namespace)
    await expect(tab.page.locator(".window")).to_contain_text("2 of 2 messages in context")
    await tab.page.get_by_role("tab", name="What a model sees").click()
    await expect(tab.page.locator(".message").first).to_contain_text("I'm allergic to peanuts.")

    await tab.go("/data", ns=namespace)
    async with tab.page.expect_download():
        await tab.page.get_by_role("button", name="Export", exact=True).click()
    await expect(tab.page.get_by_text("memories are saved.")).to_be_visible()
    await tab.page.get_by_role("button", name="Show what would go").click()
    await tab.page.get_by_label(f"Type kitchen/{user} to confirm").fill(f"kitchen/{user}")
    await tab.page.get_by_role("button", name="Erase for good").click()
    receipt = tab.page.get_by_role("region", name="Receipt")
    await expect(receipt).to_contain_text("Erased", timeout=ARRIVES_MS)
    await expect(receipt).to_contain_text("PostgreSQL")
    assert await deployment.fetch("SELECT text FROM memories") == []
