"""How many tokens a model's context holds: a table from data, by the longest prefix of the model's name that it lists.

The table beside this file has the sizes that the models' makers publish (their model pages, November 2026). A deployment
that serves a model with less, as local servers often do, or a model of its own, says so: `overridden`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, TypeVar

from msgspec import Meta, Struct, field

from schemas import codec
from schemas.errors import Misconfigured, Rejected

MODEL_LIMITS_FILE: Final = Path(__file__).with_name("model_limits.json")  # read by whoever composes the application

Tokens = Annotated[int, Meta(ge=1)]
Value = TypeVar("Value")


class ToolUse(Struct, frozen=True):
    """Tokens a provider adds to a request with tools, by whether the model may (`auto`) or must (`any`) use one."""

    auto: int
    any: int


class ModelLimits(Struct, frozen=True, forbid_unknown_fields=True):
    """Sizes by the start of a model's name; `default` holds for a model of no listed name, or of none.

    The default is what common local models have; hosted ones hold more, so an unknown one is rather pruned too early.
    """

    default: Tokens
    context_tokens: dict[str, Tokens]
    vendors: tuple[str, ...] = ()
    tool_use_tokens: dict[str, ToolUse] = field(default_factory=dict)

    def of(self, model: str | None) -> int:
        """Tokens of the model's context, answer included; names as gateways spell them are understood."""
        return _longest(self.context_tokens, self._bare(model), self.default)

    def tool_use(self, model: str | None, required: bool) -> int:
        """Tokens the provider adds because of tools: 0 where none are published."""
        cost = _longest(self.tool_use_tokens, self._bare(model), ToolUse(0, 0))
        return cost.any if required else cost.auto

    def overridden(self, context_tokens: Mapping[str, int]) -> "ModelLimits":
        """This table with sizes added or replaced. Raises Misconfigured for a size below one token."""
        for name, tokens in context_tokens.items():
            if tokens < 1:
                raise Misconfigured(f"the context size of model {name!r} is {tokens}: give at least 1 token")
        added = {name.lower(): tokens for name, tokens in context_tokens.items()}
        return ModelLimits(self.default, self.context_tokens | added, self.vendors, self.tool_use_tokens)

    def _bare(self, model: str | None) -> str:
        """`us.anthropic.claude-...` and `anthropic/claude-...` are both `claude-...`."""
        name = (model or "").lower().rpartition("/")[2]
        while vendor := next((vendor for vendor in self.vendors if name.startswith(vendor)), None):
            name = name[len(vendor) :]
        return name


def decoded(table: bytes) -> ModelLimits:
    """The table in JSON. Raises Misconfigured when it does not read as one."""
    try:
        return codec.decode(table, ModelLimits)
    except Rejected as exc:
        raise Misconfigured(f"the table of models' limits is not as expected: {exc}") from exc


def _longest(table: Mapping[str, Value], name: str, default: Value) -> Value:
    prefix = max((prefix for prefix in table if name.startswith(prefix)), key=len, default=None)
    return default if prefix is None else table[prefix]
