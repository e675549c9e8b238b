"""Context blocks: the query and the answer, for HTTP, tools and internal use."""

from datetime import datetime
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from schemas.conversations.messages import Identifier, Moment, Role
from schemas.policies.block_settings import Order
from schemas.policies.policies import Fraction
from schemas.profile.profiles import Profile
from schemas.retrieval.searches import Degraded, Filters

KnownMessages = Annotated[tuple[Identifier, ...], Meta(max_length=2_000)]


class Whose(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The fields of messages by which policies match and namespaces are derived."""

    tenant_id: Identifier | None = None
    app_id: Identifier | None = None
    user_id: Identifier | None = None
    agent_id: Identifier | None = None
    mode: Identifier | None = None


class BlockQuery(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A request for a context block. `text` is the question, usually the user's latest message.

    - `namespaces`: default: those that messages of `scope` feed or, without it, of the conversation's first user
    - `scope`: whose block it is; of a known conversation its `user_id` counts, the other fields are the conversation's own
    - `tail`: include the conversation's recent messages that are not extracted yet
    - `known_messages`, `known_since`: messages that the prompt has already, by id, and from a time on; they are left out,
      and memories that say nothing else
    - `max_tokens`, `max_memories`, `max_said`, `order`: default: the policy's
    - `cite`: add a reference to each memory and passage
    - `asked_at`: the time that relative times in the text refer to; default: now
    - `profile`: absent: the answer has the profile of the namespaces; true: the prompt has the profile, so the text leaves
      out its memories; false: no profile
    - `explain`: the answer lists what was left out, and why
    - `profile_version`: the version that the caller has; if it is current, the profile's text is omitted
    """

    namespaces: Annotated[tuple[Identifier, ...], Meta(max_length=100)] = ()
    conversation_id: Identifier | None = None
    scope: Whose | None = None
    text: Annotated[str, Meta(max_length=8_000)] | None = None
    filters: Filters = Filters()
    floor: Fraction | None = None
    max_tokens: Annotated[int, Meta(ge=1, le=200_000)] | None = None
    max_memories: Annotated[int, Meta(ge=0, le=100)] | None = None
    max_said: Annotated[int, Meta(ge=0, le=50)] | None = None
    order: Order | None = None
    cite: bool = False
    tail: bool = True
    known_messages: KnownMessages = ()
    known_since: Moment | None = None
    asked_at: Moment | None = None
    explain: bool = False
    profile: bool | None = None
    profile_version: Annotated[str, Meta(max_length=64)] | None = None

    @property
    def has_profile(self) -> bool:
        """Whether the prompt has the profile."""
        return self.profile or (self.profile is None and self.profile_version is not None)

    def knows(self, message_id: str, said_at: datetime | None) -> bool:
        """Whether the prompt has a message of the conversation."""
        late = self.known_since is not None and said_at is not None and said_at >= self.known_since
        return late or message_id in self.known_messages


class BlockMemory(Struct, frozen=True, kw_only=True):
    """A memory in a block, with the tokens of its line. `reference` follows the line if memories are cited."""

    memory_id: str
    reference: str
    namespace: str
    kind: str
    text: str
    importance: Fraction
    score: float
    tokens: int


class BlockMessage(Struct, frozen=True, kw_only=True):
    """A message in a block; `shortened`: its middle was removed for lack of room."""

    message_id: str
    role: Role
    timestamp: datetime
    tokens: int
    shortened: bool = False


class BlockPassage(Struct, frozen=True, kw_only=True):
    """A passage of an earlier message in a block. `reference` follows the line if passages are cited. `name` is the speaker's
    name in the message: of a guest all that is known. `neighbour_of`: it is needed to understand the passage with this id."""

    passage_id: str
    reference: str
    namespace: str
    conversation_id: str
    message_id: str
    speaker: str
    said_at: datetime
    text: str
    score: float
    tokens: int
    name: str | None = None
    neighbour_of: str | None = None


LeftOutReason = Literal["no_room", "known", "in_profile", "max_memories", "max_said"]
LONGEST_LEFT_OUT: Final = 200  # characters


class LeftOut(Struct, frozen=True, kw_only=True):
    """A memory, a passage (`said`) or a message that was found for a block and is not in it, with the tokens that it would take.
    `text` is its beginning, of at most 200 characters.

    `no_room`: `max_tokens` has no room for it; `known`: messages or memories in the block or the prompt say the
    same; `in_profile`: the prompt's profile has it; `max_memories`, `max_said`: better ones fill the number that is allowed.
    """

    tier: Literal["memories", "said", "messages"]
    id: str
    text: str
    tokens: int
    reason: LeftOutReason


class Block(Struct, frozen=True, kw_only=True):
    """`text` is for the prompt, empty without contents; `tokens` are the text's, counted as windows count.

    Memories, messages and passages (`said`) are in the order of the text. `memories_left_out`, `messages_left_out` and
    `said_left_out` had no room; `memories_known` were left out because messages in the block or the prompt say the same.
    `conversation_known`: the conversation was found and the caller may read it; a new one is found about a second after its
    first message. `profile` is separate from the text, for the system prompt. `left_out`, if `explain` asks for it, lists at most
    20 memories, 20 passages and 20 messages that were found and are not in the block, the best and the latest first.
    """

    text: str
    tokens: int
    max_tokens: int
    memories: tuple[BlockMemory, ...] = ()
    messages: tuple[BlockMessage, ...] = ()
    said: tuple[BlockPassage, ...] = ()
    memories_left_out: int = 0
    messages_left_out: int = 0
    said_left_out: int = 0
    memories_known: int = 0
    conversation_known: bool = False
    namespaces: tuple[str, ...] = ()
    policy: str = ""
    degraded: tuple[Degraded, ...] = ()
    profile: Profile | None = None
    left_out: tuple[LeftOut, ...] | None = None
