"""Tabs whose clock is put forward, so that no test waits for a poll, and conversations that are shown in them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from msgspec.structs import replace

from schemas.conversations.messages import Scope
from schemas.conversations.windows import WindowState
from tests.fakes.windows import a_state
from tests.integration.panel.panel import Opened, Panel

IN_ADAS = "?ns=app%2Fada"
TALK = f"/conversations/talk{IN_ADAS}"
LONGEST_POLL_MS = 15_000


async def watching(panel: Panel, view: str, **grants: str) -> Opened:
    tab = await panel.open_tab(panel.address)
    await tab.page.clock.install()
    await tab.go(view)
    await tab.sign_in(panel.api.keys.add(**grants))
    return tab


async def polls(tab: Opened) -> None:
    await tab.page.clock.fast_forward(LONGEST_POLL_MS)


async def is_looked_at_again(tab: Opened) -> None:
    """As if its window were brought to the front: what is older than a few seconds is asked for again."""
    await tab.page.clock.fast_forward(LONGEST_POLL_MS)
    await tab.page.evaluate("window.dispatchEvent(new Event('visibilitychange'))")


def a_window(name: str = "talk", revision: int = 1, percent_used: float = 60.1, **fields: object) -> WindowState:
    scope = Scope(conversation_id=name, app_id="app", user_id="ada")
    state = a_state(name, revision, scope=scope, **fields)
    return replace(state, statistics=replace(state.statistics, percent_used=percent_used))


async def talked(panel: Panel, name: str, said: str, revision: int = 1, **fields: object) -> None:
    panel.api.archive.say(name, ("user", said), app_id="app", user_id="ada")
    await panel.api.windows.project([a_window(name, revision, **fields)])


@asynccontextmanager
async def answered(tab: Opened, addresses: str) -> AsyncIterator[None]:
    """Waits for a response that the block asks for, until the page has it: it asks for nothing twice at a time."""
    async with tab.page.expect_response(addresses) as response:
        yield
    await (await response.value).finished()
    await tab.page.evaluate(
        "() => new Promise(done => { const c = new MessageChannel(); c.port1.onmessage = done; c.port2.postMessage(0) })"
    )
