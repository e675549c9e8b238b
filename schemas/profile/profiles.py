"""The profile of one or several namespaces: its text for a system prompt, and the memories that each line rests on."""

from typing import Literal

from msgspec import Struct

# What a line is there for. Hard constraints hold whatever is asked; standing wishes are about how to answer.
Part = Literal["constraint", "wish", "name", "language", "role", "pinned"]


class ProfileLine(Struct, frozen=True, kw_only=True):
    """One line of a profile; memories that say the same share it."""

    part: Part
    text: str
    memory_ids: tuple[str, ...]


class Profile(Struct, frozen=True, kw_only=True):
    """`text` is for the system prompt, empty when there is nothing to tell; `tokens` are its own.

    It is made of the live memories of `namespaces` and nothing else, in an order that keeps: the same memories give the same
    bytes. `version` names these bytes; over HTTP it is the ETag. `left_out` lines had no room. `unchanged`: the caller has this
    version, so text and lines are not told again.
    """

    namespaces: tuple[str, ...]
    policy: str
    version: str
    text: str = ""
    tokens: int = 0
    max_tokens: int = 0
    lines: tuple[ProfileLine, ...] = ()
    left_out: int = 0
    unchanged: bool = False

    @property
    def memory_ids(self) -> frozenset[str]:
        """All memories that the profile tells."""
        return frozenset(memory_id for line in self.lines for memory_id in line.memory_ids)
