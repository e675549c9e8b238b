"""Conversations of several people: a window, its slices, the offline provider and the records, without a server."""

from collections.abc import Sequence

from agents.extraction.records import candidate_batches
from agents.models.offline.provider import OfflineProvider
from agents.models.port import Context
from schemas.conversations.messages import Message
from schemas.extraction.requests import CandidateBatch, ExtractionRequest
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy
from streams.windows.window import Window
from tests.fakes.chats import BEGAN, CONVERSATION, always, control, message, requests_among, terms

PERSONAL = Policy(name="personal", namespaces=("{app_id}/{user_id}",))
TEAM = Policy(name="team", namespaces=("{app_id}/{user_id}", "{app_id}"))


def says(number: int, user_id: str | None, content: str, **fields: object) -> Message:
    """In the app `kitchen`."""
    return message(number, content, user_id=user_id, app_id="kitchen", **fields)


def slices_of(messages: Sequence[Message], policy: Policy) -> list[ExtractionRequest]:
    """What the window of the conversation asks for; each answer makes room for the next request."""
    window, known, now = Window.opened(CONVERSATION, 0), terms(policy), BEGAN.timestamp()
    told = [each for at, said in enumerate(messages) for each in window.add(said, at, 10, always(known), now)]
    told += window.control(control("flush"), len(messages), known, now)
    return requests_among(told)


async def batches_of(request: ExtractionRequest, policy: Policy, *related: Memory) -> list[CandidateBatch]:
    """What the offline provider finds, as it goes to curators."""
    answer = await OfflineProvider().extract(request, Context(policy=policy, related=related))
    return candidate_batches(request, answer, BEGAN)
