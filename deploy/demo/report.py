"""The report of the demo: memories, events, contexts, latency, dead letters, and next steps."""

import math
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from agents.dead_letters.writer import dead_letter_headers
from deploy.cli import terminal
from deploy.demo.contexts import PrunedContext, show_context
from deploy.demo.questions import AnsweredQuestion, show_answers
from deploy.demo.samples import shows
from schemas import codec
from schemas.budgets.budgets import MICROS
from schemas.budgets.usage import Total
from schemas.counts import counted
from schemas.memories.events import MemoryEvent
from schemas.memories.memories import Memory
from sinks.archive.progress import ConversationProgress
from sinks.memories.reader import Memories
from sinks.postgres.connection import Pool


class DeadLetter(Struct, frozen=True):
    """A dead letter in the report: reason, source, and the beginning of its value."""

    reason: str
    position: str
    detail: str
    value: str


class Outcome(Struct, frozen=True):
    """The results of one conversation."""

    conversation_id: str
    shows: str
    messages: int
    slices: int
    changes: dict[str, int]

    def __str__(self) -> str:
        changes = ", ".join(f"{count} {change}" for change, count in self.changes.items()) or "nothing remembered"
        return changes if self.slices == 1 else f"{changes} (in {self.slices} slices)"


class ModelCalls(Struct, frozen=True):
    """The calls and tokens of one model for one operation; `cached` input tokens came from the provider's cache."""

    provider: str
    model: str
    operation: str
    calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost_usd: float

    @classmethod
    def of(cls, total: Total) -> "ModelCalls":
        cached = total.cache_read_tokens
        return cls(
            provider=total.provider,
            model=total.model,
            operation=total.operation,
            calls=total.calls,
            input_tokens=total.input_tokens + cached + total.cache_write_tokens,
            cached_tokens=cached,
            output_tokens=total.output_tokens,
            cost_usd=total.cost_micros / MICROS,
        )

    def __str__(self) -> str:
        return (
            f"{self.model} of {self.provider}, {self.operation}: {counted(self.calls, 'calls')}, "
            f"{self.input_tokens:,} input tokens, {self.cached_tokens:,} of them cached, "
            f"{self.output_tokens:,} output tokens; ${self.cost_usd:.4f}."
        )


class Report(Struct):
    """The demo's outcome; durations in seconds. Latency: from a conversation's confirmed end to its stored memories."""

    outcomes: list[Outcome]
    memories: list[Memory]
    events: list[MemoryEvent]
    dead_letters: list[DeadLetter]
    conversations: int
    messages: int
    latency_p50_s: float
    latency_p95_s: float
    contexts: list[PrunedContext] = []
    answers: list[AnsweredQuestion] = []
    model_calls: list[ModelCalls] = []
    start_s: float = 0.0
    total_s: float = 0.0


async def gather(
    pool: Pool,
    events: Sequence[Any],
    dead_letter_records: Sequence[Any],
    ends: dict[str, datetime],
    states: dict[str, ConversationProgress],
) -> Report:
    changed = [codec.decode(record.value, MemoryEvent) for record in events]
    namespaces = sorted({event.data.namespace for event in changed})
    memories = [
        memory
        for name in namespaces
        for memory in await Memories(pool).in_namespace(name, statuses=("active", "superseded"))
    ]
    waits = sorted(
        (state.completed_at - ends[name]).total_seconds()
        for name, state in states.items()
        if state.completed_at is not None and name in ends
    )
    return Report(
        outcomes=[outcome(name, about, states[name], changed) for name, about in shows().items() if name in states],
        memories=memories,
        events=sorted(changed, key=lambda event: (event.data.namespace, event.data.sequence)),
        dead_letters=[dead_letter(record) for record in dead_letter_records],
        conversations=len(states),
        messages=sum(state.archived for state in states.values()),
        latency_p50_s=percentile(waits, 0.50),
        latency_p95_s=percentile(waits, 0.95),
    )


def outcome(conversation_id: str, about: str, state: ConversationProgress, events: Sequence[MemoryEvent]) -> Outcome:
    mine = [event.data.change for event in events if event.data.cause.request_id in state.request_ids]
    return Outcome(conversation_id, about, state.archived, len(state.request_ids), dict(Counter(mine)))


