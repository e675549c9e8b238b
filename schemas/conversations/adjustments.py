"""Adjustments of one conversation's context in addition to its policy: marks of sent messages, settings, ratings."""

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct, field

from schemas.conversations.messages import Identifier
from schemas.conversations.window_choices import WindowChoice, WindowChoices

Mark = Literal["pinned", "important", "expendable", "normal"]
MessageRating = Annotated[int, Meta(ge=0, le=10)]
Marked = Literal["applied", "waiting", "left", "full"]

MOST_MARKS: Final = 64  # per conversation


class Adjustments(Struct, omit_defaults=True):
    """`marks`, by message id: `pinned` is never pruned; `important` counts like a message sent with `important`;
    `expendable` is pruned before all others; `normal` is weighed by its text, however it was sent. `settings` replace the
    policy's and the `user_settings`, which the conversation's user chose for all conversations. `ratings`, by message id,
    are a model's ratings of importance to the rest of the conversation."""

    marks: dict[Identifier, Mark] = field(default_factory=dict)
    settings: WindowChoice | None = None
    ratings: dict[Identifier, MessageRating] = field(default_factory=dict)
    user_settings: WindowChoice | None = None

    @property
    def choices(self) -> WindowChoices:
        return WindowChoices(self.user_settings, self.settings)
