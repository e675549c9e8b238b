"""Traits of messages with minimal content, and generated windows and settings for property tests."""

from typing import Any

from hypothesis import strategies as st

from schemas.conversations.messages import Role
from schemas.conversations.window_settings import WindowSettings
from schemas.conversations.windows import Calibration
from streams.windows.detectors.traits import GRATEFUL, MAX_REFERENCES, REFERENCE
from streams.windows.tokens.accounting import Budget
from streams.windows.traits import MessageTraits

NOW = 1_000_000.0


def turn(position: int, role: Role = "user", tokens: int = 10, **fields: Any) -> MessageTraits:
    return MessageTraits(
        **{"message_id": f"m{position}", "timestamp": NOW - 600.0} | fields, position=position, role=role, tokens=tokens
    )


def exchanges(count: int, first: int = 0, tokens: int = 10, **fields: Any) -> list[MessageTraits]:
    """This number of questions with answers, two messages each."""
    roles: tuple[Role, Role] = ("user", "assistant")
    return [turn(first + place, roles[place % 2], tokens, **fields) for place in range(2 * count)]


def budget(size: int = 1_000, **settings: Any) -> Budget:
    return Budget.of(WindowSettings(**settings), size)


@st.composite
def window_settings(draw: st.DrawFn) -> WindowSettings:
    shares = sorted(draw(st.lists(st.floats(0.01, 1.0), min_size=4, max_size=4, unique=True)))
    min_recent = draw(st.integers(1, 12))
    return WindowSettings(
        strategy=draw(st.sampled_from(["rolling_window", "importance", "hybrid"])),
        min_recent=min_recent,
        max_messages=draw(st.integers(min_recent, 50)),
        max_tokens=draw(st.none() | st.integers(1, 3_000)),
        aggressive_target=shares[0],
        warning_target=shares[1],
        warning_at=shares[2],
        aggressive_at=shares[3],
    )


@st.composite
def budgets(draw: st.DrawFn) -> Budget:
    return Budget.of(draw(window_settings()), draw(st.integers(1, 3_000)), Calibration(draw(st.floats(0.5, 2.5)), 1))


ROLES: tuple[Role, ...] = ("user", "assistant", "user", "assistant", "tool", "system")
PAUSES_S = (0.0, 30.0, 30.0, -5.0, 90_000.0)


def windows(most: int = 40) -> st.SearchStrategy[list[MessageTraits]]:
    """Windows with any order of roles, repeated call ids, results without or before their call, and clock jumps.

    Everything except roles and tokens comes from one number, as each draw of hypothesis takes time.
    """
    message = st.tuples(st.sampled_from(ROLES), st.integers(0, 80), st.integers(0, 2**32 - 1))
    return st.lists(message, max_size=most).map(_window)


def _window(messages: list[tuple[Role, int, int]]) -> list[MessageTraits]:
    turns: list[MessageTraits] = []
    position, segment, at = 0, 0, NOW - 200_000.0
    for role, tokens, chance in messages:
        chance, step = divmod(chance, 3)
        chance, pause = divmod(chance, len(PAUSES_S))
        chance, begins = divmod(chance, 5)
        chance, marked = divmod(chance, 10)
        chance, of = divmod(chance, 4)
        chance, repeats = divmod(chance, 3)
        chance, plain = divmod(chance, 2)
        position, at, segment = position + 1 + step, at + PAUSES_S[pause], segment + (role == "user" and begins == 4)
        turns.append(
            turn(
                position,
                role,
                tokens,
                timestamp=at,
                segment=segment,
                traits=0 if plain else _traits(chance),
                fingerprint=repeats,
                important=marked == 9,
                calls=tuple("abc"[:of]) if role == "assistant" else (),
                answers=("a", "b", "c", None)[of] if role == "tool" else None,
            )
        )
    return turns


def _traits(chance: int) -> int:
    references, bits = divmod(chance, GRATEFUL)
    return bits + references % (MAX_REFERENCES + 1) * REFERENCE
