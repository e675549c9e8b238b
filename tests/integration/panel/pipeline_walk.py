"""Visits the views of operators and insights over the running pipeline; each must show data that came through it."""

import asyncio
import re
from urllib.parse import quote

from playwright.async_api import Locator, expect

from schemas.kafka import topics
from tests.builders.chat_events import message, talk
from tests.command_line import run
from tests.deployment import Deployment, Event, eventually
from tests.integration.panel.panel import Opened

ARRIVES_MS = 60_000
MALFORMED = Event(topics.MESSAGES, "broken", b"{")


async def moved(deployment: Deployment, **said: str) -> str:
    """Three more memories, one of which replaces an earlier one: its id."""
    await deployment.publish(
        *talk("home", "I live in Ghent.", **said), *talk("taste", "I prefer short recipes.", **said)
    )
    await remembered(deployment, "SELECT memory_id FROM memories WHERE text = 'User lives in Ghent.'")
    await deployment.publish(
        *talk("move", "I moved to Bruges.", **said), *talk("fish", "I'm allergic to shellfish.", **said)
    )
    await remembered(deployment, "SELECT memory_id FROM memories WHERE text LIKE '%shellfish%'")
    return await remembered(deployment, "SELECT memory_id FROM memories WHERE supersedes IS NOT NULL")


async def remembered(deployment: Deployment, sql: str) -> str:
    async def found() -> list[str]:
        return [row["memory_id"] for row in await deployment.fetch(sql)]

    (memory_id, *_) = await eventually(found, sql)
    return memory_id


async def what_is_remembered(tab: Opened, namespace: str, newer: str) -> None:
    """Related memories, the time line, the context block, and insights."""
    await tab.go(f"/memories/{newer}", ns=namespace, tab="related")
    related = tab.page.locator(".chosen li").filter(has_text="Replaces")
    await expect(related).to_contain_text("User lives in Ghent.")
    await tab.go(f"/memories/{newer}", ns=namespace, tab="timeline")
    await expect(tab.page.locator(".timeline li").first).to_contain_text("User lives in Ghent.")
    await expect(tab.page.locator(".timeline li").last).to_contain_text("This memory")

    await tab.go("/profile", ns=namespace)
    await tab.page.get_by_label("A message of the user").fill("What may I not eat?")
    await tab.page.get_by_role("button", name="Show", exact=True).click()
    block = tab.page.locator("section").filter(has_text="Context block")
    await expect(block.locator(".prompt")).to_contain_text("almonds")

    await tab.go("/insights", ns=namespace)
    await tab.page.reload()  # what was read in the last ten seconds is not read again
    created = tab.page.get_by_role("img", name=re.compile(r"Memories: Created [4-9], Said again \d+, Replaced 1"))
    await expect(created).to_be_visible()
    await expect(tab.page.get_by_role("application", name="Map of memories").locator("circle").nth(3)).to_be_attached()
    await expect(region(tab, "Largest namespaces").get_by_role("listitem").first).to_contain_text("4 memories")
    await expect(region(tab, "Cost of memories")).to_contain_text("No model calls are recorded")  # rules cost nothing


async def what_left_the_context(tab: Opened, namespace: str) -> None:
    """The settings of a conversation, and a clear by hand among its prunings."""
    await tab.go("/conversations/talk", ns=namespace, tab="settings")
    await expect(tab.page.get_by_role("tabpanel")).to_contain_text("Maximum messages50")
    await tab.page.get_by_role("tab", name="Prunings").click()
    await expect(tab.page.get_by_role("tabpanel")).to_contain_text("No message has left the context.")
    await tab.page.get_by_role("button", name="Clear the context").click()
    await tab.page.get_by_role("alertdialog").get_by_role("button", name="Clear the context").click()
    left = tab.page.get_by_role("tabpanel").locator(".version")
    await expect(left).to_contain_text("2 messages left", timeout=ARRIVES_MS)
    await expect(left).to_contain_text("2 × The conversation was cleared by hand.")