def dead_letter(record: Any) -> DeadLetter:
    why = dead_letter_headers(record.headers)
    value = (record.value or b"").decode("utf-8", "replace")
    position = f"{why['topic']}[{why['partition']}]@{why['offset']}"
    return DeadLetter(why["reason"], position, why["detail"], value[:80])


def percentile(ordered: Sequence[float], fraction: float) -> float:
    """Nearest rank; 0 without values."""
    return round(ordered[max(0, math.ceil(fraction * len(ordered)) - 1)], 2) if ordered else 0.0


def as_json(report: Report) -> dict[str, Any]:
    return structs.asdict(report) | {"contexts": [context.as_json() for context in report.contexts]}


def show(report: Report, data_dir: Path) -> None:
    terminal.show_table(
        "Conversations",
        ("conversation", "shows", "messages", "outcome"),
        [(each.conversation_id, each.shows, str(each.messages), str(each)) for each in report.outcomes],
        wide="shows",
    )
    terminal.show_groups(
        "\nMemories",
        ("kind", "text", "imp.", "conf.", "from"),
        by_namespace((memory.namespace, memory_row(memory)) for memory in report.memories),
        wide="text",
    )
    changes = Counter(event.data.change for event in report.events)
    terminal.show_groups(
        f"\nMemory events published: {', '.join(f'{count} {change}' for change, count in changes.items())}",
        ("#", "change", "text"),
        by_namespace((event.data.namespace, event_row(event)) for event in report.events),
        wide="text",
    )
    show_answers(report.answers)
    for context in report.contexts:
        show_context(context)
    terminal.show_table(
        "\nDead letters",
        ("reason", "position", "detail", "begins"),
        [(letter.reason, letter.position, letter.detail, letter.value) for letter in report.dead_letters],
        wide="detail",
    )
    terminal.print_line(
        f"\n{counted(report.conversations, 'conversations')}, {counted(report.messages, 'messages')}. "
        f"From a conversation's end to its stored memories: p50 {report.latency_p50_s:.2f} s, p95 {report.latency_p95_s:.2f} s.\n"
        + "".join(f"{calls}\n" for calls in report.model_calls)
        + f"Started in {report.start_s:.1f} s, done in {report.total_s:.1f} s; everything is stopped again."
    )
    for line in next_steps(report, data_dir):
        terminal.print_line(line)


def memory_row(memory: Memory) -> tuple[str, ...]:
    state = "" if memory.status == "active" else f" ({memory.status})"
    sources = "\n".join(dict.fromkeys(source.message_id for source in memory.sources))
    return (memory.kind, memory.text + state, f"{memory.importance:.2f}", f"{memory.confidence:.2f}", sources)


def event_row(event: MemoryEvent) -> tuple[str, ...]:
    """A row of an event. Deleted memories have no text; the reason of a compaction stands beside the rest."""
    data = event.data
    why = f"({data.cause.reason})" if data.change == "compacted" else ""
    return (str(data.sequence), data.change, f"{data.memory.text} {why}".strip())


def by_namespace(rows: Iterable[tuple[str, tuple[str, ...]]]) -> dict[str, list[tuple[str, ...]]]:
    grouped: dict[str, list[tuple[str, ...]]] = {}
    for namespace, row in rows:
        grouped.setdefault(namespace, []).append(row)
    return grouped


def next_steps(report: Report, data_dir: Path) -> list[str]:
    namespace = report.memories[0].namespace if report.memories else "app/user"
    called = Path(sys.argv[0])
    command = shortest(called) if called.name == "memstream" else "memstream"
    return [
        "",
        "Next:",
        "  # keep it running, with what the demo remembered:",
        f"  {command} dev --data-dir {shortest(data_dir)}",
        "  # in another shell:",
        f'  {command} search "what do they like?" -n "{namespace}"',
        f"  {command} events --follow",
        *(f"  {command} window show {context.conversation_id}" for context in report.contexts[:1]),
        f"  {command} doctor",
    ]


def shortest(path: Path) -> Path:
    """The path relative to the working directory when it lies below it."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
