"""PrecisionMemBench with the protocol of its own harness: beliefs as memories, scopes as namespaces.

Rules of the harness (tenurehq/precisionmembench, src/): a search is for at most the case's budget; what is pinned comes apart
from it and takes its places first; participants of a relation that was found are added; superseded, resolved and other people's
beliefs must not surface. Prefixes of persons are the harness's own, not what a memory system finds.
"""

import json
import statistics
import time
from collections.abc import Sequence
from copy import copy
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec import Struct

from agents.retrieval.ranking import Ranking
from schemas.memories.memories import Memory, Status
from schemas.retrieval.searches import Filters, Query
from tests.benchmarks.recall_sets import identity
from tests.benchmarks.recall_stack import Store
from tests.builders.memories import a_memory

USER = "test-user"
MOST_BELIEFS = 20
QUESTION = "open_question"
STRUCTURAL = {
    "Scope disambiguation",
    "Supersession chain exclusion",
    "Type routing and open questions",
    "Budget eviction and capacity",
    "Cross-user isolation",
    "Ranking stability",
    "Persona prelude content",
}


class Context(Struct, frozen=True):
    """The results of a case: ids of beliefs in three tiers."""

    pinned: list[str]
    relevant: list[str]
    questions: list[str]
    took_ms: float


class Beliefs:
    """The seed, stored; beliefs may be added and get aliases while a session goes on."""

    def __init__(self, store: Store, space: str, *, as_one_text: bool = False) -> None:
        self._store = store
        self._retrieval = store.retrieval()
        self._space = space
        self._as_one_text = as_one_text
        self._known: dict[str, dict[str, Any]] = {}
        self._of_memory: dict[str, str] = {}

    def ranked_by(self, ranking: Ranking) -> "Beliefs":
        """The same beliefs, searched otherwise."""
        other = copy(self)
        other._retrieval = self._store.retrieval(ranking)
        return other

    async def add(self, *beliefs: dict[str, Any]) -> None:
        self._known |= {belief["_id"]: belief for belief in beliefs}
        memories = [self._memory(belief) for belief in beliefs]
        self._of_memory |= {memory.memory_id: belief["_id"] for memory, belief in zip(memories, beliefs, strict=True)}
        await self._store.put(memories)

    async def alias(self, belief_id: str, aliases: Sequence[str]) -> None:
        belief = self._known[belief_id]
        await self.add(belief | {"aliases": [*belief["aliases"], *aliases]})

    async def context(self, user: str, scopes: Sequence[str], text: str, most: int = MOST_BELIEFS) -> Context:
        namespaces = tuple(self._namespace(user, scope) for scope in scopes)
        pinned = await self._ids(Query(namespaces=namespaces, filters=Filters(pinned=True), limit=100))
        began = time.perf_counter()
        unpinned = Filters(pinned=False, kinds=self._kinds())
        query = Query(namespaces=namespaces, text=text, filters=unpinned, limit=most or 1)
        found = await self._ids(query) if text.strip() and most else []
        took_ms = (time.perf_counter() - began) * 1e3
        facts = [each for each in pinned if self._known[each]["type"] != QUESTION][:most]
        related = [each for each in self._participants(found, scopes) if each not in (*pinned, *found)]
        return Context(
            pinned=facts,
            relevant=[*found, *related][: most - len(facts)],
            questions=[each for each in pinned if self._known[each]["type"] == QUESTION],
            took_ms=took_ms,
        )

    def _participants(self, found: Sequence[str], scopes: Sequence[str]) -> list[str]:
        named = [each for belief in found for each in self._known[belief].get("participants", [])]
        return [each for each in dict.fromkeys(named) if not set(self._known[each]["scope"]).isdisjoint(scopes)]

    async def _ids(self, query: Query) -> list[str]:
        return [self._of_memory[hit.memory.memory_id] for hit in (await self._retrieval.search(query)).hits]

    def _kinds(self) -> tuple[str, ...]:
        return tuple(sorted({belief["type"] for belief in self._known.values()} - {QUESTION}))

    def _namespace(self, user: str, scope: str) -> str:
        return f"{self._space}/{user}/{scope}"

    def _memory(self, belief: dict[str, Any]) -> Memory:
        name = belief["canonical_name"].replace("_", " ")
        beside = {"tags": (name, *belief["aliases"]), "context": belief["why_it_matters"]}
        whole = " ".join((belief["canonical_name"], *belief["aliases"], belief["content"], belief["why_it_matters"]))
        return a_memory(
            whole if self._as_one_text else belief["content"],
            datetime.fromisoformat(belief["created_at"]),
            memory_id=identity(self._space, belief["_id"]),
            namespace=self._namespace(belief["user_id"], belief["scope"][0]),
            kind=belief["type"],
            status=status(belief),
            pinned=belief["pinned"],
            confidence=belief["confidence"],
            reinforcement_count=belief["reinforcement_count"],
            last_reinforced_at=datetime.fromisoformat(belief["last_reinforced_at"]),
            **({} if self._as_one_text else beside),
        )


