"""Measures a process from outside, from its first record until its group has committed everything."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, TypeVar

import psutil
from aiokafka.admin import AIOKafkaAdminClient
from msgspec import Struct

from deploy.embedded.postgres.unprivileged import die_with_parent
from tests.benchmarks.signals import Begun, Job, Opened, Tokenised, understood

LOOKED_EVERY_S = 0.02
GIVE_UP_AFTER_S = 600.0
STRETCH_S = 2.0  # some 20,000 messages, and four checkpoints of each partition
SETTLED_S = 1.0
# The environment of a worker in deploy/Dockerfile, for every pipeline: huge pages for malloc, if the kernel has them.
ENVIRONMENT: Final = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}

AnySignal = TypeVar("AnySignal", Begun, Opened, Tokenised)


class Figures(Struct, frozen=True):
    """Of one run: messages a second of wall-clock time, and the process' own CPU time in us a message.

    `system_us` of it the kernel took, `tokenise_us` counting tokens, where the way tells; `least_us` is what went into all else
    in the run's best `STRETCH_S` seconds, where it took that long.
    """

    messages_per_s: float
    cpu_us: float
    tokenise_us: float
    least_us: float | None
    system_us: float


class Measured:
    """A pipeline's process, by its module in this folder; it writes its log and its data into the job's directory."""

    def __init__(self, process: asyncio.subprocess.Process, log: Path) -> None:
        self._process = process
        self._log = log

    async def next_signal(self, kind: type[AnySignal]) -> AnySignal:
        """The next signal of a kind. Raises RuntimeError when the process ends, TimeoutError when it stays silent."""
        assert self._process.stdout is not None
        async with asyncio.timeout(GIVE_UP_AFTER_S):
            while line := await self._process.stdout.readline():
                signal = understood(line)
                if isinstance(signal, kind):
                    return signal
        raise RuntimeError(f"a process ended by itself: {self._log.read_text(errors='replace')[-2000:]}")

    async def figures(self, admin: AIOKafkaAdminClient, group: str, total: int, tells: bool = False) -> Figures:
        """Returns once `group` has committed `total` offsets; `tells`: the pipeline reports its time for tokenising.
        Raises as `next_signal`."""
        begun = await self.next_signal(Begun)
        process = psutil.Process(self._process.pid)
        await eventually(lambda: everything_committed(admin, group, total), GIVE_UP_AFTER_S)
        wall_s, cpu = time.monotonic() - begun.monotonic_s, process.cpu_times()
        cpu_us = (cpu.user + cpu.system - begun.cpu_s) / total * 1e6
        system_us = (cpu.system - begun.system_s) / total * 1e6
        signals = await self._tokenised(total) if tells else []
        tokenise_us = round(signals[-1].cpu_us / signals[-1].messages, 1) if signals else 0.0
        return Figures(round(total / wall_s), round(cpu_us, 1), tokenise_us, least_us(signals), round(system_us, 1))

    async def _tokenised(self, total: int) -> list[Tokenised]:
        """All that was told until everything was counted."""
        signals: list[Tokenised] = []
        while not signals or signals[-1].messages < total:
            signals.append(await self.next_signal(Tokenised))
        return signals


def least_us(signals: Sequence[Tokenised]) -> float | None:
    """CPU time a message besides counting its tokens, in the best stretch of `STRETCH_S` and more between two signals; None
    without one. The first second has no checkpoint yet and does not count."""
    begun = [each for each in signals if each.monotonic_s >= signals[0].monotonic_s + SETTLED_S]
    found = [
        ((to.process_us - at.process_us) - (to.cpu_us - at.cpu_us)) / (to.messages - at.messages)
        for number, at in enumerate(begun)
        if (to := next((each for each in begun[number:] if each.monotonic_s >= at.monotonic_s + STRETCH_S), None))
        and to.messages > at.messages
    ]
    return round(min(found), 1) if found else None


@asynccontextmanager
async def measured(python: str, module: str, job: Job) -> AsyncIterator[Measured]:
    """Starts a process; kills it in the end, as it never stops by itself."""
    log = made(Path(job.directory)) / f"{module}.log"
    with log.open("ab") as stderr:
        process = await asyncio.create_subprocess_exec(
            python,
            "-m",
            f"tests.benchmarks.{module}",
            job.encoded(),
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
            env=os.environ | ENVIRONMENT,
            preexec_fn=die_with_parent,
        )
    try:
        yield Measured(process, log)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def made(directory: Path) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    return directory


async def everything_committed(admin: AIOKafkaAdminClient, group: str, total: int) -> bool:
    """Whether the offsets over all partitions, of topics that begin at 0, come to `total`."""
    offsets = await admin.list_consumer_group_offsets(group)
    committed: int = sum(max(0, each.offset) for each in offsets.values())
    return committed >= total


async def eventually(condition: Callable[[], Awaitable[bool]], within_s: float) -> None:
    """Looks every 20 ms. Raises TimeoutError."""
    async with asyncio.timeout(within_s):
        while True:
            if await condition():
                return
            await asyncio.sleep(LOOKED_EVERY_S)
