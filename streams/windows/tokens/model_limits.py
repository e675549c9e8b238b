"""The context sizes of models in tokens, by the longest matching prefix of the model's name.

`model_limits.json` has the sizes that vendors publish (model pages, November 2026). A deployment overrides the size of a model
that it serves with a smaller context, and adds its own models.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, TypeVar

from msgspec import Meta, Struct, field

from schemas import codec
from schemas.errors import Misconfigured, Rejected

MODEL_LIMITS_FILE: Final = Path(__file__).with_name("model_limits.json")  # read by the composition root

Tokens = Annotated[int, Meta(ge=1)]
Value = TypeVar("Value")


class ToolUse(Struct, frozen=True):
    """Tokens a provider adds to a request with tools, by whether the model may (`auto`) or must (`any`) use one."""

    auto: int
    any: int


class ModelLimits(Struct, frozen=True, forbid_unknown_fields=True):
    """Sizes by prefix of a model's name. `default` is used for an unknown model.

    The default is the size of common local models. Hosted models have more, so an unknown one is pruned early rather than late.
    """

    default: Tokens
    context_tokens: dict[str, Tokens]
    vendors: tuple[str, ...] = ()
    tool_use_tokens: dict[str, ToolUse] = field(default_factory=dict)

    def of(self, model: str | None) -> int:
        """The size of the model's context in tokens, answer included. Accepts names with a gateway's prefix."""
        return _longest(self.context_tokens, self._bare(model), self.default)

    def tool_use(self, model: str | None, required: bool) -> int:
        """The tokens that the provider adds for tools; 0 if it publishes none."""
        cost = _longest(self.tool_use_tokens, self._bare(model), ToolUse(0, 0))
        return cost.any if required else cost.auto

    def overridden(self, context_tokens: Mapping[str, int]) -> "ModelLimits":
        """A table with these sizes added or replaced. Raises Misconfigured for a size below 1."""
        for name, tokens in context_tokens.items():
            if tokens < 1:
                raise Misconfigured(f"the context size of model {name!r} is {tokens}: give at least 1 token")
        added = {name.lower(): tokens for name, tokens in context_tokens.items()}
        return ModelLimits(self.default, self.context_tokens | added, self.vendors, self.tool_use_tokens)

    def _bare(self, model: str | None) -> str:
        """The name without vendor prefixes: `us.anthropic.claude-...` and `anthropic/claude-...` become `claude-...`."""
        name = (model or "").lower().rpartition("/")[2]
        while vendor := next((vendor for vendor in self.vendors if name.startswith(vendor)), None):
            name = name[len(vendor) :]
        return name


def decoded(table: bytes) -> ModelLimits:
    """Decodes the table from JSON. Raises Misconfigured if it is invalid."""
    try:
        return codec.decode(table, ModelLimits)
    except Rejected as exc:
        raise Misconfigured(f"the table of model limits is invalid: {exc}") from exc


def _longest(table: Mapping[str, Value], name: str, default: Value) -> Value:
    prefix = max((prefix for prefix in table if name.startswith(prefix)), key=len, default=None)
    return default if prefix is None else table[prefix]
