"""Every control of every view can be reached by keyboard with visible focus; only dialogs trap the focus, and they
return it."""

import asyncio

from playwright.async_api import expect

from tests.api import a_memory
from tests.integration.panel.panel import Opened, Panel
from tests.integration.panel.populated_api import PopulatedApi
from tests.integration.panel.views import DIALOG, View, views

MOST_STOPS = 400
AT_ONCE = 20  # key presses: each by itself would wait for what it changes to be drawn
# What a key should reach in an element and did not: of radio buttons, tabs and rows one of each group, which arrows go on from.
MISSED = """(root) => [...document.querySelector(root).querySelectorAll(
        "a[href], button, input, select, textarea, summary, [tabindex]:not([data-focus-trap])")]
    .filter((each) => !each.disabled && each.tabIndex >= 0 && each.checkVisibility({ visibilityProperty: true }))
    .filter((each) => each.type !== "radio" || each.checked)
    .filter((each) => !window.walk.reached.has(each))
    .map((each) => each.outerHTML.slice(0, 120))"""
# Notes what the focus reaches within an element, and where it cannot be seen, until it leaves the element or returns to what it
# reached before.
WATCH = """(root) => {
    const walk = { reached: new Set(), unseen: [], ended: false };
    window.walk = walk;
    document.addEventListener("focusin", ({ target: now }) => {
        if (window.walk !== walk || walk.ended || now.matches("[data-focus-trap]")) return;
        walk.ended = !document.querySelector(root)?.contains(now) || now.matches(root) || walk.reached.has(now);
        if (walk.ended) return;
        walk.reached.add(now);
        const isSeen = [now, now.nextElementSibling, now.parentElement].some((each) => {
            const style = each && getComputedStyle(each);
            return style && style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
        });
        if (!isSeen) walk.unseen.push("its focus is not seen: " + now.outerHTML.slice(0, 120));
    });
}"""
HAS_ENDED = "(root) => window.walk.ended || !document.querySelector(root)?.contains(document.activeElement)"

# The focus is in the dialog and stays where it is: a dialog that has just opened moves it.
RESTS_IN = """new Promise((done) => {
    const now = document.activeElement, inside = document.querySelector("%s")?.contains(now);
    requestAnimationFrame(() => requestAnimationFrame(() => done(inside && now === document.activeElement)));
})"""


async def not_reached(tab: Opened, root: str) -> list[str]:
    """Returns the controls within a focused element that Tab does not reach, and those without visible focus."""
    await tab.page.evaluate(WATCH, root)
    for _ in range(MOST_STOPS // AT_ONCE):
        await asyncio.gather(*(tab.page.keyboard.press("Tab") for _ in range(AT_ONCE)))
        if await tab.page.evaluate(HAS_ENDED, root):
            break
    else:
        return ["Tab never comes to an end"]
    unseen: list[str] = await tab.page.evaluate("window.walk.unseen")
    return unseen + await tab.page.evaluate(MISSED, root)


async def test_every_control_of_every_view_is_reachable_by_keyboard_with_visible_focus(
    panel_of_everything: Panel, shown: PopulatedApi
):
    tab = await panel_of_everything.signed_in("/memories?ns=app%2Fada", admin="*")
    wrong = {}
    for view in (each for each in views(shown) if not opens_dialog(each)):
        await view.show(tab)
        for _ in range(2):  # a list that arrives during the first walk is reached by the second
            await tab.page.locator(".skip").focus()
            await tab.page.keyboard.press("Enter")
            assert await tab.page.evaluate("document.activeElement.id") == "content"
            wrong[view.name] = await not_reached(tab, "#content")
            if not wrong[view.name]:
                break
    assert {name: each for name, each in wrong.items() if each} == {}


async def test_every_dialog_traps_focus_until_escape_returns_it(panel_of_everything: Panel, shown: PopulatedApi):
    tab = await panel_of_everything.signed_in("/memories?ns=app%2Fada", admin="*")
    dialogs = [each for each in views(shown) if opens_dialog(each)]
    assert len(dialogs) >= 4
    for view in dialogs:
        await tab.page.goto(f"{tab.address}/#{view.address()}")
        opener = tab.page.get_by_role("button", name=view.press[-1], exact=True).first
        await opener.focus()
        await tab.page.keyboard.press("Enter")
        await tab.page.locator(view.shows).first.wait_for()
        await tab.requires(RESTS_IN % DIALOG)
        assert await not_reached(tab, DIALOG) == [], view.name
        assert await tab.page.evaluate("(dialog) => !!document.activeElement.closest(dialog)", DIALOG), view.name
        await tab.close_dialog(opener)
        await expect(tab.page.locator(DIALOG)).to_have_count(0)


def opens_dialog(view: View) -> bool:
    return view.shows.startswith("[role=")


async def test_a_list_is_one_tab_stop_and_arrow_keys_move_through_rows_loaded_later(panel: Panel):
    panel.api.memories.put(*(a_memory(f"m{n:03}", text=f"Number {n}.", importance=1 - n / 400) for n in range(300)))
    tab = await panel.signed_in("/memories?ns=app%2Fada", read="app/*")
    await tab.rows.first.focus()
    for _ in range(60):
        await tab.page.keyboard.press("ArrowDown")
    await expect(tab.rows.filter(has_text="Number 60.")).to_be_focused()
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.get_by_role("heading", name="Number 60.")).to_be_visible()
    await tab.page.keyboard.press("Tab")
    assert await tab.page.evaluate("!!document.activeElement.closest('.chosen')"), "past the other rows"
    await tab.page.keyboard.press("Shift+Tab")
    await expect(tab.rows.filter(has_text="Number 60.")).to_be_focused()


async def test_key_presses_faster_than_row_loading_move_as_far(panel: Panel):
    panel.api.memories.put(*(a_memory(f"m{n:03}", text=f"Number {n}.", importance=1 - n / 400) for n in range(90)))
    tab = await panel.signed_in("/memories?ns=app%2Fada", read="app/*")
    press = """(keys) => keys.forEach((key) => document.activeElement.dispatchEvent(
        new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true })))"""
    await tab.rows.first.focus()
    await tab.page.evaluate(press, ["ArrowDown"] * 70 + ["k"] * 10)
    await expect(tab.rows.filter(has_text="Number 60.")).to_be_focused()
    await expect(tab.rows.filter(has_text="Number 60.")).to_be_in_viewport()
    await tab.page.evaluate(press, ["ArrowDown"] * 200)
    await expect(tab.rows.filter(has_text="Number 89.")).to_be_focused()


async def test_focus_follows_to_the_detail_view_and_returns_to_the_list_on_narrow_screens(panel_of_everything: Panel):
    narrow = {"viewport": {"width": 900, "height": 800}}
    tab = await panel_of_everything.signed_in("/profile?ns=app%2Fada", context=narrow, admin="*")
    for path in ("/memories", "/conversations", "/operations/letters", "/operations/policies"):
        await tab.go("/profile", ns="app%2Fada")
        await expect(tab.rows).to_have_count(0)
        await tab.go(path, ns="app%2Fada")
        chosen, back = tab.rows.first, tab.page.locator(".back")
        await chosen.focus()
        await tab.page.keyboard.press("Enter")
        await expect(back, path).to_be_focused()
        await tab.page.keyboard.press("Enter")
        await expect(chosen, path).to_be_focused()
