"""The Kafka records of an answer: one candidate batch per namespace, or a summary for the window."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from agents.extraction.corrections import corrections_of
from agents.extraction.wishes import wishes_of
from agents.models.answers.speakers import has_user_as_subject, says_only_name, with_name
from agents.models.offline.provider import OfflineProvider
from agents.models.port import Answer, Proposal, Summary
from schemas import codec, ids
from schemas.extraction.candidates import Candidate, CandidateBatch
from schemas.extraction.requests import ExtractionRequest
from schemas.kafka import topics
from schemas.kafka.records import Outgoing
from schemas.windows.window_controls import WindowControl

TEXT_CHARS: Final = 4_000  # the limit of a candidate's text; a policy may allow as many before the name is added
FULL_TEXT_CHARS: Final = 40_000
MAX_CORRECTED: Final = 64


def answer_records(request: ExtractionRequest, stored: bytes, at: datetime) -> list[Outgoing]:
    """The records of a stored answer. Raises Rejected if it answers another request."""
    if request.purpose == "summarise":
        return [summary_record(request, codec.decode(stored, Summary), at)]
    answer = codec.decode(stored, Answer)
    return [*candidate_records(request, answer, at), *rating_records(request, answer, at)]


def summary_record(request: ExtractionRequest, summary: Summary, at: datetime) -> Outgoing:
    """The control event with the summary, also if the summary is empty."""
    control = WindowControl(
        conversation_id=request.conversation_id,
        kind="summarised",
        at=at,
        request_id=request.request_id,
        first=request.first,
        last=request.last,
        summary=summary.text,
        known=ids.summary_id(request.summary) if request.summary else None,
    )
    return window_control_record(request, control)


def rating_records(request: ExtractionRequest, answer: Answer, at: datetime) -> list[Outgoing]:
    """The control events with ratings of messages. Deterministic, so a repetition changes nothing."""
    if not answer.ratings:
        return []
    control = WindowControl(
        conversation_id=request.conversation_id,
        kind="rated",
        at=at,
        request_id=request.request_id,
        ratings=answer.ratings,
    )
    return [window_control_record(request, control)]


def window_control_record(request: ExtractionRequest, control: WindowControl) -> Outgoing:
    """A control event for the conversation's window, in its partition."""
    return Outgoing(
        topic=topics.WINDOW_CONTROL,
        key=request.conversation_id.encode(),
        value=codec.encode(control),
        partition=request.partition,
    )


def candidate_records(request: ExtractionRequest, answer: Answer, at: datetime) -> list[Outgoing]:
    return [
        Outgoing(topic=topics.CANDIDATES, key=batch.namespace.encode(), value=codec.encode(batch))
        for batch in candidate_batches(request, answer, at)
    ]


def candidate_batches(request: ExtractionRequest, answer: Answer, at: datetime) -> list[CandidateBatch]:
    """One batch per namespace, part i of n, also without candidates: each namespace settles its part. Wishes to forget are
    included: those that rules find, and those that the model names besides."""
    return [
        candidate_batch(request, answer, namespace, part, at)
        for part, namespace in enumerate(request.namespaces, start=1)
    ]


def candidate_batch(
    request: ExtractionRequest, answer: Answer, namespace: str, part: int, at: datetime
) -> CandidateBatch:
    wishes = wishes_of(request, answer.proposals, guess=answer.provider == OfflineProvider.name)
    corrections = corrections_of(request, answer.memories)
    return CandidateBatch(
        request_id=request.request_id,
        conversation_id=request.conversation_id,
        partition=request.partition,
        namespace=namespace,
        part=part,
        parts=len(request.namespaces),
        policy=request.policy,
        policy_version=request.policy_version,
        provider=answer.provider,
        candidates=tuple(
            candidate(request, proposal, namespace, index, corrections.get(index, ()))
            for index, proposal in enumerate(answer.memories)
            if namespace in fed_by(request, proposal)
            and not wishes.repeated_by(proposal)
            and not says_only_name(texts(request, proposal, namespace)[0], proposal.speaker_name or "")
        ),
        extracted_at=at,
        requested_at=request.requested_at,
        wishes=wishes.of(request, namespace),
    )


def candidate(
    request: ExtractionRequest, proposal: Proposal, namespace: str, index: int, corrects: Sequence[int] = ()
) -> Candidate:
    """The candidate of a proposal. `corrects` are the places of the proposals that it corrects."""
    said = {message.message_id: message for message in request.messages}
    text, context, full_text = texts(request, proposal, namespace)
    return Candidate(
        candidate_id=ids.candidate_id(request.request_id, namespace, index),
        kind=proposal.kind,
        text=text,
        sources=tuple(request.source(said[message_id]) for message_id in proposal.message_ids),
        confidence=proposal.confidence,
        importance=proposal.importance,
        kinds=proposal.kinds,
        tags=proposal.tags,
        context=context,
        full_text=full_text,
        event_time=proposal.event_time,
        language=proposal.language,
        repeats=proposal.repeats,
        refines=proposal.refines,
        contradicts=proposal.contradicts,
        supersedes=proposal.supersedes,
        corrects=tuple(ids.candidate_id(request.request_id, namespace, each) for each in corrects)[:MAX_CORRECTED],
        valid_from=proposal.valid_from,
        valid_until=proposal.valid_until,
        about_speaker=has_user_as_subject(proposal.text, proposal.speaker_name),
    )


def fed_by(request: ExtractionRequest, proposal: Proposal) -> tuple[str, ...]:
    """The namespaces of a proposal. Answers of earlier versions have none: then all of the request."""
    return proposal.namespaces or request.fed_by(request.speakers_of(proposal.message_ids))


def texts(request: ExtractionRequest, proposal: Proposal, namespace: str) -> tuple[str, str | None, str | None]:
    """The short text, the context and the full text: with the speaker's name in namespaces that several people feed, with
    "the user" elsewhere."""
    text, context, full_text, name = proposal.text, proposal.context, proposal.full_text, proposal.speaker_name
    if not request.speakers or name is None or namespace not in request.shared:
        return text, context, full_text
    return (
        with_name(text, name)[:TEXT_CHARS],
        context and with_name(context, name)[:TEXT_CHARS],
        full_text and with_name(full_text, name)[:FULL_TEXT_CHARS],
    )
