"""Export, import and erasing in a browser, over fakes."""

import json
import re
from pathlib import Path

from msgspec import to_builtins
from msgspec.structs import replace
from playwright.async_api import expect

from deploy.wiring.erasure import OVERWRITTEN, TOPIC_CONTENTS, remains_of_topic, unused_stores
from schemas.conversations.messages import Scope
from sinks.erasure.erasures import SWEPT, RemovedCount
from tests.api import NOON, a_memory
from tests.integration.panel.panel import Panel

DATA = "/data?ns=app%2Fada"
BOB = Scope(conversation_id="talk", app_id="app", user_id="bob")


async def test_an_export_is_saved_and_imported_into_another_namespace(panel: Panel, tmp_path: Path):
    panel.api.memories.put(*(a_memory(f"m{n}", text=f"Memory number {n}.") for n in range(3)))
    tab = await panel.signed_in(DATA, write="app/*")
    async with tab.page.expect_download() as saving:
        await tab.page.get_by_role("button", name="Export", exact=True).click()
    await (await saving.value).save_as(saved := tmp_path / "ada.jsonl")
    await expect(tab.page.get_by_text("3 memories are saved.")).to_be_visible()
    assert {json.loads(line)["memory_id"] for line in saved.read_text().splitlines()} == {"m0", "m1", "m2"}

    saved.write_text(saved.read_text() + "no memory\n")
    await tab.go("/data", ns="app%2Feve")
    await tab.page.get_by_label("JSON Lines file").set_input_files(saved)
    await tab.page.get_by_role("button", name="Import", exact=True).click()
    await expect(tab.page.get_by_text("4 lines: 3 imported, 0 no longer live, 1 refused.")).to_be_visible()
    await expect(tab.page.locator(".problems")).to_contain_text("Line 4")
    assert [(command.kind, command.namespace) for command in panel.api.curation.seen] == [("import", "app/eve")] * 3
    assert await tab.serious_findings() == []


async def test_an_export_has_earlier_versions_and_deleted_memories_on_request(panel: Panel, tmp_path: Path):
    panel.api.memories.put(a_memory("live"), a_memory("gone", status="deleted"))
    tab = await panel.signed_in(DATA, read="app/*")
    await tab.page.get_by_label("Include earlier versions and deleted memories").check()
    async with tab.page.expect_download() as saving:
        await tab.page.get_by_role("button", name="Export", exact=True).click()
    await (await saving.value).save_as(saved := tmp_path / "ada.jsonl")
    assert {json.loads(line)["memory_id"] for line in saved.read_text().splitlines()} == {"live", "gone"}


async def test_the_data_of_a_user_are_saved_as_the_api_exports_them(panel: Panel, tmp_path: Path):
    panel.api.owners.known_scopes = [BOB, replace(BOB, conversation_id="elsewhere", app_id="other")]
    panel.api.memories.put(a_memory("m1", namespace="app/bob"), a_memory("m2", namespace="app/bob", status="deleted"))
    panel.api.archive.say("talk", ("user", "I ski."), app_id="app", user_id="bob")
    panel.api.archive.say("talk", ("user", "Not in this app."), app_id="other", user_id="bob")
    tab = await panel.signed_in(DATA, read="*")
    card = tab.page.get_by_role("form", name="Data of a user")
    await card.get_by_label("Id of the user").fill(" bob ")
    await card.get_by_label("App (optional)").fill("app")
    async with tab.page.expect_download() as saving:
        await tab.page.keyboard.press("Enter")
    assert (await saving.value).suggested_filename.startswith("bob-")
    await (await saving.value).save_as(saved := tmp_path / "bob.jsonl")
    await expect(card.get_by_text("3 records are saved.")).to_be_visible()
    async with panel.api.client(read="*") as client:
        exported = await client.get("/v1/users/export", params={"user_id": "bob", "app_id": "app"})
    assert saved.read_text() == exported.text
    assert await tab.serious_findings() == []
    await card.get_by_label("Id of the user").fill("nobody")
    await tab.page.keyboard.press("Enter")
    await expect(card.get_by_text("Nothing is stored about this user. No file was saved.")).to_be_visible()


