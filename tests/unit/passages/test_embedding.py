"""One text that the embedder rejects costs few calls, and the other passages get their vectors."""

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from agents.passages.embedding import embedded
from agents.passages.indexer import Recalled, build
from schemas.conversations.messages import Message
from schemas.errors import Rejected
from schemas.policies.policies import Privacy
from sinks.archive.messages import ArchivedMessage
from sinks.passages.store import Piece

UNREADABLE = "text 77"
AT = datetime(2026, 3, 2, tzinfo=UTC)


class OneTextRejected:
    model = "fake"
    calls = 0

    async def embed(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        self.calls += 1
        if any(text.endswith(UNREADABLE) for text in texts):
            raise Rejected("embedding_refused", "one of the texts")
        return [np.ones(2, np.float32) for _ in texts]


async def test_a_rejected_text_is_found_in_few_calls_and_leaves_the_others_their_vectors() -> None:
    built = [
        each
        for number in range(128)
        for each in build(Recalled(archived(f"text {number}"), Privacy(), ("kitchen/ada",)))
    ]
    embedder, rejected = OneTextRejected(), list[Piece]()

    async def keep(piece: Piece) -> None:
        rejected.append(piece)

    pieces = await embedded(embedder, built, keep)

    assert [each.passage_id for each in pieces] == [piece.passage_id for _, piece in built]
    assert [each.archived.message.content for each in pieces if not each.vector.size] == [UNREADABLE]
    assert [each.archived.message.content for each in rejected] == [UNREADABLE]
    assert embedder.calls <= 20


def archived(content: str) -> ArchivedMessage:
    message = Message(
        message_id=content, conversation_id="c", role="user", content=content, timestamp=AT, user_id="ada"
    )
    return ArchivedMessage(message=message, partition=0, position=0)
