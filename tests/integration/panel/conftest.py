"""A real browser with the panel. Tests are skipped without Chromium."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright, expect

from tests.api import Api
from tests.integration.panel import texts
from tests.integration.panel.panel import CHROMIUM, NO_CHROMIUM, Opened, Panel
from tests.integration.panel.populated_api import PopulatedApi
from tests.servers.asgi import serve_app

expect.set_options(timeout=20_000)  # long, as machines may be busy

# Without these two, each window of Chromium loads two pages for its address bar, which takes longer than the panel.
ADDRESS_BAR = ("WebUIOmniboxPopup", "WebUIOmniboxAimPopup")
# Of those that Playwright turns off. Chromium obeys the last list only, and that is not Playwright's.
REQUESTS_AND_WAITS = (
    "AimEnabled",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "HttpsUpgrades",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
)
# Chromium's sandbox does not work in containers that run as root.
ARGUMENTS = ("--no-sandbox", f"--disable-features={','.join(ADDRESS_BAR + REQUESTS_AND_WAITS)}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that share a browser share their event loop, as a browser belongs to one."""
    for item in items:
        shared = {"panel", "panel_of_everything", "shown"} & set(getattr(item, "fixturenames", ()))
        if Path(__file__).parent in item.path.parents and shared:
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@asynccontextmanager
async def launched() -> AsyncIterator[Browser]:
    if CHROMIUM is None:
        pytest.skip(NO_CHROMIUM)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        await browser.close()


@asynccontextmanager
async def tabs(browser: Browser) -> AsyncIterator[Any]:
    """`await opening(address, **context)`: the panel in a new tab. Errors in the console of any tab fail the test."""
    opened: list[Opened] = []

    async def opening(address: str, **context: Any) -> Opened:
        # Without animations: axe would check colours during a transition.
        page = await (await browser.new_context(**{"locale": "en-GB", "reduced_motion": "reduce"} | context)).new_page()
        tab = Opened(page, address)
        opened.append(tab)
        return tab

    yield opening
    for tab in opened:
        await tab.page.context.close()
    assert [complaint for tab in opened for complaint in tab.complaints] == []


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_browser() -> AsyncIterator[Browser]:
    async with launched() as browser:
        yield browser


@pytest.fixture
async def open_panel() -> AsyncIterator[Any]:
    """Opens tabs in a separate browser, for tests that cannot use `panel`."""
    async with launched() as browser, tabs(browser) as opening:
        yield opening


@pytest_asyncio.fixture(loop_scope="session")
async def panel(shared_browser: Browser) -> AsyncIterator[Panel]:
    """The panel of an API over fakes, with keys, in a browser that all tests share."""
    api = Api()
    async with tabs(shared_browser) as opening, serve_app(api.app, api.change_notifier.close) as address:
        yield Panel(api, address, opening)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shown() -> PopulatedApi:
    """Data for all views, with hostile texts and texts that are hard to lay out."""
    populated = PopulatedApi(Api(), (*texts.ATTACKS, *texts.AWKWARD), conversation=f"{texts.ATTACKS[1]}/50%")
    await populated.fill()
    return populated


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def address_of_everything(shown: PopulatedApi) -> AsyncIterator[str]:
    async with serve_app(shown.api.app, shown.api.change_notifier.close) as address:
        yield address


@pytest_asyncio.fixture(loop_scope="session")
async def panel_of_everything(
    shared_browser: Browser, shown: PopulatedApi, address_of_everything: str
) -> AsyncIterator[Panel]:
    """The panel over a populated API that tests share: they must not change its data."""
    async with tabs(shared_browser) as opening:
        yield Panel(shown.api, address_of_everything, opening)