async def test_a_refused_or_interrupted_export_of_a_user_says_why_and_saves_no_file(panel: Panel):
    panel.api.owners.known_scopes = [BOB]
    panel.api.memories.put(*(a_memory(f"m{n}", namespace="app/bob") for n in range(5)))
    tab = await panel.signed_in(DATA, read="app/ada")
    card = tab.page.get_by_role("form", name="Data of a user")
    await card.get_by_label("Id of the user").fill("bob")
    await tab.page.keyboard.press("Enter")
    await expect(card.get_by_text("This key may not read everything that this user concerns")).to_be_visible()
    panel.api.exports.fails_at = panel.api.exports.calls + 2
    await tab.sign_in_anew(panel.api.keys.add(read="*"), DATA)
    await card.get_by_label("Id of the user").fill("bob")
    await tab.page.keyboard.press("Enter")
    await expect(card.get_by_text("This failed")).to_be_visible()
    assert [row.action for row in panel.api.audit.rows] == ["user.export"]


async def test_an_erasure_shows_a_preview_requires_confirmation_by_name_and_shows_the_receipt(
    panel: Panel, tmp_path: Path
):
    panel.api.memories.put(a_memory("m1", namespace="app/bob"), a_memory("m2", namespace="app/bob"))
    panel.api.owners.known_scopes = [BOB]
    tab = await panel.signed_in(DATA, admin="*")
    await tab.page.get_by_label("A user, everywhere").check()
    await tab.page.locator(".erase").get_by_label("Id of the user").fill("bob")
    await tab.page.keyboard.press("Enter")
    foreseen = tab.page.get_by_role("group", name="What would be erased")
    await expect(foreseen).to_contain_text("Memories app/bob 2")
    await expect(foreseen).to_contain_text("Conversations 1")
    assert await tab.serious_findings() == []
    now = tab.page.get_by_role("button", name="Erase for good")
    await tab.page.get_by_label("Type bob to confirm").fill("bo")
    await tab.page.keyboard.press("Enter")
    await expect(now).to_be_disabled()
    assert panel.api.erasures.begun == {}
    await tab.page.get_by_label("Type bob to confirm").fill("bob")
    await tab.page.keyboard.press("Enter")
    receipt = tab.page.get_by_role("region", name="Receipt")
    await expect(receipt).to_contain_text("Erased")
    (erasure,) = panel.api.erasures.begun.values()
    await expect(receipt).to_contain_text(erasure.erasure_id)
    assert await tab.serious_findings() == []
    async with tab.page.expect_download() as saving:
        await receipt.get_by_role("button", name="Save the receipt").click()
    await (await saving.value).save_as(kept := tmp_path / "receipt.json")
    assert json.loads(kept.read_text())["erasure_id"] == erasure.erasure_id


async def test_a_preview_and_a_receipt_name_the_data_and_leave_out_what_there_is_none_of(panel: Panel):
    panel.api.memories.put(a_memory("m1", namespace="app/bob"))
    panel.api.owners.known_scopes = [BOB]
    panel.api.erasures.swept = tuple(RemovedCount(store=store, removed=2, at=NOON) for store in SWEPT)
    tab = await panel.signed_in(DATA, admin="*")
    await tab.page.get_by_label("A user, everywhere").check()
    await tab.page.locator(".erase").get_by_label("Id of the user").fill("bob")
    await tab.page.keyboard.press("Enter")
    foreseen = tab.page.get_by_role("group", name="What would be erased")
    await expect(foreseen).to_contain_text("Messages of the user; replies of assistants go as well 1")
    await tab.page.get_by_label("Type bob to confirm").fill("bob")
    await tab.page.keyboard.press("Enter")
    receipt = tab.page.get_by_role("region", name="Receipt")
    await expect(receipt.get_by_role("status")).to_contain_text("bob")
    await expect(receipt).to_contain_text("Passages 2")
    shown = await receipt.inner_text()
    assert [name for name in SWEPT if re.search(rf"[:,] {name} ", shown)] == []
    assert " 0" not in shown
    assert "misspelt" not in shown


