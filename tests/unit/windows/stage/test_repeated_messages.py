"""A message redelivered after its extraction is skipped, by the archive once its window was forgotten."""

from collections.abc import Collection

import pytest
from msgspec.structs import replace

from agents.dead_letters.writer import REPLAYED
from agents.windows.agent import WindowAgent
from agents.windows.deduplication import MessageDeduplicator, MessageKey
from schemas.conversations.window_settings import WindowSettings
from schemas.windows.window_controls import WindowControl
from streams.windows.seen_messages import REMEMBERED
from tests.fakes.chats import BEGAN, CONVERSATION, ended
from tests.unit.windows.stage.window_stage import MESSAGES, NAMES, PARTITION, POLICY, Stage, said

ALL_AT_ONCE = replace(POLICY, window=WindowSettings(max_messages=10, min_recent=2))


class FakeArchive:
    """`places` are those of what was extracted."""

    def __init__(self) -> None:
        self.places: dict[MessageKey, tuple[int, int]] = {}
        self.looked_up: list[MessageKey] = []

    async def extracted(self, keys: Collection[MessageKey]) -> dict[MessageKey, tuple[int, int]]:
        self.looked_up += keys
        return {key: self.places[key] for key in keys if key in self.places}


class Remembering(Stage):
    def __init__(self, **settings) -> None:
        super().__init__(**settings)
        self.archive = FakeArchive()
        self.agent = WindowAgent(
            self.app, NAMES, self.terms, len, self.publisher, self.clock, repeats=MessageDeduplicator(self.archive)
        )

    async def extract_all(self) -> None:
        """Every request is answered, and what was extracted is in the archive at its place."""
        await self.checkpoint()
        for request in self.requests:
            for each in request.messages:
                self.archive.places[CONVERSATION, each.message_id] = (PARTITION, each.position)
            await self.tell(
                WindowControl(
                    conversation_id=CONVERSATION, kind="extraction_completed", at=BEGAN, request_id=request.request_id
                )
            )


@pytest.fixture
async def stage() -> Remembering:
    return await Remembering(policy=ALL_AT_ONCE).begin()


async def test_a_message_repeated_after_its_id_left_the_window_is_not_extracted_again(stage):
    count = REMEMBERED + 20
    await stage.say(*(said(number) for number in range(count)))
    await stage.end(ended())
    await stage.extract_all()
    assert len(stage.window().history.removals.removed_digests) == REMEMBERED
    before = stage.window().head.received
    batch = await stage.say(said(0), said(count))
    await stage.checkpoint()
    assert stage.window().head.received == before + 1
    assert batch.acked


async def test_a_message_repeated_after_its_window_was_deleted_opens_no_new_window(stage):
    stage.archive.places[CONVERSATION, "m1"] = (PARTITION, 40)
    stage.offsets[MESSAGES] = 5_000
    await stage.say(said(1))
    with pytest.raises(AssertionError):
        stage.window()


async def test_a_redelivered_record_at_its_archived_offset_is_not_taken_for_a_repetition(stage):
    stage.archive.places[CONVERSATION, "m1"] = (PARTITION, 0)
    await stage.say(said(1))
    assert list(stage.window().entries) == [0]


async def test_the_archive_is_not_queried_for_a_window_that_still_knows_all_its_ids(stage):
    await stage.say(said(1))
    stage.archive.looked_up.clear()
    await stage.say(said(2), said(1))
    assert stage.archive.looked_up == []
    assert list(stage.window().entries) == [0, 1]


async def test_a_replayed_dead_letter_is_accepted_although_its_message_is_archived(stage):
    stage.archive.places[CONVERSATION, "m1"] = (PARTITION, 40)
    stage.offsets[MESSAGES] = 5_000
    batch = stage.batch(MESSAGES, [said(1)])
    batch.records[0].headers = ((REPLAYED, b"true"),)
    await stage.agent.handle(batch)
    assert list(stage.window().entries) == [5_000]
