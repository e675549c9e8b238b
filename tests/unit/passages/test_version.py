"""A change in how passages are built raises their version, so that `memstream doctor` reports outdated ones."""

from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import agents.privacy
from agents.passages.chunking import REDACTION_VERSION, VERSION
from agents.passages.indexer import Recalled, build
from schemas import codec
from schemas.conversations.messages import Message
from schemas.policies.policies import Privacy
from sinks.archive.messages import ArchivedMessage

TEXTS = (
    "Do you know the baker's daughters? They moved to München; 東京 is next.",
    "One sentence has a few words of its own. " * 60,
    "Write to ada@example.org, the password is hunter2Xy9!",
    "今天我们谈到了很多事情，大家都说了很多话。" * 60,
    "QUJDREVGR0hJSktMTU5P" * 500,
)
KNOWN = (2, "f1c9c8b179bcb150", 1, "88b9dfda83a1d21c")


def test_the_passage_version_and_digests_match_the_recorded_ones() -> None:
    """Where it fails: raise VERSION in agents/passages/chunking.py if what is indexed differs, REDACTION_VERSION too if
    redaction differs, and write down the new digests. EQUAL_VERSIONS names the versions whose passages stay if their text and
    names are the same."""
    assert (VERSION, digest_of_builds(), REDACTION_VERSION, digest_of_privacy()) == KNOWN


def test_texts_of_words_between_spaces_are_indexed_as_by_version_1() -> None:
    """EQUAL_VERSIONS relies on it: a reindex embeds none of them again."""
    assert digest_of_builds(TEXTS[:3]) == "d5e45d69cc38047a"


def digest_of_builds(texts: Sequence[str] = TEXTS) -> str:
    built = [build(Recalled(message(text), Privacy(scrub=("email",)), ("kitchen/ada",))) for text in texts]
    seen = [(text, piece.terms, piece.digest) for passages in built for text, piece in passages]
    return sha256(codec.encode(seen)).hexdigest()[:16]


def digest_of_privacy() -> str:
    files = sorted(Path(agents.privacy.__file__).parent.glob("*.py"))
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


def message(text: str) -> ArchivedMessage:
    said = Message(
        conversation_id="c",
        message_id="m",
        role="user",
        timestamp=datetime(2026, 3, 2, tzinfo=UTC),
        content=text,
        user_id="u-17",
        name="Ada Lovelace",
    )
    return ArchivedMessage(message=said, partition=0, position=0)
