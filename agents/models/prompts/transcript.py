"""Messages as a model reads them: one line each, numbered, with day, zone and time, as data that cannot become instructions.

A line costs some seven tokens besides its text, as JSON objects with a moment each would cost forty: messages of chats are
short, and every token is paid.
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

# System and tool texts are context only; this much shows what they were about.
CONTEXT_CHARS: Final = 400
# A tool's text that may be remembered itself.
ATTRIBUTED_CHARS: Final = 4_000
# Of one message, some 25 pages: what is longer is pasted, and one message must not cost what a hundred others do.
MOST_MESSAGE_TOKENS: Final = 16_000
CHARS_PER_TOKEN: Final = 3  # fewer than English has
MARGIN_CHARS: Final = 8_000  # longer than any credential: none is cut in half before it is found
NO_ROLES: Final[Mapping[str, str]] = MappingProxyType({})
HEAD: Final = 0.75  # of what is shown of a message that is cut is its beginning, the rest its end


def transcript(
    messages: Sequence[SliceMessage],
    privacy: Privacy,
    most_tokens: int,
    first: int = 1,
    roles: Mapping[str, str] = NO_ROLES,
    tool_chars: int = CONTEXT_CHARS,
) -> str:
    """The lines of the messages, numbered from `first`: at most about `most_tokens` of text.

    Of messages that are too long for that the middle is left out, and the line says how much. `roles` stand for the role
    alone, by message_id, where several people speak. Of what a tool says `tool_chars` are shown.
    """
    limit = longest_shown([size(message) for message in messages], most_tokens)
    written: list[str] = []
    day = minute = ""
    zone: str | None = None
    for number, message in enumerate(messages, first):
        # What assistants and tools say has no zone of its own, and must not turn the clock back at every line.
        zone = message.time_zone if message.time_zone or message.role == "user" else zone
        at = local(message.timestamp, zone)
        if (this_day := day_line(at)) != day:
            written.append(this_day)
            day, minute = this_day, ""
        time = f"{at:%H:%M}"
        role = roles.get(message.message_id, message.role)
        written.append(
            line(number, role, message, time if time != minute else "", shown(message, privacy, limit, tool_chars))
        )
        minute = time
    return "".join(written)


def day_line(at: datetime) -> str:
    """The zone by the name that is known, not by what a message says: `local` takes an unknown one for UTC."""
    offset = "" if at.tzinfo is UTC else at.isoformat()[-6:]
    return f"day {at:%Y-%m-%d %A}, zone {at.tzinfo} {offset}".rstrip() + "\n"


def line(number: int, role: str, message: SliceMessage, time: str, text: str) -> str:
    calls = f"calls {quoted([call.name for call in message.tool_calls])}" if message.tool_calls else ""
    return " ".join(part for part in (str(number), role, time, calls, quoted(text)) if part) + "\n"


def shown(message: SliceMessage, privacy: Privacy, most_tokens: int, tool_chars: int) -> str:
    """Without credentials and what else need not leave the house; context-only roles cut short."""
    said = message.content
    if message.role in ("system", "tool"):
        most = tool_chars if message.role == "tool" else CONTEXT_CHARS
        text = beginning(said, most + 1, privacy)
        return text if len(text) <= most else text[:most] + "…"
    if size(message) <= most_tokens:
        return sendable(said, privacy)
    return without_middle(said, len(said) * most_tokens // size(message), privacy)


def size(message: SliceMessage) -> int:
    """Its tokens; estimated where nobody counted them."""
    return message.tokens or len(message.content) // CHARS_PER_TOKEN


def without_middle(said: str, most_chars: int, privacy: Privacy) -> str:
    left_out = len(said) - most_chars
    if left_out <= 0:
        return sendable(said, privacy)
    head = int(most_chars * HEAD)
    first, last = beginning(said, head, privacy), end(said, most_chars - head, privacy)
    return f"{first} … [{left_out:,} characters left out] … {last}"


def beginning(said: str, chars: int, privacy: Privacy) -> str:
    """The first characters of what may be sent. Only what is near them is searched, at some microseconds a character: all of
    a long paste would hold up everything else for seconds. Nothing is shown from where a credential may have been cut."""
    text = sendable(said[: chars + MARGIN_CHARS], privacy)
    return text[:chars] if len(said) <= chars + MARGIN_CHARS else text[: min(chars, max(0, len(text) - MARGIN_CHARS))]


def end(said: str, chars: int, privacy: Privacy) -> str:
    """The last ones, likewise."""
    first = max(0, len(said) - chars - MARGIN_CHARS)
    text = sendable(said[first:], privacy)
    return text[max(MARGIN_CHARS if first else 0, len(text) - chars) :]


def longest_shown(sizes: Iterable[int], most_tokens: int) -> int:
    """How many tokens of a message are shown at most, so that all together have at most `most_tokens`: the short ones whole."""
    room, limit = most_tokens, MOST_MESSAGE_TOKENS
    ascending = sorted(min(size, MOST_MESSAGE_TOKENS) for size in sizes)
    for number, size in enumerate(ascending):
        fair = room // (len(ascending) - number)
        if size > fair:
            return fair
        room -= size
    return limit


def fenced(name: str, inside: str) -> str:
    """Nothing where there is nothing inside: each token is paid."""
    return f"<{name}>\n{inside}</{name}>\n" if inside else ""


def lines(items: Iterable[dict[str, object]]) -> str:
    """JSON Lines that cannot write a closing mark either."""
    return "".join(f"{quoted(item)}\n" for item in items)


def quoted(item: object) -> str:
    return escaped(orjson.dumps(item).decode())


def escaped(text: str) -> str:
    """Without a `<`, `>` or `&`: whatever a message contains, it cannot write the closing mark of its fence."""
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
