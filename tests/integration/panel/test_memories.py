"""The view of memories in a browser, over fakes: list, filters, detail and rights of keys."""

import re
from datetime import timedelta

from msgspec.structs import replace
from playwright.async_api import expect

from schemas.extraction.candidates import Source
from schemas.memories.events import Cause
from schemas.memories.memories import Memory
from sinks.memories.reader import MemoryVersion
from tests.api import NOON, a_memory
from tests.integration.panel.panel import Panel

LIST = "/memories?ns=app%2Fada"
A_SOURCE = Source(conversation_id="talk", message_id="talk-3", timestamp=NOON)


async def test_the_list_shows_text_kind_importance_and_confidence_of_each_memory(panel: Panel):
    panel.api.memories.put(
        a_memory("m1", text="User lives in Ghent.", importance=0.9, pinned=True, reinforcement_count=3, tags=("home",)),
        a_memory("m2", text="User prefers short answers.", kind="preference", importance=0.4),
    )
    tab = await panel.signed_in(LIST, read="app/*")
    await expect(tab.rows).to_have_count(2)
    first = tab.rows.first
    for said in ("User lives in Ghent.", "Fact", "Importance 9 of 10", "90% confident", "3×", "Pinned", "#home"):
        await expect(first).to_contain_text(said)
    assert await tab.serious_findings() == []


async def test_filters_are_stored_in_the_url_and_restored_from_it(panel: Panel):
    panel.api.memories.put(
        a_memory("m1", text="User lives in Ghent.", importance=0.9),
        a_memory("m2", text="User prefers tea.", kind="preference", importance=0.8),
        a_memory("m3", text="User likes rain.", kind="preference", importance=0.2),
    )
    tab = await panel.signed_in(f"{LIST}&kind=preference", read="app/*")
    await expect(tab.rows).to_have_count(2)
    await tab.page.get_by_label("Importance from").select_option("5")
    await expect(tab.rows).to_have_count(1)
    await expect(tab.rows).to_contain_text("User prefers tea.")
    sent = tab.page.url
    await tab.page.goto("about:blank")
    await tab.page.goto(sent)
    await expect(tab.rows).to_have_count(1)
    await tab.page.get_by_label("Importance from").select_option("9")
    await expect(tab.page.get_by_text("No memory matches these filters")).to_be_visible()
    await tab.page.get_by_role("button", name="Reset filters").click()
    await expect(tab.rows).to_have_count(3)


async def test_ten_thousand_memories_scroll_with_few_rows_in_the_dom(panel: Panel):
    many = (a_memory(f"m{n:05}", text=f"Memory number {n}.", importance=1 - n / 20_000) for n in range(10_000))
    panel.api.memories.put(*many)
    tab = await panel.signed_in(LIST, read="app/*")
    await expect(tab.page.get_by_text("10,000 memories")).to_be_visible()
    await expect(tab.rows.first).to_contain_text("Memory number 0.")
    await tab.requires("""() => {
        document.querySelector(".scroller").scrollTop = 1e9;
        return document.querySelector(".rows").textContent.includes("Memory number 9999.");
    }""")
    assert await tab.rows.count() < 80


UNDER_THE_MIDDLE = """async () => {
    const scroller = document.querySelector(".scroller");
    const { left, top, width, height } = scroller.getBoundingClientRect();
    const frame = () => new Promise(requestAnimationFrame);
    const seen = [];
    for (const px of [...Array(80).fill(300), ...Array(40).fill(5_000)]) {
        scroller.scrollTop += px;
        await frame();
        await frame();
        const row = document.elementFromPoint(left + width / 2, top + height / 2)?.closest("[data-index]");
        seen.push(row?.textContent.includes(`Memory number ${row.dataset.index}.`) ? Number(row.dataset.index) : null);
    }
    return seen;
}"""


async def test_a_row_is_visible_at_every_scroll_position_of_ten_thousand_memories(panel: Panel):
    many = (a_memory(f"m{n:05}", text=f"Memory number {n}.", importance=1 - n / 20_000) for n in range(10_000))
    panel.api.memories.put(*many)
    tab = await panel.signed_in(LIST, read="app/*")
    await expect(tab.rows.first).to_contain_text("Memory number 0.")
    seen = await tab.page.evaluate(UNDER_THE_MIDDLE)
    assert None not in seen
    assert seen == sorted(seen)
    assert seen[-1] > 600, "pages behind the first two are read on the way"


async def test_a_memory_is_shown_with_its_sources_in_their_conversation(panel: Panel):
    turns = [("user" if n % 2 else "assistant", f"Turn {n}.") for n in range(1, 10)]
    panel.api.archive.say("talk", *turns, app_id="app", user_id="ada")
    panel.api.memories.put(a_memory("m1", sources=(A_SOURCE,)))
    tab = await panel.signed_in(LIST, read="app/*")
    await tab.rows.first.click()
    messages = tab.page.locator(".message")
    await expect(messages).to_have_count(5)
    await expect(tab.page.locator(".message.source")).to_contain_text("Turn 3.")
    assert await tab.serious_findings() == []


