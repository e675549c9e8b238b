"""Users' wishes to forget in a slice, and proposals that only repeat such a wish. Pure: the result depends neither on the
model nor on the time."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agents.models.answers.speakers import display_names, with_name
from agents.models.offline.own_statements import own_statements
from agents.models.offline.wishes import ForgetWish, MessageWishes, tells_of_forgetting, wishes_in
from agents.models.port import Proposal
from schemas import ids
from schemas.conversations.messages import Scope
from schemas.extraction.candidates import Source, Wish
from schemas.extraction.requests import ExtractionRequest, SliceMessage
from schemas.policies.policies import Privacy

MAX_WISHES: Final = 64  # of a slice: the limit of a candidate batch


class Wishes(Struct, frozen=True):
    """`by_message` has the parsed wishes by message id, `wishes` the same in order. `previous` has the person's previous
    message by message id; a wish that names nothing ("forget that") refers to it."""

    by_message: Mapping[str, MessageWishes] = {}
    wishes: tuple[tuple[SliceMessage, ForgetWish], ...] = ()
    previous: Mapping[str, Source] = {}

    def of(self, request: ExtractionRequest, namespace: str) -> tuple[Wish, ...]:
        """The wishes of people who feed the namespace."""
        return tuple(
            self._wish(request, namespace, index, message, wish)
            for index, (message, wish) in enumerate(self.wishes)
            if namespace in request.fed_by({request.speaker(message)})
        )

    def _wish(
        self, request: ExtractionRequest, namespace: str, index: int, message: SliceMessage, wish: ForgetWish
    ) -> Wish:
        names_nothing = not (wish.everything or wish.statement or wish.topic)
        own = request.source(message) if wish.stated_before else self.previous.get(message.message_id)
        return Wish(
            wish_id=ids.wish_id(request.request_id, namespace, index),
            message=request.source(message),
            everything=wish.everything,
            scope=self._erasable(request, message) if wish.everything else None,
            statement=wish.statement and self._with_speaker(request, namespace, message, wish.statement),
            topic=wish.topic,
            means=own if names_nothing else None,
            said=wish.stated_before if self.by_message[message.message_id].says_more else None,
        )

    @staticmethod
    def _erasable(request: ExtractionRequest, message: SliceMessage) -> Scope | None:
        """The scope of the user who asks for an erasure; None for a guest, whom nothing but a name tells from the user."""
        return None if message.guest else replace(request.scope, user_id=request.user(message))

    @staticmethod
    def _with_speaker(request: ExtractionRequest, namespace: str, message: SliceMessage, statement: str) -> str:
        """The statement as memories have it: with the speaker's name if several people feed the namespace."""
        name = display_names(request.speakers, Privacy()).get(request.speaker(message))
        return with_name(statement, name) if name and namespace in request.shared else statement

    def repeated_by(self, proposal: Proposal) -> bool:
        """Whether the proposal only repeats a wish."""
        found_wishes = [self.by_message.get(each) for each in proposal.message_ids]
        if found_wishes and all(each is not None and not each.says_more for each in found_wishes):
            return True
        return any(each is not None for each in found_wishes) and tells_of_forgetting(proposal.text)


def wishes_of(request: ExtractionRequest) -> Wishes:
    """The wishes of a slice, except those in role play and those taken back as a joke. A preceding hypothesis hides no wish, as
    it hides no statement from the classifier of sentences."""
    parsed = [wishes_in(message) for message in request.messages]
    if not any(each.wishes for each in parsed):
        return Wishes()
    own = set(own_statements(request.messages, request.overlap, with_hypotheses=False))
    by_message = {
        message.message_id: found
        for number, (message, found) in enumerate(zip(request.messages, parsed, strict=True), start=1)
        if found.wishes and number in own
    }
    wishes = [
        (message, wish)
        for message in request.messages
        if message.message_id in by_message
        for wish in by_message[message.message_id].wishes
    ]
    previous = {
        message.message_id: request.source(before)
        for message in request.messages
        if (before := previous_message(request, message))
    }
    return Wishes(by_message, tuple(wishes[:MAX_WISHES]), previous)


def previous_message(request: ExtractionRequest, message: SliceMessage) -> SliceMessage | None:
    """The person's message before this one, in slice or overlap."""
    speaker, found = request.speaker(message), None
    for each in (*request.overlap, *request.messages):
        if each.message_id == message.message_id:
            return found
        if each.role == "user" and request.speaker(each) == speaker:
            found = each
    return None
