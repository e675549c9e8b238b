"""What was said before its namespaces were erased: no model is told of it, and no answer says it."""

from datetime import datetime

from msgspec.structs import replace

from agents.llm.port import Answer, Summary
from schemas.requests import ExtractionRequest

NOBODY, NOTHING = "memstream", "none"  # the provider and the model of an answer to a question that was not asked


def still_said(request: ExtractionRequest, erased_until: datetime | None) -> ExtractionRequest:
    """Without the messages of before the erasure, in the slice and in the overlap; perhaps without any.

    Whatever a sender's clock says: what a request asks about was said before it was made.
    """
    if erased_until is None:
        return request
    if request.requested_at <= erased_until:
        return replace(request, messages=(), overlap=())
    return replace(
        request,
        messages=tuple(message for message in request.messages if message.timestamp > erased_until),
        overlap=tuple(message for message in request.overlap if message.timestamp > erased_until),
    )


def nothing_of(request: ExtractionRequest) -> Answer | Summary:
    """The answer to a request of which nothing is left."""
    if request.purpose == "summarise":
        return Summary(provider=NOBODY, model=NOTHING, text="")
    return Answer(provider=NOBODY, model=NOTHING)


def still_proposed(request: ExtractionRequest, answer: Answer, erased_until: datetime | None) -> Answer:
    """Without what comes of a message of before the erasure: the question may have been asked before that."""
    said = {message.message_id for message in still_said(request, erased_until).messages}
    kept = tuple(each for each in answer.proposals if said.issuperset(each.message_ids))
    return answer if kept == answer.proposals else replace(answer, proposals=kept)
