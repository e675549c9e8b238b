"""Agent tools over fakes, with memories in a dictionary."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from agents.api.tools.access import ToolAccess
from agents.api.tools.ports import Blocks, ToolPorts
from agents.api.tools.tools import Tools
from agents.conversations.lookup import Conversations
from agents.profile.profile_reader import Profiles
from agents.retrieval.passage_ranking import UNMEASURED
from agents.retrieval.recall import Recall
from agents.retrieval.search import MemorySearch
from agents.retrieval.tiers import Tiers
from schemas.memories.memories import Memory
from schemas.policies.policies import Policies, Policy
from tests.builders.memories import a_memory
from tests.fakes.archive import FakeArchive
from tests.fakes.commands import FakeCommands
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.live import FakeLive
from tests.fakes.memories import FakeMemories
from tests.fakes.memory_index import FakeMemoryIndex
from tests.fakes.passage_search import FakePassageSearch
from tests.fakes.sinks import FakeVectors
from tests.fakes.windows import FakeWindows

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
POLICIES = Policies((Policy(name="kitchen", namespaces=("{app_id}/{user_id}",)),))
MINE, SHARED, THEIRS = "kitchen/ada", "kitchen", "kitchen/tom"


class Toolset(Struct):
    """The tools, and the fakes behind them."""

    remembered: FakeMemoryIndex
    commands: FakeCommands
    retrieval: MemorySearch
    archive: FakeArchive
    said: FakePassageSearch
    noted: list[str] = []  # texts of read passages

    def tools(self, *namespaces: str, **reach: Any) -> Tools:
        """Tools for these namespaces, all writable unless `reach` restricts them."""
        namespaces = namespaces or (MINE,)
        wired = ToolAccess(**({"namespaces": namespaces, "writable": namespaces} | reach))
        ports = ToolPorts(
            retrieval=self.tiers(),
            memories=self.remembered,
            passages=self.said,
            commands=self.commands,
            clock=lambda: NOON,
            blocks=self.blocks(),
            note=self.note,
        )
        return Tools(wired, ports)

    def tiers(self) -> Tiers:
        return Tiers(self.retrieval, self.said, lambda: NOON, UNMEASURED)

    def note(self, memories: Iterable[Memory]) -> None:
        self.noted += [memory.text for memory in memories]

    def blocks(self) -> Blocks:
        """Context blocks; one word is one token."""
        stored = FakeMemories(*self.remembered.known.values())
        profiles = Profiles(FakeLive(stored), words, lambda: NOON)
        recall = Recall(self.tiers(), self.archive, POLICIES, words, lambda: NOON, profiles)
        return Blocks(Conversations(FakeWindows(), self.archive, POLICIES), recall)


def words(text: str) -> int:
    return len(text.split())


def spoken(toolset: Toolset) -> None:
    """Messages of ada and tom some days ago, and shared ones."""
    toolset.said.say("We took the night train to Porto.", at=NOON, namespace=MINE, conversation_id="trip")
    toolset.said.say("The night train is my enemy.", at=NOON, namespace=THEIRS, speaker="tom")
    toolset.said.say("The night train again?", at=NOON, namespace=SHARED, owners=(THEIRS,), speaker="tom")


def memory(text: str, namespace: str = MINE, **fields: Any) -> Memory:
    return a_memory(text, NOON, namespace=namespace, **fields)


def populated_toolset() -> Toolset:
    """Returns a toolset with four memories in three namespaces, and recent messages of ada and tom."""
    remembered = FakeMemoryIndex(
        memory("User is allergic to peanuts.", importance=0.9, tags=("food",), full_text="User carries an injector."),
        memory("User prefers short recipes.", kind="preference"),
        memory("The kitchen has no oven.", SHARED),
        memory("Tom is allergic to milk.", THEIRS),
    )
    retrieval = MemorySearch(FakeEmbedder(), FakeVectors(), remembered, remembered, clock=lambda: NOON)
    archive = FakeArchive()
    archive.say("of-ada", ("user", "I keep bees."), app_id="kitchen", user_id="ada")
    archive.say("of-tom", ("user", "I keep wolves."), app_id="kitchen", user_id="tom")
    return Toolset(remembered, FakeCommands(remembered), retrieval, archive, FakePassageSearch())
