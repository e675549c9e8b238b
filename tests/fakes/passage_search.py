"""Passages in a list: searched by words, and read by ids and messages."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from agents.retrieval.passage_ranking import UNMEASURED, Span
from agents.retrieval.passage_search import FoundPassages
from agents.retrieval.read_rights import MayRead, allow_all, may_read_any
from schemas import ids
from schemas.passages.passages import ANY_PASSAGE, Passage, PassageFilters, ReadPassage
from schemas.retrieval.searches import Degraded, SaidHit, within
from tests.fakes.memory_index import words


class FakePassageSearch:
    """A search for passages, and their reader. A passage's namespace owns it unless the test says otherwise. `spans` has the
    times that each question named."""

    def __init__(self) -> None:
        self.passages: list[ReadPassage] = []
        self.neighbours: dict[str, tuple[Passage, ...]] = {}  # of passages, by id
        self.spans: list[Sequence[Span]] = []
        self.scale = UNMEASURED
        self.degraded: tuple[Degraded, ...] = ()

    def say(self, text: str, *, at: datetime, owners: tuple[str, ...] = (), **fields: Any) -> Passage:
        """Appends a passage, of ada in app/ada by default."""
        number = len(self.passages) + 1
        given = {
            "passage_id": ids.derive("passage", str(number)),
            "namespace": "app/ada",
            "conversation_id": "talk",
            "message_id": f"talk-{number}",
            "role": "user",
            "speaker": "ada",
            "said_at": at,
            "ordinal": number,
        } | fields
        passage = Passage(text=text, **given)
        self.passages.append(ReadPassage(passage=passage, owners=owners or (passage.namespace,)))
        return passage

    async def search(
        self,
        text: str,
        namespaces: Collection[str],
        filters: PassageFilters = ANY_PASSAGE,
        *,
        spans: Sequence[Span] = (),
        limit: int = 10,
        may_read: MayRead = allow_all,
    ) -> FoundPassages:
        self.spans.append(spans)
        found = [
            SaidHit(
                score=float(shared),
                words=float(shared),
                passage=each.passage,
                neighbours=self.neighbours.get(each.passage.passage_id, ()),
                owners=each.owners,
            )
            for each in self.passages
            if each.passage.namespace in namespaces and accepts(filters, each.passage)
            if may_read_any(may_read, each.owners)
            if (shared := len(words(text) & words(each.passage.text)))
        ]
        best = sorted(found, key=lambda hit: -hit.score)[:limit]
        return FoundPassages(hits=tuple(best), degraded=self.degraded)

    async def by_ids(self, passage_ids: Collection[str]) -> dict[str, ReadPassage]:
        return {each.passage.passage_id: each for each in self.passages if each.passage.passage_id in passage_ids}

    async def of_messages(
        self, messages: Collection[tuple[str, str]], namespaces: Collection[str], *, limit: int = 20
    ) -> list[ReadPassage]:
        found = [
            each
            for each in self.passages
            if (each.passage.conversation_id, each.passage.message_id) in messages
            and each.passage.namespace in namespaces
        ]
        return found[:limit]


def accepts(filters: PassageFilters, passage: Passage) -> bool:
    return (
        passage.conversation_id in (filters.conversations or (passage.conversation_id,))
        and passage.speaker in (filters.speakers or (passage.speaker,))
        and within(passage.said_at, filters.said_from, filters.said_to)
    )
