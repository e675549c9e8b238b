"""The passage part of bench-recall: indexes conversations in PostgreSQL and the vector server, then searches for each
question."""

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing, closing
from typing import Any, Final, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from qdrant_client import AsyncQdrantClient

from agents.passages.chunking import embedded_text, pieces
from agents.passages.indexer import PassageIndexer
from agents.policies.audience import Audience
from agents.retrieval.passage_ranking import DEFAULT_WEIGHTS, SCALES, Weights
from agents.retrieval.passage_search import PassageSearch
from agents.retrieval.passage_wording import WordingWeights
from agents.retrieval.question_times import spans
from deploy.embedded.embedding_models import JARS, files_in
from schemas.conversations.messages import Message
from schemas.policies.policies import Policies, Policy
from schemas.retrieval.searches import SaidHit
from sinks.archive.messages import Archive, ArchivedMessage
from sinks.archive.participants import Participants
from sinks.embeddings.cache import CachedEmbedder
from sinks.embeddings.models import PASSAGE_DEFAULT
from sinks.embeddings.onnx import OnnxEmbedder
from sinks.embeddings.port import Embedder
from sinks.passages.store import Passages
from sinks.passages.vectors import PassageVectors
from tests.benchmarks import recall_passage_baselines as baselines
from tests.benchmarks.recall_both import in_both, remember_by_rules
from tests.benchmarks.recall_passage_hits import joined_like_ours, messages, tokens_of
from tests.benchmarks.recall_stack import Store
from tests.benchmarks.recall_talks import Said, Talk
from tests.embedders import CACHE_DIR, packaged_embedder

APP: Final = "recall"
LIMIT: Final = 20
PAGE: Final = 200
ALONE: Final = "memstream, each hit alone"
UNTRAINED: Final = "without the encoder of questions"
Answer: TypeAlias = tuple[frozenset[str], Sequence[baselines.Messages]]  # the evidence, and the messages of each hit
MOST_REMEMBERED: Final = 200_000  # vectors: the baselines use the same ones


class Setup(Struct, frozen=True):
    """The scope of a chat service: the policy, the user of a message, whether the speaker's name is given, and the
    searched namespaces."""

    policy: Policy
    user: Callable[[Said], str]
    namespaces: Callable[[Talk], tuple[str, ...]]
    named: bool = False


def setups(talk: Talk) -> dict[str, Setup]:
    speakers = tuple(dict.fromkeys(said.speaker for said in talk.messages))
    shared = Policy(name="shared", namespaces=("{app_id}/{conversation_id}",))
    return {
        "one namespace": Setup(shared, lambda said: said.speaker, lambda talk: (f"{APP}/{talk.name}",)),
        "a namespace for each speaker": Setup(
            Policy(name="own"),
            lambda said: said.speaker,
            lambda talk: tuple(f"{APP}/{speaker}" for speaker in speakers),
        ),
        "one user, speakers by role": Setup(Policy(name="roles"), lambda said: "me", lambda talk: (f"{APP}/me",)),
        "one user, speakers by role and name": Setup(
            Policy(name="roles"), lambda said: "me", lambda talk: (f"{APP}/me",), named=True
        ),
    }


PARTS: Final[dict[str, Weights]] = {
    "memstream": DEFAULT_WEIGHTS,
    "without words": replace(DEFAULT_WEIGHTS, nearness=1.0),
    "without nearness": replace(DEFAULT_WEIGHTS, nearness=0.0),
    "without the words before": replace(DEFAULT_WEIGHTS, words=replace(DEFAULT_WEIGHTS.words, before=0.0)),
    "without the words after": replace(DEFAULT_WEIGHTS, words=replace(DEFAULT_WEIGHTS.words, after=0.0)),
    "without times": replace(DEFAULT_WEIGHTS, time=0.0),
    "without the exchange around": replace(DEFAULT_WEIGHTS, exchange=0.0),
    "whatever the wording": replace(
        DEFAULT_WEIGHTS, wording=WordingWeights(speaker=0.0, addressed=0.0, when=0.0, names=0.0)
    ),
}


class WithoutNeighbours(Passages):
    """Each hit alone."""

    async def neighbours(self, *arguments: Any, **filters: Any) -> list[str]:
        return []


