"""A passage: a message of a conversation, or a part of a long one, with who said it and when."""

from typing import Annotated

from msgspec import Meta, Struct

from schemas.conversations.messages import Identifier, Message, Moment, Role

Names = Annotated[tuple[Identifier, ...], Meta(max_length=100)]


class Passage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What search gives back. `text` is read from the archive, without what privacy takes out; `piece` numbers the parts of a
    long message from 0. `ordinal` numbers the messages of the conversation that have passages, in the order they were said, not
    necessarily from 0. `speaker` is an id, `name` what the message calls the speaker."""

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
        """The name, where there is one, and the id."""
        return f"{self.name} ({self.speaker})" if self.name and self.name != self.speaker else self.speaker


class ReadPassage(Struct, frozen=True, kw_only=True):
    """A passage, and the namespaces whose readers may read it: any one of them is enough."""

    passage: Passage
    owners: tuple[str, ...]


class PassageFilters(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Of which conversations, by which speakers, and when it was said: from is included, to is not. Empty: any."""

    conversations: Names = ()
    speakers: Names = ()
    said_from: Moment | None = None
    said_to: Moment | None = None


ANY_PASSAGE = PassageFilters()


def speaker_of(message: Message) -> str:
    """A user's id or an agent's; else the role alone."""
    named = message.user_id if message.role == "user" else message.agent_id
    return named or message.role
