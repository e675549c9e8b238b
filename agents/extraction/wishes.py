"""Users' wishes to forget in a slice, found by rules and named by a model, and proposals that only repeat such a wish. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agents.extraction.meant_messages import MeantMessage, messages_meant
from agents.extraction.wish_context import is_certain
from agents.models.answers.speakers import begins_with_user, display_names, with_name
from agents.models.offline.guessed_wishes import wishes_or_guess_in
from agents.models.offline.own_statements import outside_role_play
from agents.models.offline.wishes import ForgetWish, MessageWishes, tells_of_forgetting, wishes_in
from agents.models.port import Proposal, WishRead
from schemas import ids
from schemas.conversations.messages import Scope
from schemas.extraction.candidates import MAX_NAMED, Wish
from schemas.extraction.requests import ExtractionRequest, SliceMessage
from schemas.policies.policies import Privacy

TEXT_CHARS: Final = 4_000  # the limit of a wish's text


class FoundWish(Struct, frozen=True):
    """A wish in a message. `memory_ids` are those that the model names, `said_in` the messages if no rule found the wish."""

    message: SliceMessage
    wish: ForgetWish
    memory_ids: tuple[str, ...] = ()
    said_in: tuple[str, ...] = ()


class Wishes(Struct, frozen=True):
    """`by_message` has the wishes that rules found, by message id, `wishes` all of them in order. `meant` has by message id the
    earlier message that a wish which names nothing ("forget that") means."""

    by_message: Mapping[str, MessageWishes] = {}
    wishes: tuple[FoundWish, ...] = ()
    meant: Mapping[str, MeantMessage] = {}

    def of(self, request: ExtractionRequest, namespace: str) -> tuple[Wish, ...]:
        """The wishes of people who feed the namespace."""
        return tuple(
            self._wish(request, namespace, index, found)
            for index, found in enumerate(self.wishes)
            if namespace in request.fed_by({request.speaker(found.message)})
        )

    def _wish(self, request: ExtractionRequest, namespace: str, index: int, found: FoundWish) -> Wish:
        message, wish = found.message, found.wish
        meant = self.meant.get(message.message_id) if wish.means_previous_message else None
        if wish.stated_before:
            meant = MeantMessage(message)
        return Wish(
            wish_id=ids.wish_id(request.request_id, namespace, index),
            message=request.source(message),
            everything=wish.everything,
            scope=self._erasable(request, message) if wish.everything else None,
            statement=wish.statement and self._with_speaker(request, namespace, message, wish.statement)[:TEXT_CHARS],
            topic=wish.topic and wish.topic[:TEXT_CHARS],
            means=request.source(meant.message) if meant else None,
            named_as=meant.named_as if meant else None,
            said=self._said(found),
            memory_ids=found.memory_ids,
            messages=tuple(
                request.source(each)
                for each in (*request.overlap, *request.messages)
                if each.message_id in found.said_in
            ),
        )

    def _said(self, found: FoundWish) -> str | None:
        """The words to forget, if the messages meant say more."""
        if (by_rules := self.by_message.get(found.message.message_id)) is None:
            return found.wish.statement or found.wish.topic
        return found.wish.stated_before if by_rules.says_more else None

    def _erasable(self, request: ExtractionRequest, message: SliceMessage) -> Scope | None:
        """The scope of the user who asks for an erasure. None for a guest, whom nothing but a name tells from the user, and
        for a wish that only a model read: people decide about it."""
        by_rules = message.message_id in self.by_message
        return None if message.guest or not by_rules else replace(request.scope, user_id=request.user(message))

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
        asked_in = {each.message.message_id for each in self.wishes}
        return not asked_in.isdisjoint(proposal.message_ids) and tells_of_forgetting(proposal.text)


def wishes_of(request: ExtractionRequest, proposals: Iterable[Proposal] = (), *, guess: bool = False) -> Wishes:
    """The wishes of a slice, except those in role play and those taken back as a joke. A preceding story or hypothesis hides no
    wish. `proposals` have the wishes that a model read; `guess` adds unclear ones if no model reads the slice."""
    wishes_in_content = wishes_or_guess_in if guess else wishes_in
    parsed = [certain_wishes(request, message, wishes_in_content(message)) for message in request.messages]
    read = [(each, each.wish) for each in proposals if each.wish is not None]
    if not read and not any(each.wishes for each in parsed):
        return Wishes()
    own = outside_role_play(request.messages, request.overlap)
    by_message = {
        message.message_id: found
        for number, (message, found) in enumerate(zip(request.messages, parsed, strict=True), start=1)
        if found.wishes and number in own
    }
    read = read[: max(0, MAX_NAMED - sum(len(each.wishes) for each in by_message.values()))]
    found_wishes = (
        found
        for message in request.messages
        for found in wishes_in_message(message, by_message.get(message.message_id), read)
    )
    wishes = tuple(islice(found_wishes, MAX_NAMED))
    meant = messages_meant(request, (each.message for each in wishes if each.wish.means_previous_message))
    return Wishes(by_message, wishes, meant)


def certain_wishes(request: ExtractionRequest, message: SliceMessage, found: MessageWishes) -> MessageWishes:
    """The wishes of a message that the messages before it leave no doubt about."""
    return replace(found, wishes=tuple(each for each in found.wishes if is_certain(request, message, each)))


def wishes_in_message(
    message: SliceMessage, by_rules: MessageWishes | None, read: Sequence[tuple[Proposal, WishRead]]
) -> Iterator[FoundWish]:
    """The wishes of a message, each once: those of the rules, the last one with the memories that the model names for the
    message; without rules those that the model read."""
    own = [(forget_wish(proposal, wish), wish) for proposal, wish in read if wish.asked_in == message.message_id]
    if by_rules is None:
        for each in dict.fromkeys(wish for wish, _ in own):
            of_wish = [wish for equal, wish in own if equal == each]
            said_in = distinct(message_id for wish in of_wish for message_id in wish.said_in)
            yield FoundWish(message, each, distinct(named for wish in of_wish for named in wish.memory_ids), said_in)
        return
    *first, last = by_rules.wishes
    yield from (FoundWish(message, each) for each in first)
    yield FoundWish(
        message, last, () if last.everything else distinct(named for _, wish in own for named in wish.memory_ids)
    )


def distinct(ids: Iterable[str]) -> tuple[str, ...]:
    """The first MAX_NAMED ids, each once."""
    return tuple(islice(dict.fromkeys(ids), MAX_NAMED))


def forget_wish(proposal: Proposal, wish: WishRead) -> ForgetWish:
    """A wish that a model read, in the form of the rules."""
    if wish.everything:
        return ForgetWish(everything=True)
    return ForgetWish(statement=proposal.text) if begins_with_user(proposal.text) else ForgetWish(topic=proposal.text)
