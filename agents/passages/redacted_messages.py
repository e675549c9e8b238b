"""Redacts messages for readers: on a thread, since long messages take seconds, and once for many readers."""

import asyncio
from collections import OrderedDict
from hashlib import blake2b
from typing import Final, NamedTuple, TypeAlias

from agents.passages.chunking import digest, pieces, searchable_text
from schemas.passages.passages import Passage
from schemas.policies.policies import Privacy

MAX_CHARS: Final = 4_000_000  # of redacted messages that are cached
ENTRY_CHARS: Final = 500  # that the memory of an entry amounts to beside its characters

Key: TypeAlias = tuple[bytes, str | None, Privacy]  # digest of the text, name


class RedactedMessage(NamedTuple):
    """A message as a privacy setting shows it. `changed`: the setting removes something. `whole` is the digest of
    the text before it is split."""

    pieces: list[str]
    name: str | None
    changed: bool
    whole: int


class RedactedMessages:
    """A cache of the messages that were redacted last. Callers must have the text of a message to get its redacted form."""

    def __init__(self, max_chars: int = MAX_CHARS) -> None:
        self._max_chars = max_chars
        self._chars = 0
        self._cached = OrderedDict[Key, RedactedMessage]()

    async def of(self, message: Passage, privacy: Privacy) -> RedactedMessage:
        """The redacted message; `message` has its whole text."""
        text = message.text.encode(errors="surrogatepass")
        key = (blake2b(text, digest_size=16).digest(), message.name, privacy)
        if key not in self._cached:
            made = await asyncio.to_thread(redacted, message, privacy)
            self._keep(key, made)
            return made
        self._cached.move_to_end(key)
        return self._cached[key]

    def _keep(self, key: Key, made: RedactedMessage) -> None:
        if key in self._cached:
            return
        self._cached[key] = made
        self._chars += size_of(key, made)
        while self._chars > self._max_chars:
            self._chars -= size_of(*self._cached.popitem(last=False))


def redacted(message: Passage, privacy: Privacy) -> RedactedMessage:
    shown = searchable_text(message.text, privacy)
    name = message.name and searchable_text(message.name, privacy)
    return RedactedMessage(pieces(shown), name, shown != message.text, digest(shown.strip()))


def size_of(key: Key, message: RedactedMessage) -> int:
    """In characters."""
    return ENTRY_CHARS + sum(map(len, (key[1] or "", message.name or "", *message.pieces)))
