"""Profiles, context blocks and conversations in a browser, over fakes."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace
from playwright.async_api import expect

from agents.consolidation.requests import manual_run
from agents.conversations.lookup import Conversations
from schemas.codec import decode
from schemas.consolidation.runs import RunRequest
from schemas.conversations.adjustments import Adjustments
from schemas.conversations.messages import Scope
from schemas.conversations.window_choices import WindowChoice
from schemas.conversations.window_settings import Adjustable, WindowSettings
from schemas.conversations.windows import UNDO_S, Cause, Gap, Restorable
from schemas.extraction.candidates import Source
from schemas.kafka import topics
from schemas.policies.policies import Policies, Policy
from schemas.retrieval.searches import SaidHit
from schemas.windows.window_controls import WindowControl
from tests.api import NOON, Api, a_memory
from tests.fakes.archive import FakeArchive
from tests.fakes.windows import FakeWindows, a_pruning, a_state
from tests.integration.panel.panel import Panel
from tests.servers.asgi import serve_app

PEANUTS = a_memory(
    "m1",
    text="User is allergic to peanuts.",
    sources=(Source(conversation_id="talk", message_id="talk-3", timestamp=NOON),),
)


async def test_a_profile_line_links_to_its_memories(panel: Panel):
    panel.api.memories.put(PEANUTS)
    tab = await panel.signed_in("/profile?ns=app%2Fada", read="app/*")
    line = tab.page.locator(".lines li").filter(has_text="User is allergic to peanuts.")
    await expect(line).to_contain_text("Constraint")
    assert await tab.serious_findings() == []
    await line.get_by_role("link").click()
    await expect(tab.page.get_by_role("heading", name="User is allergic to peanuts.")).to_be_visible()


async def test_a_message_previews_its_context_block_and_the_memories_left_out(panel: Panel):
    many = [a_memory(f"m{n}", text=f"User likes the colour number {n}" + " very" * 200) for n in range(10)]
    panel.api.searched.memories = many
    said = panel.api.said.say("I painted it green.", at=NOON)
    panel.api.searched.said = [SaidHit(score=0.8, passage=said, owners=("app/ada",))]
    tab = await panel.signed_in("/profile?ns=app%2Fada", read="app/*")
    await tab.page.get_by_label("A message of the user").fill("Which colours do I like?")
    await tab.page.get_by_role("button", name="Show").click()
    block = tab.page.locator("section").filter(has_text="Context block")
    await expect(block.locator(".prompt")).to_contain_text("colour number 0")
    await expect(block).to_contain_text("memories had no room")
    await expect(block).to_contain_text("tokens")
    missed = block.locator(".left-out-lines li")
    await expect(missed.filter(has_text="colour number 9")).to_contain_text("No room")
    await expect(missed.filter(has_text="colour number 0")).to_have_count(0)
    assert panel.api.searched.queries[-1].text == "Which colours do I like?"
    assert await tab.serious_findings() == []


async def test_a_context_block_omits_memories_already_in_the_profile(panel: Panel):
    panel.api.memories.put(PEANUTS)
    panel.api.searched.memories = [PEANUTS, a_memory("m2", text="User likes green.")]
    tab = await panel.signed_in("/profile?ns=app%2Fada", read="app/*")
    block = tab.page.locator("section").filter(has_text="Context block")
    await expect(block.locator(".prompt")).to_contain_text("peanuts")
    await block.get_by_label("The system prompt has the profile already").check()
    await expect(block.locator(".prompt")).not_to_contain_text("peanuts")
    await expect(block.locator(".prompt")).to_contain_text("green")
    await expect(block.locator(".left-out-lines li").filter(has_text="peanuts")).to_contain_text("In the profile")
    assert await tab.serious_findings() == []


async def a_conversation(panel: Panel, window: dict[str, Any] | None = None, **statistics: Any) -> None:
    panel.api.memories.put(PEANUTS)
    panel.api.archive.say("talk", *[("user", f"Turn {n}.") for n in range(1, 8)], app_id="app", user_id="ada")
    scope = Scope(conversation_id="talk", app_id="app", user_id="ada")
    state = a_state("talk", **({"scope": scope, "prunings": (a_pruning(),)} | (window or {})))
    await panel.api.windows.project([replace(state, statistics=replace(state.statistics, **statistics))])


async def test_a_conversation_shows_its_window_usage_its_limits_and_its_prunings(panel: Panel):
    await a_conversation(panel, percent_used=83.3, level="warning", context_tokens=1_080, total_tokens=900)
    tab = await panel.signed_in("/conversations?ns=app%2Fada", read="app/*")
    await tab.page.get_by_role("link", name="talk").click()
    window = tab.page.locator(".window")
    await expect(window).to_contain_text("83.3% of the context used: 900 of 1,080 tokens")
    await expect(window).to_contain_text("Filling up")
    await expect(window.locator(".line")).to_have_text(["at most 1,000", "80 %", "90 %"])
    await expect(window.locator(".legend")).to_contain_text("Assistant 600")
    await expect(tab.page.locator(".message").first).to_contain_text("In context")
    assert await tab.serious_findings() == []
    await tab.page.get_by_role("tab", name="Prunings").click()
    await expect(tab.page.locator(".version")).to_contain_text("12 messages left")
    await expect(tab.page.get_by_role("button", name="Clear the context")).to_have_count(0)
    await tab.page.get_by_role("tab", name="Messages").click()
    await tab.page.get_by_role("link", name="Follow", exact=True).first.click()
    await expect(tab.page.get_by_label("Id of the conversation")).to_have_value("talk")
    await expect(tab.page.get_by_label("Id of the message")).not_to_have_value("")


async def test_the_threshold_lines_of_a_window_follow_its_settings(open_panel: Any):
    settings = WindowSettings(
        warning_at=0.7,
        aggressive_at=0.85,
        warning_target=0.5,
        aggressive_target=0.4,
        adjustable=Adjustable(warning_at=(0.1, 0.8)),
    )
    policy = Policy(name="app", namespaces=("{app_id}/{user_id}",), window=settings)
    windows, archive = FakeWindows(), FakeArchive()
    api = Api(conversations=Conversations(windows, archive, Policies((policy,))))
    api.archive, api.windows = archive, windows
    chosen = Adjustments(settings=WindowChoice(warning_at=0.4))
    async with serve_app(api.app, api.change_notifier.close) as address:
        panel = Panel(api, address, open_panel)
        await a_conversation(panel, {"adjustments": chosen}, context_tokens=10_000, token_limit=6_000, total_tokens=900)
        tab = await panel.signed_in("/conversations/talk?ns=app%2Fada", read="app/*")
        lines = tab.page.locator(".window-bar .line")
        await expect(lines).to_have_text(["at most 6,000", "30 %", "64 %"])
        sentences = (
            "Messages leave the context from 3,000 tokens on, and more of them from 6,375 tokens on. "
            "A context holds at most 6,000 tokens."
        )
        await expect(tab.page.locator(".window")).to_contain_text(sentences)
        left = [await lines.nth(at).get_attribute("style") for at in range(3)]
        assert [re.sub(r"[^0-9.]", "", each or "") for each in left] == ["60", "30", "63.75"]
        assert await tab.serious_findings() == []


async def test_a_write_key_clears_a_context_after_confirmation(panel: Panel):
    await a_conversation(panel)
    tab = await panel.signed_in("/conversations/talk?ns=app%2Fada", write="app/*")
    await tab.page.get_by_role("button", name="Clear the context").click()
    dialog = tab.page.get_by_role("alertdialog")
    await dialog.get_by_role("button", name="Cancel").click()
    assert panel.api.published.records == []
    await tab.page.get_by_role("button", name="Clear the context").click()
    assert await tab.serious_findings() == []
    await expect(dialog).to_contain_text("8 messages are in context")
    await dialog.get_by_role("button", name="Clear the context").click()
    await expect(tab.page.get_by_text("The context will be cleared")).to_be_visible()


@pytest.mark.parametrize(
    ("cause", "description", "button"),
    [
        ("cleared", "The context was cleared. This can be undone until", "Undo clearing"),
        ("manual", "8 messages were pruned by hand. This can be undone until", "Undo pruning"),
    ],
)
async def test_a_clear_or_manual_pruning_can_be_undone_within_its_time_limit(
    panel: Panel, cause: Cause, description: str, button: str
):
    panel.api.now = datetime.now(UTC)  # the browser's time
    cleared_at = panel.api.now.timestamp() - 60
    restorable = Restorable(cleared_at + UNDO_S, cause, 8)
    await a_conversation(panel, {"cleared_at": cleared_at, "restorable": restorable})
    tab = await panel.signed_in("/conversations/talk?ns=app%2Fada", write="app/*")
    await expect(tab.page.get_by_text(description)).to_be_visible()
    await tab.page.get_by_role("button", name=button).focus()
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.get_by_text("The context will be restored")).to_be_visible()
    (record,) = panel.api.published.on(topics.WINDOW_CONTROL)
    assert decode(record.value, WindowControl).kind == "restore"
    assert await tab.serious_findings() == []


async def test_the_model_context_is_shown_with_markers_and_token_counts(panel: Panel):
    await a_conversation(panel, {"gaps": (Gap(first=1, last=3, count=3, tokens=30),)})
    tab = await panel.signed_in("/conversations/talk?ns=app%2Fada", read="app/*")
    await tab.page.get_by_role("tab", name="Model context").focus()
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.locator(".messages .left-out")).to_contain_text("[3 messages removed]")
    await expect(tab.page.locator(".message")).to_have_count(4)
    await expect(tab.page.locator(".message").first).to_contain_text("Turn 4.")
    await expect(tab.page.locator(".context-size")).to_contain_text("of at most")
    assert await tab.serious_findings() == []


async def test_an_unreadable_conversation_looks_like_a_missing_one(panel: Panel):
    await a_conversation(panel)
    tab = await panel.signed_in("/conversations/talk?ns=app%2Fada", read="other/*")
    await expect(tab.page.get_by_text("This was not found").first).to_be_visible()
    assert "Turn 1." not in await tab.page.content()


async def test_runs_and_policies_are_shown_only_to_keys_that_may_read_everything(panel: Panel):
    run = manual_run(RunRequest(namespace="app/ada"), ("app/ada",), "the operator", NOON)
    panel.api.runs.put(replace(run, status="failed", error="<b>the model is away</b>"))
    tab = await panel.signed_in("/operations/consolidation?ns=app%2Fada", read="*")
    runs = tab.page.get_by_role("table").first
    for said in ("the operator", "Failed", "<b>the model is away</b>"):
        await expect(runs).to_contain_text(said)
    assert await tab.serious_findings() == []
    await tab.sign_in_anew(panel.api.keys.add(read="app/*"), "/memories?ns=app%2Fada")
    await expect(tab.page.get_by_role("link", name="Live")).to_be_visible()
    await expect(tab.page.get_by_role("link", name="Operations")).to_have_count(0)
    await tab.go("/operations", ns="app%2Fada")
    await expect(tab.page.get_by_text("This key is not allowed to do this.").first).to_be_visible()
    assert "the operator" not in await tab.page.content()
