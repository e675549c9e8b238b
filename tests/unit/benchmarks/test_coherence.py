"""Each method of the coherence benchmark reduces a conversation to its share."""

import pytest

from streams.windows.tokens.accounting import used_tokens
from tests.benchmarks.coherence import WAYS
from tests.fakes.message_traits import exchanges

TURNS = exchanges(40, tokens=50)


@pytest.mark.parametrize("share", [0.5, 0.25])
@pytest.mark.parametrize("name", WAYS)
def test_each_compared_strategy_keeps_the_last_messages_and_stays_within_its_token_share(name, share):
    for way in WAYS[name]:
        kept = way(TURNS, share)
        assert 0 < kept.tokens <= share * used_tokens(TURNS)
        assert {turn.position for turn in TURNS[-10:]} <= kept.positions
        assert len(kept.positions) < len(TURNS)
