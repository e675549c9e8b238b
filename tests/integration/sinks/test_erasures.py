"""Erasures on a real database: what goes of what is shared, every door behind the fence, and a receipt that waits for windows."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from msgspec.structs import replace

from agents.erasing import completing
from agents.erasing.beginning import Erasing
from agents.erasing.completing import Completing
from schemas import topics
from schemas.codec import decode, encode
from schemas.erasures import Erasure, Fence
from schemas.errors import Deferred, Rejected
from schemas.messages import Message, Scope
from schemas.policies import Policies, Policy
from schemas.receipts import Receipt, Remains
from schemas.requests import Command, Source
from schemas.shadows import shadow_of
from sinks.archive import Archive, ArchivedMessage
from sinks.audit import Audit
from sinks.erasures import Erasures, begin
from sinks.extractions import Extractions
from sinks.generations import Generations
from sinks.owners import Owners
from sinks.parked import Parking
from sinks.queries import query
from tests.fakes.batches import record
from tests.fakes.publisher import FakePublisher
from tests.integration.sinks.conftest import NOON
from tests.slices import slice_of

if TYPE_CHECKING:
    from tests.integration.sinks.conftest import Bench

POLICIES = Policies((Policy(name="both", namespaces=("{app_id}/{user_id}", "{app_id}")),))
AT = NOON + timedelta(hours=1)
LATER = NOON + timedelta(hours=2)
PARTITIONS = 2


class FakeLetters:
    def __init__(self) -> None:
        self.asked: list[tuple[frozenset[str], frozenset[str]]] = []
        self.take: Callable[[], Awaitable[object]] | None = None

    async def erase(self, erasure: Erasure, conversations: frozenset[str], namespaces: frozenset[str]) -> int:
        self.asked.append((conversations, namespaces))
        if self.take:
            await self.take()
        return 3


class Worker:
    """What one worker does for erasures; `curate` carries out what it sends."""

    def __init__(self, bench: "Bench") -> None:
        self.bench = bench
        self.erasures = Erasures(bench.pool)
        self.letters, self.publisher = FakeLetters(), FakePublisher()
        self.ends = {0: 100, 1: 0}
        self.erasing = Erasing(self.erasures, self.message_ends, lambda: AT)
        self.completing = Completing(
            self.erasures,
            self.letters,
            self.publisher,
            POLICIES,
            lambda: AT,
            partitions=PARTITIONS,
            named=Owners(bench.pool).all_named,
            remains=self.remains,
        )
        self.curator = bench.curator_under(POLICIES)
        self.curator._eraser._clock = lambda: AT

    async def message_ends(self) -> dict[int, int]:
        return self.ends

    async def remains(self, at: Any) -> Sequence[Remains]:
        return [Remains(topic="chat.messages", holds="what was said", because="retention.ms=1", until=at)]

    async def turn(self) -> list[Command]:
        """One look at what is pending, and the commands that came of it, carried out."""
        await self.bench.pool.execute("UPDATE erasures SET lease_until = NULL")
        before = len(self.publisher.records)
        await self.completing.tick()
        commands = [decode(record.value, Command) for record in self.publisher.records[before:]]
        for command in commands:
            await self.curator.carry_out(command)
        return commands

    async def answer(self, name: str, *conversations: str) -> None:
        for partition in range(PARTITIONS):
            await self.erasures.answer(name, partition, conversations if partition == 0 else (), 0, AT)

    async def through(self, name: str, *conversations: str) -> Receipt:
        await self.turn()
        await self.answer(name, *conversations)
        for _ in range(3):  # shadows, what they stand for, and the receipt
            await self.turn()
        receipt = await self.erasing.receipt(name)
        assert receipt is not None
        return receipt


@pytest.fixture
def worker(bench: "Bench") -> Worker:
    return Worker(bench)


def said(user: str, conversation: str, at: Any = NOON, position: int = 1, **fields: Any) -> ArchivedMessage:
    message = Message(
        **{"conversation_id": conversation, "message_id": uuid4().hex, "role": "user", "timestamp": at}
        | {"content": "hello", "app_id": "notes", "user_id": user}
        | fields
    )
    scope = Scope.of(message)
    feeds = POLICIES.match(scope).namespaces_of(scope)
    return ArchivedMessage(message=message, partition=0, position=position, feeds=feeds)


def of(*conversations: str, at: Any = NOON) -> tuple[Source, ...]:
    return tuple(Source(conversation_id=each, message_id="1", timestamp=at) for each in conversations)


async def shared_memory(bench: "Bench", text: str, sources: tuple[Source, ...], namespace: str = "notes") -> str:
    outcome = await bench.curator.curate(bench.batch(bench.candidate(text, sources=sources), namespace=namespace))
    return outcome.rulings[0].memory_id or ""


async def test_what_came_of_a_user_alone_goes_and_what_others_said_too_is_counted(bench: "Bench", worker: Worker):
    await Archive(bench.pool).store([said("mara", "m"), said("anna", "a")])
    own = await shared_memory(bench, "Mara skis", of("m"))
    both = await shared_memory(bench, "They sail", of("m", "a"))
    later = await shared_memory(bench, "Mara is back", of("m", at=LATER))
    theirs = await shared_memory(bench, "Anna sings", of("a"))
    await worker.erasing.begin("e", "user", "ada", "as asked", user_id="mara")
    receipt = await worker.through("e", "m")
    left = {row["memory_id"] for row in await bench.pool.fetch("SELECT memory_id FROM memories")}
    assert left == {both, later, theirs}
    assert own not in left
    (shared,) = [each for each in receipt.namespaces if each.namespace == "notes"]
    assert (shared.how, shared.memories, shared.kept) == ("forget", 1, 1)
    assert await Archive(bench.pool).conversation("m") == ()
    assert len(await Archive(bench.pool).conversation("a")) == 1
    assert (receipt.status, receipt.remains[0].topic, receipt.reason) == ("complete", "chat.messages", "as asked")
    stores = {each.store: each.removed for each in receipt.stores}
    assert stores["Kafka, memory.dead-letters"] == {"letters": 3}
    assert stores["PostgreSQL, what was said"]["messages"] == 1
    assert worker.letters.asked == [(frozenset({"m"}), frozenset({"notes/mara"}))]


async def test_what_replays_remember_in_the_shadow_of_what_is_shared_goes_too(bench: "Bench", worker: Worker):
    await Archive(bench.pool).store([said("mara", "m")])
    for namespace in ("notes", shadow_of("0a1b2c3d", "notes")):
        await shared_memory(bench, "Mara skis", of("m"), namespace)
        await shared_memory(bench, "Anna sings", of("a"), namespace)
    await worker.erasing.begin("e", "user", "ada", user_id="mara")
    receipt = await worker.through("e", "m")
    texts = await bench.pool.fetch("SELECT DISTINCT text FROM memories")
    assert (receipt.status, [row["text"] for row in texts]) == ("complete", ["Anna sings"])
    assert receipt.stores[0].removed == {"memories": 1, "versions": 1}
    assert {each.namespace for each in receipt.namespaces} >= {"notes", "notes/mara"}
    assert not any("~" in each.namespace for each in receipt.namespaces)


async def test_a_receipt_is_complete_once_the_owners_of_all_windows_have_answered(bench: "Bench", worker: Worker):
    await worker.erasing.begin("e", "conversation", "ada", conversation_id="c")
    for _ in range(2):
        await worker.turn()
    await worker.erasures.answer("e", 0, ["c"], 4, AT)
    ((partition, erasure),) = await worker.erasures.unanswered([0, 1])
    assert await worker.erasures.answered([0, 1]) == {0: AT}
    assert (partition, erasure.fence) == (1, Fence(AT, worker.ends))
    await worker.turn()
    pending = await worker.erasing.receipt("e")
    assert pending is not None
    assert (pending.status, worker.letters.asked) == ("pending", [])
    await worker.erasures.answer("e", 1, [], 0, AT)
    for _ in range(3):
        await worker.turn()
    receipt = await worker.erasing.receipt("e")
    assert receipt is not None
    assert (receipt.status, receipt.completed_at) == ("complete", AT)
    windows = next(each for each in receipt.stores if each.store.startswith("windows"))
    assert windows.removed == {"windows": 1, "window_messages": 4}


async def test_conversations_that_only_the_owners_of_windows_know_are_erased_too(bench: "Bench", worker: Worker):
    memory_id = await shared_memory(bench, "Mara skis", of("unarchived"))
    await bench.pool.execute("UPDATE extractions SET conversation_id = 'unarchived'")
    await worker.erasing.begin("e", "user", "ada", user_id="mara")
    await worker.through("e", "unarchived")
    assert await bench.memories.get(memory_id) is None


async def test_a_purge_from_any_kafka_client_is_audited_and_has_a_receipt(bench: "Bench", worker: Worker):
    command = Command(command_id="p", kind="purge", namespace="notes/mara", at=NOON, actor="a service")
    await worker.curator.carry_out(command)
    (row,) = await Audit(bench.pool).latest(5)
    assert (row.actor, row.action, row.subject) == ("a service", "namespace.erase", "notes/mara")
    (name,) = [row["erasure_id"] for row in await bench.pool.fetch("SELECT erasure_id FROM erasures")]
    receipt = await worker.through(name)
    assert (receipt.status, receipt.subject) == ("complete", {"namespace": "notes/mara"})
    assert worker.letters.asked == [(frozenset(), frozenset({"notes/mara"}))]


async def test_a_namespace_is_erased_by_whoever_begins_it(bench: "Bench", worker: Worker):
    await bench.curator.curate(bench.batch("User has a dog", namespace="notes/mara"))
    await worker.erasing.begin("e", "namespace", "ada", namespace="notes/mara")
    receipt = await worker.through("e")
    assert (receipt.status, receipt.namespaces[0].memories) == ("complete", 1)
    assert await bench.memories.count_live("notes/mara") == 0


async def test_what_is_said_between_asking_for_a_purge_and_its_last_page_stays(bench: "Bench", worker: Worker):
    await worker.erasing.begin("e", "namespace", "ada", namespace="notes/mara")
    archive, meanwhile = Archive(bench.pool), AT + timedelta(minutes=10)
    assert await archive.store([said("mara", "old", AT), said("mara", "new", meanwhile, position=100)]) == 1, "at once"
    worker.curator._clock = worker.curator._eraser._clock = lambda: LATER
    await worker.through("e")
    assert [len(await archive.conversation(name)) for name in ("old", "new")] == [0, 1]
    found = {"namespace": "notes/mara", "extracted_at": LATER, "requested_at": meanwhile}
    batch = bench.batch(bench.candidate("Mara skis", sources=of("new", at=meanwhile)), **found)
    assert [ruling.result for ruling in (await worker.curator.curate(batch)).rulings] == ["created"]


async def test_a_purge_of_an_erasure_that_was_lost_with_a_database_is_carried_out(bench: "Bench", worker: Worker):
    await bench.curator.curate(bench.batch("User has a dog", namespace="notes/mara"))
    command = Command(command_id="p", kind="purge", namespace="notes/mara", at=AT, actor="ada", erasure_id="lost")
    await worker.curator.carry_out(command)
    receipt = await worker.through("lost")
    assert (receipt.status, receipt.at, receipt.namespaces[0].memories) == ("complete", AT, 1)


async def test_what_is_erased_while_it_is_about_to_be_parked_is_not(bench: "Bench", worker: Worker):
    request = replace(slice_of("I have a dog"), requested_at=NOON)
    parking, sent = Parking(bench.pool), record(topics.REQUESTS, 1, encode(request))
    async with bench.pool.acquire() as connection, connection.transaction():
        await connection.execute(query("purges", "lock_archive"))
        parked = asyncio.create_task(parking.park(sent, request, Deferred(NOON, "budget"), 60.0))
        while not await bench.pool.fetchval(
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'advisory'"
        ):
            assert not parked.done(), "the erasure is not yet there"
        erasure = Erasure(
            erasure_id="e", kind="conversation", at=AT, actor="ada", conversation_id=request.conversation_id
        )
        await begin(connection, erasure)
    assert not await parked
    assert not await parking.holds(request.request_id)


async def test_why_a_request_failed_quotes_nothing_of_an_erased_conversation(bench: "Bench", worker: Worker):
    extractions, request = Extractions(bench.pool), replace(slice_of("I have a dog"), requested_at=NOON)
    await extractions.lease(request, "worker", 0)
    await extractions.fail(request.request_id, Rejected("refused", "a dog is no topic"))
    await worker.erasing.begin("c", "conversation", "ada", conversation_id=request.conversation_id)
    await worker.through("c")
    assert await bench.pool.fetchval("SELECT failed_reason FROM extractions") == "refused"


async def test_the_archive_takes_nothing_older_in_of_a_user_or_a_conversation(bench: "Bench", worker: Worker):
    await worker.erasing.begin("u", "user", "ada", user_id="mara", app_id="notes")
    await worker.erasing.begin("c", "conversation", "ada", conversation_id="c")
    ahead = AT + timedelta(minutes=5)
    refused = [
        said("mara", "new", AT),
        said("anna", "c", AT),
        said("mara", "ahead", ahead, position=99),
    ]
    taken = [
        said("mara", "new", ahead, position=100),
        said("anna", "c", ahead, position=101),
        said("mara", "elsewhere", AT, app_id="other"),
        said("anna", "other", AT),
    ]
    assert await Archive(bench.pool).store([*refused, *taken]) == len(taken)


@pytest.mark.parametrize(
    ("kind", "subject"),
    [
        ("user", {"user_id": "mara"}),
        ("conversation", {"conversation_id": "m"}),
        ("namespace", {"namespace": "notes/mara"}),
    ],
)
async def test_at_every_door_what_comes_again_of_before_is_dropped_and_what_is_said_later_comes_in(
    bench: "Bench", worker: Worker, kind: Any, subject: dict[str, str]
):
    archive, extractions = Archive(bench.pool), Extractions(bench.pool)
    old, later = said("mara", "m", AT), said("mara", "m", LATER, position=100)
    await archive.store([old])
    await worker.erasing.begin("e", kind, "ada", **subject)
    receipt = await worker.through("e", "m")
    assert receipt.status == "complete"
    assert await Generations(bench.pool).unerased([old, later]) == [later], "replayed by an operator"
    assert await archive.store([old]) == 0, "sent again"
    assert await archive.store([later]) == 1
    heard = await extractions.fences_of(Scope.of(old.message), ["notes/mara"])
    assert {fence.at for fence in heard} == {AT}, "no model is asked again"
    asked = {"conversation_id": "m", "namespace": "notes/mara", "extracted_at": LATER, "requested_at": LATER}
    results = [
        (await worker.curator.curate(bench.batch(bench.candidate(text, sources=of("m", at=at)), **asked))).rulings[0]
        for text, at in (("Mara skis", AT), ("Mara sails", LATER))
    ]
    assert [ruling.result for ruling in results] == ["dropped", "created"], "candidates that are delivered again"


async def test_the_extractor_hears_of_fences_of_users_and_conversations(bench: "Bench", worker: Worker):
    extractions, scope = Extractions(bench.pool), Scope(conversation_id="c", app_id="notes", user_id="mara")
    assert await extractions.fences_of(scope, ["notes"]) == ()
    await worker.erasing.begin("u", "user", "ada", user_id="mara")
    await worker.erasing.begin("c", "conversation", "ada", conversation_id="c")
    assert [fence.at for fence in await extractions.fences_of(scope, ["notes"])] == [AT, AT]
    other = Scope(conversation_id="d", app_id="notes", user_id="anna")
    assert await extractions.fences_of(other, ["notes"]) == ()


async def test_an_answer_about_an_erased_conversation_is_kept_without_what_it_says(bench: "Bench", worker: Worker):
    extractions, request = Extractions(bench.pool), replace(slice_of("I have a dog"), requested_at=NOON)
    await extractions.lease(request, "worker", 60)
    await worker.erasing.begin("c", "conversation", "ada", conversation_id=request.conversation_id)
    answer = encode({"answers": "extraction", "provider": "p", "model": "m", "proposals": [{"text": "User has a dog"}]})
    values = {"provider": "p", "model": "m", "usage": {}, "parts": 1}
    assert b"dog" not in await extractions.store_answer(request.request_id, "worker", answer, **values)


async def test_the_curator_drops_what_comes_of_an_erased_conversation_in_any_namespace(bench: "Bench", worker: Worker):
    await worker.erasing.begin("c", "conversation", "ada", conversation_id="c")
    late = {"conversation_id": "c", "extracted_at": LATER, "requested_at": LATER}
    old = bench.batch(bench.candidate("User skis", sources=of("c")), **late)
    assert [ruling.result for ruling in (await worker.curator.curate(old)).rulings] == ["dropped"]
    new = bench.batch(bench.candidate("User skis", sources=of("c", at=LATER)), **late)
    assert [ruling.result for ruling in (await worker.curator.curate(new)).rulings] == ["created"]
    assert [fence.at for fence in await worker.curator.fences_of("notes", "c")] == [AT]
    assert await worker.curator.fences_of("notes", "d") == ()
    other = bench.batch(bench.candidate("User sails", sources=of("d")), **(late | {"conversation_id": "d"}))
    assert [ruling.result for ruling in (await worker.curator.curate(other)).rulings] == ["created"]


async def test_forgetting_under_an_erasure_that_nobody_began_is_rejected(bench: "Bench", worker: Worker):
    memory = await bench.remember("Mara skis", sources=of("m"))
    command = Command(command_id="f", kind="forget", namespace="n", at=AT, erasure_id="unknown")
    assert (await worker.curator.carry_out(command)).status == "rejected"
    assert await bench.memories.get(memory.memory_id) == memory


async def test_a_worker_that_died_is_replaced_and_commands_are_sent_again_under_their_own_ids(
    bench: "Bench", worker: Worker
):
    await Archive(bench.pool).store([said("mara", "m")])
    await worker.erasing.begin("e", "user", "ada", user_id="mara")
    await worker.completing.tick()
    first = [decode(record.value, Command) for record in worker.publisher.on(topics.COMMANDS)]
    assert {each.namespace for each in first} == {"notes/mara"}
    assert (await worker.turn()) == [], "they are on their way"
    await bench.pool.execute("UPDATE erased_namespaces SET sent_at = sent_at - interval '2 minutes'")
    assert [each.command_id for each in await worker.turn()] == [each.command_id for each in first]


async def test_an_erasure_whose_letters_take_longer_than_a_lease_is_nobody_elses_meanwhile(
    bench: "Bench", worker: Worker, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(completing, "LEASE_S", 2.0)
    other = Worker(bench)

    async def take() -> None:
        claimed_until = await bench.pool.fetchval("SELECT lease_until FROM erasures")
        await bench.pool.execute("SELECT pg_sleep_until($1::timestamptz + interval '100 ms')", claimed_until)
        await other.completing.tick()

    await worker.erasing.begin("e", "user", "ada", user_id="mara")
    await worker.turn()
    await worker.answer("e")
    worker.letters.take = take
    await worker.turn()
    assert (len(worker.letters.asked), other.letters.asked) == (1, [])


async def test_the_newest_fence_reaches_as_far_as_any_of_those_that_began_together(bench: "Bench") -> None:
    erasures = Erasures(bench.pool)
    assert await erasures.newest() is None
    for name, at, positions in (("e1", AT, {0: 7, 1: 9}), ("e2", LATER, {0: 8, 1: 5})):
        erasure = Erasure(erasure_id=name, kind="user", user_id=name, at=at, actor="ada", positions=positions)
        await erasures.begin(erasure)
    assert await erasures.newest() == Fence(LATER, {0: 8, 1: 9})


async def test_what_waits_for_long_is_looked_at_every_few_seconds_alone(bench: "Bench", worker: Worker):
    pauses: list[float] = []
    release = worker.erasures.release

    async def released(name: str, pause_s: float) -> None:
        pauses.append(pause_s)
        await release(name, pause_s)

    worker.erasures.release = released  # type: ignore[method-assign]
    await worker.erasing.begin("e", "user", "ada", user_id="mara")
    for waited_s in (0, 20, 7_200):
        worker.completing._clock = lambda now=AT + timedelta(seconds=waited_s): now  # type: ignore[misc]
        await worker.turn()
    assert pauses == [0.1, 1.0, 5.0]
