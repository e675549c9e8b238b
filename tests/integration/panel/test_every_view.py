"""Every view is accessible, in light and dark and on phones, and shows texts of others as plain text."""

import pytest
from playwright.async_api import Page

from tests.api import Api
from tests.integration.panel import texts
from tests.integration.panel.panel import SCREENS, Opened, Panel
from tests.integration.panel.populated_api import PopulatedApi
from tests.integration.panel.views import View, listed, views

# Nothing is wider than its place but what scrolls by itself, as tables and rows of chips do.
TOO_WIDE = """() => [document.documentElement, ...document.querySelectorAll(".page, .scroller, .chosen, .detail, .dialog")]
    .filter((each) => each.scrollWidth > each.clientWidth + 1).map((each) => each.className || each.tagName)"""
FOREIGN = "() => document.querySelectorAll(\"a[href^='javascript:' i], iframe, img, object, embed\").length"
ATTACKED = "() => window.attacked ?? null"
TEXTS = """() => [document.body.innerText, ...[...document.querySelectorAll("title, textarea, input")]
    .map((each) => each.value || each.textContent)].join("\\n")"""


def test_the_view_tests_cover_every_view_in_the_sources():
    walked = {each.name for each in views(PopulatedApi(Api(), texts.ATTACKS))}
    assert len(listed()) > 15
    assert listed() - walked == set()


@pytest.mark.parametrize("screen", SCREENS)
async def test_every_view_is_accessible_and_shows_user_content_as_text(
    panel_of_everything: Panel, shown: PopulatedApi, screen: str
):
    """In light colours; on the wide screen, those of the dark scheme, which changes nothing else, are checked beside them."""
    tab = await panel_of_everything.signed_in("/memories?ns=app%2Fada", context=SCREENS[screen], admin="*")
    wrong = {}
    for view in views(shown):
        await view.show(tab)
        wrong[view.name] = [*await found(tab, view), *tab.complaints]
        tab.complaints.clear()
        if screen == "wide":
            wrong[f"{view.name} in dark colours"] = [*await tab.serious_findings_in_dark_colours()]
    assert {name: each for name, each in wrong.items() if each} == {}


async def found(tab: Opened, view: View) -> list[object]:
    """Returns the errors of the open view."""
    page: Page = tab.page
    wrong: list[object] = [*await tab.serious_findings()]
    if wide := await page.evaluate(TOO_WIDE):
        wrong.append(f"wider than its place: {wide}")
    if await page.evaluate(FOREIGN) or await page.evaluate(ATTACKED) is not None:
        wrong.append("what others wrote is more than text")
    if view.foreign and "window.attacked" not in await page.evaluate(TEXTS):
        wrong.append("what others wrote is not shown")
    if not (await page.title()).endswith("· memstream"):
        wrong.append(f"its title is {await page.title()!r}")
    return wrong
