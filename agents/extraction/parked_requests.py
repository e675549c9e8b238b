"""The agent of parked requests: claims due requests of each lane and processes them."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final
from uuid import uuid4

from agents.extraction.extractor import LEASE_S, Extractor
from agents.extraction.outcomes import RequestOutcomes
from agents.extraction.shared_calls import SHARED, SharedCall
from agents.stage.leases import StillHeld, ignore_retryable, renewed_lease
from schemas.budgets.budgets import Lane
from schemas.counts import counted
from schemas.errors import Deferred, Retryable
from sinks.extraction.parked import Parked, Parking

log = logging.getLogger(__name__)

FIRST_PAUSE_S: Final = 1.0
MAX_PAUSE_S: Final = 300.0
MAX_SHARED_TOKENS: Final = 8_000  # of the slices and overlaps in one shared call
MAX_MEMBERS: Final = 16  # per shared call: after a failure or an erasure of one, all are called for again
SHARED_TRIES: Final = 2  # after as many failures a request gets a call of its own, as sharing may be the cause


class ParkedRequestAgent:
    """`slots` bounds the concurrent requests of each lane. `worker` names this process; `monotonic_s` is its clock for
    leases that cannot be renewed."""

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
        """Starts due requests while slots are free, and returns without waiting for them.

        Raises Retryable. Also raises the error of an earlier request that failed for a wrong set-up or a bug.
        """
        for lane, running in self._running.items():
            for task in [task for task in running if task.done()]:
                running.discard(task)
                task.result()
            if (free := self._slots[lane] - len(running)) > 0:
                owner = f"{self._worker}/parked/{uuid4().hex}"
                claimed_at = self._monotonic_s()
                claimed = await self._parking.claim(lane, free, owner, LEASE_S)
                for together in groups(claimed):
                    members = [*together, *await self._companions(together, owner)]
                    shared = self._call_of(members)
                    for parked in members:
                        running.add(asyncio.create_task(self._resume(parked, owner, claimed_at, shared)))

    async def _companions(self, together: Sequence[Parked], owner: str) -> list[Parked]:
        """Other parked requests for the same shared call; none for a request that failed or was deferred."""
        first, room = together[0], MAX_SHARED_TOKENS - sum(parked.tokens for parked in together)
        places = MAX_MEMBERS - len(together)
        if first.shares is None or first.reason != SHARED or first.tries or room <= 0 or places <= 0:
            return []
        return await self._parking.claim_companions(first, SHARED, room, places, owner, LEASE_S)

    def _call_of(self, members: Sequence[Parked]) -> SharedCall | None:
        if len(members) < 2:
            return None
        return self._extractor.shared_call([parked.request_id for parked in members], members[0].lane)

    @property
    def under_way(self) -> int:
        """The number of running requests."""
        return sum(not task.done() for tasks in self._running.values() for task in tasks)

    async def close(self) -> None:
        """Cancels running requests; another worker may claim them at once."""
        running = [task for tasks in self._running.values() for task in tasks]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _resume(self, parked: Parked, owner: str, claimed_at: float, shared: SharedCall | None) -> None:
        what = f"parked request {parked.request_id}"

        def renew() -> Awaitable[bool]:
            return self._parking.renew(parked.request_id, owner, LEASE_S)

        try:
            async with renewed_lease(what, renew, LEASE_S, claimed_at, self._monotonic_s) as still_held:
                if await self._outcome(parked, owner, still_held, shared):
                    await self._parking.remove(parked.request_id, owner)
        except Deferred as deferred:
            async with ignore_retryable(what):
                await self._parking.put_off(parked.request_id, owner, deferred)
        except Retryable as exc:
            log.warning("%s failed, after %s: %s", what, counted(parked.tries, "earlier failures"), exc)
            async with ignore_retryable(what):
                await self._parking.try_again(parked.request_id, owner, pause_s(parked.tries))
        except BaseException:
            async with ignore_retryable(what):
                await self._parking.release(parked.request_id, owner)
            raise
        finally:
            if shared is not None:
                shared.leave(parked.request_id)

    async def _outcome(self, parked: Parked, owner: str, still_held: StillHeld, shared: SharedCall | None) -> bool:
        # With the request id, as a lease is granted again to the owner that already has it.
        name = f"{owner}/{parked.request_id}"
        return await self._outcomes.run(
            parked,
            parked.request,
            lambda request: self._extractor.answer(request, name, still_held, shared),
            still_held,
        )


def groups(claimed: Sequence[Parked]) -> list[list[Parked]]:
    """Groups of requests for shared calls. A request that failed SHARED_TRIES times is alone."""
    found: list[list[Parked]] = []
    latest: dict[str, list[Parked]] = {}
    for parked in claimed:
        shares = parked.shares is not None and parked.tries < SHARED_TRIES
        together = latest.get(parked.shares or "", []) if shares else []
        fits = parked.tokens + sum(each.tokens for each in together) <= MAX_SHARED_TOKENS
        if together and fits and len(together) < MAX_MEMBERS:
            together.append(parked)
            continue
        found.append([parked])
        if parked.shares is not None and shares:
            latest[parked.shares] = found[-1]
    return found


def pause_s(tries: int) -> float:
    """The pause in seconds before the next attempt, after this many failures."""
    return float(min(MAX_PAUSE_S, FIRST_PAUSE_S * 2.0**tries))
