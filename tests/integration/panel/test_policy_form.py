"""The policy form in a browser, over fakes: each field has help and an input of its own."""

import re

from playwright.async_api import expect

from schemas.conversations.window_settings import Adjustable
from schemas.policies.kinds import Kind
from schemas.policies.triggers import Schedule
from tests.integration.panel.panel import Opened, Panel

OF_ALL = "?ns=app%2Fada"
LEAST_WORDS = 3
HELP = """() => [...document.querySelectorAll(".policy-field, .policy-group")].map((each) => [
    each.querySelector("code").textContent, each.querySelector(":scope > .hint")?.textContent.trim() ?? ""])"""


async def opened(panel: Panel) -> Opened:
    """A new policy, with all groups unfolded."""
    tab = await panel.signed_in(f"/operations/policies{OF_ALL}", admin="*")
    await tab.page.get_by_role("button", name="New, based on").press("Enter")
    await tab.page.get_by_role("menuitem", name="the defaults").press("Enter")
    await tab.page.get_by_label("Name", exact=True).fill("garden")
    await tab.page.locator(".policy-field").first.wait_for(state="attached")
    await tab.page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    return tab


async def test_every_field_of_a_policy_has_a_help_text(panel: Panel):
    tab = await opened(panel)
    helps = await tab.page.evaluate(HELP)
    assert len(helps) > 80
    assert [(name, said) for name, said in helps if len(said.split()) < LEAST_WORDS or "{" in said.split()[-1]] == []
    assert await tab.serious_findings() == []


async def test_no_field_of_a_policy_is_written_as_json(panel: Panel):
    tab = await opened(panel)
    await expect(tab.page.get_by_role("group", name="kinds")).to_be_visible()
    await expect(tab.page.locator("textarea.mono")).to_have_count(0)


async def test_kinds_schedules_and_adjustable_settings_are_filled_in_and_put(panel: Panel):
    tab = await opened(panel)
    page, form = tab.page, tab.page.locator(".detail-card")
    kinds = form.get_by_role("group", name="kinds")
    await kinds.get_by_role("button", name="Remove insight").click()
    await kinds.get_by_role("button", name="Add a row").click()
    row = kinds.get_by_role("listitem").last
    for field, written in {"name": "plant", "description": "What grows in the garden", "icon": "🌱"}.items():
        await row.get_by_label(field).fill(written)
        await page.keyboard.press("Tab")
    await expect(row.get_by_role("button")).to_be_focused()  # the row was not made anew while it was filled in
    at = form.get_by_label(re.compile(r"^at\b"))
    await at.fill("24:00")
    await page.keyboard.press("Tab")
    assert await at.evaluate("(each) => each.matches(':invalid')")
    await at.fill("03:30")
    await form.get_by_role("group", name="weekdays").get_by_label("mon").check()
    await form.get_by_label("time_zone").fill("Europe/Lisbon")
    most = form.get_by_role("group", name="max_messages")
    await most.get_by_label("adjustable").check()
    await most.get_by_label("from").fill("20")
    await most.get_by_label("to").fill("60")
    await form.get_by_role("group", name="strategy").get_by_label("hybrid").check()
    await form.get_by_role("group", name="scrub").get_by_label("email").check()
    await page.get_by_role("button", name="Check").click()
    await page.get_by_role("button", name="Save", exact=True).click()
    await page.get_by_role("alertdialog").get_by_role("button", name="Save").click()
    await expect(page.locator(".policies .row").filter(has_text="garden")).to_contain_text("Topic")
    (put,) = [
        each.policy for each in (await panel.api.policy_service.listed()).policies if each.policy.name == "garden"
    ]
    assert put.kinds == ("fact", "preference", "decision", "plan", "plant")
    assert put.described_kinds[-1] == Kind(name="plant", description="What grows in the garden", icon="🌱")
    assert put.triggers.schedule == Schedule(at="03:30", weekdays=("mon",), time_zone="Europe/Lisbon")
    assert put.window.adjustable == Adjustable(strategy=("hybrid",), max_messages=(20, 60))
    assert put.privacy.scrub == ("email",)
