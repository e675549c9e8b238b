"""Counted tokens become billed ones by what providers report, within 5 % on recorded requests."""

import json
import logging
from statistics import mean, median

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from deploy.embedded.vocabulary import ensure_vocabulary
from schemas import codec
from schemas.conversations.windows import Calibration
from streams.windows.tokens.calibration import (
    FEWEST_TOKENS,
    STEEPEST,
    UNCALIBRATED,
    WEIGHT,
    billed_tokens,
    observe,
    of,
    request_tokens,
)
from streams.windows.tokens.counting import TokenCounter
from streams.windows.tokens.model_limits import MODEL_LIMITS_FILE, decoded
from tests import public_data

report = logging.getLogger(__name__).info  # pytest --log-cli-level=INFO shows the figures

WITHIN = 0.05


def test_nothing_is_known_before_the_first_request():
    assert UNCALIBRATED.ratio == 1.0
    assert billed_tokens(UNCALIBRATED, 100) == 100


def test_one_request_already_counts_and_the_first_ones_weigh_alike():
    once = observe(UNCALIBRATED, 100, 120)
    assert once.ratio == pytest.approx(1.2)
    assert observe(once, 100, 140).ratio == pytest.approx(1.3)


def test_later_requests_weigh_as_stated():
    settled = Calibration(1.2, 500)
    assert observe(settled, 100, 220).ratio == pytest.approx(1.2 + WEIGHT * 1.0)


def test_the_ratio_is_never_below_one():
    assert observe(UNCALIBRATED, 100, 50).ratio == 1.0


def test_what_a_provider_always_adds_teaches_nothing_about_text():
    assert observe(UNCALIBRATED, 100, 433, fixed=313).ratio == pytest.approx(1.2)
    assert billed_tokens(Calibration(1.2, 1), 100, fixed=313) == 433


@pytest.mark.parametrize(("counted", "billed", "fixed"), [(FEWEST_TOKENS - 1, 500, 0), (100, 0, 0), (100, 313, 313)])
def test_requests_that_say_nothing_are_left_out(counted, billed, fixed):
    assert observe(Calibration(1.5, 3), counted, billed, fixed) == Calibration(1.5, 3)


def test_one_absurd_bill_does_not_spoil_the_ratio():
    assert observe(UNCALIBRATED, 100, 10**6).ratio == STEEPEST


def test_a_calibration_can_be_stored():
    known = observe(observe(UNCALIBRATED, 100, 130), 1_000, 1_200)
    assert codec.decode(codec.encode(known), Calibration) == known


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**7), st.integers(0, 500)), max_size=40))
def test_any_usage_leaves_a_ratio_within_its_bounds(requests):
    known = UNCALIBRATED
    for counted, billed, fixed in requests:
        known = observe(known, counted, billed, fixed)
    assert 1.0 <= known.ratio <= STEEPEST


def recorded(count: TokenCounter) -> list[tuple[int, int, int]]:
    """Counted, fixed and billed tokens of each recorded request to one model."""
    calls = public_data.required("langmem", "claude_calls.jsonl")
    limits = decoded(MODEL_LIMITS_FILE.read_bytes())
    found = []
    for line in calls.read_text().splitlines():
        call = json.loads(line)
        request, model = call["request"], call["request"]["model"]
        if call["status"] != 200 or not model.startswith("claude-3-5-sonnet"):
            continue
        texts = [*spoken(request.get("system", "")), *spoken([message["content"] for message in request["messages"]])]
        tools = request.get("tools")
        counted = sum(map(count, texts)) + (count(json.dumps(tools)) if tools else 0)
        required = request.get("tool_choice", {}).get("type") != "auto"
        fixed = limits.tool_use(model, required) if tools else 0
        billed = call["response"]["usage"]["input_tokens"]
        found.append((request_tokens(counted, len(request["messages"])), fixed, billed))
    return found


def spoken(content) -> list[str]:
    if isinstance(content, str):
        return [content]
    if isinstance(content, list):
        return [text for each in content for text in spoken(each)]
    if content.get("type") == "tool_use":
        return [content["name"], json.dumps(content["input"])]
    return spoken(content.get("text", content.get("content", "")))


def errors(requests, calibration: Calibration) -> tuple[float, float, float]:
    """Median and mean error of one request, and that of their sum."""
    told = [billed_tokens(calibration, counted, fixed) for counted, fixed, _ in requests]
    billed = [each for *_, each in requests]
    apart = [abs(guess - true) / true for guess, true in zip(told, billed, strict=True)]
    return median(apart), mean(apart), abs(sum(told) / sum(billed) - 1)


@pytest.mark.parametrize("learned_from", ["first half", "second half"])
def test_calibrated_counts_are_within_five_percent_of_the_bill(learned_from, tmp_path_factory, monkeypatch):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(ensure_vocabulary(tmp_path_factory.mktemp("vocabulary"))))
    requests = recorded(TokenCounter(tiktoken.get_encoding("o200k_base")))
    middle = len(requests) // 2
    learned, held_out = requests[:middle], requests[middle:]
    if learned_from == "second half":
        learned, held_out = held_out, learned
    known = UNCALIBRATED
    for counted, fixed, billed in learned:
        known = observe(known, counted, billed, fixed)
    before, after = errors(held_out, UNCALIBRATED), errors(held_out, known)
    report("learned from %s: median, mean and total error %.3f, %.3f, %.3f before", learned_from, *before)
    report("and with a ratio of %.3f %.3f, %.3f, %.3f after", known.ratio, *after)
    assert min(before) > WITHIN >= max(after)


KNOWN = {
    "claude-haiku-4-5-20251001": Calibration(1.2, 9),
    "llama3.2": Calibration(1.1, 3),
    "gpt-4o": Calibration(1.3, 3),
}


@pytest.mark.parametrize(
    ("model", "mean"),
    [
        ("claude-haiku-4-5-20251001", 1.2),
        ("claude-haiku-4-5", 1.2),
        ("llama3.2:latest", 1.1),
        ("gpt-4o-2024-08-06", 1.3),
        ("gpt-4o-mini", 0.0),
        ("claude-haiku-4", 0.0),
        (None, 0.0),
        ("", 0.0),
    ],
)
def test_what_is_known_of_a_model_is_found_by_its_name_with_a_version_or_without(model, mean):
    assert of(KNOWN, model).mean == mean
