"""Builders of wishes to forget: slices in which Ada states one, answers in which a model names one, and wishes alone."""

from typing import Any
from uuid import uuid4

from msgspec.structs import replace

from agents.extraction.records import candidate_batches
from agents.models.port import Answer, Proposal, WishRead
from schemas.conversations.messages import Scope
from schemas.extraction.candidates import CandidateBatch, Source, Wish
from schemas.extraction.requests import ExtractionRequest
from schemas.policies.policies import Policy
from tests.builders.memories import NOON
from tests.builders.slices import slice_of

ADAS_NAMESPACE = "kitchen/ada"
GROUP = Policy(name="default", namespaces=("{app_id}/{user_id}", "{app_id}"))

STATEMENTS = (
    "User lives in Berlin.",
    "User works at Siemens as a nurse.",
    "User's wife works at Bosch.",
    "User's sister lives in Berlin.",
    "User is allergic to peanuts.",
    "User does not smoke.",
    "User has a dog named Rex.",
    "User's birthday is on 3 May.",
)


def a_wish(**fields: Any) -> Wish:
    """A wish in the message `w`, unless `message` is given."""
    return Wish(**({"wish_id": "w", "message": Source(conversation_id="c", message_id="w")} | fields))


def ada_says(*contents: str, conversation_id: str = "c") -> ExtractionRequest:
    """One slice of Ada's, in her namespace."""
    scope = Scope(conversation_id=conversation_id, app_id="kitchen", user_id="ada")
    return replace(slice_of(*contents), request_id=uuid4().hex, scope=scope, namespaces=(ADAS_NAMESPACE,))


def read_by_model(request: ExtractionRequest, text: str, asked_in: str, **wish: Any) -> CandidateBatch:
    """The batch of an answer in which a model names a wish."""
    read = WishRead(asked_in=asked_in, **wish)
    proposal = Proposal(kind="wish", text=text, message_ids=(asked_in,), confidence=1.0, wish=read)
    (batch,) = candidate_batches(request, Answer(provider="claude", model="m", proposals=(proposal,)), NOON)
    return batch
