"""Counting tokens never fails and takes bounded time."""

import time

import pytest
import tiktoken

from deploy.embedded.tiktoken_vocabulary import ensure_vocabulary
from schemas.conversations.messages import ToolCall
from streams.windows.tokens.calibration import MESSAGE_TOKENS
from streams.windows.tokens.counting import CHARACTERS_PER_TOKEN, PIECE_CHARS, TokenCounter, message_tokens
from tests.fakes.chats import message


@pytest.fixture(scope="module")
def encoding(tmp_path_factory) -> tiktoken.Encoding:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(ensure_vocabulary(tmp_path_factory.mktemp("vocabulary"))))
        return tiktoken.get_encoding("cl100k_base")


@pytest.fixture
def count(encoding) -> TokenCounter:
    return TokenCounter(encoding)


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("hello world", 2), ("Grüße, 世界", 8)])
def test_short_texts_are_counted_exactly(count, encoding, text, tokens):
    assert count(text) == len(encoding.encode_ordinary(text)) == tokens
    assert count.estimated == 0


def test_special_tokens_in_a_text_are_counted_as_text(count):
    assert count("<|endoftext|>") > 1
    assert count.estimated == 0


def test_a_long_text_is_counted_to_within_a_token_for_each_piece(count, encoding):
    text = "the quick brown fox jumps over the lazy dog. " * 1_000
    exact = len(encoding.encode_ordinary(text))
    assert exact <= count(text) <= exact + 2 * (len(text) // PIECE_CHARS + 1)


def test_a_long_run_without_a_space_is_counted_in_pieces(encoding):
    class Recording:
        longest = 0

        def encode_ordinary(self, text: str) -> list[int]:
            self.longest = max(self.longest, len(text))
            return encoding.encode_ordinary(text)

    recording = Recording()
    begun = time.process_time()
    assert TokenCounter(recording)("a" * 200_000) >= 200_000 / 16
    assert recording.longest == PIECE_CHARS
    assert time.process_time() - begun < 20  # in one piece it takes minutes


def test_every_character_is_counted_once_whatever_the_length():
    class ByCharacter:
        def encode_ordinary(self, text: str) -> list[int]:
            return [0] * len(text)

    for length in (0, 1, PIECE_CHARS - 1, PIECE_CHARS, PIECE_CHARS + 1, 3 * PIECE_CHARS):
        assert TokenCounter(ByCharacter())("x" * length) == length


@pytest.mark.parametrize("error", [UnicodeEncodeError("utf-8", "x", 0, 1, "lone surrogate"), ValueError("no")])
def test_a_text_the_tokenizer_fails_on_gets_an_estimate_and_counts_as_estimated(error):
    class Failing:
        def encode_ordinary(self, text: str) -> list[int]:
            raise error

    count = TokenCounter(Failing())
    assert count("x" * (3 * CHARACTERS_PER_TOKEN + 1)) == 4
    assert count.estimated == 1


def test_lone_surrogates_have_a_count(count):
    assert count("ab\ud83d" * 10) > 0


def test_message_tokens_include_the_names_and_arguments_of_tool_calls():
    calls = (ToolCall(id="1", name="search", arguments={"query": "memory"}), ToolCall(id="2", name="now"))
    said = message(1, "Let me look.", role="assistant", tool_calls=calls)
    assert (
        message_tokens(said, len)
        == len("Let me look.") + len("search") + len('{"query":"memory"}') + len("now") + MESSAGE_TOKENS
    )
