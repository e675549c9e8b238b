"""Messages between a benchmark and the process that it measures: a job on the command line, lines on stdout.

Imported in the environment of every pipeline, so it needs msgspec alone.
"""

import os
import sys
import time

import msgspec
from msgspec import Struct

from schemas.kafka import topics

COMMIT_INTERVAL_S = 0.5  # of every pipeline: memstream's default
READ_AT_ONCE = 1_000  # records, if the pipeline can set it: memstream's default
ENCODING = "o200k_base"


class Job(Struct, frozen=True, kw_only=True):
    """The job of a process: the topics under `prefix`, as group `prefix + run`, with files in `directory`.

    A slow pipeline stops after `most` records.
    """

    bootstrap_servers: str
    prefix: str
    run: str
    partitions: int
    directory: str
    most: int = 0

    @classmethod
    def given(cls) -> "Job":
        """From the command line of a measured process."""
        return msgspec.json.decode(sys.argv[1], type=cls)

    def encoded(self) -> str:
        return msgspec.json.encode(self).decode()

    @property
    def topic(self) -> str:
        """The physical name of what is read."""
        return self.prefix + topics.MESSAGES

    @property
    def group(self) -> str:
        return self.prefix + self.run


class Begun(Struct, frozen=True, tag=True):
    """The moment of a process's first record: on the clock that all processes share, and in its own CPU time, of which the system
    took its part."""

    monotonic_s: float
    cpu_s: float
    system_s: float


class Opened(Struct, frozen=True, tag=True):
    """A stage's first epoch: seconds from its assignment to its opening, and the rows it then has."""

    seconds: float
    rows: int


class Tokenised(Struct, frozen=True, tag=True):
    """Messages whose tokens were counted so far, and what that took in all, in microseconds of CPU.

    `process_us` is the process' own CPU time in all at that moment, `monotonic_s` the moment on the clock that all share.
    """

    messages: int
    cpu_us: float
    process_us: float
    monotonic_s: float


Signal = Begun | Opened | Tokenised


def tell(signal: Signal) -> None:
    sys.stdout.write("\n" + msgspec.json.encode(signal).decode() + "\n")  # a line of its own, whoever else writes
    sys.stdout.flush()


def understood(line: bytes) -> Signal | None:
    """None for what others write to stdout, as Faust does."""
    return msgspec.json.decode(line, type=Signal) if line.startswith(b"{") else None


class FirstRecord:
    """Tells the moment of the first record; called for every record or batch, it acts once."""

    def __init__(self) -> None:
        self._is_reported = False

    def seen(self) -> None:
        if not self._is_reported:
            self._is_reported = True
            tell(Begun(time.monotonic(), time.process_time(), os.times().system))