async def test_sources_late_in_a_long_conversation_are_shown_with_surrounding_messages(panel: Panel):
    turns = [("user" if n % 2 else "assistant", f"Turn {n}.") for n in range(1, 2_501)]
    panel.api.archive.say("talk", *turns, app_id="app", user_id="ada")
    late = [
        Source(conversation_id="talk", message_id=f"talk-{n}", timestamp=NOON)
        for n in (2_300, 2_305, 2_400, 2_500, 9_999)
    ]
    panel.api.memories.put(a_memory("m1", sources=tuple(late)))
    tab = await panel.signed_in(LIST, read="app/*")
    await tab.rows.first.click()
    await expect(tab.page.locator(".message.source")).to_have_count(4)
    shown = [*range(2_298, 2_308), *range(2_398, 2_403), *range(2_498, 2_501)]
    said = await tab.page.locator(".messages > li").all_inner_texts()
    numbers = [int(match[1]) if (match := re.search(r"Turn (\d+)\.", text)) else None for text in said]
    assert numbers == [*shown[:10], None, *shown[10:15], None, *shown[15:]]
    await expect(tab.page.get_by_text("1 of these sources is not in the archive any more.")).to_be_visible()


async def test_temporarily_unreadable_sources_are_not_reported_as_missing(panel: Panel):
    panel.api.archive.say("talk", ("user", "Turn 1."), app_id="app", user_id="ada")
    panel.api.memories.put(a_memory("m1", sources=(A_SOURCE,)))
    tab = await panel.signed_in(LIST, read="app/*")
    panel.api.archive.down = True
    await tab.rows.first.click()
    await expect(tab.page.get_by_text("This could not be loaded")).to_be_visible()
    await expect(tab.page.get_by_text("not in the archive any more")).to_have_count(0)


async def test_versions_are_shown_as_readable_differences(panel: Panel):
    before = a_memory("m1", text="User lives in Ghent.", importance=0.5)
    after = replace(before, text="User lives in Bruges.", importance=0.8, version=2)
    panel.api.memories.put(after)
    panel.api.memories.version_rows += [a_version(1, None, before), a_version(2, before, after)]
    tab = await panel.signed_in("/memories/m1?ns=app%2Fada", read="app/*")
    await tab.page.get_by_role("tab", name="History").click()
    newest = tab.page.locator(".version").first
    await expect(newest.locator(".diff del")).to_have_text("Ghent")
    await expect(newest.locator(".diff ins")).to_have_text("Bruges")
    await expect(newest.locator(".changes")).to_contain_text("Importance")
    assert await tab.serious_findings() == []


async def test_a_search_finds_memories_and_messages_and_explains_each_match(panel: Panel):
    memory = a_memory("m1", text="User plays the cello.")
    panel.api.memories.put(memory)
    panel.api.remembered.known["m1"] = memory
    reply = panel.api.said.say("My cello is from 1890.", at=NOON, ordinal=2)
    question = panel.api.said.say("How old is your instrument?", at=NOON, speaker="bob", ordinal=1)
    panel.api.said.neighbours[reply.passage_id] = (question,)
    tab = await panel.signed_in(LIST, read="app/*")
    await tab.page.get_by_label("Search", exact=True).fill("cello")
    await expect(tab.rows).to_have_count(2)
    assert "q=cello" in tab.page.url
    await expect(tab.rows.filter(has_text="User plays the cello.")).to_contain_text("words")
    said = tab.rows.filter(has_text="My cello is from 1890.")
    await expect(said.locator("mark")).to_have_text("cello")
    await expect(said).to_contain_text("No memory says this")
    await expect(said.locator(".neighbour")).to_contain_text("How old is your instrument?")
    assert await tab.serious_findings() == []
    await tab.page.get_by_label("Search", exact=True).fill("violin")
    await expect(tab.page.get_by_text("Nothing was found")).to_be_visible()


async def test_a_write_key_edits_pins_deletes_and_undoes(panel: Panel):
    panel.api.memories.put(a_memory("m1", text="User lives in Ghent."))
    tab = await panel.signed_in(LIST, write="app/*")
    await tab.rows.first.click()
    await tab.page.get_by_role("button", name="Pin", exact=True).click()
    await expect(tab.page.get_by_role("button", name="Unpin")).to_be_visible()
    await tab.page.get_by_role("button", name="Edit", exact=True).click()
    assert await tab.serious_findings() == []
    await tab.page.get_by_label("What to remember").fill("User lives in Bruges.")
    await tab.page.get_by_role("button", name="Save").click()
    await expect(tab.page.get_by_role("heading", name="User lives in Bruges.")).to_be_visible()
    await tab.page.get_by_role("button", name="Delete").click()
    await expect(tab.page.get_by_text("Nothing is remembered here yet")).to_be_visible()
    await expect(tab.page.get_by_role("complementary", name="About")).to_be_focused()
    deleted = tab.page.locator(".toast").filter(has_text="The memory is deleted")
    await deleted.get_by_role("button", name="Undo").click()
    await expect(tab.rows).to_contain_text("User lives in Bruges.")
    assert [command.kind for command in panel.api.curation.seen] == ["update", "update", "delete", "undo"]


