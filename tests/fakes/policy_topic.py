"""The topic of policies as a list of records, and how many were read."""

from typing import Any, NamedTuple

from schemas import codec
from schemas.errors import Retryable
from schemas.policies.policies import Policy


class Record(NamedTuple):
    """The used fields of an aiokafka ConsumerRecord."""

    key: bytes | None
    value: bytes | None
    offset: int
    topic: str = "memory.policies"
    partition: int = 0
    timestamp: int = 1_700_000_000_000
    headers: tuple[tuple[str, bytes], ...] = ()


class FakePolicyTopic:
    """`put`, `remove` and `write` publish as another process; while `down`, reading fails."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.down = False
        self._read = 0

    def put(self, *policies: Policy) -> None:
        for policy in policies:
            self.write(policy.name.encode(), codec.encode(policy))

    def remove(self, name: str) -> None:
        self.write(name.encode(), None)

    def write(self, key: bytes | None, value: bytes | None) -> None:
        self.records.append(Record(key, value, len(self.records)))

    async def to_end(self) -> list[Any]:
        self._read = 0
        return await self.since()

    async def since(self) -> list[Any]:
        if self.down:
            raise Retryable("the brokers are away")
        found, self._read = self.records[self._read :], len(self.records)
        return list(found)