async def test_an_unknown_id_is_reported_as_perhaps_misspelt(panel: Panel):
    tab = await panel.signed_in(DATA, admin="*")
    await tab.page.get_by_label("A user, everywhere").check()
    await tab.page.locator(".erase").get_by_label("Id of the user").fill("bbo")
    await tab.page.keyboard.press("Enter")
    foreseen = tab.page.get_by_role("group", name="What would be erased")
    await expect(foreseen).to_contain_text("It may be misspelt.")
    await expect(foreseen.get_by_role("listitem")).to_have_count(1)
    await tab.page.get_by_label("Type bbo to confirm").fill("bbo")
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.get_by_role("region", name="Receipt")).to_contain_text("It may be misspelt.")


async def test_actions_not_allowed_for_a_key_are_not_offered(panel: Panel):
    panel.api.memories.put(a_memory("m1"))
    tab = await panel.signed_in(DATA, read="app/*")
    await expect(tab.page.get_by_role("button", name="Export", exact=True)).to_be_visible()
    await expect(tab.page.get_by_role("heading", name="Import")).to_have_count(0)
    await expect(tab.page.get_by_role("heading", name="Erase for good")).to_have_count(0)
    await tab.sign_in_anew(panel.api.keys.add(read="app/*", admin="other/*"), DATA)
    await tab.page.get_by_label("A user, everywhere").check()
    await tab.page.locator(".erase").get_by_label("Id of the user").fill("ada")
    await tab.page.get_by_role("button", name="Show what would be erased").click()
    await expect(tab.page.locator(".erase").get_by_text("This key is not allowed to do this.")).to_be_visible()
    assert panel.api.erasures.begun == {}


async def test_an_interrupted_export_shows_an_error(panel: Panel):
    panel.api.memories.put(*(a_memory(f"m{n}") for n in range(5)))
    panel.api.exports.fails_at = 2
    tab = await panel.signed_in(DATA, read="app/*")
    await tab.page.get_by_role("button", name="Export", exact=True).click()
    await expect(tab.page.get_by_text("This failed")).to_be_visible()


async def test_the_title_of_the_view_depends_on_the_rights_of_the_key(panel: Panel):
    panel.api.memories.put(a_memory("m1"))
    tab = await panel.signed_in(DATA, read="app/*")
    names = {"read": "Export", "write": "Export and import", "admin": "Export and erase"}
    for right, name in names.items():
        await tab.sign_in_anew(panel.api.keys.add(**{right: "app/*"}), DATA)
        await expect(tab.page.get_by_role("heading", name=name, exact=True, level=1)).to_be_visible()
        await expect(tab.page.get_by_role("navigation").get_by_role("link", name=name, exact=True)).to_be_visible()
        await expect(tab.page).to_have_title(re.compile(name))


async def test_a_receipt_in_german_states_remaining_data_in_german(panel: Panel):
    kept = [remains_of_topic(topic, said, {}, NOON, code) for topic, (code, said) in TOPIC_CONTENTS.items()]
    panel.api.erasures.remains = to_builtins([*kept, unused_stores(NOON)])
    panel.api.memories.put(a_memory("m1", namespace="app/bob"))
    panel.api.owners.known_scopes = [BOB]
    tab = await panel.open_tab(panel.address, locale="de-DE")
    await tab.go("/data", ns="app%2Fada")
    await tab.page.get_by_label("Schlüssel", exact=True).fill(panel.api.keys.add(admin="*"))
    await tab.page.keyboard.press("Enter")
    await tab.page.get_by_label("Ein Nutzer, überall").check()
    await tab.page.locator(".erase").get_by_label("Kennung des Nutzers").fill("bob")
    await tab.page.keyboard.press("Enter")
    await tab.page.get_by_label("Zur Bestätigung bob eingeben").fill("bob")
    await tab.page.keyboard.press("Enter")
    receipt = tab.page.locator(".receipt")
    await receipt.locator("summary").click()
    await expect(receipt).to_contain_text("Nachrichten, wie sie veröffentlicht wurden: retention.ms=-1")
    await expect(receipt).to_contain_text("lokale Speicher von Workern")
    shown, local = await receipt.inner_text(), unused_stores(NOON)
    english = [*(said for _, said in TOPIC_CONTENTS.values()), OVERWRITTEN[1], local.topic, local.holds, local.because]
    assert [said for said in english if said in shown] == []