class Bench:
    """One conversation in one set-up, indexed in tables and a collection that are emptied for the next."""

    def __init__(
        self, store: Store, vectors: PassageVectors, embedder: CachedEmbedder, talk: Talk, setup: Setup
    ) -> None:
        self.talk, self.setup, self._store, self._vectors, self._embedder = talk, setup, store, vectors, embedder
        self._policies = Policies((setup.policy,))

    async def fill(self) -> None:
        archive = Archive(self._store.pool)
        indexer = PassageIndexer(Passages(self._store.pool), self._vectors, self._embedder, self._policies)
        audience = Audience(Participants(self._store.pool), self._policies)
        messages = [self._archived(number, said) for number, said in enumerate(self.talk.messages)]
        for start in range(0, len(messages), PAGE):
            page = await audience.with_namespaces(messages[start : start + PAGE])
            await archive.store(page)
            await indexer.index(page)

    def _archived(self, number: int, said: Said) -> ArchivedMessage:
        first = self.talk.messages[0].speaker
        by_role = self.setup.policy.name == "roles" and said.role == "user" and said.speaker != first
        message = Message(
            conversation_id=self.talk.name,
            message_id=said.message_id,
            role="assistant" if by_role or said.role == "assistant" else "user",
            timestamp=said.at,
            content=said.text,
            app_id=APP,
            user_id=self.setup.user(said),
            name=said.speaker if self.setup.named else None,
        )
        return ArchivedMessage(message=message, partition=0, position=number)

    async def found(self, weights: Weights) -> list[list[SaidHit]]:
        return [(await self.ask(each.text, each.asked_at, weights))[0] for each in self.talk.questions]

    async def found_alone(self) -> list[list[SaidHit]]:
        """Without their neighbours."""
        search = self._search(DEFAULT_WEIGHTS, WithoutNeighbours(self._store.pool))
        return [(await self.ask(each.text, each.asked_at, search=search))[0] for each in self.talk.questions]

    async def remember(self) -> None:
        """Stores what the rules keep of the conversation."""
        archived = (self._archived(number, said) for number, said in enumerate(self.talk.messages))
        await remember_by_rules(self._store, self.setup.policy, [each.message for each in archived])

    async def found_in_both(self) -> list[list[baselines.Messages]]:
        namespaces = self.setup.namespaces(self.talk)
        return [
            await in_both(self._store, self._search(), namespaces, each.text, each.asked_at, limit=LIMIT)
            for each in self.talk.questions
        ]

    async def ask(
        self, text: str, asked_at: Any, weights: Weights = DEFAULT_WEIGHTS, search: PassageSearch | None = None
    ) -> tuple[list[SaidHit], float]:
        """The hits, and how long it took, in ms."""
        search = search or self._search(weights)
        began = time.perf_counter()
        found = await search.search(text, self.setup.namespaces(self.talk), spans=spans(text, asked_at), limit=LIMIT)
        return list(found.hits), 1_000 * (time.perf_counter() - began)

    async def found_untrained(self, embedder: Embedder) -> list[list[SaidHit]]:
        """With questions embedded by the model as it is. Its cosines are higher, so no floor applies."""
        search = self._search(embedder=embedder)
        search.scale = replace(search.scale, floor=0.0)
        return [(await self.ask(each.text, each.asked_at, search=search))[0] for each in self.talk.questions]

    def _search(
        self,
        weights: Weights = DEFAULT_WEIGHTS,
        passages: Passages | None = None,
        embedder: Embedder | None = None,
    ) -> PassageSearch:
        return PassageSearch(
            embedder or self._embedder,
            self._vectors,
            passages or Passages(self._store.pool),
            self._policies,
            scale=SCALES[self._embedder.model],
            timeout_s=60.0,
            weights=weights,
        )


async def said(store: Store, sets: Mapping[str, Sequence[Talk]]) -> dict[str, Any]:
    """Returns the results of each set of conversations."""
    client = AsyncQdrantClient(url=store.index_url, timeout=60, check_compatibility=False)
    figures = {}
    with closing(packaged_embedder(PASSAGE_DEFAULT.name)) as model, closing(untrained()) as other:
        embedder = CachedEmbedder(model, most=MOST_REMEMBERED)
        known = {"dimension": embedder.dimension, "embedding_model": embedder.model}
        async with aclosing(PassageVectors(client, collection="talks-said", **known)) as vectors:
            await vectors.ensure_collection()
            for name, talks in sets.items():
                figures[name] = await measured(store, vectors, embedder, other, talks)
    await client.close()
    return figures


