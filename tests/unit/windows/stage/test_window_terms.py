"""The terms of a window follow its policy and the context sizes of its models."""

from unittest.mock import Mock

import pytest

from agents.windows.terms import WindowTerms
from schemas.conversations.messages import Scope
from schemas.conversations.windows import Calibration
from schemas.policies.policies import Policies, Policy
from streams.windows.tokens.model_limits import ModelLimits
from streams.windows.window import Window
from tests.fakes.chats import CONVERSATION, message

SCOPE = Scope(conversation_id="c")
LIMITS = ModelLimits(default=200_000, context_tokens={"small": 1_000})


@pytest.mark.parametrize(
    ("slice_tokens", "most", "cut_at"),
    [(8_000, None, 8_000), (8_000, 19_000, 8_000), (50_000, 19_000, 19_000), (8_000, 5_000, 5_000), (8_000, 7, 100)],
)
def test_slices_are_no_larger_than_the_context_of_the_extraction_models(
    slice_tokens: int, most: int | None, cut_at: int
) -> None:
    terms = WindowTerms(Policies((Policy(name="p", slice_tokens=slice_tokens),)), LIMITS, most)
    assert terms.policy(SCOPE).slice_tokens == cut_at
    assert terms.of(SCOPE, None).policy.slice_tokens == cut_at


def test_the_built_in_policy_is_limited_to_the_context_of_the_models_too() -> None:
    assert WindowTerms(Policies(), LIMITS, 3_000).policy(SCOPE).slice_tokens == 3_000


def test_a_window_keeps_its_terms_until_something_changes() -> None:
    terms, window = WindowTerms(Policies((Policy(name="p"),)), LIMITS), Window.opened(CONVERSATION, 0)
    looked_up = Mock(wraps=terms.of)
    terms.of = looked_up  # type: ignore[method-assign]
    assert terms.now(window).budget.size == 200_000
    window.add(message(1, app_id="mail"), 1, 10, terms.now, 0.0)
    window.add(message(2), 2, 10, terms.now, 0.0)
    window.add(message(3), 3, 10, terms.now, 0.0)
    assert [called.args[0].app_id for called in looked_up.call_args_list] == [None, "mail"]
    window.add(message(4, model="small"), 4, 10, terms.now, 0.0)
    assert terms.now(window).budget.size == 1_000
    terms.calibrated({"small": Calibration(1.5, 30)})
    assert terms.now(window).budget.ratio == 1.5
    terms.governed(Policies((Policy(name="q"),)))
    assert terms.now(window).policy.name == "q"
