"""An API over fakes with content in every view. Tests supply the texts that users, models and operators would write."""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from itertools import cycle

import numpy as np
from msgspec.structs import replace

from agents.consolidation.requests import manual_run
from agents.policies.changes import PolicyChange, records
from agents.replay.comparison import Difference
from agents.retention.sweeper import manual_sweep
from schemas.budgets.usage import Total
from schemas.consolidation.retention import RetentionStatistics
from schemas.consolidation.runs import Finding, RunRequest, Scheduled
from schemas.conversations.messages import Scope, ToolCall
from schemas.conversations.windows import Gap
from schemas.extraction.candidates import Source
from schemas.extraction.links import Link
from schemas.memories.events import Cause, MemoryEvent
from schemas.memories.memories import Memory
from schemas.policies.kinds import Kind
from schemas.policies.matching import Match
from schemas.policies.policies import Policies, Policy
from schemas.policies.triggers import Schedule
from schemas.replay.generations import Generation, Plan
from schemas.retrieval.searches import SaidHit
from sinks.access.audit import Audited
from sinks.memories.insights import NamespaceDay
from sinks.memories.kinds import UsedKind
from sinks.memories.reader import MemoryVersion
from sinks.memories.writer import memory_changed
from sinks.metrics.pipeline_state import ParkedRequests, ProviderState, UnderWay
from streams.kafka.topics import STAGES
from tests.api import NOON, Api, a_memory
from tests.builders.trails import a_change, a_trail, an_extraction
from tests.fakes.windows import a_pruning, a_state
from tests.integration.panel.operators import a_stage

NAMESPACE = "app/ada"
MEMORIES = 24
TURNS = 30


