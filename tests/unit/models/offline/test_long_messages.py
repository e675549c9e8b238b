"""Messages that are too long to be read whole."""

import pytest

from agents.models.offline import own_statements
from agents.models.offline.long_messages import MAX_CHARS, without_middles
from tests.builders.slices import slice_of
from tests.unit.models.offline.proposing import proposals

PASTED = "The weather was nice in every town. " * 28_000  # about a million characters


async def test_a_role_play_that_opens_at_the_end_of_a_message_of_a_million_characters_is_recognised() -> None:
    found = await proposals(f"I'm allergic to nuts. {PASTED} Let's role-play: you are a dragon.", "I live in a castle.")
    assert [each.text for each in found] == ["User is allergic to nuts."]


async def test_statements_at_the_beginning_of_a_message_of_a_million_characters_are_found() -> None:
    found = await proposals(f"I'm allergic to nuts. {PASTED}")
    assert [each.text for each in found] == ["User is allergic to nuts."]


async def test_no_rule_reads_the_middle_of_a_long_message(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def opens_frame(text: str, *, with_hypotheses: bool) -> bool:
        read.append(len(text))
        return False

    monkeypatch.setattr(own_statements, "opens_frame", opens_frame)
    await proposals(PASTED)
    assert read and max(read) <= MAX_CHARS


def test_a_credential_at_the_cut_is_left_out_whole() -> None:
    secret = "EXAMPLE-not-real-" + "1" * 2_000
    (message,) = without_middles(slice_of(f"{'a ' * 23_999}{secret} {'b ' * 50_000}")).messages
    assert "EXAMPLE" not in message.content and len(message.content) <= MAX_CHARS


def test_a_message_of_the_limit_stays_as_it_is() -> None:
    request = slice_of("a" * MAX_CHARS)
    assert without_middles(request) == request
