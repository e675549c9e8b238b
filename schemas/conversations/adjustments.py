"""What is set for the messages of one conversation besides its policy: marks that somebody gives after a message was sent."""

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct, field

from schemas.conversations.messages import Identifier
from schemas.conversations.window_choices import WindowChoice

Mark = Literal["pinned", "important", "expendable", "normal"]
MessageRating = Annotated[int, Meta(ge=0, le=10)]
Marked = Literal["applied", "waiting", "left", "full"]

MOST_MARKS: Final = 64  # of one conversation


class Adjustments(Struct, omit_defaults=True):
    """`marks`, by message id: `pinned` never leaves by pruning; `important` counts as sent with `important`; `expendable`
    leaves before everything else; `normal` is weighed by what it says, whatever it was sent as. `settings` hold in place of the
    policy's. `ratings`, by message id, are how important a model says that messages in context are to the rest of the
    conversation."""

    marks: dict[Identifier, Mark] = field(default_factory=dict)
    settings: WindowChoice | None = None
    ratings: dict[Identifier, MessageRating] = field(default_factory=dict)
