"""Reported context tokens are within 5 % of the billed ones, on recorded model requests."""

import json
import logging
from datetime import UTC, datetime
from statistics import mean, median
from typing import Any

import pytest
import tiktoken
from msgspec import Struct

from agents.conversations.context import KnownWindow, build_context
from deploy.embedded.tiktoken_vocabulary import ensure_vocabulary
from schemas.conversations.contexts import ContextQuery, ConversationContext
from schemas.conversations.messages import Message, ToolCall
from schemas.conversations.window_settings import WindowSettings
from schemas.conversations.windows import Calibration
from sinks.archive.messages import ArchivedMessage
from streams.windows.tokens.accounting import Budget
from streams.windows.tokens.calibration import UNCALIBRATED, observe
from streams.windows.tokens.counting import TokenCount, TokenCounter
from streams.windows.tokens.model_limits import MODEL_LIMITS_FILE, decoded
from tests import public_data

report = logging.getLogger(__name__).info  # pytest --log-cli-level=INFO shows the figures

WITHIN = 0.05
AT = datetime(2026, 1, 1, tzinfo=UTC)
SIZE = 200_000


class Recorded(Struct, frozen=True):
    """A request as a chat service asks for its context, with what the provider adds for its tools, and its bill."""

    archived: tuple[ArchivedMessage, ...]
    query: ContextQuery
    tool_use: int
    billed: int

    def context(self, count: TokenCount, known: Calibration) -> ConversationContext:
        budget = Budget.of(WindowSettings(), SIZE, known)
        return build_context(self.archived, KnownWindow(), self.query, budget, count, AT.timestamp(), self.tool_use)


def recorded() -> list[Recorded]:
    calls = public_data.required("langmem", "claude_calls.jsonl")
    limits = decoded(MODEL_LIMITS_FILE.read_bytes())
    found = []
    for line in calls.read_text().splitlines():
        call = json.loads(line)
        request, model = call["request"], call["request"]["model"]
        if call["status"] != 200 or not model.startswith("claude-3-5-sonnet"):
            continue
        tools = tuple(request.get("tools", ()))
        required = request.get("tool_choice", {}).get("type") != "auto"
        said = [message for each in request["messages"] for message in messages(each)]
        found.append(
            Recorded(
                tuple(
                    ArchivedMessage(message=archived(number, **each), partition=0, position=number)
                    for number, each in enumerate(said)
                ),
                ContextQuery(system=text(request.get("system")) or None, tools=tools),
                limits.tool_use(model, required) if tools else 0,
                call["response"]["usage"]["input_tokens"],
            )
        )
    return found


def archived(number: int, **fields: Any) -> Message:
    return Message(conversation_id="c", message_id=str(number), timestamp=AT, **fields)


def messages(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Results of calls are messages of their own here."""
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    results = [each for each in blocks if each["type"] == "tool_result"]
    calls = tuple(
        ToolCall(id=each["id"], name=each["name"], arguments=each["input"])
        for each in blocks
        if each["type"] == "tool_use"
    )
    words = "\n".join(each["text"] for each in blocks if each["type"] == "text")
    said = [
        {"role": "tool", "content": text(each.get("content")), "tool_call_id": each["tool_use_id"]} for each in results
    ]
    return [*said, {"role": message["role"], "content": words, "tool_calls": calls}] if words or calls else said


def text(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(each.get("text", "") for each in content)


@pytest.fixture
def count(tmp_path_factory, monkeypatch) -> TokenCounter:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(ensure_vocabulary(tmp_path_factory.mktemp("vocabulary"))))
    return TokenCounter(tiktoken.get_encoding("o200k_base"))


def errors(requests: list[Recorded], count: TokenCount, known: Calibration) -> tuple[float, float, float]:
    """Median and mean error of one request, and that of their sum."""
    estimated = [each.context(count, known).billed_tokens for each in requests]
    billed = [each.billed for each in requests]
    apart = [abs(guess - true) / true for guess, true in zip(estimated, billed, strict=True)]
    return median(apart), mean(apart), abs(sum(estimated) / sum(billed) - 1)


@pytest.mark.parametrize("learned_from", ["first half", "second half"])
def test_calibrated_token_counts_are_within_five_percent_of_the_billed_tokens(learned_from, count):
    requests = recorded()
    middle = len(requests) // 2
    learned, held_out = requests[:middle], requests[middle:]
    if learned_from == "second half":
        learned, held_out = held_out, learned
    known = UNCALIBRATED
    for each in learned:
        fixed = each.tool_use
        known = observe(known, each.context(count, UNCALIBRATED).billed_tokens - fixed, each.billed, fixed)
    before, after = errors(held_out, count, UNCALIBRATED), errors(held_out, count, known)
    report("learned from %s: median, mean and total error %.3f, %.3f, %.3f before", learned_from, *before)
    report("and with a ratio of %.3f %.3f, %.3f, %.3f after", known.ratio, *after)
    assert min(before) > WITHIN >= max(after)


def test_per_message_overhead_of_short_messages_is_within_five_percent_of_the_billed_tokens():
    said = tuple(
        ArchivedMessage(message=archived(number, role="user", content="a b c d e f g"), partition=0, position=number)
        for number in range(40)
    )
    context = Recorded(said, ContextQuery(), 0, 0).context(lambda words: len(words.split()), UNCALIBRATED)
    billed = 40 * (7 + 3) + 3
    assert billed * (1 - WITHIN) <= context.billed_tokens <= billed
    assert context.statistics.total_tokens == context.billed_tokens


def test_tools_of_a_request_reduce_the_room_for_messages(count):
    (first, *_) = [each for each in recorded() if each.query.tools]
    with_tools = first.context(count, UNCALIBRATED)
    assert with_tools.tool_tokens > first.tool_use > 0
    assert with_tools.billed_tokens <= with_tools.limit_tokens
