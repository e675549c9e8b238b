"""The list of conversations in a browser, over fakes: order, filters in the address, keyboard."""

from msgspec.structs import replace
from playwright.async_api import expect

from schemas.conversations.messages import Scope
from tests.fakes.windows import AT_S, a_state
from tests.integration.panel.panel import PHONE, Panel

ATTACK = "<img src=x onerror='window.attacked = 1'>"


async def talked(panel: Panel, name: str, minute: int, user_id: str = "ada", **statistics: object) -> None:
    panel.api.archive.say(name, ("user", "Hello."), app_id="app", user_id=user_id)
    scope = Scope(conversation_id=name, app_id="app", user_id=user_id)
    phase = "ended" if "ended" in name else "open"
    state = a_state(name, scope=scope, phase=phase, last_message_at=AT_S + 60 * minute)
    await panel.api.windows.project([replace(state, statistics=replace(state.statistics, **statistics))])


async def some(panel: Panel) -> None:
    await talked(panel, "first", 1, percent_used=83.4, level="warning")
    await talked(panel, "ended-one", 2)
    await talked(panel, ATTACK, 3)
    await talked(panel, "bobs", 4, user_id="bob")


async def test_conversations_are_listed_by_their_last_message_and_opened_by_keyboard(panel: Panel):
    await some(panel)
    tab = await panel.signed_in("/conversations?ns=app%2Fada", read="app/*")
    rows = tab.page.get_by_role("list", name="Conversations").get_by_role("link")
    await expect(rows.locator(".row-text")).to_have_text([ATTACK, "ended-one", "first"])
    await expect(rows.last).to_contain_text("83.4% of the context")
    await expect(rows.last).to_contain_text("8 of 20 messages in context")
    assert await tab.serious_findings() == []
    await rows.first.focus()
    await tab.page.keyboard.press("ArrowDown")
    await tab.page.keyboard.press("j")
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.get_by_role("heading", name="first")).to_be_visible()
    await expect(rows.last).to_have_attribute("aria-current", "page")
    assert await tab.page.evaluate("window.attacked") is None


async def test_list_filters_are_part_of_the_url(panel: Panel):
    await some(panel)
    tab = await panel.signed_in("/conversations?ns=app%2Fada&phase=ended", read="app/*")
    texts = tab.page.locator(".row-text")
    await expect(texts).to_have_text(["ended-one"])
    await tab.page.get_by_role("combobox", name="State", exact=True).select_option("open")
    await expect(texts).to_have_text([ATTACK, "first"])
    assert "phase=open" in tab.page.url
    await tab.page.get_by_role("textbox", name="User", exact=True).fill("nobody")
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.get_by_text("No conversation matches these filters")).to_be_visible()
    await tab.page.get_by_role("button", name="Reset filters").click()
    await expect(texts).to_have_count(3)


async def test_without_a_namespace_all_readable_conversations_are_listed_with_their_namespaces(panel: Panel):
    await some(panel)
    tab = await panel.signed_in("/conversations", context=PHONE, read="app/bob")
    await expect(tab.rows).to_have_count(1)
    await expect(tab.rows).to_contain_text("app/bob")
    assert await tab.serious_findings() == []


async def test_the_list_loads_more_pages_and_skips_pages_without_readable_conversations(panel: Panel):
    for number in range(120):
        await talked(panel, f"talk-{number}", number)
    for number in range(450):
        await talked(panel, f"theirs-{number}", 1_000 + number, user_id="bob")
    tab = await panel.signed_in("/conversations", read="app/ada")
    await expect(tab.rows).to_have_count(100)
    await tab.page.get_by_role("button", name="Show more").press("Enter")
    await expect(tab.rows).to_have_count(120)
    await expect(tab.rows.last).to_contain_text("talk-0")
