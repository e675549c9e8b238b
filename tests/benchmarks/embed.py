"""`make bench-embed`: texts a second of each in-process embedding model, short and long, on one thread and as shipped.

Embedding alone, in calls of 32 texts, as the stage of passages makes them. The last line on stdout is one JSON object.
"""

import asyncio
import json
import random
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from typing import Any, Final

from deploy.embedded.embedding_models import opened_model
from sinks.embeddings.models import MODELS
from sinks.embeddings.onnx import THREADS, OnnxEmbedder
from tests.benchmarks.machine import machine
from tests.embedders import CACHE_DIR

WORDS: Final = (
    *(
        "the",
        "of",
        "and",
        "to",
        "in",
        "we",
        "had",
        "a",
        "dinner",
        "with",
        "friends",
        "from",
        "work",
        "last",
        "night",
        "she",
        "said",
    ),
    *(
        "her",
        "sister",
        "moved",
        "Berlin",
        "spring",
        "garden",
        "project",
        "meeting",
        "budget",
        "coffee",
        "reading",
        "novel",
        "train",
    ),
    *("weekend", "hiking", "mountains", "dog", "walked", "river", "photo", "doctor", "appointment"),
)
CHARS: Final = {"short": 80, "long": 2_000}
TEXTS: Final = {"short": 320, "long": 32}
AT_ONCE: Final = 32
ROUNDS: Final = 3


def texts(kind: str) -> list[str]:
    chosen = random.Random(7)
    return [" ".join(chosen.choices(WORDS, k=CHARS[kind]))[: CHARS[kind]] for _ in range(TEXTS[kind])]


async def measured(embedder: OnnxEmbedder, given: Sequence[str]) -> dict[str, float]:
    """The best of ROUNDS: whatever else the machine does only makes it slower."""
    await embedder.embed(given[:AT_ONCE])
    walls, cpus = [], []
    for _ in range(ROUNDS):
        wall, cpu = time.perf_counter(), time.process_time()
        for start in range(0, len(given), AT_ONCE):
            await embedder.embed(given[start : start + AT_ONCE])
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return {"texts_per_s": round(len(given) / min(walls), 1), "texts_per_cpu_s": round(len(given) / min(cpus), 1)}


async def run() -> dict[str, Any]:
    report: dict[str, Any] = {"machine": machine(), "threads": THREADS}
    for name in MODELS:
        for threads in sorted({1, THREADS}):
            with closing(opened_model(name, CACHE_DIR, threads=threads)) as embedder:
                for kind in CHARS:
                    found = await measured(embedder, texts(kind))
                    report[f"{name}, {threads} threads, {kind}"] = found
                    sys.stderr.write(f"{name}, {threads} threads, {kind} texts: {found}\n")
    return report


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(run())) + "\n")
