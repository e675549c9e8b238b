"""The window of one conversation in a browser, over fakes: message marks, settings and reasons of removal."""

import pytest
from msgspec.structs import replace
from playwright.async_api import expect

from schemas.codec import decode
from schemas.conversations.adjustments import Adjustments
from schemas.conversations.messages import Scope
from schemas.conversations.window_choices import WindowChoice
from schemas.conversations.window_settings import Adjustable, WindowSettings
from schemas.conversations.windows import Gap, Run
from schemas.kafka import topics
from schemas.policies.matching import Match
from schemas.policies.policies import Policies, Policy
from schemas.windows.window_controls import WindowControl
from streams.windows.context.statistics import STRATEGIES, explanation
from streams.windows.pruning.reasons import SENTENCES
from tests.api import Api
from tests.fakes.windows import a_pruning, a_state
from tests.integration.panel.panel import Panel

TALK = "/conversations/talk?ns=app%2Fada"


async def a_talk(api: Api, adjustments: Adjustments | None = None) -> None:
    """Stores seven messages, of which the second and the third were removed from the context."""
    api.archive.say("talk", *[("user", f"Turn {n}.") for n in range(1, 8)], app_id="app", user_id="ada")
    scope = Scope(conversation_id="talk", app_id="app", user_id="ada")
    removed = (Run("completed_task", 2, 3, 2),)
    left = {"gaps": (Gap(2, 3, 2, 6),), "prunings": (replace(a_pruning(), removed=removed),)}
    await api.windows.project([a_state("talk", scope=scope, adjustments=adjustments or Adjustments(), **left)])


def sent(api: Api) -> WindowControl:
    return decode(api.published.on(topics.WINDOW_CONTROL)[-1].value, WindowControl)


async def test_a_pruned_message_shows_the_reason_and_links_to_its_timeline(panel: Panel):
    await a_talk(panel.api)
    tab = await panel.signed_in(TALK, read="app/*")
    left = tab.page.locator(".message.pruned")
    await expect(left).to_have_count(2)
    await expect(left.first).to_contain_text("Left the context: It belonged to a completed task.")
    await expect(tab.page.get_by_role("button", name="Treat as")).to_have_count(0)
    assert await tab.serious_findings() == []
    await left.first.get_by_role("link", name="Follow").press("Enter")
    await expect(tab.page.get_by_label("Id of the message")).to_have_value("talk-2")


async def test_a_german_view_of_a_window_contains_no_english_server_text(panel: Panel):
    """Reasons and the rule are told by their codes; the server's own words are English."""
    await a_talk(panel.api)
    tab = await panel.open_tab(panel.address, locale="de-DE")
    await tab.go("/conversations/talk", ns="app%2Fada")
    await tab.page.get_by_label("Schlüssel", exact=True).fill(panel.api.keys.add(read="app/*"))
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.locator(".message.pruned").first).to_contain_text(
        "Verließ den Kontext: Sie gehörte zu einer erledigten Aufgabe."
    )
    await tab.page.get_by_text("Wie Nachrichten ausgewählt werden").click()
    await expect(tab.page.locator(".rule")).to_contain_text("Die ältesten Nachrichten gehen zuerst.")
    await expect(tab.page.locator(".rule")).to_contain_text("mehr als 50")
    server = [*SENTENCES.values(), *STRATEGIES.values(), explanation(WindowSettings())]
    for name, german in {
        "Nachrichten": "Verließ den Kontext",
        "Was ein Modell sieht": "Sie ist eine der letzten Nachrichten",
        "Was den Kontext verließ": "Sie gehörte zu einer erledigten Aufgabe.",
    }.items():
        await tab.page.get_by_role("tab", name=name).click()
        await expect(tab.page.get_by_role("tabpanel")).to_contain_text(german)
        shown = await tab.page.locator("main").inner_text()
        assert [said for said in server if said in shown] == []


async def test_a_message_is_marked_by_keyboard_and_the_mark_can_be_removed(panel: Panel):
    await a_talk(panel.api, Adjustments(marks={"talk-1": "important"}))
    tab = await panel.signed_in(TALK, write="app/*")
    marks = tab.page.get_by_role("button", name="Treat as")
    await expect(marks).to_have_count(5)
    await expect(marks.first).to_have_text("Treat as important")
    await marks.first.press("Enter")
    await expect(tab.page.get_by_role("menuitemradio", name="important", checked=True)).to_be_visible()
    assert await tab.serious_findings() == []
    await tab.page.keyboard.press("p")
    await expect(tab.page.get_by_role("menuitemradio", name="pinned")).to_be_focused()
    assert panel.api.published.records == []  # what arrow keys and letters pass is not chosen yet
    await tab.page.keyboard.press("Enter")
    await expect(marks.first).to_be_focused()
    await expect(tab.page.get_by_text("The message is now: pinned")).to_be_visible()
    assert (sent(panel.api).kind, sent(panel.api).message_id, sent(panel.api).importance) == (
        "mark",
        "talk-1",
        "pinned",
    )
    assert await tab.serious_findings() == []
    await tab.page.get_by_role("button", name="Undo", exact=True).click()
    await expect(tab.page.get_by_text("The message is now: important")).to_be_visible()
    assert sent(panel.api).importance == "important"


