"""Context sizes of models come from data: the longest prefix applies, unknown models have the documented default."""

import msgspec
import pytest

from schemas.errors import Misconfigured
from streams.windows.tokens.model_limits import MODEL_LIMITS_FILE, ModelLimits, ToolUse, decoded


@pytest.fixture(scope="module")
def limits() -> ModelLimits:
    return decoded(MODEL_LIMITS_FILE.read_bytes())


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("claude-3-5-sonnet-latest", 200_000),
        ("claude-sonnet-4-5-20250929", 200_000),
        ("claude-opus-4-6", 1_000_000),
        ("claude-haiku-4-5", 200_000),
        ("claude-2.0", 100_000),
        ("us.anthropic.claude-3-5-haiku-20241022-v1:0", 200_000),
        ("anthropic/claude-opus-5", 1_000_000),
        ("gpt-4", 8_192),
        ("gpt-4-0613", 8_192),
        ("gpt-4o-mini", 128_000),
        ("gpt-4.1-mini", 1_047_576),
        ("gpt-4-32k", 32_768),
        ("GPT-3.5-Turbo", 16_385),
        ("o3-mini", 200_000),
        ("llama3:8b", 8_192),
        ("llama3.1:70b", 131_072),
        ("meta-llama/Llama-3.3-70B-Instruct", 131_072),
        ("mistral:7b", 32_768),
        ("gemini-1.5-pro", 2_097_152),
    ],
)
def test_a_model_has_its_published_context_size(limits, model, tokens):
    assert limits.of(model) == tokens


@pytest.mark.parametrize("model", [None, "", "our-own-model", "/", "xclaude-3"])
def test_an_unknown_model_has_the_default_context_size(limits, model):
    assert limits.of(model) == limits.default == 32_768


def test_context_sizes_can_be_added_and_replaced_by_a_deployment(limits):
    ours = limits.overridden({"our-own-": 4_000, "llama3": 2_048, "Claude-3-Opus": 9_000})
    assert (ours.of("our-own-model"), ours.of("llama3:8b"), ours.of("claude-3-opus-latest")) == (4_000, 2_048, 9_000)
    assert ours.of("llama3.1") == 131_072
    assert limits.of("our-own-model") == limits.default


def test_a_context_size_below_one_token_is_a_configuration_error(limits):
    with pytest.raises(Misconfigured, match="'ours' is 0: give at least 1 token"):
        limits.overridden({"ours": 0})


@pytest.mark.parametrize(
    "table", [b"", b"[]", b'{"default": 0, "context_tokens": {}}', b'{"default": 9, "models": {}}']
)
def test_a_malformed_table_of_limits_is_a_configuration_error(table):
    with pytest.raises(Misconfigured, match="table of model limits"):
        decoded(table)


def test_tool_use_returns_the_published_token_cost_of_tools_or_zero(limits):
    assert limits.tool_use("claude-3-5-sonnet-latest", required=True) == 313
    assert limits.tool_use("claude-3-opus-20240229", required=False) == 530
    assert limits.tool_use("llama3", required=True) == 0


def test_a_custom_table_of_limits_needs_only_context_sizes():
    table = ModelLimits(default=10, context_tokens={"a": 20})
    assert decoded(msgspec.json.encode(table)) == table
    assert table.tool_use("a", required=True) == ToolUse(0, 0).any
