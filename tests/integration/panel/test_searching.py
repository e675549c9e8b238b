"""Search in the view of memories: filters of the API, and results beyond those shown."""

from datetime import timedelta

from playwright.async_api import expect

from schemas.memories.memories import Memory
from tests.api import NOON, a_memory
from tests.integration.panel.panel import Panel

SEARCH = "/memories?ns=app%2Fada&q=cello"
LONG_AGO = NOON - timedelta(days=400)


def remember(panel: Panel, *memories: Memory) -> None:
    panel.api.memories.put(*memories)
    panel.api.remembered.known |= {memory.memory_id: memory for memory in memories}


async def test_a_search_is_filtered_by_time_confidence_and_pins_with_the_filters_in_the_url(panel: Panel):
    remember(
        panel,
        a_memory("m1", text="User has a cello.", pinned=True, confidence=0.6),
        a_memory("m2", text="User sold a cello.", created_at=LONG_AGO, confidence=0.95),
        a_memory("m3", text="User tunes the cello.", confidence=0.95),
    )
    tab = await panel.signed_in(SEARCH, read="app/*")
    await expect(tab.rows).to_have_count(3)
    await expect(tab.page.get_by_role("status").filter(has_text="3 results")).to_be_visible()
    await tab.page.get_by_text("More filters").click()
    day = f"{NOON - timedelta(days=30):%Y-%m-%d}"
    await tab.page.get_by_label("Said or happened before").fill(day)
    await expect(tab.rows).to_contain_text(["User sold a cello."])
    await tab.page.get_by_label("Said or happened before").fill("")
    await tab.page.get_by_label("Said or happened from").fill(day)
    await expect(tab.rows).to_have_count(2)
    await tab.page.get_by_label("Confidence from").select_option("90")
    await expect(tab.rows).to_contain_text(["User tunes the cello."])
    assert await tab.serious_findings() == []
    sent = tab.page.url
    await tab.page.goto("about:blank")
    await tab.page.goto(sent)
    await expect(tab.rows).to_contain_text(["User tunes the cello."])
    await expect(tab.page.get_by_label("Said or happened from")).to_have_value(day)
    await tab.page.get_by_role("button", name="Pinned only").click()
    await expect(tab.page.get_by_text("Nothing was found")).to_be_visible()
    await tab.page.get_by_role("button", name="Reset filters").click()
    await expect(tab.rows).to_have_count(3)
    await tab.page.get_by_role("button", name="Pinned only").click()
    await expect(tab.rows).to_contain_text(["User has a cello."])


async def test_a_search_finds_memories_valid_at_a_given_time_and_marks_them_as_past(panel: Panel):
    past = {"status": "superseded", "valid_from": LONG_AGO, "valid_until": NOON - timedelta(days=9)}
    remember(
        panel,
        a_memory("m1", text="User rents a cello.", **past),
        a_memory("m2", text="User owns a cello.", valid_from=NOON - timedelta(days=9)),
    )
    tab = await panel.signed_in(SEARCH, read="app/*")
    await expect(tab.rows).to_contain_text(["User owns a cello."])
    await tab.page.get_by_text("More filters").click()
    await tab.page.get_by_label("Valid at").fill(f"{NOON - timedelta(days=30):%Y-%m-%dT%H:%M}")
    await expect(tab.rows).to_contain_text(["User rents a cello."])
    await expect(tab.rows).to_contain_text(["Replaced"])


async def test_date_filters_apply_to_messages_as_well(panel: Panel):
    panel.api.said.say("My cello is from 1890.", at=NOON, ordinal=1)
    panel.api.said.say("I dream of a cello.", at=LONG_AGO, ordinal=2)
    tab = await panel.signed_in(f"{SEARCH}&in=said&before={NOON - timedelta(days=30):%Y-%m-%d}", read="app/*")
    await expect(tab.rows).to_contain_text(["I dream of a cello."])


async def test_an_invalid_filter_in_the_url_is_ignored(panel: Panel):
    remember(panel, a_memory("m1", text="User has a cello."))
    tab = await panel.signed_in("/profile?ns=app%2Fada", read="app/*")
    for wrong in ("from=yesterday", "before=2026-02-31x", "at=noon", "sure=much", "pinned=maybe"):
        await tab.go(f"{SEARCH}&{wrong}")
        await expect(tab.rows, wrong).to_have_count(1)
        await tab.go("/profile", ns="app%2Fada")
        await expect(tab.rows, wrong).to_have_count(0)


async def test_a_search_reports_further_results_and_loads_them_up_to_the_api_limit(panel: Panel):
    remember(panel, *(a_memory(f"m{n:03}", text=f"User has cello {n}.") for n in range(130)))
    tab = await panel.signed_in(SEARCH, read="app/*")
    await expect(tab.page.get_by_role("status").filter(has_text="The 50 best results")).to_be_visible()
    await expect(tab.rows).to_have_count(50)
    await tab.page.get_by_role("button", name="Show more").click()
    await expect(tab.rows).to_have_count(100)
    await expect(tab.page.get_by_text("A search shows at most 100 results.")).to_be_visible()
    await expect(tab.page.get_by_role("button", name="Show more")).to_have_count(0)
    await tab.page.get_by_label("Search", exact=True).fill("cello 7.")
    await expect(tab.rows).to_have_count(50)