async def operations(tab: Opened, namespace: str, deployment: Deployment, **said: str) -> None:
    """A dead letter, a dry run, a count of what would leave, a replay, a policy, a key."""
    await tab.go("/operations/letters", ns=namespace)
    letter = tab.page.locator(".letter-row")
    await expect(letter).to_contain_text("undecodable", timeout=ARRIVES_MS)
    await letter.get_by_role("button").first.click()
    await expect(tab.page.locator(".detail-card .prompt")).to_have_text("{")

    await deployment.publish(message("waiting", 1, "I'm allergic to walnuts.", **said))
    for table in ("messages", "windows"):  # what a run reads of what waits
        await remembered(deployment, f"SELECT 'waiting' AS memory_id FROM {table} WHERE conversation_id = 'waiting'")
    await tab.go("/operations/consolidation", ns=namespace)
    await tab.page.get_by_role("button", name="Dry run").click()
    await expect(tab.page.locator(".findings li")).to_contain_text("User is allergic to walnuts.", timeout=ARRIVES_MS)

    await tab.go("/operations/retention", ns=namespace)
    await tab.page.get_by_role("button", name="Count what would be deleted").click()
    counted = tab.page.locator("[aria-label='Retention sweeps'] tbody tr").filter(has_text="only counted")
    await expect(counted).to_contain_text("Completed", timeout=ARRIVES_MS)
    await expect(counted).to_contain_text("0 older than")

    await asyncio.to_thread(
        run, deployment.settings, deployment.directory, "replay", "-n", namespace.replace("%2F", "/")
    )
    await tab.go("/operations/replay", ns=namespace)
    await expect(tab.page.locator("[aria-label=Replays] tbody tr")).to_contain_text("Ready")
    await tab.page.get_by_role("button", name="Compare").click()
    await tab.page.get_by_label("Show unchanged ones too").check()
    await expect(tab.page.locator(".sides")).to_contain_text("User is allergic to shellfish.")

    await tab.go("/operations/policies", ns=namespace)
    await tab.page.get_by_role("button", name="New, based on").click()
    await tab.page.get_by_role("menuitem", name="app-notes").click()
    await tab.page.get_by_label("Name", exact=True).fill("garden")
    await tab.page.locator(".detail-card").get_by_label("app_id").fill("garden")
    await tab.page.get_by_role("button", name="Check").click()
    await tab.page.get_by_role("button", name="Save", exact=True).click()
    await tab.page.get_by_role("alertdialog").get_by_role("button", name="Save").click()
    await expect(tab.page.locator(".policies .row").filter(has_text="garden")).to_contain_text("Topic")

    await tab.go("/operations/access", ns=namespace)
    await tab.page.get_by_label("Name", exact=True).fill("reader")
    await tab.page.get_by_label("Namespaces, * for any characters").fill("kitchen/*")
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.locator("[aria-label=Keys] tbody tr")).to_contain_text("kitchen/*")
    audit = tab.page.locator("[aria-label=Audit] tbody tr")
    await expect(audit.filter(has_text="key.created")).to_have_count(1)
    await expect(audit.filter(has_text="policy.put")).to_contain_text("garden")


def region(tab: Opened, name: str) -> Locator:
    return tab.page.get_by_role("region", name=name)


async def correct(tab: Opened) -> None:
    """Edits the memory in view; its history shows the difference and the reason."""
    await tab.page.get_by_role("button", name="Edit", exact=True).click()
    await tab.page.get_by_label("What to remember").fill("User is allergic to peanuts and almonds.")
    await tab.page.get_by_label("Reason").fill("The doctor said so.")
    await tab.page.get_by_role("button", name="Save").click()
    await expect(tab.page.get_by_role("heading", name="User is allergic to peanuts and almonds.")).to_be_visible()
    await tab.page.get_by_role("tab", name="History").click()
    newest = tab.page.locator(".version").first
    await expect(newest).to_contain_text("The doctor said so.")
    await expect(newest.locator(".diff ins")).to_contain_text("almonds")


async def trace_message(tab: Opened, namespace: str) -> None:
    """The path of a message, from its topic to its memories."""
    await tab.go("/follow", ns=namespace, conversation="talk", message="talk-1")
    trail = tab.page.locator(".trail")
    for step in (
        "Published to its topic",
        "Archived",
        "Searchable word for word",
        "Extraction requested",
        "Model answered",
        "Decided",
        "Completed",
    ):
        await expect(trail).to_contain_text(step)
    await expect(trail.locator("li").filter(has_text="User is allergic to peanuts.").first).to_contain_text("Created")
    await expect(trail.locator("li").filter(has_text="almonds")).to_contain_text("From another cause")


async def erase_namespace(tab: Opened, namespace: str) -> None:
    """Exports a namespace, then erases it and waits for the receipt."""
    await tab.go("/data", ns=quote(namespace, safe=""))
    async with tab.page.expect_download():
        await tab.page.get_by_role("button", name="Export", exact=True).click()
    await expect(tab.page.get_by_text(re.compile(r"^[45] memories are saved\."))).to_be_visible()
    await tab.page.get_by_role("button", name="Show what would be erased").click()
    await tab.page.get_by_label(f"Type {namespace} to confirm").fill(namespace)
    await tab.page.get_by_role("button", name="Erase for good").click()
    receipt = tab.page.get_by_role("region", name="Receipt")
    await expect(receipt).to_contain_text("Erased", timeout=ARRIVES_MS)
    await expect(receipt).to_contain_text("PostgreSQL")
