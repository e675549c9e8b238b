"""What a benchmark ran on: figures mean little without it."""

import os
import platform
from pathlib import Path
from typing import Any

from deploy.embedded.jars import KAFKA_VERSION


def machine() -> dict[str, Any]:
    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "kafka": KAFKA_VERSION,
    }


def cpu_model() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())
