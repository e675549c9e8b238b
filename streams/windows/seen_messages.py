"""The message ids that a window does not accept again: of its messages, and digests of the latest that left it."""

from base64 import b64encode
from collections.abc import Iterable
from hashlib import blake2b

REMEMBERED = 64  # digests kept, to detect late retries of a chat service
DIGEST_BYTES = 9  # 12 characters in base64; among 10^10 ids the probability of a collision is 0.01


class SeenMessages:
    """`present` are ids, `removed` digests, oldest first."""

    def __init__(self, present: Iterable[str], removed: Iterable[str]) -> None:
        self._present = set(present)
        self._removed = dict.fromkeys(removed)

    def __contains__(self, message_id: str) -> bool:
        return message_id in self._present or (bool(self._removed) and digest(message_id) in self._removed)

    def add(self, message_id: str) -> None:
        self._present.add(message_id)

    def remove(self, message_id: str) -> None:
        """Notes that a message left. Keeps the latest `REMEMBERED` digests."""
        self._present.discard(message_id)
        self._removed[digest(message_id)] = None
        if len(self._removed) > REMEMBERED:
            del self._removed[next(iter(self._removed))]

    @property
    def removed(self) -> tuple[str, ...]:
        return tuple(self._removed)


def digest(message_id: str) -> str:
    """A digest of fixed length, so that the row's size is bounded."""
    return b64encode(blake2b(message_id.encode(), digest_size=DIGEST_BYTES).digest()).decode()
