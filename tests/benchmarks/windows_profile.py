"""Measures the CPU time of each step of the window stage for one message, without a broker."""

import gc
import random
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from itertools import islice
from statistics import median
from typing import Any, TypeVar
from zlib import crc32

import tiktoken

from agents.windows.records import outgoing
from schemas import codec
from schemas.conversations.messages import Message
from streams.apps import BATCH_RECORDS
from streams.windows.context.history import History
from streams.windows.detectors.detect import detect
from streams.windows.rows import rows
from streams.windows.tokens.counting import TokenCounter, message_tokens
from streams.windows.window import Window
from tests.benchmarks import chats
from tests.benchmarks.signals import ENCODING
from tests.benchmarks.windows_by_event import window_terms

MESSAGES, ROUNDS = 40_000, 5
BATCH = BATCH_RECORDS["windows"]
PARTITIONS = 8

T = TypeVar("T")


class Stage:
    """The steps of the window stage over batches as a partition delivers them; `spent` is nanoseconds by step."""

    def __init__(self) -> None:
        self.spent: dict[str, int] = {}
        self._terms = window_terms()
        self._count = TokenCounter(tiktoken.get_encoding(ENCODING))
        self._count("the first call builds what the others use")
        self._windows: dict[str, Window] = {}
        self._position = 0

    def batch(self, values: Sequence[bytes]) -> None:
        messages = self._timed("decode", lambda: [codec.decode_untrusted(value, Message) for value in values])
        tokens = self._timed("tokenise", lambda: [message_tokens(each, self._count) for each in messages])
        self._timed("detect", lambda: [detect(each.role, each.content, bool(each.tool_calls)) for each in messages])
        changed, effects = self._timed("add", lambda: self._add(messages, tokens))
        self._timed("tell", lambda: [outgoing(each, 0, datetime.now(UTC)) for each in effects])
        self._timed("rows", lambda: [rows.save(window) for window in changed])

    def _add(self, messages: Iterable[Message], tokens: Iterable[int]) -> tuple[list[Window], list[Any]]:
        changed: dict[str, Window] = {}
        effects: list[Any] = []
        for message, count in zip(messages, tokens, strict=True):
            window = self._windows.get(message.conversation_id)
            if window is None:
                window = self._windows[message.conversation_id] = Window.opened(message.conversation_id, 0)
            changed[message.conversation_id] = window
            effects += window.add(message, self._position, count, self._terms.now, time.time())
            self._position += 1
        return list(changed.values()), effects

    def _timed(self, step: str, work: Callable[[], T]) -> T:
        begun = time.process_time_ns()
        done = work()
        self.spent[step] = self.spent.get(step, 0) + time.process_time_ns() - begun
        return done


def profile(seed: int, count: int = MESSAGES) -> dict[str, float]:
    """Microseconds of CPU a message by step, medians over rounds. `window` is what adding takes besides detecting and pruning."""
    batches = list(partition_batches(seed, count))
    gc.collect()
    gc.freeze()
    found: list[dict[str, float]] = []
    for _ in range(ROUNDS):
        pruning, prune = Stage(), History.prune
        spent: list[int] = []

        def timed(history: History, *args: Any, spent: list[int] = spent, prune: Any = prune) -> Any:
            begun = time.process_time_ns()
            done = prune(history, *args)
            spent.append(time.process_time_ns() - begun)
            return done

        History.prune = timed  # type: ignore[method-assign,assignment]
        try:
            for values in batches:
                pruning.batch(values)
        finally:
            History.prune = prune  # type: ignore[method-assign]
        steps = pruning.spent | {"prune": sum(spent)}
        steps["window"] = steps.pop("add") - steps["detect"] - steps["prune"]
        found.append({step: nanoseconds / count / 1_000 for step, nanoseconds in steps.items()})
    gc.unfreeze()
    return {step: round(median(each[step] for each in found), 2) for step in found[0]}


def partition_batches(seed: int, count: int) -> Iterable[list[bytes]]:
    """The flow of `make bench-ingest`, in batches of one partition each."""
    waiting: dict[int, list[bytes]] = {}
    for record in islice(chats.interleaved(random.Random(seed)), count):
        partition = crc32(record.key or b"") % PARTITIONS
        waiting.setdefault(partition, []).append(record.value or b"")
        if len(waiting[partition]) == BATCH:
            yield waiting.pop(partition)
    yield from waiting.values()
