"""The Message Batches API: batches complete on request or at their n-th poll, and can be cancelled."""

import re
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from msgspec import Struct, field

from tests.servers.messages.faults import Fault, bad_request

CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
MOST_REQUESTS = 100_000
KINDS = ("processing", "succeeded", "errored", "canceled", "expired")
# What becomes of a request, told by how it is to be answered.
Answer = Callable[[dict[str, Any], str], dict[str, Any]]


class Batch(Struct, kw_only=True):
    """One batch; `results` are there once it has ended, by custom id."""

    id: str
    requests: dict[str, dict[str, Any]]
    steps: dict[str, str]
    created_at: datetime
    polls: int = 0
    cancel_initiated_at: datetime | None = None
    ended_at: datetime | None = None
    results: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def status(self) -> str:
        if self.ended_at is not None:
            return "ended"
        return "canceling" if self.cancel_initiated_at else "in_progress"

    @property
    def counts(self) -> dict[str, int]:
        """Until the end all are processing."""
        if self.ended_at is None:
            return dict.fromkeys(KINDS, 0) | {"processing": len(self.requests)}
        kinds = [result["type"] for result in self.results.values()]
        return {kind: kinds.count(kind) for kind in KINDS}

    def as_json(self, url: str) -> dict[str, Any]:
        """Returns the batch as the API shows it; `url` is the server's."""
        return {
            "id": self.id,
            "type": "message_batch",
            "processing_status": self.status,
            "request_counts": self.counts,
            "created_at": moment(self.created_at),
            "expires_at": moment(self.created_at + timedelta(hours=24)),
            "ended_at": moment(self.ended_at),
            "cancel_initiated_at": moment(self.cancel_initiated_at),
            "archived_at": None,
            "results_url": f"{url}/v1/messages/batches/{self.id}/results" if self.ended_at else None,
        }

    def lines(self) -> list[dict[str, Any]]:
        """The results in the opposite order: the API promises none."""
        return [{"custom_id": name, "result": result} for name, result in reversed(self.results.items())]


class Batches:
    """`made` are all batches by id, oldest first.

    A batch ends when it is asked for the `ends_at_poll`-th time; with None only `end` ends it. `script` queues what becomes of
    the next requests that are submitted, one each: `expired`, `canceled`, or what a message would get (of faults: errored).
    `faults` queues what the next calls of these endpoints get, one each: a name in FAULTS, or `fine`.
    """

    def __init__(self, answer: Answer) -> None:
        self.made: dict[str, Batch] = {}
        self.ends_at_poll: int | None = 1
        self.faults: deque[str] = deque()
        self._script: deque[str] = deque()
        self._answer = answer
        self._numbers = count(1)

    def script(self, *steps: str) -> None:
        self._script.extend(steps)

    def submitted(self, requests: list[dict[str, Any]]) -> Batch:
        batch = Batch(
            id=f"msgbatch_{next(self._numbers):04d}",
            requests={each["custom_id"]: each["params"] for each in requests},
            steps={each["custom_id"]: self._script.popleft() if self._script else "rules" for each in requests},
            created_at=datetime.now(UTC),
        )
        self.made[batch.id] = batch
        return batch

    def polled(self, batch: Batch) -> Batch:
        """One more look at it. A batch that is being cancelled ends at the next."""
        batch.polls += 1
        if batch.status == "canceling" or (self.ends_at_poll is not None and batch.polls >= self.ends_at_poll):
            self.end(batch.id)
        return batch

    def end(self, batch_id: str) -> None:
        """Works it off now; what is not answered when it is cancelled never is. Ending twice changes nothing."""
        batch = self.made[batch_id]
        if batch.ended_at is not None:
            return
        for name, params in batch.requests.items():
            step = "canceled" if batch.cancel_initiated_at else batch.steps[name]
            batch.results[name] = {"type": step} if step in ("expired", "canceled") else self._answer(params, step)
        batch.ended_at = datetime.now(UTC)

    def cancel(self, batch: Batch) -> Batch:
        if batch.status == "in_progress":
            batch.cancel_initiated_at = datetime.now(UTC)
        return batch

    def page(self, limit: int, after: str | None, before: str | None) -> tuple[list[Batch], bool]:
        """A page of batches, newest first, after or before one of them, and whether there are more."""
        newest = list(reversed(self.made.values()))
        ids = [batch.id for batch in newest]
        if before in ids:
            rest = newest[: ids.index(before)]
            return rest[-limit:], len(rest) > limit
        rest = newest[ids.index(after) + 1 :] if after in ids else newest
        return rest[:limit], len(rest) > limit


def wrong_batch(body: dict[str, Any]) -> Fault | None:
    """Checks a batch on creation; errors in the `params` of a request are reported in its result."""
    requests = body.get("requests")
    if not isinstance(requests, list) or not requests:
        return bad_request("requests: List should have at least 1 item after validation, not 0")
    if len(requests) > MOST_REQUESTS:
        return bad_request(f"requests: List should have at most {MOST_REQUESTS} items")
    names = [each.get("custom_id") for each in requests]
    for index, name in enumerate(names):
        if not isinstance(name, str) or not CUSTOM_ID.fullmatch(name):
            return bad_request(f"requests.{index}.custom_id: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'")
        if not isinstance(requests[index].get("params"), dict):
            return bad_request(f"requests.{index}.params: Field required")
    if len(set(names)) < len(names):
        return bad_request("requests: custom_id must be unique within a batch")
    return None


def moment(at: datetime | None) -> str | None:
    return None if at is None else f"{at:%Y-%m-%dT%H:%M:%S.%fZ}"