class PopulatedApi:
    """`text()` is the next of the texts, `name()` that of one that is no longer than an identifier may be."""

    def __init__(self, api: Api, texts: Sequence[str], conversation: str = "talk") -> None:
        self.api = api
        self.conversation = conversation
        self._texts: Iterator[str] = cycle(texts)
        self._names: Iterator[str] = cycle([each for each in texts if len(each) <= 100])
        self.policy = self.name()

    def text(self) -> str:
        return next(self._texts)

    def name(self) -> str:
        return next(self._names)

    async def fill(self) -> None:
        self.memories()
        self.history()
        await self.conversations()
        self.insights()
        self.pipeline()
        self.dead_letters()
        self.work()
        await self.policies()
        await self.access()

    def source(self, number: int) -> Source:
        return Source(conversation_id=self.conversation, message_id=f"{self.conversation}-{number}", timestamp=NOON)

    def memories(self) -> None:
        kinds = ("fact", "preference", "decision", "plan", "goal", self.name())
        for number in range(MEMORIES):
            self.api.memories.put(
                a_memory(
                    f"m{number}",
                    text=self.text(),
                    kind=kinds[number % len(kinds)],
                    importance=0.95 - number / 30,
                    tags=(self.name(), self.name())[: number % 3],
                    context=self.text(),
                    full_text=self.text(),
                    created_by=self.name(),
                    sources=(self.source(number % TURNS + 1),),
                    pinned=number == 0,
                    reinforcement_count=number % 4,
                    sequence=number + 1,
                )
            )
            angle = number / 4
            self.api.memories.vectors[f"m{number}"] = np.array(
                (np.cos(angle), np.sin(angle), number / MEMORIES), dtype=np.float32
            )
        self.link()
        self.api.memories.put(*(a_memory(f"other{n}", namespace=f"app/{self.name()}") for n in range(4)))
        self.api.remembered.known |= self.api.memories.rows
        self.api.searched.memories = list(self.api.memories.rows.values())[:8]
        passage = self.api.said.say(self.text(), at=NOON, speaker=self.name(), conversation_id=self.conversation)
        self.api.searched.said = [SaidHit(score=0.8, passage=passage, owners=(NAMESPACE,))]
        described = UsedKind(name=self.name(), description=self.text()[:300])
        self.api.kinds.described[NAMESPACE] = (described,)

    def link(self) -> None:
        """m0 replaced one and is told more of by two."""
        rows = self.api.memories.rows
        long_ago = NOON - timedelta(days=400)
        self.api.memories.put(
            replace(rows["m0"], supersedes="m1", valid_from=NOON),
            replace(rows["m1"], status="superseded", superseded_by="m0", valid_from=long_ago, valid_until=NOON),
            *(replace(rows[each], links=(Link(type="refines", memory_id="m0"),)) for each in ("m2", "m3")),
        )

    def history(self) -> None:
        after = self.api.memories.rows["m0"]
        before = replace(after, text=self.text(), importance=0.4, tags=(self.name(),))
        steps: list[tuple[Memory | None, Memory]] = [(None, before), (before, after)]
        for number, (was, now) in enumerate(steps, 1):
            cause = Cause(actor=self.name(), reason=self.text())
            change = "updated" if was else "created"
            at = NOON + timedelta(hours=number)
            self.api.memories.version_rows.append(
                MemoryVersion(
                    memory_id="m0",
                    version=number,
                    namespace=NAMESPACE,
                    change=change,
                    before=was,
                    after=now,
                    cause=cause,
                    at=at,
                )
            )
            self.api.event_history.events[NAMESPACE, number] = MemoryEvent.of(
                memory_changed(change, was, now, cause), at
            )
        self.api.event_history.at[NAMESPACE] = len(steps) + 1

    async def conversations(self) -> None:
        roles = ("user", "assistant")
        for number in range(TURNS):
            who = {"user_id": self.name(), "name": self.name()} if number % 2 == 0 else {"model": self.name()}
            self.api.archive.say(self.conversation, (roles[number % 2], self.text()), app_id="app", **who)
        call = ToolCall(id="call-1", name=self.name(), arguments={"query": self.text()})
        self.api.archive.say(self.conversation, ("assistant", ""), app_id="app", tool_calls=(call,))
        self.api.archive.say(self.conversation, ("tool", self.text()), app_id="app", tool_call_id="call-1")
        scope = Scope(conversation_id=self.conversation, app_id="app", user_id="ada")
        state = a_state(
            self.conversation,
            scope=scope,
            policy=self.name(),
            model=self.name(),
            prunings=(a_pruning(),),
            gaps=(Gap(first=1, last=3, count=3, tokens=30),),
        )
        roles_tokens = {"system": 120, "user": 340, "assistant": 590, "tool": 80}
        statistics = replace(
            state.statistics,
            percent_used=83.3,
            level="warning",
            context_tokens=1_360,
            total_tokens=1_130,
            tokens_by_role=roles_tokens,
            explanation=self.text(),
        )
        await self.api.windows.project([replace(state, statistics=statistics)])
        change = replace(a_change(text=self.text()), cause=Cause(actor=self.name(), reason=self.text()))
        extraction = replace(an_extraction(), provider=self.name(), model=self.name(), policy=self.name())
        self.api.trails.known[self.conversation, f"{self.conversation}-3"] = a_trail(extraction, changes=(change,))

    def insights(self) -> None:
        self.api.insights.known_days = [
            NamespaceDay(
                day=date(2026, 3, 2) - timedelta(days=number),
                changes={"created": (number * 7) % 11, "reinforced": number % 4, "superseded": number % 2},
                calls=number,
                tokens=(number * 977) % 4_000,
                cost_usd=number / 1_000,
            )
            for number in range(28)
        ]
        self.api.usage.by_namespace = {
            namespace: [
                Total(
                    operation="extraction",
                    lane="live",
                    provider=self.name(),
                    model=self.name(),
                    answered=12,
                    failed=1,
                    calls=13,
                    input_tokens=41_250,
                    output_tokens=3_480,
                    cache_read_tokens=0,
                    cache_write_tokens=0,
                    cost_micros=123_400,
                    unpriced=0,
                )
            ]
            for namespace in (NAMESPACE, None)
        }

    def pipeline(self) -> None:
        pipeline = self.api.pipeline
        pipeline.stages = tuple(a_stage(stage, running=stage != "passages") for stage in STAGES)
        pipeline.states = (
            ProviderState(provider=self.policy, breaker="open", available=False, workers=2, at=NOON),
            ProviderState(provider="offline", breaker=None, available=True, workers=2, at=NOON),
        )
        pipeline.waiting = (
            ParkedRequests(
                lane="background", reason="budget", requests=41, batched=0, oldest_at=NOON - timedelta(hours=3)
            ),
        )
        pipeline.now_under_way = UnderWay(calls=3, outbox=2, outbox_since=NOON)

    def dead_letters(self) -> None:
        for reason in ("invalid", "undecodable", self.name()):
            value = self.text().encode()
            self.api.letter_topic.add_letter(value, reason=reason, stage="windows", detail=self.text())

    def work(self) -> None:
        run = manual_run(RunRequest(namespace=NAMESPACE, dry_run=True), (NAMESPACE,), self.name(), NOON)
        done = replace(run, run_id="r1", status="completed", conversations=14, processed=14, created=9, tokens=41_250)
        failed = replace(run, run_id="r2", status="failed", dry_run=False, error=self.text())
        self.api.runs.put(done)
        self.api.runs.put(failed)
        self.api.runs.found["r1"] = [
            Finding(
                namespace=NAMESPACE,
                conversation_id=self.conversation,
                result="superseded",
                kind=self.name(),
                text=self.text(),
                message_ids=(f"{self.conversation}-3",),
                memory_id="m0",
                known=self.text(),
                reason=self.text(),
                number=number,
            )
            for number in range(1, 4)
        ]
        self.api.runs.scheduled = [Scheduled(policy=self.name(), schedule=Schedule(at="03:00"), next_due=NOON)]
        kept = RetentionStatistics(policy=self.name(), days=30, messages=50, pruned=7)
        self.api.sweeps.by_id["s1"] = replace(
            manual_sweep(True, self.name(), NOON), policies=(kept,), status="completed"
        )
        generation = Generation(
            generation_id="0a1b2c3d",
            plan=Plan(until=NOON, policies=Policies(), namespaces="*"),
            status="ready",
            created_at=NOON,
            changed_at=NOON,
        )
        old, new = a_memory("old", text=self.text()), a_memory("new", text=self.text())
        self.api.replays.put(
            generation,
            app_ada=[
                Difference(fate="lost", before=old, why=self.text()),
                Difference(fate="added", after=new),
                Difference(fate="changed", before=old, after=new, fields=("text",)),
            ],
        )

    async def policies(self) -> None:
        policy = Policy(
            name=self.policy,
            match=Match(app_id=self.name(), mode="notes"),
            taxonomy=(Kind(name="hobby", description=self.text()[:300], icon="🎯"),),
            instructions=self.text(),
        )
        change = PolicyChange(policy, "created")
        await self.api.policy_records.publish(records([change]))

    async def access(self) -> None:
        for _ in range(3):
            await self.api.audit.record(
                Audited(
                    at=NOON, actor=self.name(), action="key.created", subject=self.name(), details={"note": self.text()}
                )
            )
        token = self.api.keys.add(read="app/*")
        self.api.keys.by_token[token] = replace(self.api.keys.by_token[token], name=self.name())
