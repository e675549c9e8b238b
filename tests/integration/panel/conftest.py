"""A real browser on the panel. Its tests are skipped where there is no Chromium, and say so."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from playwright.async_api import Browser, async_playwright, expect

from tests.api import Api
from tests.integration.panel.panel import CHROMIUM, NO_CHROMIUM, Opened, Panel
from tests.served import served

expect.set_options(timeout=20_000)  # machines that are busy with something else must not fail a test


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    if CHROMIUM is None:
        pytest.skip(NO_CHROMIUM)
    async with async_playwright() as playwright:
        # Containers that run as root have no sandbox for it.
        launched = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        await launched.close()


@pytest.fixture
async def open_panel(browser: Browser) -> AsyncIterator[Any]:
    """`await open_panel(address, **context)`: the panel in a tab of its own. What any tab complained of fails the test."""
    opened: list[Opened] = []

    async def opening(address: str, **context: Any) -> Opened:
        tab = Opened(await (await browser.new_context(locale="en-GB", **context)).new_page(), address)
        opened.append(tab)
        return tab

    yield opening
    for tab in opened:
        await tab.page.context.close()
    assert [complaint for tab in opened for complaint in tab.complaints] == []


@pytest.fixture
async def panel(open_panel: Any) -> AsyncIterator[Panel]:
    """The panel of an API over fakes, with keys."""
    api = Api()
    async with served(api.app, api.change_notifier.close) as address:
        yield Panel(api, address, open_panel)
