"""A real browser on the panel. Its tests are skipped where there is no Chromium, and say so."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright, expect

from tests.api import Api
from tests.integration.panel.panel import CHROMIUM, NO_CHROMIUM, Opened, Panel
from tests.served import served

expect.set_options(timeout=20_000)  # machines that are busy with something else must not fail a test


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A browser belongs to an event loop: tests that share one share their loop."""
    for item in items:
        if Path(__file__).parent in item.path.parents and "panel" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@asynccontextmanager
async def launched() -> AsyncIterator[Browser]:
    if CHROMIUM is None:
        pytest.skip(NO_CHROMIUM)
    async with async_playwright() as playwright:
        # Containers that run as root have no sandbox for it.
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        await browser.close()


@asynccontextmanager
async def tabs(browser: Browser) -> AsyncIterator[Any]:
    """`await opening(address, **context)`: the panel in a tab of its own. What any tab complained of fails the test."""
    opened: list[Opened] = []

    async def opening(address: str, **context: Any) -> Opened:
        # Without animations: axe would judge the colours of something that is still fading in.
        page = await (await browser.new_context(locale="en-GB", reduced_motion="reduce", **context)).new_page()
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
    """Opens tabs of a browser of the test's own, for what `panel` does not serve."""
    async with launched() as browser, tabs(browser) as opening:
        yield opening


@pytest_asyncio.fixture(loop_scope="session")
async def panel(shared_browser: Browser) -> AsyncIterator[Panel]:
    """The panel of an API over fakes, with keys, in a browser that all tests share."""
    api = Api()
    async with tabs(shared_browser) as opening, served(api.app, api.change_notifier.close) as address:
        yield Panel(api, address, opening)
