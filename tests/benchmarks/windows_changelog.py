"""Measures the changelog bytes per message of a conversation, for a short and a long window."""

import random
from collections.abc import Sequence
from statistics import mean
from typing import Any

from schemas import codec
from schemas.conversations.messages import Message
from schemas.conversations.window_settings import WindowSettings
from streams.windows.terms import Terms
from tests.benchmarks.windows_arrivals import add, opened, saved_bytes, terms
from tests.benchmarks.windows_chat import long
from tests.benchmarks.windows_turns import INTERLEAVED

CONVERSATIONS = 8
LENGTHS = (20, 500)
BATCHES = (1, 8)
CHARACTERS_PER_TOKEN = 4
# Nothing is extracted meanwhile, so a window grows either way: within its context, or beside it.
CONTEXTS = {
    "all_in_context": terms(
        WindowSettings(max_messages=2 * LENGTHS[-1], prune_at_boundary=False, prune_at_session_start=False)
    ),
    "pruned_by_default": terms(WindowSettings()),
}


def changelog(seed: int) -> dict[str, Any]:
    """Returns the bytes by context setting, then by batch size.

    Around a length means from half of it to one and a half times it, so that what is written again counts.
    """
    longest = LENGTHS[-1] * 3 // 2
    conversations = [long(random.Random(seed + number), longest) for number in range(CONVERSATIONS)]
    return {
        name: {f"batches_of_{batch}": _figures(conversations, batch, under) for batch in BATCHES}
        for name, under in CONTEXTS.items()
    }


def _figures(conversations: Sequence[Sequence[Message]], batch: int, under: Terms) -> dict[str, Any]:
    costs = [_costs(messages, batch, under) for messages in conversations]
    inputs = [[len(codec.encode(message)) for message in messages] for messages in conversations]
    written = {length: _around(costs, length) for length in LENGTHS}
    sent = {length: _around(inputs, length) for length in LENGTHS}
    short, grown = LENGTHS
    return {
        "bytes_per_message": {str(length): round(written[length]) for length in LENGTHS},
        "ratio_to_input": {str(length): round(written[length] / sent[length], 2) for length in LENGTHS},
        "ratio_to_short": round(written[grown] / sent[grown] / (written[short] / sent[short]), 2),
        "aim_ratio_to_input": 3.0,
        "aim_ratio_to_short": 1.3,
    }


def _costs(messages: Sequence[Message], batch: int, under: Terms) -> list[float]:
    """For each message its share of what its batch wrote."""
    window, costs = opened(messages[0].conversation_id), []
    for first in range(0, len(messages), batch):
        part = messages[first : first + batch]
        for offset, message in enumerate(part, first):
            add(window, message, INTERLEAVED * offset, len(message.content) // CHARACTERS_PER_TOKEN, under)
        costs += [saved_bytes(window) / len(part)] * len(part)
    return costs


def _around(values: Sequence[Sequence[float]], length: int) -> float:
    return mean(mean(each[length // 2 : length * 3 // 2]) for each in values)
