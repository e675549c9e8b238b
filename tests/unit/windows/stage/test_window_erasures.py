"""The window stage rejects erased data, empties its windows, and confirms an erasure afterwards."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agents.windows.agent import WindowAgent
from agents.windows.erasures import ALL_KEYS, MAX_CLOCK_SKEW_S, WindowErasures
from schemas import codec
from schemas.erasure.erasures import Erasure
from schemas.windows.window_controls import WindowControl
from streams.windows.rows import rows
from tests.fakes.chats import BEGAN, CONVERSATION
from tests.fakes.window_erasures import FakeWindowErasures
from tests.unit.windows.stage.window_stage import NAMES, PARTITION, Stage, said


class Owner(Stage):
    """A windows stage that hears of erasures."""

    def __init__(self, known: FakeWindowErasures | None = None, **settings: Any) -> None:
        super().__init__(**settings)
        self.known = known or FakeWindowErasures()
        self.apart: list[Any] = []  # the clock of tests knows no threads
        self.erasures = WindowErasures(self.app, self.known, self.terms, self.publisher, self.clock, self.do)
        self.agent = WindowAgent(self.app, NAMES, self.terms, len, self.publisher, self.clock, erasures=self.erasures)

    async def do(self, work: Any, *given: Any) -> None:
        self.apart.append(given)
        work(*given)

    def erase(self, second: int, kind: Any = "user", **subject: Any) -> Erasure:
        """Begins an erasure of messages up to that second."""
        subject = subject or {"user_id": "user"}
        at = BEGAN + timedelta(seconds=second)
        erasure = Erasure(erasure_id=f"e{len(self.known.begun)}", kind=kind, at=at, actor="ada", **subject)
        self.known.begun.append(erasure)
        return erasure

    async def tick(self) -> list[WindowControl]:
        """A look of the owner; the words that it sends are delivered."""
        before = len(self.publisher.records)
        await self.erasures.tick()
        controls = [codec.decode(record.value, WindowControl) for record in self.publisher.records[before:]]
        if controls:
            await self.tell(*controls)
        return controls


@pytest.fixture
async def owner() -> Owner:
    owner = Owner()
    await owner.begin()
    return owner


SUBJECTS: list[dict[str, Any]] = [
    {"user_id": "user"},
    {"user_id": "user", "app_id": "app"},
    {"kind": "conversation", "conversation_id": CONVERSATION},
    {"kind": "namespace", "namespace": "app/user"},
    {"kind": "namespace", "namespace": f"conversation/{CONVERSATION}"},
]


@pytest.mark.parametrize("subject", SUBJECTS)
async def test_an_erasure_empties_a_window_and_is_acknowledged_only_after_the_checkpoint(
    owner: Owner, subject: dict[str, Any]
):
    await owner.say(*(said(number) for number in range(3)))
    await owner.checkpoint()
    owner.erase(1, **subject)
    (control,) = await owner.tick()
    assert (control.kind, control.at) == ("erase", BEGAN + timedelta(seconds=1))
    assert await owner.tick() == [], "it was told, and not answered for: nothing is safe yet"
    assert owner.known.answers == []
    await owner.checkpoint()
    await owner.tick()
    assert owner.known.answers == [("e0", PARTITION, [CONVERSATION], 2)]
    assert owner.erasures._sent_at == {}, "nothing is kept of what was answered"
    assert [*owner.window().entries] == [2]


@pytest.mark.parametrize("user", [{"user_id": "other"}, {"user_id": "user", "app_id": "other"}])
async def test_an_erasure_leaves_windows_of_other_users_and_apps_unchanged(owner: Owner, user: dict[str, str]):
    await owner.say(said(0))
    await owner.checkpoint()
    owner.erase(10, **user)
    assert await owner.tick() == []
    assert owner.known.answers == [("e0", PARTITION, [], 0)]
    assert [*owner.window().entries] == [0]


async def test_an_erasure_of_one_speaker_keeps_messages_of_other_users_in_the_conversation(owner: Owner):
    await owner.say(said(0, user_id="first"), said(1, user_id="second"), said(2, role="assistant"))
    await owner.checkpoint()
    owner.known.named[owner.erase(10, user_id="second").erasure_id] = frozenset({CONVERSATION})
    assert [(control.kind, control.users) for control in await owner.tick()] == [("erase", ("second",))]
    assert [*owner.window().entries] == [0]


async def test_an_erasure_removes_a_later_speaker_even_if_the_archive_does_not_list_the_conversation(owner: Owner):
    await owner.say(said(0, user_id="first"), said(1, user_id="second"), said(2, user_id="third"))
    await owner.checkpoint()
    owner.erase(10, user_id="third")
    assert [control.kind for control in await owner.tick()] == ["erase"]
    await owner.checkpoint()
    await owner.tick()
    assert owner.known.answers == [("e0", PARTITION, [CONVERSATION], 1)]
    assert [*owner.window().entries] == [0, 1]


async def test_an_erasure_of_one_speaker_removes_messages_whose_speaker_the_service_does_not_name(owner: Owner):
    unnamed = (said(1, user_id=None), said(2, user_id=None, name="Guest"))
    await owner.say(said(0, user_id="first", name="Ada"), *unnamed, said(3, user_id="second"), said(4, user_id="first"))
    await owner.checkpoint()
    owner.erase(10, user_id="second")
    await owner.tick()
    await owner.checkpoint()
    await owner.tick()
    assert owner.known.answers == [("e0", PARTITION, [CONVERSATION], 3)]
    assert [*owner.window().entries] == [0, 4]


async def test_an_erasure_of_a_personal_namespace_removes_that_users_messages_from_a_shared_window(owner: Owner):
    await owner.say(said(0, user_id="first", app_id="app"), said(1, user_id="second", app_id="app"))
    await owner.checkpoint()
    owner.erase(10, kind="namespace", namespace="app/second")
    assert [(control.kind, control.users) for control in await owner.tick()] == [("erase", ("second",))]
    assert [*owner.window().entries] == [0]


async def test_erasures_of_two_users_are_both_applied_even_if_the_earlier_one_arrives_last(owner: Owner):
    await owner.say(said(0, user_id="first"), said(1, user_id="second"), said(2, user_id="third"))
    await owner.checkpoint()
    owner.erase(20, user_id="third")
    await owner.tick()
    await owner.checkpoint()
    owner.erase(10, user_id="first")
    assert [control.users for control in await owner.tick()] == [("first",)]
    await owner.checkpoint()
    await owner.tick()
    assert [*owner.window().entries] == [1]
    assert [(erasure, removed) for erasure, _, _, removed in owner.known.answers] == [("e0", 1), ("e1", 1)]


@pytest.mark.parametrize("subject", SUBJECTS)
async def test_messages_older_than_an_erasure_are_dropped_on_arrival_and_newer_ones_are_kept(
    owner: Owner, subject: dict[str, Any]
):
    owner.erase(5, **subject)
    await owner.say(said(4), said(5), said(6), said(3, conversation_id="another"))
    assert [entry.message.message_id for entry in owner.window().entries.values()] == ["m6"]
    concerned = "user_id" in subject or subject.get("namespace") == "app/user"
    assert (rows.load("another", owner.app.checkpointer[PARTITION].read) is None) is concerned


async def test_fences_are_not_looked_up_for_messages_newer_than_every_erasure(owner: Owner):
    owner.erase(5)
    await owner.say(said(6), said(7))
    assert owner.known.calls == 0
    await owner.say(said(1, user_id="other"))
    assert owner.known.calls == 1
    assert len(owner.window().entries) == 3


async def test_an_erasure_that_begins_while_a_batch_is_checked_applies_to_that_batch(owner: Owner):
    owner.erase(1, user_id="other")
    begun = owner.known.fences

    async def meanwhile(*arguments: Any) -> Any:
        owner.known.fences = begun
        found = await begun(*arguments)
        owner.erase(9)
        await owner.tick()
        return found

    owner.known.fences = meanwhile
    await owner.say(said(1), said(2))
    assert rows.load(CONVERSATION, owner.app.checkpointer[PARTITION].read) is None


async def test_an_erasure_begun_during_a_tick_is_acknowledged_only_once_its_fence_drops_older_messages(owner: Owner):
    unanswered = owner.known.unanswered

    async def meanwhile(*given: Any) -> Any:
        owner.known.unanswered = unanswered
        owner.erase(9)
        return await unanswered(*given)

    owner.known.unanswered = meanwhile
    await owner.tick()
    assert owner.known.answers == [("e0", PARTITION, [], 0)]
    await owner.say(said(1), said(2))
    assert rows.load(CONVERSATION, owner.app.checkpointer[PARTITION].read) is None


async def test_the_next_owner_of_a_partition_finds_no_erased_data_and_drops_older_messages():
    first = Owner()
    await first.begin()
    await first.say(said(0, "Zanzibar"), said(1))
    await first.checkpoint()
    first.erase(5)
    await first.tick()
    await first.checkpoint()
    await first.tick()
    second = Owner(first.known, broker=first.app.broker)
    second.offsets = dict(first.offsets)
    await second.begin()
    assert second.window().entries == {}
    await second.say(said(2))
    assert second.window().entries == {}
    ledger = second.app.checkpointer[PARTITION]
    assert not any(b"Zanzibar" in row for _, row in ledger.scan(b""))


async def test_one_tick_scans_and_compacts_once_for_any_number_of_windows_and_erasures(
    owner: Owner, monkeypatch: pytest.MonkeyPatch
):
    for number in range(5):
        await owner.say(said(0, conversation_id=f"c{number}"))
    await owner.checkpoint()
    ledger = owner.app.checkpointer[PARTITION]
    scans: list[bytes] = []
    scan = ledger.scan
    monkeypatch.setattr(ledger, "scan", lambda prefix: scans.append(prefix) or scan(prefix))
    for user_id in ("user", "nobody", "nobody else"):
        owner.erase(9, user_id=user_id)
    assert len(await owner.tick()) == 5
    assert scans == [rows.HEADS]
    await owner.checkpoint()
    owner.apart.clear()
    await owner.tick()
    assert (scans, len(owner.known.answers)) == ([rows.HEADS] * 2, 3)
    (first, last), _removals = owner.apart
    for number in range(5):
        (begin, end), _ = rows.spans(f"c{number}")
        assert first <= begin < end <= last


async def test_a_reassigned_partition_is_compacted_if_another_owner_erased_data_meanwhile(owner: Owner):
    await owner.tick()
    assert owner.apart == [], "nothing was ever erased"
    owner.known.answered_at[PARTITION] = datetime.fromtimestamp(owner.clock() + 60, UTC)
    await owner.tick()
    assert owner.apart == [], "within an epoch nobody else answers"
    owner.clock.advance(MAX_CLOCK_SKEW_S + 61)
    await owner.begin()
    await owner.tick()
    assert owner.apart == [ALL_KEYS]
    assert owner.app.checkpointer[PARTITION].compacted_at == owner.clock()
    await owner.begin()
    await owner.tick()
    assert owner.apart == [ALL_KEYS], "nothing was erased since"


async def test_an_erasure_compacts_the_key_range_of_a_window_that_was_deleted_before(owner: Owner):
    owner.known.named[owner.erase(9).erasure_id] = frozenset({"gone"})
    await owner.tick()
    assert owner.apart == list(rows.spans("gone"))
    assert owner.known.answers == [("e0", PARTITION, [], 0)]
