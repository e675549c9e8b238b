"""Short helpers that send messages, ends, answers and controls to one window."""

from schemas.conversations.windows import UNDO_S
from schemas.policies.policies import Policy
from streams.windows.window import Window
from tests.fakes.chats import always, control, ended, message, terms

POLICY = Policy(
    name="small",
    slice_tokens=100,
    straggler_wait_s=30.0,
    late_idle_s=20.0,
    grace_s=1_000.0,
    reask_after_s=100.0,
)

TERMS = terms(POLICY)

NOW = 5_000.0


def say(window: Window, *numbers: int, now: float = NOW, tokens: int = 10) -> None:
    """Message n lies at offset n."""
    for number in numbers:
        received = window.head.received
        window.add(message(number), number, tokens, always(TERMS), now)
        assert window.head.received == received + 1


def end(window: Window, offset: int = 0, log_end: int = 0, read_to: int = 1_000, now: float = NOW, **fields):
    return window.end(ended(**fields), offset, log_end, read_to, TERMS, now)


def positions(requests) -> list[list[int]]:
    return [[message.position for message in request.messages] for request in requests]


def answer(window: Window, request, offset: int, now: float = NOW) -> None:
    window.control(control("extraction_completed", request_id=request.request_id), offset, TERMS, now)


def clear_for_good(window: Window, offset: int) -> None:
    """Clears, and lets the time pass in which that could be undone."""
    window.control(control("clear"), offset, TERMS, NOW)
    window.control(control("due"), offset + 1, TERMS, NOW + UNDO_S)
