"""Messages prepared for the rules of a window: detected, segmented and counted as on arrival."""

from collections.abc import Callable, Iterable, Iterator

from schemas.conversations.messages import Message
from schemas.conversations.window_settings import WindowSettings
from streams.windows.detectors.detect import Detected, detect
from streams.windows.segments import Segmentation, segmentation_after
from streams.windows.traits import MessageTraits

GAP_S = WindowSettings().task_gap_s
INTERLEAVED = 20  # conversations


def arrived(message: Message, state: Segmentation) -> tuple[Detected, Segmentation]:
    """Processes the text of a message as on arrival, except for counting its tokens."""
    found = detect(message.role, message.content, bool(message.tool_calls))
    moment = message.timestamp.timestamp()
    return found, segmentation_after(state, message.role, found.traits, moment, message.content, GAP_S)


def turns(messages: Iterable[Message], count: Callable[[Message], int]) -> Iterator[MessageTraits]:
    """Their positions are those of one of twenty conversations that share a partition."""
    state = Segmentation()
    for number, message in enumerate(messages):
        found, state = arrived(message, state)
        yield MessageTraits(
            position=INTERLEAVED * number,
            message_id=message.message_id,
            role=message.role,
            timestamp=message.timestamp.timestamp(),
            tokens=count(message),
            traits=found.traits,
            fingerprint=found.fingerprint,
            segment=state.segment,
            important=message.important,
            calls=tuple(call.id for call in message.tool_calls),
            answers=message.tool_call_id,
        )
