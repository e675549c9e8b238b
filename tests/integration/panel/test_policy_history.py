"""The policy history in a browser, over fakes: two versions compared by field."""

from datetime import timedelta
from typing import Any

from playwright.async_api import expect

from sinks.access.audit import Audited
from tests.api import NOON
from tests.integration.panel.panel import PHONE, Panel

ATTACK = "<img src=x onerror='window.attacked = 1'>"
POLICY = "/operations/policies/app?ns=app%2Fada"


async def put(panel: Panel, hour: int, **policy: Any) -> None:
    details = {"policy": {"name": "app", "version": hour, **policy}}
    at = NOON + timedelta(hours=hour)
    await panel.api.audit.record(
        Audited(at=at, actor=f"ada-{hour}", action="policy.put", subject="app", details=details)
    )


async def some(panel: Panel) -> None:
    await put(panel, 1, namespaces=["{app_id}"], max_memories=10, window={"max_messages": 30, "strategy": "hybrid"})
    await put(panel, 2, namespaces=["{app_id}", ATTACK], window={"max_messages": 50, "strategy": "hybrid"})
    await put(panel, 3, namespaces=["{app_id}", ATTACK], window={"max_messages": 50, "strategy": "hybrid"})


async def test_two_versions_of_a_policy_are_compared_field_by_field(panel: Panel):
    await some(panel)
    tab = await panel.signed_in(POLICY, read="*")
    await tab.page.get_by_text("Compare two versions").click()
    before = tab.page.get_by_role("combobox", name="Before")
    after = tab.page.get_by_role("combobox", name="After")
    await before.select_option(index=2)
    await after.select_option(index=2)
    rows = tab.page.get_by_role("table", exact=True).last.get_by_role("row")
    await expect(rows).to_have_text(
        [
            "FieldBeforeAfter",
            "max_memories10default",
            "namespaces{app_id}{app_id}" + ATTACK,
            "window.max_messages3050",
        ]
    )
    await expect(rows.last.locator("del")).to_have_text("30")
    assert await tab.page.evaluate("window.attacked") is None
    assert await tab.serious_findings() == []
    await before.select_option(index=0)
    await after.select_option(index=2)
    await expect(tab.page.get_by_text("They do not differ.")).to_be_visible()


async def test_a_change_in_the_history_names_the_fields_within_groups(panel: Panel):
    await some(panel)
    tab = await panel.signed_in(POLICY, context=PHONE, read="*")
    second = tab.page.locator(".version").filter(has_text="ada-2")
    await expect(second.locator(".changes > div")).to_have_count(3)
    await expect(second).to_contain_text("window.max_messages")
    assert await tab.serious_findings() == []
