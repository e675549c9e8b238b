"""Gaps record the number and place of removed messages, and adjacent gaps are joined."""

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from deploy.embedded.tiktoken_vocabulary import ensure_vocabulary
from schemas import codec
from schemas.conversations.windows import MARKER_TOKENS, Gap
from streams.windows.context.gaps import count, holds, merge_adjacent, of, summarised
from tests.fakes.message_traits import turn


def test_a_marker_states_how_many_messages_were_removed():
    assert Gap(0, 20, 15, 300).marker == "... [15 messages removed] ..."
    assert Gap(4, 4, 1, 10).marker == "... [1 message removed] ..."


def test_a_marker_contains_the_summary_of_its_gap():
    gap = summarised(Gap(0, 20, 15, 300), "They chose Oslo.", 5)
    assert gap.marker == "... [15 messages removed: They chose Oslo.] ..."
    assert gap.marker_tokens == MARKER_TOKENS + 5


@pytest.mark.parametrize("encoding", ["cl100k_base", "o200k_base"])
def test_a_marker_never_exceeds_its_documented_token_count(encoding, tmp_path_factory, monkeypatch):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(ensure_vocabulary(tmp_path_factory.mktemp("vocabulary"))))
    counted = tiktoken.get_encoding(encoding)
    for many in (1, 15, 999_999_999):
        assert len(counted.encode_ordinary(Gap(0, 1, many, 0).marker)) <= MARKER_TOKENS


def test_merged_joins_adjacent_gaps_and_leaves_others_separate():
    gaps = [of(turn(position, tokens=5)) for position in (7, 1, 3, 9)]
    assert merge_adjacent(gaps, [5]) == (Gap(1, 3, 2, 10), Gap(7, 9, 2, 10))


def test_summaries_of_joined_gaps_are_kept():
    gaps = [Gap(1, 2, 2, 9, "Oslo.", 3), Gap(4, 4, 1, 9), Gap(5, 5, 1, 9, "Bergen.", 4)]
    assert merge_adjacent(gaps, []) == (Gap(1, 5, 4, 27, "Oslo. Bergen.", 7),)


def test_a_gap_holds_the_positions_between_its_ends():
    gaps = (Gap(2, 4, 3, 1), Gap(8, 8, 1, 1))
    assert [position for position in range(10) if holds(gaps, position)] == [2, 3, 4, 8]
    assert count(gaps) == 4


def test_a_gap_survives_encoding_and_decoding():
    gap = Gap(2, 4, 3, 1, "Oslo.", 3)
    assert codec.decode(codec.encode(gap), Gap) == gap


@given(st.lists(st.booleans(), max_size=30))
def test_gaps_cover_exactly_the_removed_positions(stayed):
    kept = [position for position, stays in enumerate(stayed) if stays]
    gone = [position for position, stays in enumerate(stayed) if not stays]
    gaps = merge_adjacent([of(turn(position)) for position in gone], kept)
    assert all(holds(gaps, position) for position in gone)
    assert not any(holds(gaps, position) for position in kept)
    assert count(gaps) == len(gone)
    assert merge_adjacent(gaps, kept) == gaps
