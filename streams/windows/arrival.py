"""The arrival of a message: updates the head of its window, and builds the window's entry."""

from sys import intern

from schemas.conversations.messages import Message, Scope
from schemas.extraction.requests import SliceMessage
from streams.windows import segments
from streams.windows.detectors.detect import Detected
from streams.windows.entry import Entry
from streams.windows.extraction.speakers import MAX_OWNER_NAMES
from streams.windows.rows.head import Head
from streams.windows.segments import Segmentation
from streams.windows.traits import MessageTraits


def update_head(head: Head, message: Message) -> bool:
    """Updates the window's head with the fields of a message. Returns whether the terms may have changed."""
    scope, model = merged_scope(head.scope, message), message.model or head.model
    changed = scope is not head.scope or model != head.model
    head.scope, head.model = scope, model
    user_id = message.user_id
    if (
        user_id is not None
        and user_id != scope.user_id
        and user_id not in (*head.other_speakers, *head.unattributed_speakers)
    ):
        head.other_speakers.append(user_id)
    if user_id in head.user_erasures and user_id not in head.returned_speakers:
        head.returned_speakers.append(user_id)
    learn_name(head, message)
    return changed


def learn_name(head: Head, message: Message) -> None:
    """Remembers a name that is given beside the user_id of the conversation's user."""
    if message.role != "user" or message.user_id is None or message.user_id != head.scope.user_id or not message.name:
        return
    if message.name not in head.owner_names and len(head.owner_names) <= MAX_OWNER_NAMES:
        head.owner_names.append(message.name)


def merged_scope(known: Scope, message: Message) -> Scope:
    """The conversation's scope after a message; usually unchanged."""
    if (
        (known.user_id or not message.user_id)
        and (known.app_id or not message.app_id)
        and (known.tenant_id or not message.tenant_id)
        and (known.agent_id or not message.agent_id)
        and (known.mode or not message.mode)
    ):
        return known
    return merged(known, Scope.of(message))


def merged(known: Scope, further: Scope) -> Scope:
    """Fills in missing fields; known ones stay: a conversation does not change its owner."""
    values = {name: getattr(known, name) or getattr(further, name) for name in Scope.__struct_fields__}
    return Scope(**values)


def make_entry(
    message: Message,
    found: Detected,
    position: int,
    tokens: int,
    before: Segmentation,
    task_gap_s: float,
    trace: str | None = None,
    owner: str | None = None,
) -> tuple[Entry, MessageTraits, Segmentation]:
    """The entry of a message, its traits for the rules, and the segmentation after it.

    `before` is the segmentation before it, `owner` the user of the conversation.
    """
    sent_at = message.timestamp.timestamp()
    after = segments.segmentation_after(before, message.role, found.traits, sent_at, message.content, task_gap_s)
    entry = Entry(
        slice_message(message, position, tokens, trace, owner), found.traits, found.fingerprint, after.segment
    )
    return entry, entry.message_traits(sent_at), after


def slice_message(
    message: Message, position: int, tokens: int, trace: str | None = None, owner: str | None = None
) -> SliceMessage:
    """The message of a slice; user_id is left out where it is the owner's."""
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
        unnamed=user_id is None and message.role == "user",
    )
