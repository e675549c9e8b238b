"""Evaluates passage hits for bench-recall: the messages that each hit shows and the tokens they take, also for the
baselines with neighbours."""

import os
from collections.abc import Sequence
from functools import cache
from typing import Final

import tiktoken

from agents.passages.chunking import pieces
from agents.retrieval.block_style import BlockStyle
from agents.retrieval.passage_neighbours import ELLIPSIS, merge_neighbours, place_of
from deploy.embedded.tiktoken_vocabulary import ensure_vocabulary
from schemas.passages.passages import Passage, ReadPassage
from schemas.retrieval.searches import SaidHit
from streams.windows.tokens.counting import TokenCounter
from tests.benchmarks.recall_passage_baselines import Messages
from tests.benchmarks.recall_talks import Said, Talk
from tests.embedders import CACHE_DIR

ENCODING: Final = "o200k_base"
MOST: Final = 40  # hits of a baseline: merged hits leave room


def messages_of(hit: SaidHit) -> tuple[str, ...]:
    """Returns the ids of the messages that a hit shows whole."""
    whole = (each for each in hit.exchange if not each.text.startswith(ELLIPSIS))
    return tuple(each.message_id for each in whole)


def messages(hits: Sequence[SaidHit]) -> list[Messages]:
    return [messages_of(hit) for hit in hits]


def tokens_of(hits: Sequence[SaidHit]) -> int:
    """Counts the tokens of ten hits in a context block."""
    count, style = counter(), BlockStyle(heading="", line="", closing="")
    return sum(count(style.passage(each, "") + "\n") for hit in hits[:10] for each in hit.exchange)


@cache
def counter() -> TokenCounter:
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(ensure_vocabulary(CACHE_DIR / "vocabulary")))
    return TokenCounter(tiktoken.get_encoding(ENCODING))


def joined_like_ours(talk: Talk, ranked: Sequence[Sequence[str]]) -> list[list[Messages]]:
    """Returns the hits of a baseline with the neighbours that memstream's rules add."""
    hits = {said.message_id: hit_of(talk, number, said) for number, said in enumerate(talk.messages)}
    places = {place_of(hit.passage): ReadPassage(passage=hit.passage, owners=()) for hit in hits.values()}
    return [messages(merge_neighbours([hits[each] for each in ids[:MOST]], places)) for ids in ranked]


def hit_of(talk: Talk, number: int, said: Said) -> SaidHit:
    text = (pieces(said.text) or [said.text])[-1]
    return SaidHit(
        score=0.0,
        passage=Passage(
            passage_id=said.message_id,
            namespace="recall",
            conversation_id=talk.name,
            message_id=said.message_id,
            role="assistant" if said.role == "assistant" else "user",
            speaker=said.speaker,
            said_at=said.at,
            text=text,
            ordinal=number,
        ),
    )
