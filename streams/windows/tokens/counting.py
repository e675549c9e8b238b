"""Counting tokens: once per message, with tiktoken, and never failing."""

from collections.abc import Callable

import tiktoken

from schemas import codec
from schemas.conversations.messages import Message
from streams.windows.tokens.calibration import MESSAGE_TOKENS

COUNTED_AT_ONCE = 8_192  # characters; tiktoken's time grows faster than linearly on long runs without a space
CHARACTERS_PER_TOKEN = 3  # conservative: English averages 4 to 5

TokenCount = Callable[[str], int]


def message_tokens(message: Message, count: TokenCount) -> int:
    """Of what a request has of a message: its content, the names and arguments of its tool calls as JSON, and its frame."""
    tokens = count(message.content) + MESSAGE_TOKENS
    if not message.tool_calls:
        return tokens
    for call in message.tool_calls:
        arguments = "" if call.arguments is None else codec.encode(call.arguments).decode()
        tokens += count(call.name) + count(arguments)
    return tokens


class TokenCounter:
    """Counts with one encoding; a text it fails on is estimated from its length and counted in `estimated`."""

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self._encoding = encoding
        self.estimated = 0

    def __call__(self, text: str) -> int:
        try:
            if len(text) <= COUNTED_AT_ONCE:
                return len(self._encoding.encode_ordinary(text))
            pieces = (text[start : start + COUNTED_AT_ONCE] for start in range(0, len(text), COUNTED_AT_ONCE))
            return sum(len(self._encoding.encode_ordinary(piece)) for piece in pieces)
        except (UnicodeError, ValueError):  # lone surrogates and the like
            self.estimated += 1
            return -(-len(text) // CHARACTERS_PER_TOKEN)
