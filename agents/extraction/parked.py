"""The agent of parked requests: claims due requests of each lane and processes them."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Final
from uuid import uuid4

from agents.extraction.extractor import LEASE_S, Extractor
from agents.extraction.outcomes import RequestOutcomes
from agents.stage.leases import StillHeld, ignore_retryable, renewed_lease
from schemas.errors import Deferred, Retryable
from schemas.extraction.requests import Lane
from sinks.extraction.parked import Parked, Parking

log = logging.getLogger(__name__)

FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 300.0


class ParkedRequestAgent:
    """`slots` bounds the requests of each lane that are taken on at a time, so that no lane waits for another's.

    `worker` names this process; `monotonic_s` is its clock, against which a lease that could not be renewed runs out.
    """

    def __init__(
        self,
        parking: Parking,
        extractor: Extractor,
        outcomes: RequestOutcomes,
        worker: str,
        slots: Mapping[Lane, int],
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._parking = parking
        self._extractor = extractor
        self._outcomes = outcomes
        self._worker = worker
        self._slots = slots
        self._monotonic_s = monotonic_s
        self._running: dict[Lane, set[asyncio.Task[None]]] = {lane: set() for lane in slots}

    async def tick(self) -> None:
        """Takes on what there is room for, and returns without waiting for its end.

        Raises Retryable, and whatever else ended a request that was taken on: a wrong set-up, or a mistake.
        """
        for lane, running in self._running.items():
            for task in [task for task in running if task.done()]:
                running.discard(task)
                task.result()
            if free := self._slots[lane] - len(running):
                owner = f"{self._worker}/parked/{uuid4().hex}"
                claimed_at = self._monotonic_s()
                for parked in await self._parking.claim(lane, free, owner, LEASE_S):
                    running.add(asyncio.create_task(self._resume(parked, owner, claimed_at)))

    @property
    def under_way(self) -> int:
        """Requests that were taken on and have not ended."""
        return sum(not task.done() for tasks in self._running.values() for task in tasks)

    async def close(self) -> None:
        """Ends what is still running; another worker may claim it at once."""
        running = [task for tasks in self._running.values() for task in tasks]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _resume(self, parked: Parked, owner: str, claimed_at: float) -> None:
        what = f"parked request {parked.request_id}"

        def renew() -> Awaitable[bool]:
            return self._parking.renew(parked.request_id, owner, LEASE_S)

        try:
            async with renewed_lease(what, renew, LEASE_S, claimed_at, self._monotonic_s) as still_held:
                if await self._outcome(parked, owner, still_held):
                    await self._parking.remove(parked.request_id, owner)
        except Deferred as deferred:
            async with ignore_retryable(what):
                await self._parking.put_off(parked.request_id, owner, deferred)
        except Retryable as exc:
            log.warning("%s, after %d failures: %s", what, parked.tries, exc)
            async with ignore_retryable(what):
                await self._parking.try_again(parked.request_id, owner, pause_s(parked.tries))
        except BaseException:
            async with ignore_retryable(what):
                await self._parking.release(parked.request_id, owner)
            raise

    async def _outcome(self, parked: Parked, owner: str, still_held: StillHeld) -> bool:
        # In the name of the request too: an extraction's lease is granted again to the owner that has it.
        name = f"{owner}/{parked.request_id}"
        return await self._outcomes.run(
            parked, parked.request, lambda request: self._extractor.answer(request, name, still_held), still_held
        )


def pause_s(tries: int) -> float:
    """The pause in seconds before the next attempt, after this many failures."""
    return float(min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0**tries))
