"""Control events of a conversation's window, from memstream itself or by hand."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from schemas.budgets.budgets import Lane
from schemas.conversations.adjustments import Mark, MessageRating
from schemas.conversations.messages import Identifier, Moment
from schemas.conversations.window_choices import WindowChoice
from schemas.conversations.windows import Summary
from schemas.erasure.erasures import Fence

ControlKind = Literal[
    "due",
    "flush",
    "prune",
    "clear",
    "restore",
    "mark",
    "settings",
    "user_settings",
    "rated",
    "extraction_completed",
    "extraction_failed",
    "summarised",
    "erase",
]


class WindowControl(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A control event of a conversation's window. Repetitions of memstream's own events have no effect.

    - `due`: check whether a deadline has passed by `at`
    - `flush`: extract waiting messages, in `lane` (default: live)
    - `prune`: remove from the context what the current task does not need
    - `clear`: remove everything but the system prompt
    - `restore`: undo the last `prune` or `clear`, within ten minutes and if nothing else left since
    - `mark`: set the `importance` of message `message_id` for pruning
    - `settings`: replace the policy's settings by these, as far as the policy allows
    - `user_settings`: the same for all conversations of this one's user; without settings, look up again what the user chose
    - `extraction_completed`, `extraction_failed`: the answer to `request_id` is stored, or will never come
    - `rated`: a model's ratings of the importance of messages to the rest of the conversation
    - `summarised`: `summary` of the messages from position `first` to `last`, which left the context; it includes the
      summary with the id `known`
    - `erase`: delete messages said until `at` or before position `read_to`, extracted or not; with `users`, in a
      conversation of several people, keep what only others said
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
            raise ValueError("settings are missing: send {} to return to those of the policy")

    def fence(self, partition: int) -> Fence:
        """The fence of an erasure for a window whose messages are in that partition."""
        return Fence(self.at, {partition: self.read_to or 0})
