"""Erasures in memory, as owners of windows read them."""

from collections.abc import Collection
from datetime import datetime

from schemas.erasure.erasures import ConversationFence, Erasure, Fence, Fences, UserFence


class FakeWindowErasures:
    """`begun` are pending erasures; `answers` has (erasure_id, partition, conversations, messages)."""

    def __init__(self) -> None:
        self.begun: list[Erasure] = []
        self.named: dict[str, frozenset[str]] = {}
        self.answers: list[tuple[str, int, list[str], int]] = []
        self.answered_at: dict[int, datetime] = {}
        self.calls = 0

    async def newest(self) -> Fence | None:
        return max((each.fence for each in self.begun), key=lambda fence: fence.at, default=None)

    async def fences(
        self, namespaces: Collection[str], conversations: Collection[str], users: Collection[str]
    ) -> Fences:
        self.calls += 1
        of = {
            kind: [each for each in self.begun if each.kind == kind] for kind in ("user", "conversation", "namespace")
        }
        return Fences(
            namespaces={each.namespace or "": each.fence for each in of["namespace"]},
            conversations={each.conversation_id or "": (ConversationFence(each.fence),) for each in of["conversation"]},
            users=tuple(UserFence(e.user_id or "", e.tenant_id, e.app_id, e.fence) for e in of["user"]),
        )

    async def unanswered(self, partitions: Collection[int]) -> tuple[tuple[int, Erasure], ...]:
        done = {(partition, erasure_id) for erasure_id, partition, *_ in self.answers}
        erasures_of_partitions = ((partition, each) for each in self.begun for partition in partitions)
        return tuple(
            (partition, each) for partition, each in erasures_of_partitions if (partition, each.erasure_id) not in done
        )

    async def answered(self, partitions: Collection[int]) -> dict[int, datetime]:
        return {partition: at for partition, at in self.answered_at.items() if partition in partitions}

    async def conversations(self, erasure_id: str) -> frozenset[str]:
        return self.named.get(erasure_id, frozenset())

    async def answer(
        self, erasure_id: str, partition: int, conversations: Collection[str], messages: int, at: datetime
    ) -> None:
        self.answered_at[partition] = at
        self.answers.append((erasure_id, partition, list(conversations), messages))
