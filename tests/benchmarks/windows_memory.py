"""Measures the resident memory of a process with open conversations; the process runs this module."""

import gc
import json
import random
import subprocess
import sys
from itertools import islice
from typing import Any

import psutil

from schemas import codec
from schemas.conversations.messages import Message
from schemas.conversations.window_settings import WindowSettings
from streams.windows.window import Window
from tests.benchmarks.windows_arrivals import add, opened, saved_bytes, terms
from tests.benchmarks.windows_chat import conversation
from tests.benchmarks.windows_turns import INTERLEAVED

MESSAGES = 50
MIB = 1_048_576
CHARACTERS_PER_TOKEN = 4
UNDER = terms(WindowSettings())


def memory(conversations: int, seed: int) -> dict[str, Any]:
    """With half of them and with all: what memory grew by since before the first."""
    half, whole = (measured(count, seed) for count in (conversations // 2, conversations))
    return {
        "conversations": conversations,
        "messages_each": MESSAGES,
        "mib": round(whole["grown"] / MIB, 1),
        "mib_of_half": round(half["grown"] / MIB, 1),
        "ratio_to_half": round(whole["grown"] / half["grown"], 2),
        "bytes_per_message": round(whole["grown"] / conversations / MESSAGES),
        "content_bytes_per_message": round(whole["content"] / conversations / MESSAGES),
        "process_mib": round(whole["resident"] / MIB, 1),
        "aim_mib": 1024,
    }


def measured(conversations: int, seed: int) -> dict[str, int]:
    """Measures in a new process, so that no memory freed before is used again."""
    command = [sys.executable, "-m", "tests.benchmarks.windows_memory", str(conversations), str(seed)]
    report: dict[str, int] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return report


def held(conversations: int, seed: int) -> dict[str, int]:
    """Bytes: of contents, that resident memory grew by, and that the process has in all."""
    gc.collect()
    gc.freeze()
    before, windows, content = _resident(), [], 0
    for number in range(conversations):
        window, size = _window(random.Random(seed * 1_000_003 + number), f"conv-{number:016x}")
        windows.append(window)
        content += size
    gc.collect()
    return {"content": content, "grown": _resident() - before, "resident": _resident()}


def _window(rng: random.Random, conversation_id: str) -> tuple[Window, int]:
    """A window whose messages came as records do, decoded one by one, and were written."""
    window, content = opened(conversation_id), 0
    for offset, said in enumerate(islice(conversation(rng, conversation_id), MESSAGES)):
        message = codec.decode(codec.encode(said), Message)
        add(window, message, INTERLEAVED * offset, len(message.content) // CHARACTERS_PER_TOKEN, UNDER)
        content += len(message.content.encode())
    saved_bytes(window)
    return window, content


def _resident() -> int:
    return int(psutil.Process().memory_info().rss)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(held(int(sys.argv[1]), int(sys.argv[2]))))
