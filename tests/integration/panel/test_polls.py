"""Views that ask again every few seconds, over fakes: what is read, focused or typed there stays. The browser's clock is put
forward, so no test waits for a poll."""

from datetime import UTC, datetime, timedelta

from msgspec.structs import replace
from playwright.async_api import expect

from agents.consolidation.requests import manual_run
from schemas.consolidation.runs import RunRequest
from schemas.conversations.adjustments import Adjustments
from schemas.conversations.window_choices import WindowChoice
from schemas.conversations.window_settings import Adjustable, WindowSettings
from schemas.conversations.windows import UNDO_S, Gap, Restorable
from schemas.policies.policies import Policies, Policy
from tests.api import NOON, a_memory
from tests.fakes.windows import AT_S
from tests.integration.panel.panel import Panel
from tests.integration.panel.polling import IN_ADAS, TALK, answered, is_looked_at_again, polls, talked, watching

A_RUN = manual_run(RunRequest(namespace="app/ada", dry_run=True), ("app/ada",), "the operator", NOON)
DAY_MS = 86_400_000


async def test_a_focused_message_keeps_the_focus_when_it_changes_and_others_are_said(panel: Panel):
    for turn in ("One.", "Two.", "Three."):
        await talked(panel, "talk", turn)
    tab = await watching(panel, TALK, read="app/*")
    message = tab.page.locator(".message").filter(has_text="Two.")
    await expect(message).to_contain_text("In context")
    follow = message.get_by_role("link", name="Follow")
    await follow.focus()
    await talked(panel, "talk", "Four.", 2, gaps=(Gap(first=1, last=2, count=2, tokens=20),))
    await polls(tab)
    await expect(message).to_contain_text("Pruned")
    await expect(tab.page.locator(".message").last).to_contain_text("Four.")
    await expect(follow).to_be_focused()


async def test_a_focused_conversation_keeps_the_focus_when_it_changes_and_another_comes_before_it(panel: Panel):
    await talked(panel, "old", "Hello.")
    tab = await watching(panel, f"/conversations{IN_ADAS}", read="app/*")
    row = tab.page.get_by_role("link", name="old")
    await row.focus()
    await talked(panel, "old", "Are you there?", 2, percent_used=83.4)
    await talked(panel, "new", "Hi.")
    await polls(tab)
    await expect(tab.rows.locator(".row-text")).to_have_text(["new", "old"])
    await expect(row).to_contain_text("83.4% of the context")
    await expect(row).to_be_focused()


async def test_a_focused_conversation_keeps_the_focus_when_it_becomes_the_latest(panel: Panel):
    await talked(panel, "old", "Hello.", last_message_at=AT_S)
    await talked(panel, "new", "Hi.", last_message_at=AT_S + 60)
    tab = await watching(panel, f"/conversations{IN_ADAS}", read="app/*")
    row = tab.page.get_by_role("link", name="old")
    await row.focus()
    await talked(panel, "old", "Are you there?", 2, last_message_at=AT_S + 120)
    await polls(tab)
    await expect(tab.rows.locator(".row-text")).to_have_text(["old", "new"])
    await expect(row).to_be_focused()


async def test_a_focused_dead_letter_keeps_the_focus_when_others_arrive(panel: Panel):
    panel.api.letter_topic.add_letter(b"{", reason="undecodable", detail="it is no JSON")
    tab = await watching(panel, f"/operations/letters{IN_ADAS}", admin="*")
    select = tab.page.get_by_role("checkbox", name="Select 0:0")
    await select.focus()
    panel.api.letter_topic.add_letter(b"[", reason="undecodable", detail="it is no object")
    await polls(tab)
    await expect(tab.page.locator(".letter-row")).to_have_count(2)
    await expect(tab.page.get_by_role("button", name="undecodable 2")).to_be_visible()
    await expect(select).to_be_focused()


