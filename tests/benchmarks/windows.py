"""`make bench-windows`: CPU time, memory and changelog bytes of token windows.

README.md in this folder says what is measured and how. The last line on stdout is one JSON object; progress is on stderr.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from deploy.embedded.tiktoken_vocabulary import ensure_vocabulary
from tests.benchmarks.machine import machine
from tests.benchmarks.targets import WINDOWS, checked
from tests.benchmarks.windows_changelog import changelog
from tests.benchmarks.windows_memory import memory
from tests.benchmarks.windows_profile import profile
from tests.benchmarks.windows_speed import Timing, as_json, speed

SEED = 1
REPETITIONS = 2_000
CONVERSATIONS = 10_000


def run(options: argparse.Namespace) -> dict[str, Any]:
    timings = speed(options.repetitions, SEED)
    for name, timing in timings.items():
        sys.stderr.write(f"{line(name, timing)}\n")
    written = changelog(SEED)
    sys.stderr.write(f"changelog: {json.dumps(written)}\n")
    grown = memory(options.conversations, SEED)
    sys.stderr.write(f"memory: {json.dumps(grown)}\n")
    spent = profile(SEED)
    sys.stderr.write(f"microseconds a message: {json.dumps(spent)}\n")
    return {"steps": as_json(timings), "changelog": written, "memory": grown, "message_us": spent, "machine": machine()}


def line(name: str, timing: Timing) -> str:
    aim = "" if timing.aim_ms is None else f"   aim {timing.aim_ms:g} ms"
    wall = f"p50 {timing.p50_ms:9.4f} ms   p99 {timing.p99_ms:9.4f} ms"
    return f"{name:40}{wall}   of CPU {timing.cpu_p50_ms:9.4f} and {timing.cpu_p99_ms:9.4f} ms{aim}"


def parsed_options(argv: list[str]) -> argparse.Namespace:
    cache_dir = Path(os.environ.get("MEMSTREAM_CACHE_DIR", Path.home() / ".cache" / "memstream"))
    parser = argparse.ArgumentParser(prog="windows", description=__doc__)
    parser.add_argument("--repetitions", type=int, default=REPETITIONS, help="of each step")
    parser.add_argument("--conversations", type=int, default=CONVERSATIONS, help="that are open at once")
    parser.add_argument("--check", action="store_true", help="fail where a step exceeds the limit of a requirement")
    parser.add_argument("--cache-dir", type=Path, default=cache_dir)
    return parser.parse_args(argv)


def main(argv: list[str]) -> int:
    options = parsed_options(argv)
    os.environ["TIKTOKEN_CACHE_DIR"] = str(ensure_vocabulary(options.cache_dir / "vocabulary"))
    found, code = run(options), 0
    if options.check:
        code, found["check"] = checked({name: step["p99_ms"] for name, step in found["steps"].items()}, WINDOWS)
    sys.stdout.write(json.dumps(found) + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
