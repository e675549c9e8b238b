"""Measures messages per second of each pipeline, in turn, on one topic that is filled before."""

import random
import sys
import time
from itertools import islice
from pathlib import Path
from statistics import median

import tiktoken
from msgspec import Struct, structs

from schemas import codec
from schemas.conversations.messages import Message
from streams.windows.tokens.counting import TokenCounter
from tests.benchmarks import chats, stock_faust_pipeline
from tests.benchmarks.bench import Bench
from tests.benchmarks.measure import Figures, measured
from tests.benchmarks.signals import ENCODING

PREFIX = "ingest."
MODULES = {
    "memstream": "memstream_pipeline",
    "stock_faust": "stock_faust_pipeline",
    "quixstreams": "quixstreams_pipeline",
    "raw_aiokafka": "aiokafka_pipeline",
}
STOCK_MESSAGES = 30_000  # at most: stock Faust is so slow that the others would wait for it
TEXTS = 20_000  # of the flow, tokenised alone in each round


class Throughput(Struct):
    """The figures of every round by pipeline, and the CPU time in us of tokenising a message alone."""

    runs: dict[str, list[Figures]]
    tokenise_alone_us: list[float]

    def rate(self, way: str) -> float:
        return round(median(run.messages_per_s for run in self.runs[way]))

    def cpu_us(self, way: str) -> float:
        return round(median(run.cpu_us for run in self.runs[way]), 1)

    @property
    def besides_tokenising_us(self) -> float:
        """CPU time of memstream per message without counting tokens, from the same run."""
        return round(median(run.cpu_us - run.tokenise_us for run in self.runs["memstream"]), 1)

    @property
    def to_tokenising(self) -> float:
        """The same relative to counting the tokens, run by run: nearly independent of the machine's speed."""
        runs = self.runs["memstream"]
        return round(median((run.cpu_us - run.tokenise_us) / run.tokenise_us for run in runs), 2)

    @property
    def least_us(self) -> float | None:
        """CPU time without tokenising in the best two seconds of all rounds; None if no round took so long."""
        return min((run.least_us for run in self.runs["memstream"] if run.least_us is not None), default=None)

    @property
    def system_us(self) -> float:
        """CPU time of the kernel per message of memstream."""
        return round(median(run.system_us for run in self.runs["memstream"]), 1)

    def ratio(self, other: str) -> float:
        """memstream's rate over another's, round by round: what slows the machine down slows both."""
        pairs = zip(self.runs["memstream"], self.runs[other], strict=True)
        return round(median(ours.messages_per_s / theirs.messages_per_s for ours, theirs in pairs), 2)


async def throughput(bench: Bench, messages: int, rounds: int, seed: int, quixstreams: Path) -> Throughput:
    """Runs every pipeline on the same topic in each round, from an empty state; the order rotates by one a round."""
    filled = bench.job(PREFIX, "fill")
    await bench.create(filled)
    await bench.fill(filled, islice(chats.interleaved(random.Random(seed)), messages))
    found = Throughput({way: [] for way in MODULES}, [])
    ways = list(MODULES)
    for number in range(rounds):
        for way in ways[number % len(ways) :] + ways[: number % len(ways)]:
            python = str(quixstreams) if way == "quixstreams" else sys.executable
            figures = await one(bench, way, number, python, messages)
            found.runs[way].append(figures)
            sys.stderr.write(
                f"round {number + 1} {way:13} {figures.messages_per_s:9.0f}/s {figures.cpu_us:7.1f} us CPU\n"
            )
        found.tokenise_alone_us.append(tokenise_us(seed, min(messages, TEXTS)))
    return found


async def one(bench: Bench, way: str, number: int, python: str, messages: int) -> Figures:
    total = read_by(way, messages)
    job = structs.replace(bench.job(PREFIX, f"{way}-{number}"), most=total)
    await bench.create(job, *([stock_faust_pipeline.changelog_of(job)] if way == "stock_faust" else []))
    async with measured(python, MODULES[way], job) as process:
        return await process.figures(bench.admin, job.group, total, tells=way == "memstream")


def read_by(way: str, messages: int) -> int:
    """Returns the number of messages that a pipeline reads of the topic."""
    return min(messages, STOCK_MESSAGES) if way == "stock_faust" else messages


def tokenise_us(seed: int, count: int) -> float:
    """CPU time a message of the flow's first texts."""
    flow = islice(chats.interleaved(random.Random(seed)), count)
    texts = [codec.decode(record.value, Message).content for record in flow]
    counter = TokenCounter(tiktoken.get_encoding(ENCODING))
    counter("the first call builds what the others use")
    begun = time.process_time()
    for text in texts:
        counter(text)
    return round((time.process_time() - begun) / count * 1e6, 2)
