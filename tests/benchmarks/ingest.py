"""`make bench-ingest`: throughput of the window stage compared with stock Faust, quixstreams and aiokafka, its latency
and its recovery.

README.md in this folder says what is measured and how. The last line on stdout is one JSON object; progress is on stderr.
"""

import argparse
import asyncio
import json
import logging
import os
import sys
from pathlib import Path
from statistics import median
from typing import Any

from msgspec import structs

from deploy.embedded.tiktoken_vocabulary import ensure_vocabulary
from tests.benchmarks.bench import bench
from tests.benchmarks.latency import Latency, latency
from tests.benchmarks.machine import machine, use_cpus
from tests.benchmarks.measure import ENVIRONMENT
from tests.benchmarks.recovery import Recovery, recovery
from tests.benchmarks.throughput import MODULES, Throughput, read_by, throughput

SEED = 1
MESSAGES, ROUNDS = 100_000, 3
CPUS = 1  # two are often one core's, and then each slows the other down
STEADY_PER_S, STEADY_S = 400, 30.0
RECOVERED_ROWS = 100_000
QUIXSTREAMS = Path(".venv/quixstreams/bin/python")


async def run(options: argparse.Namespace) -> dict[str, Any]:
    """The brokers and processes end with it."""
    async with bench(options.cache_dir) as running:
        rates = await throughput(running, options.messages, options.rounds, SEED, options.quixstreams.absolute())
        delays = await latency(running, STEADY_PER_S, options.steady_s, SEED)
        rows = await recovery(running, options.rows, SEED)
    return {
        "messages": {way: read_by(way, options.messages) for way in MODULES},
        "rounds": options.rounds,
        **throughput_figures(rates),
        **latency_figures(delays),
        **recovery_figures(rows),
        "environment": ENVIRONMENT,
        "machine": machine(),
    }


def throughput_figures(rates: Throughput) -> dict[str, Any]:
    """Medians over the rounds; `runs` has every round."""
    return {
        "messages_per_s": {way: rates.rate(way) for way in MODULES},
        "ratio_to_stock": rates.ratio("stock_faust"),
        "ratio_to_quixstreams": rates.ratio("quixstreams"),
        "cpu_us_per_message": rates.besides_tokenising_us,
        "cpu_us_of_the_system": rates.system_us,
        "cpu_us_in_the_best_two_seconds": rates.least_us,
        "cpu_to_tokenising": rates.to_tokenising,
        "tokenise_us": round(median(run.tokenise_us for run in rates.runs["memstream"]), 1),
        "tokenise_alone_us": round(median(rates.tokenise_alone_us), 1),
        "cpu_us_with_tokenising": {way: rates.cpu_us(way) for way in MODULES},
        "runs": {way: [list(structs.astuple(run)) for run in runs] for way, runs in rates.runs.items()},
    }


def latency_figures(delays: Latency) -> dict[str, Any]:
    return {
        "end_to_request_p50_ms": delays.percentile(50),
        "end_to_request_p95_ms": delays.percentile(95),
        "ends": len(delays.milliseconds),
        "steady_records_per_s": STEADY_PER_S,
    }


def recovery_figures(rows: Recovery) -> dict[str, Any]:
    return {
        "recovery_rows": rows.rows,
        "recovery_mb": rows.megabytes,
        "recovery_s": rows.cold_s,
        "recovery_own_directory_s": rows.warm_s,
    }


def parsed_options(argv: list[str]) -> argparse.Namespace:
    cache_dir = Path(os.environ.get("MEMSTREAM_CACHE_DIR", Path.home() / ".cache" / "memstream"))
    parser = argparse.ArgumentParser(prog="ingest", description=__doc__)
    parser.add_argument("--messages", type=int, default=MESSAGES, help="read by each pipeline in each round")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--cpus", type=int, default=CPUS, help="that all processes run on, the broker among them")
    parser.add_argument("--steady-s", type=float, default=STEADY_S, help="seconds of steady flow for the latency")
    parser.add_argument("--rows", type=int, default=RECOVERED_ROWS, help="that a worker recovers")
    parser.add_argument("--quixstreams", type=Path, default=QUIXSTREAMS, help="the Python that has quixstreams.lock")
    parser.add_argument("--cache-dir", type=Path, default=cache_dir)
    options = parser.parse_args(argv)
    if options.cpus < 1:
        parser.error("--cpus: 1 or more")
    if not options.quixstreams.exists():
        parser.error(f"{options.quixstreams} is missing: `make bench-ingest` makes it, or name it with --quixstreams")
    return options


def main(argv: list[str]) -> int:
    options = parsed_options(argv)
    use_cpus(options.cpus)
    os.environ["TIKTOKEN_CACHE_DIR"] = str(ensure_vocabulary(options.cache_dir / "vocabulary"))  # of all processes
    logging.basicConfig(level=logging.CRITICAL)  # clients complain while a new topic has no leader yet
    sys.stdout.write(json.dumps(asyncio.run(run(options))) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
