"""Describes the machine and the environment of a benchmark, and limits its CPUs."""

import os
import platform
import re
from pathlib import Path
from typing import Any, Final

from deploy.embedded.kafka.jars import KAFKA_VERSION

PINS: Final = hasattr(os, "sched_setaffinity")  # Linux
HUGE_PAGES: Final = Path("/sys/kernel/mm/transparent_hugepage/enabled")


def machine() -> dict[str, Any]:
    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "used": len(os.sched_getaffinity(0)) if PINS else os.cpu_count(),
        "python": platform.python_version(),
        "kafka": KAFKA_VERSION,
        "libc": " ".join(platform.libc_ver()),
        "huge_pages": huge_pages(),
    }


def huge_pages() -> str:
    """The setting of the kernel: `always`, `madvise` (on request) or `never`; empty if it is unknown."""
    found = re.search(r"\[(\w+)\]", HUGE_PAGES.read_text()) if HUGE_PAGES.exists() else None
    return found[1] if found else ""


def use_cpus(count: int) -> None:
    """Limits this process, and those that it starts later, to this number of CPUs, where the system supports it."""
    if PINS:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:count])


def cpu_model() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())
