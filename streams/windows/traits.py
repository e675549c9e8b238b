"""What the rules of a window need to know of a message: everything but its text."""

from msgspec import Struct

from schemas.conversations.adjustments import Mark
from schemas.conversations.messages import Role


class MessageTraits(Struct, frozen=True, omit_defaults=True, gc=False):
    """A message without its content. They stand in the order of their positions.

    `timestamp` is in Unix seconds; `traits` and `fingerprint` are what the detectors found on arrival; `segment` is the
    number of the task it belongs to; `calls` are the ids of the tool calls it makes, `answers` that of the call it answers.
    `mark` is what somebody said of it after it was sent, `rating` how important a model says that it is, from 0 to 10.
    """

    position: int
    message_id: str
    role: Role
    timestamp: float
    tokens: int
    traits: int = 0
    fingerprint: int = 0
    segment: int = 0
    important: bool = False
    calls: tuple[str, ...] = ()
    answers: str | None = None
    mark: Mark | None = None
    rating: int | None = None
