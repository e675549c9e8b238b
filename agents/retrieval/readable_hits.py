"""Reads ranked passages until enough of them may be shown: hidden ones take no places of others. Beyond the first page, texts of
hidden ones are not read."""

from collections.abc import Collection, Sequence
from typing import Final

from agents.passages.passage_reader import PassageReading
from agents.retrieval.passage_ranking import PassageWording, Ranked, Weights, ranked_by_wording
from agents.retrieval.read_rights import MayRead
from schemas.retrieval.searches import SaidHit

MAX_TEXTS: Final = 50  # best passages whose texts are read and rated by wording
MORE_TEXTS: Final = 200  # further passages whose texts are read at a time if too few of the best may be shown
MAX_READ: Final = 1_000  # passages whose texts are read beyond the first page
# Hits among which neighbours join: as many as a search for 20 has, so that a lower `limit` cuts the same order.
MIN_CANDIDATES: Final = 40


class ReadableHits:
    """Reads ranked passages, the best first, until enough of them may be shown."""

    def __init__(
        self,
        reading: PassageReading,
        may_read: MayRead,
        question: str,
        speakers: Collection[str],
        weights: Weights,
        limit: int,
    ) -> None:
        """`speakers` are those whom the question names."""
        self.reading = reading
        self._may_read = may_read
        self._question = question
        self._speakers = speakers
        self._weights = weights
        self._limit = limit
        self._candidates = max(2 * limit, MIN_CANDIDATES)
        self._checked = set[str]()
        self._unread = set[str]()  # passages that may be read, and are not read yet
        self._left = MAX_READ
        self._hits = list[SaidHit]()

    @property
    def best(self) -> list[SaidHit]:
        """More hits than asked for, as joined hits leave free places."""
        return sorted(self._hits, key=lambda hit: -hit.score)[: self._candidates]

    @property
    def lacks_hits(self) -> bool:
        """Whether hidden passages took the places of hits."""
        return len(self._hits) < min(self._limit, len(self._checked))

    async def read(self, best: Sequence[Ranked]) -> None:
        """Reads the passages of `best` that are not read yet, as far as hits are lacking. Raises Retryable."""
        if not self._checked:
            first = best[: max(self._limit, MAX_TEXTS)]
            self._checked.update(each.passage_id for each in first)
            self._hits += await self._hits_of(first)
        if self.lacks_hits and await self.may_read_any([each.passage_id for each in best]):
            await self._read_until_enough([each for each in best if each.passage_id in self._unread])

    async def _read_until_enough(self, rest: Sequence[Ranked]) -> None:
        for start in range(0, min(len(rest), self._left), MORE_TEXTS):
            page = rest[start : start + MORE_TEXTS]
            self._unread.difference_update(each.passage_id for each in page)
            self._left -= len(page)
            self._hits += await self._hits_of(page)
            if not self.lacks_hits:
                return

    async def may_read_any(self, passage_ids: Collection[str]) -> bool:
        """Whether any of the passages may be read, and is not read yet. Raises Retryable."""
        unchecked = [each for each in passage_ids if each not in self._checked]
        self._checked.update(unchecked)
        self._unread |= {*await self.reading.readable(unchecked, self._may_read)}
        return not self._unread.isdisjoint(passage_ids)

    async def _hits_of(self, page: Sequence[Ranked]) -> list[SaidHit]:
        """Ordered with the preference of their wording. Passages whose message left the archive are left out."""
        readable = await self.reading.recalled([each.passage_id for each in page], self._may_read)
        wordings = {
            passage_id: PassageWording(each.text, each.found.passage.speaker in self._speakers)
            for passage_id, each in readable.items()
        }
        hits = list[SaidHit]()
        for each in ranked_by_wording(page, wordings, self._weights, self._question):
            if len(hits) == self._candidates:
                break
            passage = await self.reading.shown(readable[each.passage_id])
            if passage is not None:
                owners = readable[each.passage_id].owners
                hits.append(
                    SaidHit(score=each.score, cosine=each.cosine, words=each.words, passage=passage, owners=owners)
                )
        return hits
