"""What is asked of the window of a conversation, by memstream itself or by hand."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from schemas.conversations.adjustments import Mark, MessageRating
from schemas.conversations.messages import Identifier, Moment
from schemas.conversations.window_choices import WindowChoice
from schemas.conversations.windows import Summary
from schemas.erasure.erasures import Fence
from schemas.extraction.requests import Lane

ControlKind = Literal[
    "due",
    "flush",
    "prune",
    "clear",
    "restore",
    "mark",
    "settings",
    "rated",
    "extraction_completed",
    "extraction_failed",
    "summarised",
    "erase",
]


class WindowControl(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A word to the window of a conversation: memstream's own, which may be repeated without effect, or somebody's by hand.

    `due`: look whether a deadline has passed by `at`; `flush`: extract what is there, in `lane`, by default live; `prune`:
    take out of the context what is not needed now; `clear`: take all out of it but the system prompt; `restore`: bring back
    what the last `clear` took, for ten minutes and while nothing else has left; `mark`: from now on the message
    `message_id` is of that `importance` to pruning; `settings`: from now on
    these hold in place of the policy's, as far as it lets them be chosen; `extraction_completed` / `extraction_failed`:
    the answer to `request_id` is stored / will never come; `rated`: a model says how important messages
    are to the rest of the conversation; `summarised`: the messages from position `first` to `last`, which
    left the context, come to `summary`, which includes the summary of them that is `known` by its id; `erase`: what was said
    until `at`, or lies before position `read_to`, goes for good, also what was to be extracted; with `users`, of a
    conversation of several people, all but what others than these said.
    """

    conversation_id: Identifier
    kind: ControlKind
    at: Moment
    request_id: str | None = None
    read_to: int | None = None
    reason: str | None = None
    first: int | None = None
    last: int | None = None
    summary: Summary | None = None
    known: str | None = None
    lane: Lane | None = None
    users: tuple[Identifier, ...] = ()
    message_id: Identifier | None = None
    importance: Mark | None = None
    settings: WindowChoice | None = None
    ratings: Annotated[dict[Identifier, MessageRating], Meta(max_length=1_000)] = {}

    def __post_init__(self) -> None:
        if self.kind == "mark" and (self.message_id is None or self.importance is None):
            raise ValueError("a mark needs a message_id and an importance: pinned, important, expendable or normal")
        if self.kind == "settings" and self.settings is None:
            raise ValueError("settings are missing: {} for those of the policy")

    def fence(self, partition: int) -> Fence:
        """What an erasure keeps out of a window whose messages lie in that partition."""
        return Fence(self.at, {partition: self.read_to or 0})
