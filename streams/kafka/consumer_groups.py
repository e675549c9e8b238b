"""Consumer groups as the brokers report them: members and committed offsets."""

from collections.abc import Awaitable, Callable, Collection
from typing import Any, Final, TypeVar

from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError
from tenacity import AsyncRetrying, retry_if_exception, stop_after_delay, wait_fixed

from schemas.errors import Retryable

# On a new cluster the first request makes the brokers create `__consumer_offsets`.
ANSWERED_WITHIN_S: Final = 15.0
RETRY_S: Final = 0.1

T = TypeVar("T")


class ConsumerGroups:
    """`client` are aiokafka's connection settings. Every method raises Retryable."""

    def __init__(self, client: dict[str, Any], within_s: float = ANSWERED_WITHIN_S) -> None:
        self._client = client
        self._within_s = within_s

    async def committed(self, group: str) -> dict[TopicPartition, int]:
        """The committed offsets of a group, by partition."""
        found = await self._request(lambda admin: admin.list_consumer_group_offsets(group))
        return {tp: committed.offset for tp, committed in found.items() if committed.offset >= 0}

    async def with_members(self, groups: Collection[str]) -> list[str]:
        """Those of the groups that have members."""
        return sorted([group for group in groups if await self._has_members(group)])

    async def _has_members(self, group: str) -> bool:
        # One group per request: aiokafka cannot parse a response with several.
        (described,) = await self._request(lambda admin: admin.describe_consumer_groups([group]))
        _, _, _, _, _, members, *_ = described.groups[0]
        return bool(members)

    async def _request(self, question: Callable[[AIOKafkaAdminClient], Awaitable[T]]) -> T:
        admin = AIOKafkaAdminClient(**self._client)
        patient = AsyncRetrying(
            stop=stop_after_delay(self._within_s),
            wait=wait_fixed(RETRY_S),
            retry=retry_if_exception(lambda exc: isinstance(exc, KafkaError) and bool(exc.retriable)),
            reraise=True,
        )
        try:
            await admin.start()
            async for attempt in patient:
                with attempt:
                    return await question(admin)
        except (KafkaError, OSError) as exc:
            raise Retryable(f"cannot ask the brokers for consumer groups: {exc!r}") from exc
        finally:
            await admin.close()
        raise AssertionError("either an attempt returns, or the last one raises")
