"""No view sends a write request for a read-only key."""

import re
from collections.abc import Iterable
from urllib.parse import urlparse

from playwright.async_api import Route

from tests.integration.panel.panel import Opened, Panel
from tests.integration.panel.populated_api import PopulatedApi
from tests.integration.panel.views import View, views

READS = re.compile("/v1/(search|context|policies/[^/]+/check)$")  # questions with a body
REFUSED = '{"title": "Forbidden", "status": 403, "detail": "no"}'
# Fills in what can be filled in, then presses one thing after the other, those of a dialog first. Each is pressed once by what it
# says; what several views of a page have, as filters of their list, in the first of them.
PRESS_EVERYTHING = """async (view) => {
    const page = view.match(/^#\\/(operations\\/\\w+|\\w+)/)[1];
    const pressed = ((window.pressed ??= {})[page] ??= new Set());
    const pause = (ms) => new Promise((done) => setTimeout(done, ms));
    const fill = () => {
        for (const field of document.querySelectorAll("#content input, [role=dialog] input, [role=dialog] textarea")) {
            if (field.disabled || field.value || ["checkbox", "radio", "file", "search"].includes(field.type)) continue;
            const value = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), "value");
            value.set.call(field, { number: "9", date: "2026-03-01", "datetime-local": "2026-03-01T10:00" }[field.type] ?? "x");
            field.dispatchEvent(new Event("input", { bubbles: true }));
            field.dispatchEvent(new Event("change", { bubbles: true }));
        }
    };
    const name = (each) => each.type + (each.getAttribute("aria-label") || each.innerText || each.closest("label")?.innerText);
    const next = (within) => [...document.querySelectorAll(within)]
        .find((each) => !each.disabled && each.checkVisibility() && !pressed.has(within + name(each)));
    let idle = 0;
    for (let count = 0; count < 100; count++) {
        fill();
        const dialog = "[role=dialog] button:not([aria-label]), [role=alertdialog] button:not([aria-label])";
        const place = next(dialog) ? dialog : "#content button, #content input[type=checkbox]";
        const found = next(place);
        if (!found && idle++ > 3) break;
        if (!found) { await pause(50); continue; }
        pressed.add(place + name(found));
        found.click();
        await pause(20);
        if (location.hash !== view) { location.hash = view; await pause(60); }
        while (document.querySelector(".skeleton")) await pause(20);
    }
    document.querySelector("[role=dialog] button, [role=alertdialog] button")?.click();
    await fetch("v1/me"); // what was asked for before this has been seen by then
}"""


async def would_change(tab: Opened, looked_at: Iterable[View]) -> dict[str, set[str]]:
    """Returns the blocked write requests of each view."""
    requests: set[str] = set()

    async def guard(route: Route) -> None:
        path = urlparse(route.request.url).path
        if route.request.method == "GET" or READS.search(path):
            await route.fallback()
        else:
            requests.add(f"{route.request.method} {path}")
            await route.fulfill(status=403, content_type="application/problem+json", body=REFUSED)

    await tab.page.route("**/v1/**", guard)
    found = {}
    for view in looked_at:
        await tab.page.goto(f"{tab.address}/#{view.address()}")
        await tab.requires("!document.querySelector('.skeleton') && !!document.querySelector('h1')")
        await tab.page.evaluate(PRESS_EVERYTHING, "#" + view.address())
        found[view.name] = set(requests)
        requests.clear()
    await tab.page.unroute_all(behavior="wait")
    return found


async def test_no_view_sends_a_write_request_for_a_read_only_key(panel_of_everything: Panel, shown: PopulatedApi):
    tab = await panel_of_everything.signed_in("/memories?ns=app%2Fada", read="*")
    found = await would_change(tab, (each for each in views(shown) if not each.press))
    assert {name: requests for name, requests in found.items() if requests} == {}


async def test_the_same_clicks_with_an_admin_key_send_write_requests(panel_of_everything: Panel, shown: PopulatedApi):
    tab = await panel_of_everything.signed_in("/memories?ns=app%2Fada", admin="*")
    writing = {"/memories/:id sources", "/conversations/:id messages", "/operations/retention"}
    found = await would_change(tab, (each for each in views(shown) if each.name in writing))
    assert {name for name, requests in found.items() if requests} == writing
