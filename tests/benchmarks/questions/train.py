"""`make train-questions`: trains the encoder of questions, writes its graph and measures it on unseen chats. The last line is
one JSON object.

Trained are the last six layers of e5-small-v2, with all chats but the held-out ones.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any, Final

import numpy as np
from msgspec.structs import replace

from agents.passages.chunking import embedded_text
from agents.passages.terms import question_words
from agents.retrieval.question_speakers import named_speakers
from sinks.embeddings.models import E5_SMALL
from sinks.embeddings.onnx import OnnxEmbedder
from tests.benchmarks.questions.chats import KINDS, Asked, Chat, friendsqa, hash_of_files, labelled
from tests.benchmarks.questions.e5_model import Array, StoredModel, write
from tests.benchmarks.questions.training import Question, trained

EPOCHS: Final = 2
SEED: Final = 1
FOUND_AMONG: Final = (5, 10)


def questions(chats: Sequence[Chat]) -> Iterator[Question]:
    """Each question, and again if it names speakers: compared with the messages of these alone, so that its other words are
    learnt too. A question that names nobody may have answers in other chats: it is compared with its own."""
    for number, chat in enumerate(chats):
        speakers = [speaker for speaker, _ in chat.messages]
        for each in chat.questions:
            named = named_speakers(speakers, question_words(each.text))
            own = range(len(speakers))
            yield Question(each.text, number, each.evidence, None if named else own)
            of_named = [place for place in own if speakers[place] in named]
            answers = [place for place in each.evidence if place in of_named]
            if answers and len(of_named) < len(own):
                yield Question(each.text, number, answers, of_named)


async def message_vectors(chats: Sequence[Chat], embedder: OnnxEmbedder) -> list[Array]:
    return [await embedder.embed([embedded_text(*message) for message in chat.messages]) for chat in chats]


async def measured(chats: Sequence[Chat], vectors: Sequence[Array], embedder: OnnxEmbedder) -> dict[str, Any]:
    """The share of the evidence among the nearest messages of the chat."""
    shares: dict[str, list[tuple[float, ...]]] = {}
    for chat, messages in zip(chats, vectors, strict=True):
        question_vectors = await embedder.embed_questions([each.text for each in chat.questions])
        for each, order in zip(chat.questions, np.argsort(-(question_vectors @ messages.T), axis=1), strict=True):
            shares.setdefault(each.kind, []).append(tuple(share(each, order[:most].tolist()) for most in FOUND_AMONG))
    every = [each for kind in shares.values() for each in kind]
    return {"questions": len(every), "all": means(every)} | {
        kind: means(shares[kind]) for kind in KINDS if kind in shares
    }


def share(questions: Asked, found: Sequence[int]) -> float:
    return len(set(questions.evidence) & set(found)) / len(questions.evidence)


def means(shares: Sequence[tuple[float, ...]]) -> dict[str, float]:
    return {
        f"recall_{most}": round(float(np.mean(each)), 3)
        for most, each in zip(FOUND_AMONG, zip(*shares, strict=True), strict=True)
    }


async def run(*, only_measure: bool) -> dict[str, Any]:
    sets = {"written": labelled(), "friendsqa": friendsqa()}
    chats = [chat for each in sets.values() for chat in each]
    stored = StoredModel()
    with closing(OnnxEmbedder(replace(E5_SMALL, question_graph=None), stored.files)) as embedder:
        vectors = dict(zip((chat.name for chat in chats), await message_vectors(chats, embedder), strict=True))
        unseen = {name: [chat for chat in each if chat.is_held_out] for name, each in sets.items()}
        report = {"untrained": await by_set(unseen, vectors, embedder)}
    if not only_measure:
        learnt = [chat for chat in chats if not chat.is_held_out]
        sys.stderr.write(f"{len(learnt)} chats, {sum(len(chat.questions) for chat in learnt)} questions\n")
        layers = trained(stored, [vectors[chat.name] for chat in learnt], list(questions(learnt)), EPOCHS, SEED)
        write(stored, layers, hash_of_files())
    with closing(OnnxEmbedder(E5_SMALL, stored.files)) as embedder:
        return report | {"trained": await by_set(unseen, vectors, embedder)}


async def by_set(unseen: dict[str, list[Chat]], vectors: dict[str, Array], embedder: OnnxEmbedder) -> dict[str, Any]:
    return {
        name: await measured(chats, [vectors[chat.name] for chat in chats], embedder) for name, chats in unseen.items()
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only-measure", action="store_true", help="measure the packaged graph")
    arguments = parser.parse_args()
    sys.stdout.write(f"{json.dumps(asyncio.run(run(only_measure=arguments.only_measure)))}\n")
