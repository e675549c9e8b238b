"""A message on its arrival: what its window learns of the conversation from it, and how it holds the message."""

from sys import intern

from schemas.conversations.messages import Message, Scope
from schemas.extraction.requests import SliceMessage
from streams.windows import segments
from streams.windows.detectors.detect import Detected
from streams.windows.entry import Entry
from streams.windows.segments import Segmentation
from streams.windows.traits import MessageTraits


def merged_scope(known: Scope, message: Message) -> Scope:
    """The conversation's scope after a message; nearly always what it was."""
    if (
        (known.user_id or not message.user_id)
        and (known.app_id or not message.app_id)
        and (known.tenant_id or not message.tenant_id)
        and (known.agent_id or not message.agent_id)
        and (known.mode or not message.mode)
    ):
        return known
    return merged(known, Scope.of(message))


def merged(known: Scope, told: Scope) -> Scope:
    """What was known first stays: a conversation does not change its owner half way."""
    values = {name: getattr(known, name) or getattr(told, name) for name in Scope.__struct_fields__}
    return Scope(**values)


def arrived(
    message: Message,
    found: Detected,
    position: int,
    tokens: int,
    before: Segmentation,
    task_gap_s: float,
    trace: str | None = None,
    owner: str | None = None,
) -> tuple[Entry, MessageTraits, Segmentation]:
    """A message as its window holds it and as its rules see it, and where the conversation stands after it.

    `before` is where it stood until then, `owner` the user of the conversation.
    """
    said_at = message.timestamp.timestamp()
    after = segments.following(before, message.role, found.traits, said_at, message.content, task_gap_s)
    entry = Entry(
        slice_message(message, position, tokens, trace, owner), found.traits, found.fingerprint, after.segment
    )
    return entry, entry.message_traits(said_at), after


def slice_message(
    message: Message, position: int, tokens: int, trace: str | None = None, owner: str | None = None
) -> SliceMessage:
    """Without the user_id where it is the owner's, as it nearly always is."""
    user_id, name = message.user_id, message.name
    return SliceMessage(
        message_id=message.message_id,
        role=message.role,
        timestamp=message.timestamp,
        content=message.content,
        position=position,
        tokens=tokens,
        important=message.important,
        time_zone=message.time_zone,
        language=message.language,
        tool_calls=message.tool_calls,
        tool_call_id=message.tool_call_id,
        trace=trace,
        user_id=None if user_id is None or user_id == owner else intern(user_id),
        name=None if name is None else intern(name),
    )
