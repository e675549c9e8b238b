"""A message as the rules of a window see it: all fields but its text."""

from msgspec import Struct

from schemas.conversations.adjustments import Mark
from schemas.conversations.messages import Role


class MessageTraits(Struct, frozen=True, omit_defaults=True, gc=False):
    """A message without its content, as the rules of a window use it.

    `timestamp` is in Unix seconds. `traits` and `fingerprint` are the detectors' results on arrival. `segment` is the number of
    its task. `calls` are the ids of its tool calls, `answers` is the id of the call that it answers. `mark` was set after the
    message was sent; `rating` is its importance by a model, from 0 to 10.
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
