"""Views that cannot be read again keep what they show, over fakes, and say since when it is out of date."""

import re
from functools import partial

import pytest
from playwright.async_api import Locator, Route, expect

from agents.consolidation.requests import manual_run
from schemas.consolidation.runs import RunRequest
from tests.api import NOON, a_memory
from tests.integration.panel.panel import Opened, Panel
from tests.integration.panel.polling import IN_ADAS, TALK, is_looked_at_again, polls, talked, watching

RUNS = "[aria-label='Consolidation runs'] tbody tr"


async def is_refused(route: Route, *, status: int = 500) -> None:
    body = f'{{"title": "Error", "status": {status}, "detail": "it is away"}}'
    await route.fulfill(status=status, content_type="application/problem+json", body=body)


def notice(tab: Opened, why: str = "it is away") -> Locator:
    """That what is shown is out of date."""
    return tab.page.locator(".outdated").filter(has_text=re.compile(rf"^Not updated since \d.*, \d\d:\d\d: {why}"))


@pytest.mark.parametrize(
    ("view", "request_of_poll", "shown"),
    [
        (TALK, "**/conversations/talk", ".message"),
        (TALK, "**/conversations/talk/messages?*", ".message"),
        (f"/conversations{IN_ADAS}", "**/conversations?*", ".row"),
        (f"/operations/consolidation{IN_ADAS}", "**/consolidation-runs?*", RUNS),
        (f"/operations/letters{IN_ADAS}", "**/dead-letters?*", ".letter-row"),
        (f"/operations/pipeline{IN_ADAS}", "**/pipeline", ".figures"),
    ],
)
async def test_what_is_shown_stays_while_polls_fail_with_a_notice_that_goes_with_the_next_good_one(
    panel: Panel, view: str, request_of_poll: str, shown: str
):
    await talked(panel, "talk", "Hello.")
    panel.api.runs.put(manual_run(RunRequest(namespace="app/ada"), ("app/ada",), "the operator", NOON))
    panel.api.letter_topic.add_letter(b"{", reason="undecodable", detail="it is no JSON")
    tab = await watching(panel, view, admin="*")
    await expect(tab.page.locator(shown).first).to_be_visible()
    await expect(notice(tab)).to_have_count(0)
    await tab.page.route(request_of_poll, is_refused)
    await polls(tab)
    await expect(notice(tab)).to_be_visible()
    await expect(tab.page.locator(shown).first).to_be_visible()
    await expect(tab.page.locator(".failed")).to_have_count(0)
    assert await tab.serious_findings() == []
    await tab.page.unroute(request_of_poll)
    await polls(tab)
    await expect(notice(tab)).to_have_count(0)


async def test_an_outage_is_announced_once_and_each_retry_is_named_by_what_it_reads(panel: Panel):
    await talked(panel, "talk", "Hello.")
    tab = await watching(panel, TALK, read="app/*")
    await expect(tab.page.locator(".message")).to_be_visible()
    announced = tab.page.get_by_role("status").filter(has_text="Part of this page could not be updated: it is away")
    await expect(announced).to_have_count(0)
    await tab.page.route("**/conversations/talk*", is_refused)
    await tab.page.route("**/conversations/talk/**", is_refused)
    await is_looked_at_again(tab)
    await expect(tab.page.get_by_role("button", name="Try again: talk")).to_be_visible()
    await expect(tab.page.get_by_role("button", name="Try again: Messages")).to_be_visible()
    await expect(announced).to_have_count(1)
    await tab.page.unroute_all(behavior="wait")
    await polls(tab)
    await expect(notice(tab)).to_have_count(0)
    await expect(announced).to_have_count(0)


async def test_parts_that_cannot_be_loaded_are_announced_once_for_the_page(panel: Panel):
    await talked(panel, "talk", "Hello.")
    tab = await panel.open_tab(panel.address)
    await tab.page.route("**/conversations/talk*", is_refused)
    await tab.page.route("**/conversations/talk/**", is_refused)
    await tab.go(TALK)
    await tab.sign_in(panel.api.keys.add(read="app/*"))
    await expect(tab.page.get_by_text("This could not be loaded", exact=True)).not_to_have_count(0)
    announced = tab.page.get_by_role("status").filter(has_text="Part of this page could not be loaded: it is away")
    await expect(announced).to_have_count(1)
    await expect(tab.page.get_by_role("alert")).to_have_count(0)
    await tab.page.unroute_all(behavior="wait")
    again = tab.page.get_by_role("button", name="Try again")
    while await again.count():
        await again.first.click()
        await tab.requires("!document.querySelector('#content .skeleton')")
    await expect(tab.page.locator(".message")).to_be_visible()
    await expect(announced).to_have_count(0)


async def test_a_list_without_polls_that_is_out_of_date_offers_a_retry(panel: Panel):
    panel.api.memories.put(a_memory("m1"))
    tab = await watching(panel, f"/memories{IN_ADAS}", read="app/*")
    await expect(tab.rows).to_have_count(1)
    await tab.page.route("**/memories?*", is_refused)
    await is_looked_at_again(tab)
    await expect(notice(tab)).to_be_visible()
    await expect(tab.rows).to_have_count(1)
    await tab.page.unroute("**/memories?*")
    await tab.page.get_by_role("button", name="Try again: Memories").press("Enter")
    await expect(notice(tab)).to_have_count(0)


@pytest.mark.parametrize(("status", "said"), [(403, "This key is not allowed"), (404, "This was not found")])
async def test_what_is_gone_or_forbidden_now_is_shown_no_longer(panel: Panel, status: int, said: str):
    await talked(panel, "talk", "Hello.")
    tab = await watching(panel, TALK, read="app/*")
    await expect(tab.page.locator(".message")).to_be_visible()
    await tab.page.route("**/conversations/talk", partial(is_refused, status=status))
    await polls(tab)
    await expect(tab.page.locator(".empty").filter(has=tab.page.locator(".failed"))).to_contain_text(said)
    await expect(tab.page.locator(".message")).to_have_count(0)


async def test_a_view_without_a_network_says_so_and_is_updated_once_it_is_back(panel: Panel):
    tab = await watching(panel, f"/operations/pipeline{IN_ADAS}", read="*")
    await expect(tab.page.locator(".figures")).to_be_visible()
    await tab.page.context.set_offline(True)
    await polls(tab)
    await expect(notice(tab, "The server does not answer")).to_be_visible()
    await tab.page.context.set_offline(False)
    await expect(notice(tab, "The server does not answer")).to_have_count(0)
