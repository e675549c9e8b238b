"""Texts of chat users are shown as plain text: they run, load and link nothing."""

import json
from urllib.parse import quote

from playwright.async_api import FilePayload, Route, expect

from schemas.extraction.candidates import Source
from tests.api import NOON, a_memory
from tests.integration.panel.panel import Opened, Panel
from tests.integration.panel.texts import ATTACKS


async def test_malicious_texts_are_shown_as_plain_text(panel: Panel):
    for number, attack in enumerate(ATTACKS):
        source = Source(conversation_id=attack, message_id=f"{attack}-1", timestamp=NOON)
        panel.api.archive.say(attack, ("user", attack), app_id="app", user_id="ada", name=attack)
        fields = {"kind": attack, "tags": (attack,), "context": attack, "full_text": attack, "created_by": attack}
        panel.api.memories.put(a_memory(f"m{number}", text=attack, sources=(source,), **fields))
        panel.api.said.say(attack, at=NOON, speaker=attack)
    tab = await panel.signed_in("/memories?ns=app%2Fada", write="app/*")
    for attack in ATTACKS:
        await tab.go(ns="app%2Fada")
        await tab.rows.filter(has_text=attack).click()
        await expect(tab.page.locator(".message.source")).to_contain_text(attack)
        await tab.page.get_by_role("button", name="Edit", exact=True).click()
        await expect(tab.page.get_by_label("What to remember")).to_have_value(attack)
        await tab.page.keyboard.press("Escape")
        await tab.go(ns="app%2Fada", q=quote(attack, safe=""), **{"in": "said"})
        await expect(tab.page.locator(".row.said").filter(has_text=attack)).to_be_visible()
        await tab.go(ns=quote(attack, safe=""))
        await expect(tab.page.get_by_text("This key is not allowed to do this.").first).to_be_visible()
        assert await attacked(tab) == [], attack


async def test_malicious_file_names_and_errors_are_shown_as_plain_text(panel: Panel):
    panel.api.memories.put(a_memory("m1"))
    tab = await panel.signed_in("/data?ns=app%2Fada", write="app/*")
    problem = {"title": "Refused", "status": 422, "request_id": "r-1"}

    async def refuse(route: Route) -> None:
        await route.fulfill(status=422, content_type="application/problem+json", body=json.dumps(problem))

    await tab.page.route("**/v1/memories/m1/pin*", refuse)
    for attack in (*ATTACKS, "$& {{reason}}"):
        problem["detail"] = attack
        await tab.go("/data", ns="app%2Fada")
        file = FilePayload(name=attack.replace("/", "-"), mimeType="application/jsonl", buffer=attack.encode())
        await tab.page.get_by_label("JSON Lines file").set_input_files(file)
        await tab.page.get_by_role("button", name="Import", exact=True).click()
        await expect(tab.page.locator(".problems")).to_contain_text("Line 1")
        await tab.go("/memories/m1", ns="app%2Fada")
        await tab.page.get_by_role("button", name="Pin", exact=True).click()
        await expect(tab.page.locator(".toast").filter(has_text=f"This failed: {attack}")).to_be_visible()
        assert await attacked(tab) == [], attack
    await tab.page.unroute_all(behavior="wait")


async def attacked(tab: Opened) -> list[str]:
    """What is more than text."""
    found: list[str] = await tab.page.evaluate(
        """() => [...document.querySelectorAll("a[href^='javascript:'], iframe, img")].map((each) => each.outerHTML)
            .concat("attacked" in window ? ["a script ran"] : [])"""
    )
    return found
