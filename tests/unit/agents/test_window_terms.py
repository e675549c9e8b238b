"""The terms of windows: what a policy says, within what the models that are asked can read."""

import pytest

from agents.window_terms import WindowTerms
from schemas.messages import Scope
from schemas.policies import Policies, Policy
from streams.windows.model_limits import ModelLimits

SCOPE = Scope(conversation_id="c")
LIMITS = ModelLimits(default=200_000, context_tokens={})


@pytest.mark.parametrize(
    ("slice_tokens", "most", "cut_at"),
    [(8_000, None, 8_000), (8_000, 19_000, 8_000), (50_000, 19_000, 19_000), (8_000, 5_000, 5_000), (8_000, 7, 100)],
)
def test_slices_are_no_larger_than_the_models_read(slice_tokens: int, most: int | None, cut_at: int) -> None:
    terms = WindowTerms(Policies((Policy(name="p", slice_tokens=slice_tokens),)), LIMITS, most)
    assert terms.policy(SCOPE).slice_tokens == cut_at
    assert terms.of(SCOPE, None).policy.slice_tokens == cut_at


def test_the_built_in_policy_is_held_to_them_too() -> None:
    assert WindowTerms(Policies(), LIMITS, 3_000).policy(SCOPE).slice_tokens == 3_000
