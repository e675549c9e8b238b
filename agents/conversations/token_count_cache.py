"""A cache of token counts and traits by text: conversations are requested repeatedly, and their texts stay."""

from collections.abc import Callable
from hashlib import blake2b
from threading import Lock
from typing import Final, Generic, TypeVar

from schemas.conversations.messages import Message
from streams.windows.detectors.detect import Detected, detect_in
from streams.windows.tokens.counting import TokenCount

MAX_ENTRIES: Final = 200_000  # counts of about 150 bytes each, and as many traits of about 200
DIGEST_BYTES: Final = 16

Value = TypeVar("Value")
Detect = Callable[[Message], Detected]


class TokenCountCache:
    """A TokenCount with a cache, which also caches the detectors' findings (`detect`); least recently used entries leave
    first. `on_read` is called for each text with whether its count was cached. Texts are not stored. Thread-safe."""

    def __init__(
        self,
        count: TokenCount,
        on_read: Callable[[bool], None] = lambda cached: None,
        most: int = MAX_ENTRIES,
        detect: Detect = detect_in,
    ) -> None:
        self._count = count
        self._on_read = on_read
        self._detect = detect
        self._counts = _LruCache[int](most)
        self._traits = _LruCache[Detected](most)

    def __call__(self, text: str) -> int:
        key = digest(text)
        tokens = self._counts.of(key)
        self._on_read(tokens is not None)
        return self._counts.keep(key, self._count(text)) if tokens is None else tokens

    def detect(self, message: Message) -> Detected:
        """The findings, cached by the message's text, role, and whether it calls tools; nothing else affects them."""
        key = digest(message.content) + f"{message.role}{bool(message.tool_calls)}".encode()
        found = self._traits.of(key)
        return self._traits.keep(key, self._detect(message)) if found is None else found


class _LruCache(Generic[Value]):
    """A thread-safe LRU cache of `most` values."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: dict[bytes, Value] = {}
        self._lock = Lock()

    def of(self, key: bytes) -> Value | None:
        with self._lock:
            found = self._values.pop(key, None)
            if found is not None:
                self._values[key] = found
        return found

    def keep(self, key: bytes, value: Value) -> Value:
        with self._lock:
            self._values[key] = value
            if len(self._values) > self._most:
                del self._values[next(iter(self._values))]
        return value


def digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()
