"""Lists every view of the panel from its sources: routes, parts of operations, tabs, and views opened within a view."""

import re
from pathlib import Path
from urllib.parse import quote

from msgspec import Struct

from tests.integration.panel.panel import Opened
from tests.integration.panel.populated_api import NAMESPACE, PopulatedApi

SOURCES = Path(__file__).parents[3] / "deploy" / "panel" / "src"
DIALOG = "[role=dialog], [role=alertdialog]"
PARTS = "/operations"
TABS = {"/memories": "memories/Detail.tsx", "/conversations": "conversations/ConversationDetail.tsx"}


class View(Struct, frozen=True):
    """`name` is as `listed` has it, or says what is opened in a view. `shows` is what nothing shows but this view, once it is
    there; `press` are the buttons that open it; `parameters` go into the address. `foreign`: what others wrote stands in it."""

    name: str
    path: str
    shows: str
    parameters: dict[str, str] = {}
    press: tuple[str, ...] = ()
    foreign: bool = True

    def address(self, namespace: str = NAMESPACE, **more: str) -> str:
        query = {"ns": namespace} | self.parameters | more
        return self.path + "?" + "&".join(f"{name}={quote(value, safe='')}" for name, value in query.items())

    async def show(self, tab: Opened, namespace: str = NAMESPACE) -> None:
        if await tab.page.locator(DIALOG).count():
            await tab.page.keyboard.press("Escape")
        await tab.page.goto(f"{tab.address}/#{self.address(namespace)}")
        for name in self.press:
            await tab.page.get_by_role("button", name=name, exact=True).first.click()
        await tab.page.locator(self.shows).first.wait_for()
        await tab.requires("!document.querySelector('.skeleton')")


def listed() -> set[str]:
    """The views that the sources tell of: `/path`, `/operations/part`, `/path/:id tab`."""
    routes = re.findall(r'<Route path="(/[^"]*)"', (SOURCES / "main.tsx").read_text())
    bases = {re.sub(r"/:\w+\?", "", route) for route in routes}
    page = (SOURCES / "operations" / "OperationsPage.tsx").read_text()
    parts = set(re.findall(r'\{ path: "(\w+)"', page))
    tabs = {f"{base}/:id {tab}" for base, file in TABS.items() for tab in tabs_of(file)}
    return (bases - {PARTS}) | {f"{PARTS}/{part}" for part in parts} | tabs


def tabs_of(file: str) -> set[str]:
    return set(re.findall(r'<Tabs\.Trigger[^>]* value="(\w+)"', (SOURCES / file).read_text()))


def views(populated: PopulatedApi) -> tuple[View, ...]:
    """Returns every view with its path for the populated API."""
    conversation = populated.conversation
    memory, talk = "/memories/m0", f"/conversations/{quote(conversation, safe='')}"
    trail = {"conversation": conversation, "message": f"{conversation}-3"}
    return (
        View("/memories", "/memories", ".summary"),
        View("found memories", "/memories", ".why", {"q": "window attacked"}),
        View(
            "a search with filters", "/memories", ".more-filters[open]", {"q": "window attacked", "from": "2000-01-01"}
        ),
        View("a new memory", "/memories", "[role=dialog] textarea", press=("New memory",)),
        View("/memories/:id sources", memory, ".message.source"),
        View("/memories/:id versions", memory, ".diff ins", {"tab": "versions"}),
        View("/memories/:id related", memory, ".graph", {"tab": "related"}),
        View("/memories/:id timeline", memory, ".period", {"tab": "timeline"}),
        View("a memory that is edited", memory, "[role=dialog] textarea", press=("Edit",)),
        View("/profile", "/profile", "pre.prompt + h3"),
        View("/conversations", "/conversations", "[href^='#/conversations/']"),
        View("/conversations/:id messages", talk, ".message .memory-link"),
        View("/conversations/:id context", talk, ".context-size", {"tab": "context"}),
        View("/conversations/:id prunings", talk, ".version li", {"tab": "prunings"}),
        View("/conversations/:id settings", talk, ".chosen .facts-grid ~ .tabs .facts-grid", {"tab": "settings"}),
        View("a context that is cleared", talk, "[role=alertdialog]", press=("Clear the context",)),
        View("/insights", "/insights", ".plane circle"),
        View("/data", "/data", ".choices", foreign=False),
        View("an erasure that is looked at", "/data", ".foreseen", press=("Show what would be erased",), foreign=False),
        View("/live", "/live", ".event + .event", {"from": "beginning"}),
        View("/follow", "/follow", ".trail > li", trail),
        View("/operations/pipeline", "/operations/pipeline", ".stage"),
        View("/operations/letters", "/operations/letters", ".letter-row"),
        View("a letter", "/operations/letters/0:0", ".detail-card .prompt"),
        View("/operations/consolidation", "/operations/consolidation", "[aria-label=Schedules] td"),
        View("a dry run", "/operations/consolidation", ".findings li", press=("Preview",)),
        View("/operations/retention", "/operations/retention", "[aria-label='Retention sweeps'] td"),
        View("/operations/replay", "/operations/replay", "[aria-label=Replays] td", foreign=False),
        View("differences of a replay", "/operations/replay", ".sides td", press=("Compare",)),
        View("a replay that is cut over", "/operations/replay", "[role=alertdialog]", press=("Cut over",)),
        View("/operations/policies", "/operations/policies", ".policies .row"),
        View("a policy", f"/operations/policies/{quote(populated.policy, safe='')}", ".policy-field"),
        View("/operations/access", "/operations/access", "[aria-label=Audit] td"),
    )
