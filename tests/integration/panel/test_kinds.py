"""Generated kinds, times and tellers of a memory in a browser, over fakes."""

from datetime import UTC, datetime

from playwright.async_api import expect

from schemas.extraction.candidates import Source
from sinks.memories.kinds import UsedKind
from tests.api import NOON, a_memory
from tests.integration.panel.panel import Panel

ATTACK = "<img src=x onerror='window.attacked = 1'>"


async def test_a_newly_created_kind_is_shown_with_its_icon_and_description(panel: Panel):
    panel.api.memories.put(a_memory("m1", kind="allergy"), a_memory("m2", kind="fact"))
    panel.api.kinds.described["app/ada"] = (UsedKind(name="allergy", description=f"Not to eat {ATTACK}", icon="AL"),)
    tab = await panel.signed_in("/memories/m1?ns=app%2Fada", write="app/*")
    await expect(tab.rows.filter(has_text="allergy").locator(".kind-icon")).to_have_text("AL")
    await expect(tab.rows.filter(has_text="Fact").locator(".kind-icon svg")).to_be_visible()
    await expect(tab.page.locator("aside.chosen")).to_contain_text(f"allergy: Not to eat {ATTACK}")
    await tab.page.get_by_role("button", name="Edit", exact=True).press("Enter")
    dialog = tab.page.get_by_role("dialog")
    await expect(dialog.get_by_label("Kind")).to_have_value("allergy")
    await expect(dialog).to_contain_text("Not to eat")
    assert await tab.page.evaluate("window.attacked") is None
    assert await tab.serious_findings() == []


async def test_a_memory_shows_its_speakers_and_validity_and_its_sources_link_to_their_timeline(panel: Panel):
    panel.api.archive.say("talk", ("user", "I live in Ghent until May."), app_id="app", user_id="ada")
    panel.api.memories.put(
        a_memory(
            "m1",
            told_by=("ada", "bob"),
            valid_until=datetime(2022, 5, 1, tzinfo=UTC),
            sources=(Source(conversation_id="talk", message_id="talk-1", timestamp=NOON),),
        )
    )
    tab = await panel.signed_in("/memories/m1?ns=app%2Fada", read="app/*")
    await expect(tab.rows).to_contain_text("until 1 May 2022")
    facts = tab.page.locator(".facts-grid")
    for said in ("Told byada, bob", "Valid until1 May 2022", "Extracted by"):
        await expect(facts).to_contain_text(said)
    await tab.page.get_by_role("link", name="Follow").press("Enter")
    await expect(tab.page.get_by_label("Id of the message")).to_have_value("talk-1")
    await tab.page.go_back()
    await tab.page.get_by_role("link", name="In the conversation talk").press("Enter")
    await expect(tab.page.get_by_role("heading", name="talk")).to_be_visible()


async def test_the_validity_and_the_event_of_a_memory_are_edited_in_a_form(panel: Panel):
    panel.api.memories.put(a_memory("m1", valid_from=datetime(2026, 1, 5, 9, 30, 15, tzinfo=UTC)))
    tab = await panel.signed_in("/memories/m1?ns=app%2Fada", context={"timezone_id": "Europe/Berlin"}, write="app/*")
    await tab.page.get_by_role("button", name="Edit", exact=True).click()
    dialog = tab.page.get_by_role("dialog")
    await expect(dialog.get_by_label("Valid from")).to_have_value("2026-01-05T10:30")
    await dialog.get_by_label("Valid until").fill("2026-07-01T12:00")
    await dialog.get_by_label("Happens").fill("2026-06-01T15:00")
    await dialog.get_by_role("button", name="Save").click()
    await expect(tab.page.get_by_text("Saved")).to_be_visible()
    (command,) = panel.api.curation.seen
    assert command.valid_until == datetime(2026, 7, 1, 10, tzinfo=UTC)
    assert command.event_time == datetime(2026, 6, 1, 13, tzinfo=UTC)
    assert command.valid_from is None, "what nobody changed is not sent: the form knows no seconds"
