"""Context blocks: what is asked for a prompt, and what is answered, over HTTP, as a tool and inside."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from schemas.conversations.messages import Identifier, Moment, Role
from schemas.policies.policies import Fraction
from schemas.profile.profiles import Profile
from schemas.retrieval.block_settings import Order
from schemas.retrieval.searches import Degraded, Filters

KnownMessages = Annotated[tuple[Identifier, ...], Meta(max_length=2_000)]


class Whose(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The fields that a chat service's messages carry, by which policies match and namespaces are derived."""

    tenant_id: Identifier | None = None
    app_id: Identifier | None = None
    user_id: Identifier | None = None
    agent_id: Identifier | None = None
    mode: Identifier | None = None


class BlockQuery(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a prompt needs to know. `text` is what the answer will be about, as a rule the user's latest words.

    Without `namespaces` they are those that the conversation feeds or, as long as nothing of it is known, that messages of
    `scope` would feed. Of the conversation comes what was said and is not
    extracted yet, unless `tail` is false. What the prompt has already is neither told nor remembered again: the messages of
    the conversation that `known_messages` names, and all that were said at `known_since` or later. What is left out here
    (`max_tokens`, `max_memories`, `max_said`, `order`) is as the policy says; `cite` puts a reference behind each memory and
    passage. Times that the text names are resolved against `asked_at`, by default now.

    The answer has the profile of the namespaces, unless `profile` is false. Where it is true, the prompt has the profile, and
    the text leaves out the memories that the profile tells. `profile_version` names the one that the caller has: while it is the
    current one, its text is not told again.
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
    profile: bool | None = None
    profile_version: Annotated[str, Meta(max_length=64)] | None = None

    @property
    def has_profile(self) -> bool:
        """Whether the profile stands in the prompt beside the block."""
        return self.profile or (self.profile is None and self.profile_version is not None)

    def knows(self, message_id: str, said_at: datetime | None) -> bool:
        """Whether the prompt has a message of the conversation."""
        late = self.known_since is not None and said_at is not None and said_at >= self.known_since
        return late or message_id in self.known_messages


class BlockMemory(Struct, frozen=True, kw_only=True):
    """A memory in a block, with the tokens of its line. `reference` is what stands behind it when it is cited."""

    memory_id: str
    reference: str
    namespace: str
    kind: str
    text: str
    importance: Fraction
    score: float
    tokens: int


class BlockMessage(Struct, frozen=True, kw_only=True):
    """A message in a block; `shortened`: its middle is left out, as all of it had no room."""

    message_id: str
    role: Role
    timestamp: datetime
    tokens: int
    shortened: bool = False


class BlockPassage(Struct, frozen=True, kw_only=True):
    """A passage of what was said earlier, in a block. `reference` is what stands behind it when it is cited."""

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


class Block(Struct, frozen=True, kw_only=True):
    """`text` is for the prompt, empty when there is nothing to tell; `tokens` are its own, counted as windows count.

    Memories, messages and passages (`said`) are in the order in which they are told. `memories_left_out`,
    `messages_left_out` and `said_left_out` had no room; `memories_known` say nothing but what messages in the block or in the
    prompt say. `conversation_known`: the conversation was found, and may be read; a new one is found about a second after its
    first message. `profile` stands apart from the text, and belongs into the system prompt.
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