async def test_a_memory_is_made_by_hand(panel: Panel):
    panel.api.memories.put(a_memory("m1"))
    tab = await panel.signed_in(LIST, write="app/*")
    await tab.page.get_by_role("button", name="New memory").click()
    await expect(tab.page.get_by_label("What to remember")).to_be_focused()
    await tab.page.get_by_role("button", name="Save").click()
    await expect(tab.page.get_by_text("Write what to remember.")).to_be_visible()
    await tab.page.get_by_label("What to remember").fill("User keeps bees.")
    await tab.page.get_by_label("Tags").fill("bees, garden")
    await tab.page.get_by_role("button", name="Save").click()
    await expect(tab.rows.filter(has_text="User keeps bees.")).to_contain_text("#garden")


async def test_an_edit_of_a_concurrently_changed_memory_is_rejected_with_a_message(panel: Panel):
    memory = a_memory("m1", text="User lives in Ghent.")
    panel.api.memories.put(memory)
    tab = await panel.signed_in("/memories/m1?ns=app%2Fada", write="app/*")
    await tab.page.get_by_role("button", name="Edit", exact=True).click()
    panel.api.memories.put(replace(memory, text="User lives in Lille.", version=2))
    await tab.page.get_by_label("What to remember").fill("User lives in Bruges.")
    await tab.page.get_by_role("button", name="Save").click()
    await expect(tab.page.get_by_text("Somebody else changed this memory")).to_be_visible()
    await expect(tab.page.get_by_label("What to remember")).to_have_value("User lives in Bruges.")


async def test_a_read_only_key_is_offered_no_write_actions(panel: Panel):
    memory = a_memory("m1")
    panel.api.memories.put(memory, a_memory("m2", namespace="other/bob", text="secret"))
    panel.api.memories.version_rows.append(a_version(1, None, memory))
    tab = await panel.signed_in(LIST, read="app/*")
    await tab.rows.first.click()
    await tab.page.get_by_role("tab", name="History").click()
    await expect(tab.page.locator(".version")).to_have_count(1)
    for name in ("New memory", "Edit", "Pin", "Undo", "Delete", "Undo this change"):
        await expect(tab.page.get_by_role("button", name=name)).to_have_count(0)
    await tab.page.get_by_role("combobox", name="Namespace").fill("")
    await expect(tab.page.get_by_role("listbox").get_by_role("option")).to_have_count(1)
    assert "other/bob" not in await tab.page.content()


async def test_an_undo_in_a_notification_returns_the_focus_to_where_it_was(panel: Panel):
    panel.api.memories.put(a_memory("m1"))
    tab = await panel.signed_in("/memories/m1?ns=app%2Fada", write="app/*")
    await tab.page.get_by_role("button", name="Pin", exact=True).press("Enter")
    await tab.page.get_by_label("Notifications").get_by_role("button", name="Undo").press("Enter")
    await expect(tab.page.get_by_role("button", name="Pin", exact=True)).to_be_focused()


async def test_arrow_keys_and_enter_open_a_memory_and_browser_back_closes_it(panel: Panel):
    panel.api.memories.put(a_memory("m1", importance=0.9), a_memory("m2", text="User keeps bees.", importance=0.5))
    tab = await panel.signed_in(LIST, read="app/*")
    await tab.rows.first.focus()
    await tab.page.keyboard.press("ArrowDown")
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.get_by_role("heading", name="User keeps bees.")).to_be_visible()
    await tab.page.go_back()
    await expect(tab.page.get_by_text("Choose a memory to see where it comes from.")).to_be_visible()


async def test_empty_and_failed_lists_are_explained_and_can_be_retried(panel: Panel):
    tab = await panel.signed_in(LIST, read="app/*")
    await expect(tab.page.get_by_text("Nothing is remembered here yet")).to_be_visible()
    await tab.go("/memories/none", ns="app%2Fada")
    missing = "This was not found. It may have been deleted, or this key is not allowed to read it."
    await expect(tab.page.get_by_text(missing, exact=True)).to_be_visible()
    panel.api.memories.down = True
    await tab.go(ns="app%2Feve")
    await expect(tab.page.get_by_text("This could not be loaded").first).to_be_visible(timeout=15_000)
    assert await tab.serious_findings() == []
    panel.api.memories.down = False
    panel.api.memories.put(a_memory("m1", namespace="app/eve"))
    await tab.page.get_by_role("button", name="Try again").first.click()
    await expect(tab.rows).to_have_count(1)


CAUSE = Cause(actor="offline", reason="It was said again.")


def a_version(number: int, before: Memory | None, after: Memory) -> MemoryVersion:
    return MemoryVersion(
        memory_id="m1",
        version=number,
        namespace="app/ada",
        change="updated" if before else "created",
        before=before,
        after=after,
        cause=CAUSE,
        at=NOON + timedelta(hours=number),
    )
