"""Passages that a policy or a right hides take no places of others."""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta

import pytest

from agents.passages import passage_reader
from agents.passages.chunking import pieces
from agents.passages.passage_reader import PassageReading
from agents.passages.redacted_messages import RedactedMessages
from agents.retrieval.passage_ranking import DEFAULT_WEIGHTS, Ranked
from agents.retrieval.read_rights import MayRead, allow_all
from agents.retrieval.readable_hits import MAX_TEXTS, ReadableHits
from schemas.conversations.messages import Scope
from schemas.passages.passages import Passage
from schemas.policies.policies import Policies, Policy
from sinks.archive.participants import Participant
from sinks.passages.store import PassageText

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
SINCE = MONDAY + timedelta(days=7)
POLICIES = Policies((Policy(name="kitchen", recall_since=SINCE),))


class Texts:
    """Passages by number: `old` ones that the policy does not recall, then recalled ones. `pages` has the numbers whose texts
    were read, `checked` the numbers read without."""

    def __init__(self, old: int) -> None:
        self.old = old
        self.pages: list[int] = []
        self.checked: list[int] = []

    async def texts(self, passage_ids: Collection[str], *, with_content: bool = True) -> dict[str, PassageText]:
        (self.pages if with_content else self.checked).append(len(passage_ids))
        return {each: self.text(int(each)) for each in passage_ids}

    async def participants(self, conversations: Collection[str]) -> list[Participant]:
        return []

    def text(self, number: int) -> PassageText:
        user = "bob" if number % 2 else "ada"
        passage = Passage(
            passage_id=str(number),
            namespace=f"kitchen/{user}",
            conversation_id=f"c{number}",
            message_id="m",
            role="user",
            speaker=user,
            said_at=MONDAY if number < self.old else SINCE,
            text=f"Plum {number}.",
        )
        scope = Scope(conversation_id=f"c{number}", app_id="kitchen", user_id=user)
        return PassageText(passage=passage, scope=scope, namespaces=(passage.namespace,))


def ranking(count: int) -> list[Ranked]:
    return [Ranked(passage_id=str(each), score=1 - each / 10_000, cosine=None, words=1.0) for each in range(count)]


def reader(texts: Texts, *, limit: int = 10, may_read: MayRead = allow_all) -> ReadableHits:
    return ReadableHits(PassageReading(texts, POLICIES, RedactedMessages()), may_read, "", (), DEFAULT_WEIGHTS, limit)


async def test_if_the_best_may_be_shown_no_others_are_read():
    texts = Texts(old=0)
    hits = reader(texts)
    await hits.read(ranking(400))
    assert texts.pages == [MAX_TEXTS]
    assert len(hits.best) == 40 and not hits.lacks_hits


@pytest.mark.parametrize("limit", [1, 5, 10])
async def test_neighbours_join_among_the_same_hits_for_each_limit_up_to_twenty(limit: int):
    few, many = reader(Texts(old=0), limit=limit), reader(Texts(old=0), limit=20)
    await few.read(ranking(400))
    await many.read(ranking(400))
    assert few.best == many.best


async def test_passages_behind_hidden_ones_are_found():
    texts = Texts(old=300)
    hits = reader(texts)
    await hits.read(ranking(400))
    assert [hit.passage.passage_id for hit in hits.best[:2]] == ["300", "301"]
    assert texts.pages == [50, 100]


async def test_texts_of_hidden_passages_behind_the_first_page_are_not_read():
    texts = Texts(old=5_000)
    hits = reader(texts)
    await hits.read(ranking(1_000))
    assert hits.best == [] and hits.lacks_hits
    assert (texts.pages, texts.checked) == ([50], [950])


async def test_a_caller_who_may_read_nothing_is_answered_without_further_texts():
    texts = Texts(old=0)
    hits = reader(texts, may_read=lambda namespace: False)
    await hits.read(ranking(400))
    assert not await hits.may_read_any([str(each) for each in range(1_000)])
    assert (texts.pages, texts.checked) == ([50], [350, 600])


async def test_passages_of_a_second_ranking_are_read_once():
    texts = Texts(old=100)
    hits = reader(texts)
    await hits.read(ranking(100))
    assert hits.lacks_hits
    await hits.read(ranking(130))
    assert (texts.pages, texts.checked) == ([50, 30], [50, 30])
    assert len(hits.best) == 30


async def test_passages_that_the_caller_may_not_read_do_not_displace_others():
    hits = reader(Texts(old=0), limit=30, may_read="kitchen/ada".__eq__)
    await hits.read(ranking(80))
    assert len(hits.best) == 40
    assert {hit.passage.speaker for hit in hits.best} == {"ada"}


async def test_texts_of_passages_that_the_caller_may_not_read_are_not_split(monkeypatch: pytest.MonkeyPatch):
    split: list[str] = []

    def recorded(text: str) -> list[str]:
        split.append(text)
        return pieces(text)

    monkeypatch.setattr(passage_reader, "pieces", recorded)
    hits = reader(Texts(old=0), may_read="kitchen/ada".__eq__)
    await hits.read(ranking(10))
    assert split == [f"Plum {number}." for number in range(0, 10, 2)]


async def test_few_passages_that_may_all_be_shown_are_no_lack():
    hits = reader(Texts(old=0))
    await hits.read(ranking(3))
    assert len(hits.best) == 3 and not hits.lacks_hits
