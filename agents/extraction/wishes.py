"""What users ask to have forgotten in a slice, and the proposals that only repeat such a wish. A pure function of the request, so
that it is the same whatever model answers, and whenever."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agents.models.answers.speakers import called, told_of
from agents.models.offline.earnest import said_in_earnest
from agents.models.offline.wishes import Asked, Told, tells_of_forgetting, wishes_in
from agents.models.port import Proposal
from schemas import ids
from schemas.extraction.candidates import Source, Wish
from schemas.extraction.requests import ExtractionRequest, SliceMessage
from schemas.policies.policies import Privacy

MOST: Final = 64  # of a slice; a batch holds no more


class Wishes(Struct, frozen=True):
    """By the messages of a slice that hold a wish, what they say. `meant` is the message that `that` means in each."""

    told: Mapping[str, Told] = {}
    said: tuple[tuple[SliceMessage, Asked], ...] = ()
    meant: Mapping[str, Source] = {}

    def of(self, request: ExtractionRequest, namespace: str) -> tuple[Wish, ...]:
        """Those of the people who feed a namespace."""
        return tuple(
            self._wish(request, namespace, index, message, asked)
            for index, (message, asked) in enumerate(self.said)
            if namespace in request.fed_by({request.speaker(message)})
        )

    def _wish(
        self, request: ExtractionRequest, namespace: str, index: int, message: SliceMessage, asked: Asked
    ) -> Wish:
        names_nothing = not (asked.everything or asked.statement or asked.topic)
        own = request.source(message) if asked.said else self.meant.get(message.message_id)
        return Wish(
            wish_id=ids.wish_id(request.request_id, namespace, index),
            message=request.source(message),
            everything=asked.everything,
            scope=replace(request.scope, user_id=request.speaker(message)) if asked.everything else None,
            statement=asked.statement and self._told(request, namespace, message, asked.statement),
            topic=asked.topic,
            means=own if names_nothing else None,
            said=asked.said if self.told[message.message_id].says_more else None,
        )

    @staticmethod
    def _told(request: ExtractionRequest, namespace: str, message: SliceMessage, statement: str) -> str:
        """As memories tell it: where several people feed the namespace, by name."""
        name = called(request.speakers, Privacy()).get(request.speaker(message))
        return told_of(statement, name) if name and namespace in request.shared else statement

    def repeated_by(self, proposal: Proposal) -> bool:
        """Whether a proposal is nothing but such a wish."""
        told = [self.told.get(each) for each in proposal.message_ids]
        if told and all(each is not None and not each.says_more for each in told):
            return True
        return any(each is not None for each in told) and tells_of_forgetting(proposal.text)


def wishes_of(request: ExtractionRequest) -> Wishes:
    """The wishes of a slice, as they were said, but for what is said in a part that is played, or taken back as a joke."""
    found = [wishes_in(message) for message in request.messages]
    if not any(told.wishes for told in found):
        return Wishes()
    earnest = set(said_in_earnest(request.messages, request.overlap))
    holding = {
        message.message_id: told
        for number, (message, told) in enumerate(zip(request.messages, found, strict=True), start=1)
        if told.wishes and number in earnest
    }
    said = [
        (message, asked)
        for message in request.messages
        if message.message_id in holding
        for asked in holding[message.message_id].wishes
    ]
    meant = {
        message.message_id: request.source(before)
        for message in request.messages
        if (before := said_before(request, message))
    }
    return Wishes(holding, tuple(said[:MOST]), meant)


def said_before(request: ExtractionRequest, message: SliceMessage) -> SliceMessage | None:
    """The message of the same person before a message, in the slice or just before it."""
    speaker, found = request.speaker(message), None
    for each in (*request.overlap, *request.messages):
        if each.message_id == message.message_id:
            return found
        if each.role == "user" and request.speaker(each) == speaker:
            found = each
    return None
