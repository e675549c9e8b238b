"""Reads ranked passages until enough of them may be shown: hidden ones take no places of others."""

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from agents.passages.passage_reader import PassageReading
from agents.retrieval.passage_ranking import PassageWording, Ranked, Weights, ranked_by_wording
from agents.retrieval.read_rights import MayRead
from schemas.retrieval.searches import SaidHit

MAX_TEXTS: Final = 50  # best passages whose texts are read and rated by wording
MORE_TEXTS: Final = 200  # further passages that are read at a time if too few of the best may be shown
MAX_READ: Final = 1_000  # passages whose texts are read in all
# Hits among which neighbours join: as many as a search for 20 has, so that a lower `limit` cuts the same order.
MIN_CANDIDATES: Final = 40


class ReadableHits:
    """Reads ranked passages, the best first, until enough of them may be shown."""

    def __init__(
        self, reading: PassageReading, may_read: MayRead, speakers: Collection[str], weights: Weights, limit: int
    ) -> None:
        self.reading = reading
        self._may_read = may_read
        self._speakers = speakers
        self._weights = weights
        self._limit = limit
        self._candidates = max(2 * limit, MIN_CANDIDATES)
        self._read = set[str]()
        self._hits = list[SaidHit]()

    @property
    def best(self) -> list[SaidHit]:
        """More hits than asked for, as joined hits leave free places."""
        return sorted(self._hits, key=lambda hit: -hit.score)[: self._candidates]

    @property
    def lacks_hits(self) -> bool:
        """Whether hidden passages took the places of hits."""
        return len(self._hits) < min(self._limit, len(self._read))

    async def read(self, best: Sequence[Ranked]) -> None:
        """Reads the passages of `best` that are not read yet, as far as hits are lacking. Raises Retryable."""
        for page in self._pages([each for each in best if each.passage_id not in self._read]):
            self._read.update(each.passage_id for each in page)
            self._hits += await self._hits_of(page)
            if not self.lacks_hits:
                return

    def _pages(self, best: Sequence[Ranked]) -> Iterator[Sequence[Ranked]]:
        size, at = max(self._limit, MAX_TEXTS) if not self._read else MORE_TEXTS, 0
        while at < len(best) and len(self._read) < MAX_READ:
            yield best[at : at + size]
            at, size = at + size, MORE_TEXTS

    async def _hits_of(self, page: Sequence[Ranked]) -> list[SaidHit]:
        """Ordered with the preference of their wording. Passages whose message left the archive are left out."""
        readable = await self.reading.recalled([each.passage_id for each in page], self._may_read)
        wordings = {
            passage_id: PassageWording(each.text, each.found.passage.speaker in self._speakers)
            for passage_id, each in readable.items()
        }
        hits = list[SaidHit]()
        for each in ranked_by_wording(page, wordings, self._weights):
            if len(hits) == self._candidates:
                break
            passage = await self.reading.shown(readable[each.passage_id])
            if passage is not None:
                owners = readable[each.passage_id].owners
                hits.append(
                    SaidHit(score=each.score, cosine=each.cosine, words=each.words, passage=passage, owners=owners)
                )
        return hits
