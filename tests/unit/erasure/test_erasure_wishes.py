"""A user's wish to erase everything starts one erasure if the policy allows it."""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from agents.erasure.wishes import ErasureWishes, erasure_id
from schemas.conversations.messages import Scope
from schemas.erasure.erasures import Fence, Fences, UserFence
from schemas.extraction.candidates import CandidateBatch, Source, Wish
from schemas.policies.policies import Policy

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
ERASE = Policy(name="p", on_erasure_wish="erase")
ADA = Scope(conversation_id="c", tenant_id="t", app_id="kitchen", user_id="ada")


class FakeErasing:
    """Erasures by their ids, and the fences that stand."""

    def __init__(self) -> None:
        self.begun: dict[str, dict[str, Any]] = {}
        self.stands = Fences()

    async def begin(
        self, erasure_id: str, kind: str, actor: str, reason: str | None = None, **subject: str | None
    ) -> None:
        self.begun[erasure_id] = {"kind": kind, "reason": reason, **subject}

    async def get(self, erasure_id: str) -> Any | None:
        return self.begun.get(erasure_id)

    async def fences(
        self, namespaces: Collection[str] = (), conversations: Collection[str] = (), users: Collection[str] = ()
    ) -> Fences:
        return self.stands


@pytest.fixture
def erasing() -> FakeErasing:
    return FakeErasing()


@pytest.fixture
def wishes(erasing: FakeErasing) -> ErasureWishes:
    return ErasureWishes(erasing, erasing, lambda: NOW)


def batch(namespace: str = "kitchen/ada", said_at: datetime = NOW, scope: Scope = ADA, **fields: Any) -> CandidateBatch:
    said = Source(conversation_id="c", message_id="m7", position=7, timestamp=said_at)
    wish = Wish(wish_id=f"of {namespace}", message=said, **({"everything": True, "scope": scope} | fields))
    return CandidateBatch(
        request_id="r",
        conversation_id="c",
        partition=0,
        namespace=namespace,
        part=1,
        parts=1,
        policy="p",
        policy_version=1,
        provider="offline",
        candidates=(),
        extracted_at=NOW,
        wishes=(wish,),
    )


async def test_an_erasure_wish_erases_the_user_within_the_tenant_and_app_of_the_conversation(
    wishes: ErasureWishes, erasing: FakeErasing
) -> None:
    candidate_batch = batch()
    begun = await wishes.begin(candidate_batch, ERASE)

    named = erasure_id(candidate_batch, candidate_batch.wishes[0])
    assert begun == {"of kitchen/ada": named}
    reason = "the user asked for it, in message m7 of conversation c"
    assert erasing.begun == {
        named: {"kind": "user", "reason": reason, "user_id": "ada", "tenant_id": "t", "app_id": "kitchen"}
    }


async def test_an_erasure_wish_in_a_conversation_without_a_user_erases_the_conversation(
    wishes: ErasureWishes, erasing: FakeErasing
) -> None:
    await wishes.begin(batch(scope=replace(ADA, user_id=None)), ERASE)

    (begun,) = erasing.begun.values()
    assert (begun["kind"], begun["conversation_id"]) == ("conversation", "c")


async def test_an_erasure_wish_starts_one_erasure_across_namespaces_and_redeliveries(
    wishes: ErasureWishes, erasing: FakeErasing
) -> None:
    first = await wishes.begin(batch(), ERASE)
    erasing.stands = Fences(users=(UserFence("ada", "t", "kitchen", Fence(NOW)),))  # its own

    assert await wishes.begin(batch(), ERASE) == first
    assert [*(await wishes.begin(batch("kitchen"), ERASE)).values()] == [*first.values()]
    assert len(erasing.begun) == 1


async def test_an_erasure_wish_older_than_another_erasure_starts_none(
    wishes: ErasureWishes, erasing: FakeErasing
) -> None:
    erasing.stands = Fences(users=(UserFence("ada", "t", "kitchen", Fence(NOW)),))

    assert await wishes.begin(batch(), ERASE) == {}
    assert not erasing.begun


@pytest.mark.parametrize(
    ("wish_batch", "policy"),
    [
        (batch(), Policy(name="p")),
        (batch("~0123abcd/kitchen/ada"), ERASE),
        (batch(said_at=NOW - timedelta(days=8)), ERASE),
        (batch(everything=False, topic="my job"), ERASE),
    ],
    ids=["policy that reports", "replay", "message of long ago", "wish for one thing"],
)
async def test_reporting_policies_replays_old_messages_and_partial_wishes_start_no_erasure(
    wishes: ErasureWishes, erasing: FakeErasing, wish_batch: CandidateBatch, policy: Policy
) -> None:
    assert await wishes.begin(wish_batch, policy) == {}
    assert not erasing.begun
