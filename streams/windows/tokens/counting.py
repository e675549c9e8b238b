"""Counts the tokens of messages with tiktoken; never fails."""

from collections.abc import Callable

import tiktoken

from schemas import codec
from schemas.conversations.messages import Message
from streams.windows.tokens.calibration import MESSAGE_TOKENS

PIECE_CHARS = 8_192  # tiktoken's time grows faster than linearly on long runs without a space
CHARACTERS_PER_TOKEN = 3  # conservative: English averages 4 to 5

TokenCount = Callable[[str], int]


def message_tokens(message: Message, count: TokenCount) -> int:
    """The tokens of a message in a request: content, names and JSON arguments of tool calls, and framing."""
    tokens = count(message.content) + MESSAGE_TOKENS
    if not message.tool_calls:
        return tokens
    for call in message.tool_calls:
        arguments = "" if call.arguments is None else codec.encode(call.arguments).decode()
        tokens += count(call.name) + count(arguments)
    return tokens


class TokenCounter:
    """Counts with one encoding. Estimates texts that the encoding rejects, and counts them in `estimated`."""

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self._encoding = encoding
        self.estimated = 0

    def __call__(self, text: str) -> int:
        try:
            if len(text) <= PIECE_CHARS:
                return len(self._encoding.encode_ordinary(text))
            pieces = (text[start : start + PIECE_CHARS] for start in range(0, len(text), PIECE_CHARS))
            return sum(len(self._encoding.encode_ordinary(piece)) for piece in pieces)
        except (UnicodeError, ValueError):  # lone surrogates and the like
            self.estimated += 1
            return -(-len(text) // CHARACTERS_PER_TOKEN)
