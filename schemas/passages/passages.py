"""A passage: a message of a conversation, or a part of a long one, with speaker and time."""

from typing import Annotated

from msgspec import Meta, Struct

from schemas.conversations.messages import Identifier, Message, Moment, Role

Names = Annotated[tuple[Identifier, ...], Meta(max_length=100)]


class Passage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A passage that search found. `text` comes from the archive, scrubbed by the policy's privacy; `piece` numbers the
    parts of a long message from 0. `ordinal` numbers the conversation's messages that have passages, in order, not
    necessarily from 0. `speaker` is an id, `name` the speaker's name in the message."""

    passage_id: str
    namespace: str
    conversation_id: str
    message_id: str
    role: Role
    speaker: str
    said_at: Moment
    text: str
    piece: int = 0
    ordinal: int = 0
    name: str | None = None

    @property
    def said_by(self) -> str:
        """The name, if there is one, with the id."""
        return f"{self.name} ({self.speaker})" if self.name and self.name != self.speaker else self.speaker


class ReadPassage(Struct, frozen=True, kw_only=True):
    """A passage with the namespaces that own it: the right to read one of them is enough."""

    passage: Passage
    owners: tuple[str, ...]


class PassageFilters(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Filters by conversation, speaker and time (from inclusive, to exclusive). Empty: no filter."""

    conversations: Names = ()
    speakers: Names = ()
    said_from: Moment | None = None
    said_to: Moment | None = None


ANY_PASSAGE = PassageFilters()


def speaker_of(message: Message) -> str:
    """The id of the user or the agent; without one, the role."""
    named = message.user_id if message.role == "user" else message.agent_id
    return named or message.role
