"""A conversation with two messages removed from its context."""

from typing import Any

from msgspec.structs import replace

from schemas.conversations.messages import Scope
from schemas.conversations.windows import Gap, LastPrune
from tests.fakes.windows import AT_S, a_pruning, a_state

ADA = {"app_id": "app", "user_id": "ada"}
OURS = "/v1/conversations/talk"


def known(**fields: Any) -> Any:
    state = a_state("talk", scope=Scope(conversation_id="talk", **ADA), gaps=(Gap(2, 3, 2, 6),), extracted_to=4)
    figures = replace(state.statistics, last_prune=LastPrune(AT_S, "usage", 2), messages_in_context=4)
    return replace(state, policy="app", statistics=figures, prunings=(a_pruning(1), a_pruning(2)), **fields)
