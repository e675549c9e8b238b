"""A browser tab with the panel, and the API over fakes behind it."""

import os
import shutil
from collections.abc import Awaitable, Callable
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from msgspec import Struct
from playwright.async_api import ConsoleMessage, Locator, Page, Response, expect

from tests.api import Api
from tests.deployment import eventually

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium-headless-shell") or shutil.which("chromium")
NO_CHROMIUM = "there is no Chromium on this machine: `apt-get install chromium-headless-shell` has the panel tested"
SERIOUS = ("serious", "critical")
RULES_ABOUT_COLOURS = ["color-contrast", "link-in-text-block"]
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
SCREENS: dict[str, dict[str, Any]] = {"wide": {}, "phone": PHONE}

Finding = tuple[str, list[str]]


class Opened:
    """A tab. `complaints` are errors of scripts, refusals of the content security policy, and requests to other hosts."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.address = address
        self.complaints: list[str] = []
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("response", self._answered)

    def _said(self, message: ConsoleMessage) -> None:
        # Chromium tells of every answer that is an error: those are the API's, and tests ask for some.
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            self.complaints.append(message.text)

    def _answered(self, response: Response) -> None:
        if not response.url.startswith(self.address):
            self.complaints.append(f"asked another host: {response.url}")

    async def go(self, view: str = "/memories", **parameters: str) -> None:
        query = "&".join(f"{name}={value}" for name, value in parameters.items())
        await self.page.goto(f"{self.address}/#{view}" + (f"?{query}" if query else ""))

    async def sign_in(self, token: str) -> None:
        await self.page.get_by_label("Key", exact=True).fill(token)
        await self.page.keyboard.press("Enter")
        await self.page.get_by_role("navigation").first.wait_for()

    async def sign_in_anew(self, token: str, view: str) -> None:
        """Opens a view without what was loaded before: signing out forgets it, and takes less time than loading the page."""
        await self.page.get_by_role("button", name="Sign out").click()
        await self.go(view)
        await self.sign_in(token)

    @property
    def rows(self) -> Locator:
        return self.page.locator(".row")

    async def dialog(self) -> Locator:
        """The open confirmation, once it has the focus: keys that are pressed before go elsewhere."""
        dialog = self.page.get_by_role("alertdialog")
        await expect(dialog.locator(":focus")).to_have_count(1)
        return dialog

    async def close_dialog(self, opener: Locator) -> None:
        """Closes the open dialog by keyboard, and waits until what opened it has the focus again."""
        await self.page.keyboard.press("Escape")
        await expect(opener).to_be_focused()

    async def requires(self, script: str) -> None:
        """Waits until an expression of the page is true. Playwright's own way evaluates a text, which the policy forbids."""
        await eventually(lambda: self.page.evaluate(script), script)

    async def serious_findings(self) -> list[Finding]:
        """What axe finds that keeps people out, by its rule and where. Waits until no rows are dimmed as those of the search
        before."""
        await expect(self.page.locator(".scroller.stale")).to_have_count(0)
        return await self._found_by_axe({})

    async def serious_findings_in_dark_colours(self) -> list[Finding]:
        """What axe finds about colours if the system prefers dark ones, in a view that is shown in light ones."""
        await self.page.emulate_media(color_scheme="dark")
        found = await self._found_by_axe({"runOnly": RULES_ABOUT_COLOURS})
        await self.page.emulate_media(color_scheme="light")
        return found

    async def _found_by_axe(self, options: dict[str, Any]) -> list[Finding]:
        if not await self.page.evaluate("'axe' in window"):
            await self.page.evaluate(AXE_SCRIPT)
        run = "(options) => axe.run({ resultTypes: ['violations'], ...options }).then((told) => told.violations)"
        found = await self.page.evaluate(run, options)
        return [(each["id"], [node["html"] for node in each["nodes"]]) for each in found if each["impact"] in SERIOUS]


class Panel(Struct):
    """The fakes behind it, its address, and how one opens it."""

    api: Api
    address: str
    open_tab: Callable[..., Awaitable[Opened]]

    async def signed_in(
        self, view: str = "/memories", *, context: dict[str, Any] | None = None, **grants: str
    ) -> Opened:
        """A tab on a view, with a key of these rights."""
        tab = await self.open_tab(self.address, **(context or {}))
        await tab.go(view)
        await tab.sign_in(self.api.keys.add(**grants))
        return tab