def status(belief: dict[str, Any]) -> Status:
    if belief["superseded_by"]:
        return "superseded"
    return "expired" if belief["resolved_at"] else "active"


async def single_turns(shared: Path, beliefs: Beliefs) -> dict[str, Any]:
    """The 77 cases without a session."""
    rows = []
    for case in read(shared, "retrieval.cases.json"):
        most = case.get("budget", {}).get("maxBeliefs", MOST_BELIEFS)
        context = await beliefs.context(case.get("userId", USER), case["scope"], case["query"], most)
        rows.append((case, context, failures(case["expect"], context)))
    figures = summary([(case["category"], case["expect"], context, failed) for case, context, failed in rows])
    return figures | {"failed": {case["caseId"]: failed for case, _, failed in rows if failed}}


async def sessions(shared: Path, beliefs: Beliefs) -> dict[str, Any]:
    """The 12 turns of the sessions; beliefs come and change between them."""
    rows = []
    for case in read(shared, "session-retrieval.cases.json"):
        for turn in case["turns"]:
            context = await beliefs.context(USER, turn["scope"], turn["userMessage"])
            failed = failures(turn["expect"], context)
            failed += [f"noise: {each}" for each in noise(turn["expect"], context)]
            rows.append(("Session-level noise isolation", turn["expect"], context, failed))
            if new := turn.get("createBeliefAtTurn"):
                await beliefs.add(new)
            if update := turn.get("updateBeliefAtTurn"):
                await beliefs.alias(update["beliefId"], [alias.lower() for alias in update.get("addAliases", [])])
    drift = [
        1 - hits_of(expect, context) / len(context.relevant) if context.relevant else 0.0
        for _, expect, context, _ in rows
    ]
    return summary(rows) | {"mean_drift": round(statistics.fmean(drift), 4)}


def failures(expect: dict[str, Any], context: Context) -> list[str]:
    beliefs, failed = expect.get("relevantBeliefs", {}), []
    if "shouldOnlyInclude" in beliefs:
        only, got = set(beliefs["shouldOnlyInclude"]), set(context.relevant)
        failed += [f"unexpected: {each}" for each in sorted(got - only)]
        failed += [f"missing: {each}" for each in sorted(only - got)]
    tiers = (
        (beliefs, [*context.relevant, *context.pinned]),
        (expect.get("pinnedFacts", {}), context.pinned),
        (expect.get("openQuestions", {}), context.questions),
    )
    for wanted, shown in tiers:
        failed += [f"missing: {each}" for each in wanted.get("mustInclude", []) if each not in shown]
        failed += [f"forbidden: {each}" for each in wanted.get("mustExclude", []) if each in shown]
    return failed


def noise(expect: dict[str, Any], context: Context) -> list[str]:
    unwanted = expect.get("noiseCheck", {}).get("mustNotSurface", [])
    return [each for each in unwanted if each in (*context.relevant, *context.pinned)]


def hits_of(expect: dict[str, Any], context: Context) -> int:
    return len(set(wanted_of(expect)) & set(context.relevant))


def wanted_of(expect: dict[str, Any]) -> list[str]:
    return list(expect.get("relevantBeliefs", {}).get("shouldOnlyInclude", []))


def precision_of(expect: dict[str, Any], context: Context) -> float | None:
    if not context.relevant:
        return 0.0 if wanted_of(expect) else None
    return hits_of(expect, context) / len(context.relevant)


def summary(rows: Sequence[tuple[str, dict[str, Any], Context, list[str]]]) -> dict[str, Any]:
    """Summarises as the harness does: a pass is active if relevant results were expected and only these were found."""
    precisions = [(category, precision_of(expect, context), failed) for category, expect, context, failed in rows]
    recalls = [hits_of(expect, context) / len(wanted_of(expect)) for _, expect, context, _ in rows if wanted_of(expect)]
    passes = {"active": 0, "structural": 0, "trivially_empty": 0}
    for category, precision, failed in precisions:
        if not failed:
            kind = "structural" if category in STRUCTURAL else "trivially_empty"
            passes["active" if precision else kind] += 1
    return {
        "cases": len(rows),
        "passed": sum(passes.values()),
        "passes": passes,
        "mean_precision": round(statistics.fmean(each for _, each, _ in precisions if each is not None), 3),
        "mean_recall": round(statistics.fmean(recalls), 3),
        "p50_ms": round(statistics.median(context.took_ms for _, _, context, _ in rows), 1),
    }


async def seeded(shared: Path, store: Store, space: str, *, as_one_text: bool = False) -> Beliefs:
    beliefs = Beliefs(store, space, as_one_text=as_one_text)
    await beliefs.add(*read(shared, "beliefs.seed.json"))
    return beliefs


def read(shared: Path, name: str) -> list[dict[str, Any]]:
    return list(json.loads((shared / "precisionmembench" / name).read_text()))
