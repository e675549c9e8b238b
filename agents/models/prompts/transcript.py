"""Messages as lines for a model: numbered, with day, zone and time, as data that cannot become instructions.

A line costs about seven tokens besides its text; JSON objects with a timestamp each would cost about forty.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Final

import orjson

from agents.models.dates.dates import local
from agents.privacy.scrub import sendable
from schemas.extraction.requests import SliceMessage
from schemas.policies.policies import Privacy

# System and tool messages are context only; their beginning shows their topic.
CONTEXT_CHARS: Final = 400
# The limit for tool messages that may become memories.
ATTRIBUTED_CHARS: Final = 4_000
# Of one message, about 25 pages: longer text is pasted, and must not cost as much as a hundred messages.
MAX_MESSAGE_TOKENS: Final = 16_000
CHARS_PER_TOKEN: Final = 3  # a low estimate for English
MARGIN_CHARS: Final = 8_000  # longer than any credential, so that none is cut before it is found
NO_ROLES: Final[Mapping[str, str]] = MappingProxyType({})
HEAD: Final = 0.75  # share of a cut message's shown text that is its beginning; the rest is its end


def transcript(
    messages: Sequence[SliceMessage],
    privacy: Privacy,
    max_tokens: int,
    first: int = 1,
    roles: Mapping[str, str] = NO_ROLES,
    tool_chars: int = CONTEXT_CHARS,
) -> str:
    """The lines of the messages, numbered from `first`, with at most about `max_tokens` of text.

    The middle of a message that is too long is left out, and the line says how much. `roles` replaces roles by message_id,
    where several people speak. At most `tool_chars` of a tool's message are shown.
    """
    limit = message_limit([tokens_of(message) for message in messages], max_tokens)
    written: list[str] = []
    day = minute = ""
    zone: str | None = None
    for number, message in enumerate(messages, first):
        # Messages of assistants and tools have no time zone: the last user's zone stays in use.
        zone = message.time_zone if message.time_zone or message.role == "user" else zone
        at = local(message.timestamp, zone)
        if (this_day := day_line(at)) != day:
            written.append(this_day)
            day, minute = this_day, ""
        time = f"{at:%H:%M}"
        role = roles.get(message.message_id, message.role)
        written.append(
            line(number, role, message, time if time != minute else "", shown_text(message, privacy, limit, tool_chars))
        )
        minute = time
    return "".join(written)


def day_line(at: datetime) -> str:
    """The line with the day and the zone of a local time. `local` gives another zone than the message's if that is unknown."""
    offset = "" if at.tzinfo is UTC else at.isoformat()[-6:]
    return f"day {at:%Y-%m-%d %A}, zone {at.tzinfo} {offset}".rstrip() + "\n"


def line(number: int, role: str, message: SliceMessage, time: str, text: str) -> str:
    calls = f"calls {quoted([call.name for call in message.tool_calls])}" if message.tool_calls else ""
    return " ".join(part for part in (str(number), role, time, calls, quoted(text)) if part) + "\n"


def shown_text(message: SliceMessage, privacy: Privacy, max_tokens: int, tool_chars: int) -> str:
    """The text without secrets; messages of context-only roles are cut."""
    content = message.content
    if message.role in ("system", "tool"):
        most = tool_chars if message.role == "tool" else CONTEXT_CHARS
        text = beginning(content, most + 1, privacy)
        return text if len(text) <= most else text[:most] + "…"
    if tokens_of(message) <= max_tokens:
        return sendable(content, privacy)
    return without_middle(content, len(content) * max_tokens // tokens_of(message), privacy)


def tokens_of(message: SliceMessage) -> int:
    """The message's tokens; an estimate if they were not counted."""
    return message.tokens or len(message.content) // CHARS_PER_TOKEN


def without_middle(content: str, max_chars: int, privacy: Privacy) -> str:
    left_out = len(content) - max_chars
    if left_out <= 0:
        return sendable(content, privacy)
    head = int(max_chars * HEAD)
    first, last = beginning(content, head, privacy), ending(content, max_chars - head, privacy)
    return f"{first} … [{left_out:,} characters left out] … {last}"


def beginning(content: str, chars: int, privacy: Privacy) -> str:
    """The first characters without secrets. Scrubs only the beginning, as scrubbing takes microseconds per character. Leaves
    out text near the cut, where a credential may be incomplete."""
    text = sendable(content[: chars + MARGIN_CHARS], privacy)
    return (
        text[:chars] if len(content) <= chars + MARGIN_CHARS else text[: min(chars, max(0, len(text) - MARGIN_CHARS))]
    )


def ending(content: str, chars: int, privacy: Privacy) -> str:
    """The last characters without secrets; see `beginning`."""
    first = max(0, len(content) - chars - MARGIN_CHARS)
    text = sendable(content[first:], privacy)
    return text[max(MARGIN_CHARS if first else 0, len(text) - chars) :]


def message_limit(sizes: Iterable[int], max_tokens: int) -> int:
    """The most tokens to show of one message, so that all messages together have at most `max_tokens`. Short ones are shown
    whole."""
    room, limit = max_tokens, MAX_MESSAGE_TOKENS
    ascending = sorted(min(size, MAX_MESSAGE_TOKENS) for size in sizes)
    for number, size in enumerate(ascending):
        fair = room // (len(ascending) - number)
        if size > fair:
            return fair
        room -= size
    return limit


def fenced(name: str, inside: str) -> str:
    """A fenced block; empty without content, to save tokens."""
    return f"<{name}>\n{inside}</{name}>\n" if inside else ""


def json_lines(items: Iterable[dict[str, object]]) -> str:
    """JSON Lines with escaped marks."""
    return "".join(f"{quoted(item)}\n" for item in items)


def quoted(item: object) -> str:
    """The item as JSON with escaped marks."""
    return with_escaped_marks(orjson.dumps(item).decode())


def with_escaped_marks(text: str) -> str:
    """The text without `<`, `>` and `&`, so that it cannot write the closing mark of its block."""
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
