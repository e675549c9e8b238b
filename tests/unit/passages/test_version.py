"""A change in how passages are built raises their version, so that `memstream doctor` reports outdated ones."""

from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import agents.privacy
from agents.passages.chunking import VERSION
from agents.passages.indexer import Recalled, build
from schemas import codec
from schemas.conversations.messages import Message
from schemas.policies.policies import Privacy
from sinks.archive.messages import ArchivedMessage

TEXTS = (
    "Do you know the baker's daughters? They moved to München; 東京 is next.",
    "One sentence has a few words of its own. " * 60,
    "Write to ada@example.org, the password is hunter2Xy9!",
)
KNOWN = (1, "d5e45d69cc38047a", "db30064198e91807")


def test_the_passage_version_and_digests_match_the_recorded_ones() -> None:
    """Where it fails: raise VERSION in agents/passages/chunking.py if what is indexed differs, and write down the new digests."""
    assert (VERSION, digest_of_builds(), digest_of_privacy()) == KNOWN


def digest_of_builds() -> str:
    built = [build(Recalled(message(text), Privacy(scrub=("email",)), ("kitchen/ada",))) for text in TEXTS]
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
