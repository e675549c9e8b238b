"""Batches, as agents receive them: one Faust event carries a batch of undecoded records of one partition."""

from collections.abc import Callable
from typing import Any

import faust

from streams.delivery.fence import Fence


class Batch:
    """Records of one partition, in offset order, as aiokafka read them.

    `end` is the offset after the last one, trailing control records included. `ack` says that the outcome of every record
    is stored; it may come in any order, and has no effect once the epoch is over.
    """

    __slots__ = ("_ack", "_fence", "acked", "end", "epoch", "first", "partition", "records", "topic")

    def __init__(
        self,
        topic: str,
        partition: int,
        first: int,
        end: int,
        records: list[Any],
        fence: Fence,
        ack: Callable[[], None],
    ) -> None:
        self.topic = topic
        self.partition = partition
        self.first = first
        self.end = end
        self.records = records
        self.epoch = fence.epoch
        self.acked = False
        self._fence = fence
        self._ack = ack

    @property
    def current(self) -> bool:
        """Whether the batch may still be applied: its epoch is open. Check again after every await."""
        return self._fence.admits(self.epoch)

    @property
    def held(self) -> bool:
        """Whether effects of the batch may still be sent: its epoch is open or closing."""
        return self._fence.holds(self.epoch)

    def release(self) -> None:
        """Frees the records once their outcome is computed, before it is stored, to save memory."""
        self.records = []

    def ack(self) -> None:
        if self.acked or not self.held:
            return
        self.acked = True
        self._ack()

    def __repr__(self) -> str:
        return f"<Batch {self.topic}[{self.partition}] {self.first}..{self.end} epoch {self.epoch}>"


class BatchSchema(faust.Schema):
    """Passes batches through undecoded: decoding and dead letters are the agent's first step."""

    def loads_key(self, app: Any, message: Any, *, loads: Any = None, serializer: Any = None) -> Any:
        return message.key

    def loads_value(self, app: Any, message: Any, *, loads: Any = None, serializer: Any = None) -> Any:
        return message.value
