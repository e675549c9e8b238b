"""Times the decisions of a window over many repetitions, with the garbage collector set as in a worker."""

import gc
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tiktoken
from msgspec import Struct

from schemas.conversations.messages import Message
from schemas.conversations.window_settings import Strategy, WindowSettings
from schemas.conversations.windows import Cause, Gap, LastPrune
from streams.windows.context.building import build
from streams.windows.context.statistics import statistics
from streams.windows.pruning.pruning import due, prune
from streams.windows.segments import Segmentation
from streams.windows.tokens.accounting import Budget, used_tokens
from streams.windows.tokens.counting import TokenCounter
from streams.windows.traits import MessageTraits
from tests.benchmarks.signals import ENCODING
from tests.benchmarks.windows_chat import long
from tests.benchmarks.windows_turns import arrived, turns

WINDOW = 500  # messages
WARM_UP = 0.1  # of the repetitions, not counted
LARGE = 1_000_000  # characters
STRATEGIES: tuple[Strategy, ...] = ("rolling_window", "importance", "hybrid")
COUNTING_MS, PRUNING_MS, CONTEXT_MS, STATISTICS_MS = 1.0, 5.0, 20.0, 1.0

Step = tuple[str, float | None, Callable[[], object]]


class Timing(Struct, frozen=True):
    """`cpu_` is the thread's own time: whatever else the machine does makes the others longer, and this one less so."""

    least_ms: float
    p50_ms: float
    p99_ms: float
    cpu_p50_ms: float
    cpu_p99_ms: float
    repetitions: int
    aim_ms: float | None


def timed(step: Callable[[], object], repetitions: int, aim_ms: float | None) -> Timing:
    for _ in range(math.ceil(repetitions * WARM_UP)):
        step()
    wall, cpu = [], []
    for _ in range(repetitions):
        cpu_began, began = time.thread_time_ns(), time.perf_counter_ns()
        step()
        wall.append(time.perf_counter_ns() - began)
        cpu.append(time.thread_time_ns() - cpu_began)
    least_ms, p50_ms, p99_ms = percentiles(wall, 0.0, 0.50, 0.99)
    cpu_p50_ms, cpu_p99_ms = percentiles(cpu, 0.50, 0.99)
    return Timing(least_ms, p50_ms, p99_ms, cpu_p50_ms, cpu_p99_ms, repetitions, aim_ms)


def percentiles(taken_ns: Sequence[int], *shares: float) -> list[float]:
    """In ms."""
    ordered = sorted(taken_ns)
    return [round(ordered[int(share * (len(ordered) - 1))] / 1e6, 4) for share in shares]


def speed(repetitions: int, seed: int) -> dict[str, Timing]:
    """Everything with a window of 500 messages; the steps with a text of a megabyte are repeated less often."""
    counter = TokenCounter(tiktoken.get_encoding(ENCODING))
    messages = long(random.Random(seed), WINDOW)
    window = list(turns(messages, lambda message: counter(message.content)))
    steps = [*_arrivals(messages, counter), *_prunings(window), *_contexts(window)]
    large = list(_large(messages, counter))
    gc.collect()
    gc.freeze()  # as deploy/runtime/worker.py does
    try:
        found = {name: timed(step, repetitions, aim_ms) for name, aim_ms, step in steps}
        return found | {name: timed(step, max(20, repetitions // 100), aim_ms) for name, aim_ms, step in large}
    finally:
        gc.unfreeze()


def _arrivals(messages: Sequence[Message], counter: TokenCounter) -> Iterator[Step]:
    """One message at a time, each in its turn: half of them are longer than 200 characters, few than 1,000."""
    counted, detected = Turning(messages), Turning(messages)
    yield "count_tokens", COUNTING_MS, lambda: counter(counted.next().content)
    yield "detect_and_segment", None, lambda: arrived(detected.next(), Segmentation(1, 0.0, True))


def _large(messages: Sequence[Message], counter: TokenCounter) -> Iterator[Step]:
    content = " ".join(message.content for message in messages)
    content = (content * math.ceil(LARGE / len(content)))[:LARGE]
    message = Message(
        conversation_id="conv-large", message_id="m", role="user", timestamp=messages[0].timestamp, content=content
    )
    yield "count_tokens_1_mb", None, lambda: counter(content)
    yield "detect_and_segment_1_mb", None, lambda: arrived(message, Segmentation(1, 0.0, True))


def _prunings(window: Sequence[MessageTraits]) -> Iterator[Step]:
    now = window[-1].timestamp
    for strategy in STRATEGIES:
        cases: tuple[tuple[str, float, Cause], ...] = (
            ("usage_80", 0.82, "usage"),
            ("usage_90", 0.92, "usage"),
            ("boundary", 0.50, "boundary"),
            ("by_hand", 0.50, "manual"),
        )
        for name, share, cause in cases:
            budget = filled(window, share, strategy)
            yield f"prune_{name}_{strategy}", PRUNING_MS, _pruning(window, budget, now, cause)
    budget, tokens = filled(window, 0.50), used_tokens(window)
    yield "whether_to_prune", None, lambda: due(WINDOW, tokens, budget)


def _pruning(window: Sequence[MessageTraits], budget: Budget, now: float, cause: Cause) -> Callable[[], object]:
    return lambda: prune(window, (), budget, now, cause)


def _contexts(window: Sequence[MessageTraits]) -> Iterator[Step]:
    """Builds contexts that fit, that must be pruned first, and that have markers of an earlier pruning."""
    now, current = window[-1].timestamp, window[-1]
    fits, full = filled(window, 0.50), filled(window, 0.92)
    kept, gaps = pruned(window, now)
    again, last = filled(kept, 0.50), LastPrune(now, "usage", WINDOW - len(kept))
    yield "context_that_fits", CONTEXT_MS, lambda: build(window[:-1], (), fits, now, current)
    yield "context_that_is_pruned", CONTEXT_MS, lambda: build(window[:-1], (), full, now, current)
    yield "context_with_markers", CONTEXT_MS, lambda: build(kept, gaps, again, now)
    yield "statistics", STATISTICS_MS, lambda: statistics(window, (), fits)
    yield "statistics_with_markers", STATISTICS_MS, lambda: statistics(kept, gaps, again, last)


def filled(window: Sequence[MessageTraits], share: float, strategy: Strategy = "hybrid") -> Budget:
    """The budget that the window uses a share of; no window is too long for it in messages."""
    settings = WindowSettings(strategy=strategy, max_messages=max(WINDOW, len(window)))
    return Budget.of(settings, math.ceil(used_tokens(window) / share))


def pruned(window: Sequence[MessageTraits], now: float) -> tuple[list[MessageTraits], tuple[Gap, ...]]:
    """Returns messages and gaps of a context pruned at 90 % by the strategy that leaves most markers."""
    decision = prune(window, (), filled(window, 0.92, "importance"), now)
    kept = set(decision.retained)
    return [turn for turn in window if turn.position in kept], decision.gaps


class Turning:
    """Goes through messages again and again."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages, self._at = messages, -1

    def next(self) -> Message:
        self._at = (self._at + 1) % len(self._messages)
        return self._messages[self._at]


def as_json(timings: dict[str, Timing]) -> dict[str, Any]:
    return {name: {key: getattr(timing, key) for key in timing.__struct_fields__} for name, timing in timings.items()}
