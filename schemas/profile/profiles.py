"""The profile of namespaces: its text for a system prompt, and the memories behind each line."""

from typing import Literal

from msgspec import Struct

# The purpose of a line. Hard constraints apply to every request; standing wishes concern the form of answers.
Part = Literal["constraint", "wish", "name", "language", "role", "pinned"]


class ProfileLine(Struct, frozen=True, kw_only=True):
    """A line of a profile; memories that say the same share it."""

    part: Part
    text: str
    memory_ids: tuple[str, ...]


class Profile(Struct, frozen=True, kw_only=True):
    """`text` is for the system prompt, empty without contents; `tokens` are the text's.

    A profile depends only on the live memories of `namespaces`: the same memories give the same bytes. `version` identifies
    the bytes; over HTTP it is the ETag. `left_out` lines had no room. `unchanged`: the caller has this version, so text and
    lines are omitted.
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
        """The memories in the profile."""
        return frozenset(memory_id for line in self.lines for memory_id in line.memory_ids)
