"""Long messages are split into pieces that an embedder reads whole, in any script."""

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.passages.chunking import (
    FAST_SENTENCE_END,
    MOST_PIECES,
    PIECE_WORDS,
    SENTENCE_END,
    WHOLE_WORDS,
    all_pieces,
    pieces,
    size_in_words,
)
from agents.passages.indexer import Recalled, build
from schemas.policies.policies import Privacy
from tests.unit.passages.test_version import message

SENTENCE = "One sentence has a few words of its own."  # 9 words
CHINESE = "今天我们谈到了很多事情，大家都说了很多话。"
JAPANESE = "昨日は友達と一緒に京都へ行きました。"
KOREAN = "어제 친구와 함께 교토에 갔습니다. "
THAI = "เมื่อวานฉันไปตลาดกับเพื่อน"
MOST_CHARS = 520  # of a script without spaces, per piece: about as many tokens as an embedder reads


def run_together(parts: list[str]) -> str:
    return "".join("".join(parts).split())


def test_a_text_of_up_to_250_words_is_one_piece() -> None:
    text = "  " + "word " * WHOLE_WORDS
    assert pieces(text) == [text.strip()]
    assert len(pieces(f"{text} word")) == 2


@pytest.mark.parametrize("text", ["", " \n\t "])
def test_a_text_without_words_has_no_pieces(text: str) -> None:
    assert pieces(text) == []


def test_an_english_text_is_split_between_sentences() -> None:
    found = pieces(f"{SENTENCE} " * 60)
    assert found == [" ".join([SENTENCE] * 22), " ".join([SENTENCE] * 22), " ".join([SENTENCE] * 16)]


@given(st.text(alphabet="ab.!?。！\n\t '"))
def test_the_fast_pattern_finds_the_same_ends_of_sentences(text: str) -> None:
    ends = [[found.end() for found in pattern.finditer(text)] for pattern in (SENTENCE_END, FAST_SENTENCE_END)]
    assert ends[0] == ends[1]


def test_lines_end_sentences_and_white_space_becomes_a_single_space() -> None:
    found = pieces("One  line\twithout a stop\n\n" * 60)
    assert found == [" ".join(["One line without a stop"] * 40), " ".join(["One line without a stop"] * 20)]


def test_a_last_piece_of_a_few_words_joins_the_one_before_it() -> None:
    found = pieces(f"{SENTENCE} " * 49)
    assert [each.count("sentence") for each in found] == [22, 27]


def test_an_overlong_sentence_is_cut_between_words() -> None:
    found = pieces(" ".join(f"word{number}" for number in range(700)))
    assert [size_in_words(each) for each in found] == [PIECE_WORDS, PIECE_WORDS, PIECE_WORDS, 100]
    assert found[1].startswith("word200 ") and found[1].endswith(" word399")


def test_a_long_address_does_not_change_how_words_around_it_are_counted() -> None:
    address = "https://example.org/" + "a" * 60
    assert size_in_words(f"See {address} for more.") == 4


@pytest.mark.parametrize("sentence", [CHINESE, JAPANESE, THAI, THAI + " ", CHINESE.replace("。", "")])
def test_a_text_without_spaces_is_split(sentence: str) -> None:
    text = sentence * 300
    found = pieces(text)
    assert run_together(found) == run_together([text])
    assert max(map(len, found)) <= MOST_CHARS
    assert max(map(size_in_words, found)) <= WHOLE_WORDS


def test_chinese_is_split_between_sentences_and_gets_no_spaces() -> None:
    found = pieces(CHINESE * 100)
    assert all(each.endswith("。") and " " not in each for each in found)
    assert len(found) > 2


def test_korean_counts_by_its_characters() -> None:
    text = KOREAN * 45
    assert len(text.split()) < WHOLE_WORDS
    assert len(pieces(text)) == 2
    assert run_together(pieces(text)) == run_together([text])


def test_a_short_chinese_text_is_one_piece() -> None:
    assert pieces(CHINESE * 10) == [CHINESE * 10]


def test_a_text_in_two_scripts_loses_nothing() -> None:
    text = f"{CHINESE * 20} {SENTENCE * 3} {'A' * 5_000}{CHINESE * 30} {SENTENCE}"
    found = pieces(text)
    assert run_together(found) == run_together([text])
    assert max(map(size_in_words, found)) <= WHOLE_WORDS


def test_encoded_data_is_cut_by_characters() -> None:
    found = pieces("QUJDREVGR0hJSktMTU5P" * 10_000)
    assert "".join(found) == "QUJDREVGR0hJSktMTU5P" * 10_000
    assert max(map(len, found)) <= 2_000


def test_pieces_beyond_the_limit_are_left_out_and_the_log_says_so(caplog: pytest.LogCaptureFixture) -> None:
    text = "word " * (PIECE_WORDS * (MOST_PIECES + 5))
    assert len(all_pieces(text)) == MOST_PIECES + 5
    assert pieces(text) == all_pieces(text)[:MOST_PIECES]
    with caplog.at_level(logging.WARNING):
        built = build(Recalled(message(text), Privacy(), ("kitchen/ada",)))
    assert len(built) == MOST_PIECES
    assert "message m has 205 passages: search finds it by the first 200 only" in caplog.text
