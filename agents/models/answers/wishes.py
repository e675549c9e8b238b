"""Users' wishes to forget, as a model reads them: each is checked against the message that asks for it."""

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Final

from agents.models.answers.attribution import QUESTION_WORDS, content_words, shares_stem, words
from agents.models.answers.drafts import Draft
from agents.models.answers.texts import UnusableText, one_line
from agents.models.offline.own_statements import outside_role_play
from agents.models.offline.rules.engine.injection import instructs, is_injection
from agents.models.offline.wishes import TRIGGER, is_no_wish
from agents.models.port import Context, Proposal, WishRead
from schemas.extraction.candidates import MAX_NAMED
from schemas.extraction.requests import ExtractionRequest, SliceMessage

WISH: Final = "wish"
MAX_CHARS: Final = 1_000
MAX_MESSAGES: Final = 5  # that a wish names; they are hidden from search
EVERYTHING: Final = re.compile(r"everything(?: (?:about|on|of) (?:the |this )?(?:user|speaker))?", re.IGNORECASE)
USERS_OWN: Final = re.compile(r"(?:the )?user['’]s ", re.IGNORECASE)


class WishReader:
    """Reads the wishes of one answer; data that they share is computed once. `shown` are all slices of the prompt."""

    def __init__(self, request: ExtractionRequest, context: Context, shown: Sequence[ExtractionRequest]) -> None:
        self._request = request
        self._context = context
        self._shown = shown
        self._may_ask: dict[int, bool] = {}

    def read(self, draft: Draft) -> Proposal:
        """The wish of a draft with `forget`.

        Raises UnusableText: `provenance` if the message with the wish is no user's, if it only quotes or plays such a wish, or if
        it only states the text; `instruction` if a message of the prompt addresses a model; `speakers` if the speaker feeds no
        namespace; `empty`.
        """
        request, asking = self._request, self._asking(draft.forget or 0)
        if self._is_injected:
            raise UnusableText("instruction")
        namespaces = request.fed_by({request.speaker(asking)})
        if request.speakers and not namespaces:
            raise UnusableText("speakers")
        text = USERS_OWN.sub("my ", one_line(draft.text)[:MAX_CHARS])
        if only_states(asking.content, text):
            raise UnusableText("provenance")
        everything = EVERYTHING.fullmatch(text.strip(" .!\"'")) is not None
        if not everything and is_injection(text):
            raise UnusableText("instruction")
        meant = [] if everything else messages_meant(draft, asking, request)
        of_slice = {each.message_id for each in request.messages}
        return Proposal(
            kind=WISH,
            text=text,
            message_ids=(asking.message_id, *(each for each in meant if each in of_slice)),
            confidence=1.0,
            namespaces=namespaces if request.speakers else (),
            speaker_ids=tuple(filter(None, [request.user(asking)])) if request.speakers else (),
            wish=WishRead(
                asked_in=asking.message_id,
                everything=everything,
                memory_ids=() if everything else memories_meant(draft, self._context, namespaces),
                said_in=tuple(meant),
            ),
        )

    def _asking(self, number: int) -> SliceMessage:
        """A user's message of the slice that may hold a wish of that user."""
        if number not in self._outside_role_play:
            raise UnusableText("provenance")
        message = self._request.messages[number - 1]
        if number not in self._may_ask:
            self._may_ask[number] = not is_no_wish(message.content)
        if not self._may_ask[number]:
            raise UnusableText("provenance")
        return message

    @cached_property
    def _outside_role_play(self) -> set[int]:
        return outside_role_play(self._request.messages, self._request.overlap)

    @cached_property
    def _is_injected(self) -> bool:
        """Whether a message may have invented the wish: one of the assistant or a tool, another person's, or a text that the
        user pasted. The system prompt may address the model."""
        said = (message for each in self._shown for message in (*each.overlap, *each.messages))
        return any(instructs(each.content) for each in said if each.role != "system")


def only_states(content: str, text: str) -> bool:
    """Whether a message has no other content than the text, and no word of a wish. Careless models cite such messages as
    wishes."""
    said, named = {each for each in content_words(content) if not QUESTION_WORDS.fullmatch(each)}, words([text])
    return bool(said) and TRIGGER.search(content) is None and all(shares_stem(each, named) for each in said)


def messages_meant(draft: Draft, asking: SliceMessage, request: ExtractionRequest) -> list[str]:
    """The ids of the cited earlier messages of the person who has the wish (`asking`); none if there are more than
    MAX_MESSAGES."""
    said = (*request.overlap, *request.messages)
    earlier = said[: said.index(asking)]
    numbered = dict(enumerate(earlier, 1 - len(request.overlap)))
    cited = (numbered.get(number) for number in dict.fromkeys(draft.messages))
    speaker = request.speaker(asking)
    own = [each for each in cited if each and each.role == "user" and request.speaker(each) == speaker]
    return [each.message_id for each in own] if len(own) <= MAX_MESSAGES else []


def memories_meant(draft: Draft, context: Context, namespaces: tuple[str, ...]) -> tuple[str, ...]:
    """The ids of the memories of the person's namespaces that the draft names."""
    known = dict(enumerate(context.related, 1))
    named = (known.get(number) for number in dict.fromkeys(draft.supersedes))
    return tuple(each.memory_id for each in named if each and each.namespace in namespaces)[:MAX_NAMED]
