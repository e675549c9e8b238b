"""Which messages a window has seen: those it holds by their ids, the latest that left by a digest of theirs."""

from base64 import b64encode
from collections.abc import Iterable
from hashlib import blake2b

REMEMBERED = 64  # messages that left, so that a chat service's late retry is recognised
DIGEST_BYTES = 9  # 12 characters in base64; two of 10^10 ids meet with a chance of one in a hundred


class SeenMessages:
    """`left` are the digests of messages that left, oldest first."""

    def __init__(self, held: Iterable[str], left: Iterable[str]) -> None:
        self._held = set(held)
        self._left = dict.fromkeys(left)

    def __contains__(self, message_id: str) -> bool:
        return message_id in self._held or (bool(self._left) and digest(message_id) in self._left)

    def add(self, message_id: str) -> None:
        self._held.add(message_id)

    def remove(self, message_id: str) -> None:
        """A message left; the oldest of more than `REMEMBERED` is forgotten."""
        self._held.discard(message_id)
        self._left[digest(message_id)] = None
        if len(self._left) > REMEMBERED:
            del self._left[next(iter(self._left))]

    @property
    def left(self) -> tuple[str, ...]:
        return tuple(self._left)


def digest(message_id: str) -> str:
    """Of the same length whatever the id's, so that the row has a bound."""
    return b64encode(blake2b(message_id.encode(), digest_size=DIGEST_BYTES).digest()).decode()
