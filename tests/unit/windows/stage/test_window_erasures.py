"""The owner of windows and erasures: what is older comes in nowhere, windows are emptied, and only then is there an answer."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agents.windows.agent import WindowAgent
from agents.windows.erasures import ALL_KEYS, MAX_CLOCK_SKEW_S, WindowErasures
from schemas import codec
from schemas.conversations.window_controls import WindowControl
from schemas.erasure.erasures import Erasure
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
        """What was said until that second."""
        subject = subject or {"user_id": "user"}
        at = BEGAN + timedelta(seconds=second)
        erasure = Erasure(erasure_id=f"e{len(self.known.begun)}", kind=kind, at=at, actor="ada", **subject)
        self.known.begun.append(erasure)
        return erasure

    async def told(self) -> list[WindowControl]:
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
async def test_a_window_is_emptied_and_answered_for_once_that_is_safe(owner: Owner, subject: dict[str, Any]):
    await owner.say(*(said(number) for number in range(3)))
    await owner.checkpoint()
    owner.erase(1, **subject)
    (control,) = await owner.told()
    assert (control.kind, control.at) == ("erase", BEGAN + timedelta(seconds=1))
    assert await owner.told() == [], "it was told, and not answered for: nothing is safe yet"
    assert owner.known.answers == []
    await owner.checkpoint()
    await owner.told()
    assert owner.known.answers == [("e0", PARTITION, [CONVERSATION], 2)]
    assert owner.erasures._sent_at == {}, "nothing is kept of what was answered"
    assert [*owner.window().entries] == [2]


@pytest.mark.parametrize("user", [{"user_id": "other"}, {"user_id": "user", "app_id": "other"}])
async def test_windows_of_others_stay(owner: Owner, user: dict[str, str]):
    await owner.say(said(0))
    await owner.checkpoint()
    owner.erase(10, **user)
    assert await owner.told() == []
    assert owner.known.answers == [("e0", PARTITION, [], 0)]
    assert [*owner.window().entries] == [0]


async def test_what_others_said_in_a_users_conversation_stays(owner: Owner):
    await owner.say(said(0, user_id="first"), said(1, user_id="second"), said(2, role="assistant"))
    await owner.checkpoint()
    owner.known.named[owner.erase(10, user_id="second").erasure_id] = frozenset({CONVERSATION})
    assert [(control.kind, control.users) for control in await owner.told()] == [("erase", ("second",))]
    assert [*owner.window().entries] == [0]


@pytest.mark.parametrize("first", ["first", None])
async def test_a_window_is_rid_of_one_who_spoke_in_it_second_though_the_archive_knows_nothing(
    owner: Owner, first: str | None
):
    await owner.say(said(0, user_id=first), said(1, user_id="second"), said(2, user_id="third"))
    await owner.checkpoint()
    owner.erase(10, user_id="third")
    assert [control.kind for control in await owner.told()] == ["erase"]
    await owner.checkpoint()
    await owner.told()
    assert owner.known.answers == [("e0", PARTITION, [CONVERSATION], 1)]
    assert [*owner.window().entries] == [0, 1]


async def test_a_namespace_of_one_person_takes_that_persons_words_out_of_a_shared_window(owner: Owner):
    await owner.say(said(0, user_id="first", app_id="app"), said(1, user_id="second", app_id="app"))
    await owner.checkpoint()
    owner.erase(10, kind="namespace", namespace="app/second")
    assert [(control.kind, control.users) for control in await owner.told()] == [("erase", ("second",))]
    assert [*owner.window().entries] == [0]


async def test_two_people_are_erased_one_after_the_other_whichever_is_told_first(owner: Owner):
    await owner.say(said(0, user_id="first"), said(1, user_id="second"), said(2, user_id="third"))
    await owner.checkpoint()
    owner.erase(20, user_id="third")
    await owner.told()
    await owner.checkpoint()
    owner.erase(10, user_id="first")
    assert [control.users for control in await owner.told()] == [("first",)]
    await owner.checkpoint()
    await owner.told()
    assert [*owner.window().entries] == [1]
    assert [(erasure, removed) for erasure, _, _, removed in owner.known.answers] == [("e0", 1), ("e1", 1)]


@pytest.mark.parametrize("subject", SUBJECTS)
async def test_what_is_replayed_or_sent_again_is_dropped_and_what_is_said_later_is_not(
    owner: Owner, subject: dict[str, Any]
):
    owner.erase(5, **subject)
    await owner.say(said(4), said(5), said(6), said(3, conversation_id="another"))
    assert [entry.message.message_id for entry in owner.window().entries.values()] == ["m6"]
    concerned = "user_id" in subject or subject.get("namespace") == "app/user"
    assert (rows.load("another", owner.app.checkpointer[PARTITION].read) is None) is concerned


async def test_what_is_newer_than_every_erasure_is_not_asked_about(owner: Owner):
    owner.erase(5)
    await owner.say(said(6), said(7))
    assert owner.known.asked == 0
    await owner.say(said(1, user_id="other"))
    assert owner.known.asked == 1
    assert len(owner.window().entries) == 3


async def test_an_erasure_that_comes_while_a_batch_is_looked_at_counts_for_it(owner: Owner):
    owner.erase(1, user_id="other")
    begun = owner.known.fences

    async def meanwhile(*asked: Any) -> Any:
        owner.known.fences = begun
        found = await begun(*asked)
        owner.erase(9)
        await owner.told()
        return found

    owner.known.fences = meanwhile
    await owner.say(said(1), said(2))
    assert rows.load(CONVERSATION, owner.app.checkpointer[PARTITION].read) is None


async def test_an_erasure_begun_during_a_look_is_not_answered_for_before_its_fence_stands(owner: Owner):
    asked = owner.known.unanswered

    async def meanwhile(*given: Any) -> Any:
        owner.known.unanswered = asked
        owner.erase(9)
        return await asked(*given)

    owner.known.unanswered = meanwhile
    await owner.told()
    assert owner.known.answers == [("e0", PARTITION, [], 0)]
    await owner.say(said(1), said(2))
    assert rows.load(CONVERSATION, owner.app.checkpointer[PARTITION].read) is None


async def test_the_next_owner_finds_nothing_of_it_and_knows_what_is_older():
    first = Owner()
    await first.begin()
    await first.say(said(0, "Zanzibar"), said(1))
    await first.checkpoint()
    first.erase(5)
    await first.told()
    await first.checkpoint()
    await first.told()
    second = Owner(first.known, broker=first.app.broker)
    second.offsets = dict(first.offsets)
    await second.begin()
    assert second.window().entries == {}
    await second.say(said(2))
    assert second.window().entries == {}
    ledger = second.app.checkpointer[PARTITION]
    assert not any(b"Zanzibar" in row for _, row in ledger.scan(b""))


async def test_however_many_windows_and_erasures_there_are_a_look_scans_once_and_compacts_once(
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
    assert len(await owner.told()) == 5
    assert scans == [rows.HEADS]
    await owner.checkpoint()
    owner.apart.clear()
    await owner.told()
    assert (scans, len(owner.known.answers)) == ([rows.HEADS] * 2, 3)
    (first, last), _removals = owner.apart
    for number in range(5):
        (begin, end), _ = rows.spans(f"c{number}")
        assert first <= begin < end <= last


async def test_a_partition_that_comes_back_is_compacted_where_another_owner_erased_meanwhile(owner: Owner):
    await owner.told()
    assert owner.apart == [], "nothing was ever erased"
    owner.known.answered_at[PARTITION] = datetime.fromtimestamp(owner.clock() + 60, UTC)
    await owner.told()
    assert owner.apart == [], "within an epoch nobody else answers"
    owner.clock.advance(MAX_CLOCK_SKEW_S + 61)
    await owner.begin()
    await owner.told()
    assert owner.apart == [ALL_KEYS]
    assert owner.app.checkpointer[PARTITION].compacted_at == owner.clock()
    await owner.begin()
    await owner.told()
    assert owner.apart == [ALL_KEYS], "nothing was erased since"


async def test_a_window_that_was_deleted_before_its_conversation_was_erased_leaves_nothing_on_the_disk(owner: Owner):
    owner.known.named[owner.erase(9).erasure_id] = frozenset({"gone"})
    await owner.told()
    assert owner.apart == list(rows.spans("gone"))
    assert owner.known.answers == [("e0", PARTITION, [], 0)]