async def test_a_focused_table_button_keeps_the_focus_when_its_row_changes_and_another_comes_before_it(panel: Panel):
    panel.api.runs.put(replace(A_RUN, run_id="first", status="running", conversations=16))
    tab = await watching(panel, f"/operations/consolidation{IN_ADAS}", read="*")
    run = tab.page.locator("[aria-label='Consolidation runs'] tbody tr").filter(has_text="/ 16")
    preview = run.get_by_role("button", name="Preview")
    await preview.focus()
    panel.api.runs.put(replace(A_RUN, run_id="first", status="running", conversations=16, processed=14))
    panel.api.runs.put(replace(A_RUN, run_id="second", created_at=NOON + timedelta(minutes=1)))
    await polls(tab)
    await expect(run).to_contain_text("14 / 16")
    await expect(tab.page.locator("[aria-label='Consolidation runs'] tbody tr")).to_have_count(2)
    await expect(preview).to_be_focused()


async def test_a_focused_search_result_keeps_the_focus_when_the_window_is_looked_at_again(panel: Panel):
    memories = [a_memory("m1", text="User has a cello."), a_memory("m2", text="User tunes the cello.")]
    panel.api.memories.put(*memories)
    panel.api.remembered.known |= {each.memory_id: each for each in memories}
    tab = await watching(panel, f"/memories{IN_ADAS}&q=cello", read="app/*")
    await tab.rows.last.focus()
    panel.api.remembered.known["m2"] = changed = replace(memories[1], text="User plays the cello.")
    panel.api.memories.put(changed)
    await is_looked_at_again(tab)
    await expect(tab.rows.last).to_contain_text("User plays the cello.")
    await expect(tab.rows.last).to_be_focused()


async def test_a_filter_of_dead_letters_that_is_pressed_keeps_the_focus(panel: Panel):
    panel.api.letter_topic.add_letter(b"{", reason="undecodable", detail="it is no JSON")
    panel.api.letter_topic.add_letter(b"{}", reason="invalid", detail="it has no message_id")
    tab = await watching(panel, f"/operations/letters{IN_ADAS}", read="*")
    filtered = tab.page.get_by_role("button", name="undecodable 1")
    await filtered.press("Enter")
    await expect(tab.page.locator(".letter-row")).to_have_count(1)
    await expect(filtered).to_be_focused()


async def test_settings_that_are_typed_stay_when_a_poll_finds_nothing_new(panel: Panel):
    settings = WindowSettings(adjustable=Adjustable(max_messages=(20, 200)))
    policy = Policy(name="app", namespaces=("{app_id}/{user_id}",), window=settings)
    panel.api.ports.conversations._policies = Policies((policy,))
    await talked(panel, "talk", "Hello.")
    tab = await watching(panel, f"{TALK}&tab=settings", write="app/*")
    most = tab.page.get_by_role("spinbutton", name="Maximum messages")
    await most.fill("40")
    for _ in range(2):  # what the first brings is on the page when the second asks
        async with answered(tab, "**/settings"):
            await polls(tab)
    await expect(most).to_have_value("40")
    await expect(most).to_be_focused()


async def test_a_focused_button_of_settings_keeps_the_focus_when_others_are_chosen(panel: Panel):
    settings = WindowSettings(adjustable=Adjustable(max_messages=(20, 200)))
    policy = Policy(name="app", namespaces=("{app_id}/{user_id}",), window=settings)
    panel.api.ports.conversations._policies = Policies((policy,))
    await talked(panel, "talk", "Hello.")
    tab = await watching(panel, f"{TALK}&tab=settings", write="app/*")
    save = tab.page.get_by_role("button", name="Save")
    await save.focus()
    await talked(panel, "talk", "Two.", 2, adjustments=Adjustments(settings=WindowChoice(max_messages=50)))
    await polls(tab)
    await expect(tab.page.get_by_role("spinbutton", name="Maximum messages")).to_have_value("50")
    await expect(save).to_be_focused()


async def test_a_policy_that_is_typed_stays_when_the_window_is_looked_at_again(panel: Panel):
    tab = await watching(panel, f"/operations/policies/app{IN_ADAS}", admin="*")
    most = tab.page.get_by_role("spinbutton", name="max_memories")
    await most.fill("77")
    for _ in range(2):
        async with answered(tab, "**/v1/policies"):
            await is_looked_at_again(tab)
    await expect(most).to_have_value("77")


