"""Every view while loading, after a failed request, and without data."""

import asyncio
from urllib.parse import urlparse

from playwright.async_api import Request, Route, expect

from tests.api import Api, a_memory
from tests.integration.panel.panel import Opened, Panel
from tests.integration.panel.populated_api import PopulatedApi
from tests.integration.panel.views import View, listed, views

ALWAYS = ("/v1/me", "/v1/namespaces")
AWAY = '{"title": "Internal Server Error", "status": 500, "detail": "it is away", "request_id": "r-1"}'
ASKS_NOTHING = {"/data", "/live"}  # what they ask for is told beside the rest, which is there without it
ODD = r"""() => ["undefined", "NaN", "null", "Invalid Date", "[object"]
    .filter((each) => document.querySelector("#content").innerText.includes(each))"""


def parts(shown: PopulatedApi) -> list[View]:
    return [each for each in views(shown) if each.name in listed() and each.name not in ASKS_NOTHING]


def asks_for_data(request: Request) -> bool:
    path = urlparse(request.url).path
    return "/v1/" in path and not path.endswith(ALWAYS)


async def signed_in(panel: Panel, token: str) -> Opened:
    tab = await panel.open_tab(panel.address)
    await tab.go(ns="app%2Fada")
    await tab.sign_in(token)
    return tab


async def test_every_view_shows_a_failed_request_and_offers_a_retry(panel_of_everything: Panel, shown: PopulatedApi):
    token = shown.api.keys.add(admin="*")
    tab = await signed_in(panel_of_everything, token)
    is_away = True

    async def answer(route: Route) -> None:
        if is_away and asks_for_data(route.request):
            await route.fulfill(status=500, content_type="application/problem+json", body=AWAY)
        else:
            await route.fallback()

    await tab.page.route("**/v1/**", answer)
    wrong = {}
    for view in parts(shown):
        is_away = True
        await tab.sign_in_anew(token, view.address())
        await expect(tab.page.locator("#content .failed").first, view.name).to_be_visible()
        wrong[view.name] = await tab.serious_findings()
        is_away = False
        again = tab.page.get_by_role("button", name="Try again")
        while await again.count():
            await again.first.click()
            await tab.requires("!document.querySelector('#content .skeleton')")
        await tab.page.locator(view.shows).first.wait_for()
    assert {name: each for name, each in wrong.items() if each} == {}
    await tab.page.unroute_all(behavior="wait")


async def test_a_view_retries_by_itself_when_the_server_is_briefly_unavailable(panel: Panel):
    panel.api.memories.put(a_memory("m1"))
    tab = await panel.signed_in("/profile?ns=app%2Fada", read="app/*")
    refusals = 1

    async def answer(route: Route) -> None:
        nonlocal refusals
        if not refusals:
            await route.fallback()
            return
        refusals -= 1
        await route.fulfill(status=503, content_type="application/problem+json", body=AWAY.replace("500", "503"))

    await tab.page.route("**/v1/memories?**", answer)
    await tab.go("/memories", ns="app%2Fada")
    await expect(tab.rows).to_have_count(1)
    assert refusals == 0
    await expect(tab.page.locator(".failed")).to_have_count(0)
    await tab.page.unroute_all(behavior="wait")


async def test_every_view_says_that_it_is_loading(panel_of_everything: Panel, shown: PopulatedApi):
    token = shown.api.keys.add(admin="*")
    tab = await signed_in(panel_of_everything, token)
    answers = asyncio.Event()

    async def answer(route: Route) -> None:
        if asks_for_data(route.request):
            await answers.wait()
        await route.fallback()

    await tab.page.route("**/v1/**", answer)
    for view in parts(shown):
        answers.clear()
        # Until the view asks for its data, its script may be what is loading. The frame of all views asks for kinds.
        async with tab.page.expect_request(lambda request: asks_for_data(request) and "/v1/kinds" not in request.url):
            await tab.sign_in_anew(token, view.address())
        await expect(tab.page.locator("#content [role=status][aria-label=Loading]").first, view.name).to_be_visible()
        answers.set()
        await tab.page.locator(view.shows).first.wait_for()
    await tab.page.unroute_all(behavior="wait")


async def test_every_view_explains_its_empty_state(panel: Panel):
    tab = await panel.signed_in("/memories?ns=app%2Fnobody", admin="*")
    wrong = {}
    for view in views(PopulatedApi(Api(), ["nothing"])):
        if view.press or view.name not in listed():
            continue
        await tab.page.goto(f"{tab.address}/#{view.address('app/nobody')}")
        await settled(tab)
        wrong[view.name] = [*await tab.serious_findings(), *await tab.page.evaluate(ODD)]
    assert {name: each for name, each in wrong.items() if each} == {}


async def settled(tab: Opened) -> None:
    await tab.requires(
        "!document.querySelector('.skeleton') && document.querySelector('#content').innerText.length > 20"
    )
