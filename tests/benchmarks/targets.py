"""Checks the time limits of the requirements on request (`--check`), and reports the machine's factor.

Figures alone never fail: machines differ. A check fails by the exit code, and tells how fast this machine is, so that a slow
machine can be told from slow code.
"""

import sys
import time
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

from msgspec import Struct

# Milliseconds of CPU that `work` took, at best, on the machine of the published figures.
REFERENCE_MS: Final = 4.35
ATTEMPTS: Final = 20

COUNTING_MS, PRUNING_MS, CONTEXT_MS, STATISTICS_MS, READING_MS, CREATING_MS = 10.0, 50.0, 200.0, 100.0, 100.0, 5_000.0
# By the beginning of a step's name; what has no limit in a requirement is not checked.
WINDOWS: Final = {
    "count_tokens": COUNTING_MS,
    "prune_": PRUNING_MS,
    "context_": CONTEXT_MS,
    "statistics": STATISTICS_MS,
}
SERVE: Final = {"list": READING_MS, "read": READING_MS, "search": READING_MS, "create": CREATING_MS}
UNCHECKED: Final = frozenset({"count_tokens_1_mb"})  # no message that anybody types


class Miss(Struct, frozen=True):
    """A step that took longer than it may, in ms."""

    step: str
    took_ms: float
    limit_ms: float


def misses(took_ms: Mapping[str, float], limits_ms: Mapping[str, float]) -> list[Miss]:
    """Raises ValueError for a limit that nothing measured answers to: a check that looks at nothing proves nothing."""
    unmet = [each for each in limits_ms if not any(name.startswith(each) for name in took_ms)]
    if unmet:
        raise ValueError(f"nothing was measured for the limits of {', '.join(unmet)}")
    return [
        Miss(name, took, limit)
        for name, took in took_ms.items()
        for beginning, limit in limits_ms.items()
        if name.startswith(beginning) and name not in UNCHECKED and took > limit
    ]


def checked(took_ms: Mapping[str, float], limits_ms: Mapping[str, float]) -> tuple[int, dict[str, Any]]:
    """The exit code, and what is told: the factor of this machine, and each miss."""
    factor, found = machine_factor(), misses(took_ms, limits_ms)
    for miss in found:
        sys.stderr.write(f"{miss.step} took {miss.took_ms:g} ms, and may take {miss.limit_ms:g} ms\n")
    sys.stderr.write(f"this machine takes {factor:g} times as long as that of the published figures\n")
    missed = [{"step": miss.step, "took_ms": miss.took_ms, "limit_ms": miss.limit_ms} for miss in found]
    return int(bool(found)), {"machine_factor": factor, "misses": missed}


def machine_factor() -> float:
    """Returns the time of a fixed task relative to the machine of the published figures, at best."""
    least_ns = min(cpu_ns() for _ in range(ATTEMPTS))
    return round(least_ns / 1e6 / REFERENCE_MS, 2)


def cpu_ns() -> int:
    began = time.thread_time_ns()
    work()
    return time.thread_time_ns() - began


def work() -> str:
    """Some of what memstream does: objects of Python, and bytes in C."""
    texts = [f"message {number}: {number * number}" for number in range(20_000)]
    return sha256("\n".join(sorted(texts, key=len)).encode()).hexdigest()