async def test_a_mark_that_is_chosen_stays_until_the_conversation_has_another(panel: Panel):
    await talked(panel, "talk", "One.")
    tab = await watching(panel, TALK, write="app/*")
    mark = tab.page.get_by_role("button", name="Treat as")
    await mark.click()
    await tab.page.get_by_role("menuitemradio", name="pinned").click()
    await expect(tab.page.get_by_text("The message is now: pinned")).to_be_visible()
    for _ in range(2):  # what the first brings is on the page when the second asks
        async with answered(tab, "**/messages?*"):
            await polls(tab)
    await expect(mark).to_have_text("Treat as pinned")
    await talked(panel, "talk", "Two.", 2, adjustments=Adjustments(marks={"talk-1": "expendable"}))
    await polls(tab)
    await expect(mark.first).to_have_text("Treat as expendable")


async def test_a_mark_that_is_undone_at_once_is_not_shown_again_when_the_conversation_tells_of_it(panel: Panel):
    await talked(panel, "talk", "One.")
    tab = await watching(panel, TALK, write="app/*")
    mark = tab.page.get_by_role("button", name="Treat as")
    await mark.click()
    await tab.page.get_by_role("menuitemradio", name="pinned").click()
    await tab.page.get_by_role("button", name="Undo", exact=True).click()
    await expect(mark).to_have_text("Treat as normal")
    await talked(panel, "talk", "Two.", 2, adjustments=Adjustments(marks={"talk-1": "pinned"}))
    await polls(tab)
    await expect(tab.page.locator(".message")).to_have_count(2)
    await expect(mark.first).to_have_text("Treat as normal")


async def test_a_mark_that_fails_leaves_an_equal_one_before_it(panel: Panel):
    await talked(panel, "talk", "One.")
    tab = await watching(panel, TALK, write="app/*")
    mark = tab.page.get_by_role("button", name="Treat as")
    for chosen in ("pinned", "important"):
        await mark.click()
        await tab.page.get_by_role("menuitemradio", name=chosen).click()
        await expect(tab.page.get_by_text(f"The message is now: {chosen}")).to_be_visible()
    await tab.page.route("**/mark", lambda route: route.abort())
    await mark.click()
    await tab.page.get_by_role("menuitemradio", name="pinned").click()
    await expect(mark).to_have_text("Treat as important")
    await talked(panel, "talk", "Two.", 2, adjustments=Adjustments(marks={"talk-1": "pinned"}))
    await polls(tab)
    await expect(tab.page.locator(".message")).to_have_count(2)
    await expect(mark.first).to_have_text("Treat as important")


async def test_ages_and_deadlines_go_on_while_polls_find_nothing_new(panel: Panel):
    panel.api.now = datetime.now(UTC)  # the browser's time
    at = panel.api.now.timestamp()
    cleared_at = at - UNDO_S + 60
    restorable = {"cleared_at": cleared_at, "restorable": Restorable(cleared_at + UNDO_S, "cleared", 8)}
    await talked(panel, "talk", "Hello.", last_message_at=at, **restorable)
    tab = await watching(panel, TALK, write="app/*")
    undo = tab.page.get_by_role("button", name="Undo clearing")
    await expect(undo).to_be_visible()
    await tab.page.clock.fast_forward(180_000)
    await expect(tab.rows.locator("time")).to_have_text("3 min ago")
    await expect(undo).to_have_count(0)


async def test_a_validity_that_begins_or_ends_shows_without_a_poll(panel: Panel):
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    panel.api.memories.put(a_memory("m1", valid_from=tomorrow), a_memory("m2", valid_until=tomorrow, importance=0.1))
    tab = await watching(panel, f"/memories/m2{IN_ADAS}&tab=timeline", read="app/*")
    await expect(tab.rows.first).to_contain_text("from ")
    await expect(tab.page.locator(".period:not(.past)")).to_have_count(1)
    await tab.page.clock.fast_forward(DAY_MS)
    await expect(tab.rows.first).not_to_contain_text("from ")
    await expect(tab.page.locator(".period.past")).to_have_count(1)