async def test_settings_of_a_conversation_are_chosen_within_what_its_policy_allows(panel: Panel):
    allowed = Adjustable(strategy=("hybrid", "importance"), max_messages=(20, 200))
    policy = Policy(
        name="free",
        match=Match(app_id="app"),
        namespaces=("{app_id}/{user_id}",),
        window=WindowSettings(adjustable=allowed),
    )
    panel.api.ports.conversations._policies = Policies((policy,))
    await a_talk(panel.api, Adjustments(settings=WindowChoice(max_messages=30)))
    tab = await panel.signed_in(TALK, write="app/*")
    await tab.page.get_by_role("tab", name="Settings").press("Enter")
    most = tab.page.get_by_role("spinbutton", name="Maximum messages")
    await expect(most).to_have_value("30")
    await expect(tab.page.locator(".facts-grid").last).to_contain_text("Maximum messages chosen")
    assert await tab.serious_findings() == []
    await most.fill("40")
    await tab.page.get_by_role("combobox", name="Pruning order").select_option("importance")
    await tab.page.get_by_role("button", name="Save").press("Enter")
    await expect(tab.page.get_by_text("The settings apply in about a second")).to_be_visible()
    assert sent(panel.api).settings == WindowChoice(max_messages=40, strategy="importance")
    await tab.page.get_by_role("button", name="Back to the policy").press("Enter")
    await expect(tab.page.get_by_text("The settings apply in about a second")).to_have_count(2)
    assert sent(panel.api).settings == WindowChoice()


async def test_settings_are_read_only_where_policy_or_key_do_not_allow_changes(panel: Panel):
    await a_talk(panel.api)
    tab = await panel.signed_in(f"{TALK}&tab=settings", read="app/*")
    await expect(tab.page.get_by_text("The policy app allows no settings of a single conversation.")).to_be_visible()
    await expect(tab.page.locator(".facts-grid").last).to_contain_text("The oldest first")
    await expect(tab.page.get_by_role("button", name="Save")).to_have_count(0)


@pytest.mark.parametrize(("button", "kind"), [("Extract waiting messages", "flush"), ("Prune now", "prune")])
async def test_actions_that_cost_money_or_remove_messages_require_confirmation(panel: Panel, button: str, kind: str):
    await a_talk(panel.api)
    tab = await panel.signed_in(TALK, write="app/*")
    opener = tab.page.get_by_role("button", name=button)
    await opener.press("Enter")
    dialog = await tab.dialog()
    await expect(dialog).to_contain_text("now?")
    assert await tab.serious_findings() == []
    await tab.close_dialog(opener)
    assert panel.api.published.records == []
    await opener.press("Enter")
    await (await tab.dialog()).get_by_role("button", name=button).press("Enter")
    await expect(tab.page.get_by_text(" will be ")).to_be_visible()
    assert sent(panel.api).kind == kind


async def test_the_prune_confirmation_states_how_many_messages_would_be_removed(panel: Panel):
    await a_talk(panel.api)
    panel.api.archive.say("long", *[("user", f"Word {n} " * 40) for n in range(60)], app_id="app", user_id="ada")
    scope = Scope(conversation_id="long", app_id="app", user_id="ada")
    await panel.api.windows.project([a_state("long", scope=scope, model="gpt-4")])
    tab = await panel.signed_in(TALK, write="app/*")
    prune = tab.page.get_by_role("button", name="Prune now")
    await prune.press("Enter")
    dialog = await tab.dialog()
    await expect(dialog).to_contain_text("No message would leave")
    await tab.close_dialog(prune)
    await tab.go("/conversations/long", ns="app%2Fada")
    await prune.press("Enter")
    await expect(dialog).to_contain_text("53 messages leave; the context then has 4,387 tokens less.")
    await tab.close_dialog(prune)
    await tab.page.get_by_role("button", name="Extract waiting messages").press("Enter")
    await expect(dialog).to_contain_text("Only these memories can be undone, each in its history.")


async def test_an_undone_pruning_is_marked_as_undone(panel: Panel):
    await a_talk(panel.api)
    undone = replace(a_pruning(2), cause="manual", undone_at=a_pruning(2).at + 30)
    scope = Scope(conversation_id="talk", app_id="app", user_id="ada")
    await panel.api.windows.project([a_state("talk", 2, scope=scope, prunings=(undone,))])
    tab = await panel.signed_in(f"{TALK}&tab=prunings", read="app/*")
    listed = tab.page.locator(".version")
    await expect(listed).to_have_count(2)
    await expect(listed.first).to_contain_text("Undone")
    await expect(listed.last).not_to_contain_text("Undone")
