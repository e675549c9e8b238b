"""Restoring deleted memories and removing dates in a browser, over fakes."""

from datetime import timedelta

from playwright.async_api import expect

from tests.api import NOON, a_memory
from tests.integration.panel.panel import Opened, Panel

LIST = "/memories?ns=app%2Fada"


async def delete(panel: Panel, memory_id: str) -> None:
    answer = await panel.api.client(write="app/*").delete(f"/v1/memories/{memory_id}")
    assert answer.status_code == 200


async def listed_as_deleted(panel: Panel, **grants: str) -> Opened:
    panel.api.memories.put(a_memory("m1", text="User lives in Ghent.", tags=("home",)), a_memory("m2"))
    await delete(panel, "m1")
    tab = await panel.signed_in(f"{LIST}&tag=home", **grants)
    await tab.page.get_by_text("Deleted", exact=True).click()
    await expect(tab.rows).to_have_count(1)
    await expect(tab.rows).to_contain_text("User lives in Ghent.")
    await expect(tab.rows).to_contain_text("Deleted")
    assert "status=deleted" in tab.page.url
    await tab.rows.first.click()
    await expect(tab.page.get_by_text("This memory is deleted")).to_be_visible()
    return tab


async def test_a_deleted_memory_is_listed_and_restored(panel: Panel):
    tab = await listed_as_deleted(panel, write="app/*")
    assert await tab.serious_findings() == []
    await tab.page.get_by_role("button", name="Restore").click()
    await expect(tab.page.get_by_role("heading", name="User lives in Ghent.")).to_be_visible()
    await expect(tab.page.get_by_text("No memory matches these filters")).to_be_visible()
    assert panel.api.memories.rows["m1"].status == "active"


async def test_a_deletion_is_undone_from_the_history_of_the_memory(panel: Panel):
    panel.api.memories.put(a_memory("m1", text="User lives in Ghent."))
    await delete(panel, "m1")
    tab = await panel.signed_in("/memories/m1?ns=app%2Fada", write="app/*")
    await tab.page.get_by_role("button", name="Undo this change").click()
    await expect(tab.page.get_by_role("heading", name="User lives in Ghent.")).to_be_visible()


async def test_a_read_only_key_cannot_restore_a_memory(panel: Panel):
    tab = await listed_as_deleted(panel, read="app/*", write="other/*")
    await expect(tab.page.locator(".version")).to_have_count(1)
    for name in ("Restore", "Undo", "Undo this change"):
        await expect(tab.page.get_by_role("button", name=name)).to_have_count(0)


async def test_a_validity_date_is_cleared_and_restored_from_the_history(panel: Panel):
    until = NOON + timedelta(days=900)
    panel.api.memories.put(a_memory("m1", valid_from=NOON, valid_until=until))
    tab = await panel.signed_in("/memories/m1?ns=app%2Fada", write="app/*")
    await tab.page.get_by_role("button", name="Edit", exact=True).click()
    await tab.page.get_by_role("dialog").get_by_label("Valid until").fill("")
    await tab.page.get_by_role("button", name="Save").click()
    await expect(tab.page.locator(".toast")).to_contain_text("Saved")
    memory = panel.api.memories.rows["m1"]
    assert (memory.valid_from, memory.valid_until, memory.version) == (NOON, None, 2)
    await tab.page.get_by_role("tab", name="History").click()
    await expect(tab.page.locator(".changes").first).to_contain_text("Valid until")
    await tab.page.get_by_role("button", name="Undo this change").first.click()
    await expect(tab.page.locator(".version")).to_have_count(2)
    assert panel.api.memories.rows["m1"].valid_until == until


async def test_a_memory_is_erased_after_a_confirmation_and_leaves_the_list(panel: Panel):
    panel.api.memories.put(a_memory("m1", text="User lives in Ghent."), a_memory("m2", text="User keeps bees."))
    tab = await panel.signed_in("/memories/m1?ns=app%2Fada", admin="app/*")
    await tab.page.get_by_role("button", name="Erase").click()
    await expect(tab.page.get_by_text("This cannot be undone")).to_be_visible()
    assert await tab.serious_findings() == []
    await tab.page.get_by_role("button", name="Cancel").click()
    assert "m1" in panel.api.memories.rows
    await tab.page.get_by_role("button", name="Erase").click()
    await tab.page.get_by_role("alertdialog").get_by_role("button", name="Erase").click()
    await expect(tab.page.get_by_text("The memory is erased")).to_be_visible()
    await expect(tab.rows).to_have_count(1)
    assert "m1" not in panel.api.memories.rows


async def test_a_deleted_memory_is_erased_by_a_key_that_may_administer_its_namespace_only(panel: Panel):
    tab = await listed_as_deleted(panel, write="app/*")
    await expect(tab.page.get_by_role("button", name="Erase")).to_have_count(0)
    tab = await panel.signed_in("/memories/m1?ns=app%2Fada", admin="app/*")
    await tab.page.get_by_role("button", name="Erase").click()
    await tab.page.get_by_role("alertdialog").get_by_role("button", name="Erase").click()
    await expect(tab.page.get_by_text("The memory is erased")).to_be_visible()
    assert "m1" not in panel.api.memories.rows
