"""The operators' views in a browser, over fakes: pipeline status and dead letters."""

import re

from playwright.async_api import expect

from tests.integration.panel.operators import SECRET, a_pipeline, dead_letters
from tests.integration.panel.panel import Panel

OF_ALL = "?ns=app%2Fada"


async def test_the_overview_shows_the_state_of_the_pipeline(panel: Panel):
    a_pipeline(panel.api)
    dead_letters(panel.api)
    tab = await panel.signed_in(f"/operations{OF_ALL}", read="*")
    stages = tab.page.locator(".stage")
    await expect(stages).to_have_text(
        [
            re.compile("Windows.*1,204.*behind.*Running", re.DOTALL),
            re.compile("Archive"),
            re.compile("Passages.*No worker runs it", re.DOTALL),
            re.compile("Extraction.*37", re.DOTALL),
            re.compile("Curation.*up to date", re.DOTALL),
        ]
    )
    page = tab.page.locator(".operations")
    for said in (
        "Paused after failures",
        "Budget",
        "41",
        "1,000 of 1,000 left",
        "Model calls in progress",
        "This key may only read here",
    ):
        await expect(page).to_contain_text(said)
    figures = tab.page.locator(".figures > div")
    for name, value in {
        "Model calls in progress": "3",
        "Parked requests": "53",
        "Changes not published yet": "2",
    }.items():
        await expect(figures.filter(has_text=name).locator("dd")).to_have_text(re.compile(rf"^{value}\b"))
    assert await tab.serious_findings() == []
    await tab.page.locator(".figures").get_by_role("link", name="3", exact=True).click()
    await expect(tab.page.locator(".letter-row")).to_have_count(3)


async def test_a_part_that_cannot_be_queried_is_reported_and_the_others_are_shown(panel: Panel):
    a_pipeline(panel.api)
    panel.api.pipeline.brokers_down = panel.api.letter_topic.down = True
    tab = await panel.signed_in(f"/operations{OF_ALL}", read="*")
    notice = tab.page.locator(".notice")
    await expect(notice).to_contain_text("Lag of the stages: cannot ask the brokers for consumer groups")
    await expect(tab.page.locator(".operations")).to_contain_text("Paused after failures")
    await expect(tab.page.locator(".stage")).to_have_count(0)
    assert await tab.serious_findings() == []


async def test_a_reader_sees_dead_letters_and_no_actions_on_them(panel: Panel):
    dead_letters(panel.api)
    tab = await panel.signed_in(f"/operations/letters{OF_ALL}", read="*")
    await expect(tab.page.locator(".letter-row")).to_have_count(3)
    await tab.page.get_by_role("button", name=re.compile("undecodable 1")).click()
    await expect(tab.page.locator(".letter-row")).to_have_count(1)
    assert "reason=undecodable" in tab.page.url
    await tab.page.get_by_role("button", name=re.compile("undecodable 1")).click()
    await tab.page.get_by_role("button", name=re.compile("90,000 characters")).click()
    record = tab.page.locator(".detail-card")
    await expect(record).to_contain_text("Credentials removed from this view")
    await expect(record).to_contain_text("chat.messages[0]@0")
    assert SECRET not in await tab.page.content()
    assert await tab.serious_findings() == []
    for name in ("Replay", "Discard"):
        await expect(tab.page.get_by_role("button", name=name)).to_have_count(0)
    assert await tab.page.get_by_role("checkbox").count() == 0


async def test_dead_letters_are_replayed_and_discarded_by_keyboard_after_confirmation(panel: Panel):
    dead_letters(panel.api)
    tab = await panel.signed_in(f"/operations/letters{OF_ALL}", admin="*")
    chosen = tab.page.get_by_role("checkbox", name="Select 0:0")
    await chosen.focus()
    await tab.page.keyboard.press("Space")
    await expect(tab.page.get_by_text("1 selected")).to_be_visible()
    replay = tab.page.get_by_role("button", name="Replay").first
    await replay.press("Enter")
    dialog = await tab.dialog()
    await expect(dialog).to_contain_text("Publish 1 record again?")
    assert await tab.serious_findings() == []
    await tab.close_dialog(replay)
    assert panel.api.letter_topic.published == []
    await replay.press("Enter")
    await (await tab.dialog()).get_by_role("button", name="Replay").press("Enter")
    await expect(tab.page.get_by_text("1 replayed")).to_be_visible()
    await expect(tab.page.locator(".letter-row")).to_have_count(2)
    assert [record.topic for record in panel.api.letter_topic.published] == ["chat.messages"]
    await tab.page.get_by_label("Select all that are shown").check()
    await tab.page.get_by_role("button", name="Discard").first.click()
    await dialog.get_by_role("button", name="Discard").click()
    await expect(tab.page.get_by_text("No dead letter is waiting")).to_be_visible()
    assert [row.action for row in panel.api.audit.rows] == ["dead_letters.replayed", "dead_letters.discarded"]


async def test_a_dead_letter_is_shown_as_plain_text(panel: Panel):
    attack = "<img src=x onerror='window.attacked = 1'>"
    panel.api.letter_topic.add_letter(attack.encode(), reason=attack, stage=attack, detail=attack)
    tab = await panel.signed_in(f"/operations/letters/0:0{OF_ALL}", admin="*")
    await expect(tab.page.locator(".prompt")).to_have_text(attack)
    await expect(tab.page.locator(".letter-row")).to_contain_text(attack)
    assert await tab.page.evaluate("window.attacked") is None
    assert await tab.page.locator("img").count() == 0