def untrained() -> OnnxEmbedder:
    """The model of passages without its encoder of questions."""
    files = files_in(CACHE_DIR / "jars" / JARS[PASSAGE_DEFAULT.name].file_name)
    return OnnxEmbedder(replace(PASSAGE_DEFAULT, question_graph=None), files)


async def measured(
    store: Store, vectors: PassageVectors, embedder: CachedEmbedder, other: Embedder, talks: Sequence[Talk]
) -> dict[str, Any]:
    found = defaultdict[str, list[Answer]](list)
    kinds = defaultdict[str, list[Answer]](list)
    took_ms, unrelated, tokens = list[float](), list[bool](), defaultdict[str, list[int]](list)
    for number, talk in enumerate(talks):
        sys.stderr.write(f"{talk.name}: {len(talk.messages)} messages, {len(talk.questions)} questions\n")
        evidence = [each.evidence for each in talk.questions]
        for name, setup in setups(talk).items():
            bench = Bench(store, vectors, embedder, talk, setup)
            await bench.fill()
            if name == "one namespace":
                for part, weights in PARTS.items():
                    hits = await bench.found(weights)
                    found[part] += zip(evidence, map(messages, hits), strict=True)
                    if part == "memstream":
                        tokens[part] += map(tokens_of, hits)
                        kinds_of(talk, hits, kinds)
                found[UNTRAINED] += zip(evidence, map(messages, await bench.found_untrained(other)), strict=True)
                hits = await bench.found_alone()
                found[ALONE] += zip(evidence, map(messages, hits), strict=True)
                tokens[ALONE] += map(tokens_of, hits)
                await bench.remember()
                found["memstream, memories too"] += zip(evidence, await bench.found_in_both(), strict=True)
                took_ms += [(await bench.ask(each.text, each.asked_at))[1] for each in talk.questions]
                others = talks[(number + 1) % len(talks)].questions
                unrelated += [not (await bench.ask(each.text, each.asked_at))[0] for each in others]
                for way, ranked in (await beside(store, embedder, talk)).items():
                    found[way] += zip(evidence, [[(each,) for each in ids] for ids in ranked], strict=True)
                    found[f"{way}, with neighbours"] += zip(evidence, joined_like_ours(talk, ranked), strict=True)
            else:
                found[name] += zip(evidence, map(messages, await bench.found(DEFAULT_WEIGHTS)), strict=True)
            await empty(store, vectors)
    return {
        "questions": len(found["memstream"]),
        "ways": {name: baselines.measures(rows) for name, rows in found.items()},
        "kinds": {name: {"questions": len(rows)} | baselines.measures(rows) for name, rows in kinds.items()},
        "tokens_of_ten_hits": {name: baselines.mean(each) for name, each in tokens.items()},
        "search_ms": {str(each): round(float(np.percentile(took_ms, each)), 1) for each in (50, 95)},
        "of_another_conversation_left_empty": baselines.mean(unrelated),
    }


def kinds_of(talk: Talk, hits: Sequence[Sequence[SaidHit]], kinds: dict[str, list[Answer]]) -> None:
    for question, found in zip(talk.questions, hits, strict=True):
        kinds[question.kind].append((question.evidence, messages(found)))


async def empty(store: Store, vectors: PassageVectors) -> None:
    await store.pool.execute("TRUNCATE messages CASCADE")
    await store.pool.execute("TRUNCATE passages CASCADE")
    await vectors.drop_collection()
    await vectors.ensure_collection()


async def beside(store: Store, embedder: CachedEmbedder, talk: Talk) -> dict[str, list[list[str]]]:
    """Ranks the indexed passages by the baselines, with the same vectors."""
    rows = await store.pool.fetch(
        "SELECT passage_id::text, message_id, speaker FROM passages ORDER BY ordinal, piece, passage_id"
    )
    held = await Passages(store.pool).texts([row["passage_id"] for row in rows])
    texts = [
        embedded_text(
            row["speaker"], pieces(held[row["passage_id"]].passage.text)[held[row["passage_id"]].passage.piece]
        )
        for row in rows
    ]
    made = baselines.passages([row["message_id"] for row in rows], texts, await embedder.embed(texts))
    question_vectors = await embedder.embed_questions([each.text for each in talk.questions])
    return {
        name: [
            made.best_messages(way(made, each.text, (made.vectors @ vector).astype(np.float64)))
            for each, vector in zip(talk.questions, question_vectors, strict=True)
        ]
        for name, way in baselines.WAYS.items()
    }
