"""`make train-messages`: trains the encoders of questions and of messages of e5-small-v2-chat, writes their graphs and measures
them on unseen chats. The last line is one JSON object.

It continues from the encoder of questions that `make train-questions` wrote. Trained are the last four layers of both, with all
written chats but the held-out ones, and with a third of the scenes of FriendsQA.
"""

import argparse
import asyncio
import json
import random
import sys
from contextlib import closing
from itertools import accumulate, pairwise
from typing import Any, Final

from agents.passages.chunking import embedded_text
from sinks.embeddings.models import E5_CHAT, E5_CHAT_QUESTIONS, E5_CHAT_TEXTS, E5_SMALL
from sinks.embeddings.onnx import OnnxEmbedder
from tests.benchmarks.questions.chats import Chat, friendsqa, hash_of_files, labelled
from tests.benchmarks.questions.e5_model import StoredModel, write
from tests.benchmarks.questions.train import by_set, message_vectors, questions
from tests.benchmarks.questions.training import FROZEN
from tests.benchmarks.questions.training_messages import (
    MESSAGE_TOKENS,
    QUESTION_TOKENS,
    TRAINED,
    Batches,
    Encoder,
    trained,
)

EPOCHS: Final = 4
SEED: Final = 1
# Chosen so that the epochs take an hour on two cores, and not tuned.
SCENES: Final = 0.34  # share of FriendsQA
MAX_SCENE: Final = 120  # messages


def train(chats: list[Chat]) -> None:
    stored = StoredModel()
    of_questions, of_messages = stored.question_layers(), stored.layers()
    encoders = Encoder(stored, of_questions), Encoder(stored, of_messages)
    texts = [E5_SMALL.before_text + embedded_text(*message) for chat in chats for message in chat.messages]
    ends = accumulate((len(chat.messages) for chat in chats), initial=0)
    places = [range(start, end) for start, end in pairwise(ends)]
    asked = list(questions(chats))
    sys.stderr.write(f"{len(chats)} chats, {len(texts)} messages, {len(asked)} questions\n")
    batches = Batches(
        places,
        asked,
        encoders[0].encoded([E5_SMALL.before_question + each.text for each in asked], QUESTION_TOKENS),
        encoders[1].encoded(texts, MESSAGE_TOKENS),
    )
    for_questions, for_messages = trained(encoders, batches, EPOCHS, SEED)
    last = [*of_questions[FROZEN:-TRAINED], *for_questions]  # all that `make train-questions` trains
    write(stored, last, hash_of_files(), E5_CHAT_QUESTIONS)
    write(stored, for_messages, hash_of_files(), E5_CHAT_TEXTS)


async def run(*, only_measure: bool) -> dict[str, Any]:
    written, scenes = labelled(), friendsqa()
    unseen = {
        "written": [chat for chat in written if chat.is_held_out],
        "friendsqa": [chat for chat in scenes if chat.is_held_out],
    }
    if not only_measure:
        known = [chat for chat in scenes if not chat.is_held_out and chat.questions and len(chat.messages) < MAX_SCENE]
        some = random.Random(SEED).sample(known, int(len(known) * SCENES))
        train([*(chat for chat in written if not chat.is_held_out), *some])
    stored = StoredModel()
    report = dict[str, Any]()
    for model in (E5_SMALL, E5_CHAT):
        with closing(OnnxEmbedder(model, stored.files)) as embedder:
            chats = [chat for each in unseen.values() for chat in each]
            vectors = dict(zip((chat.name for chat in chats), await message_vectors(chats, embedder), strict=True))
            report[model.name] = await by_set(unseen, vectors, embedder)
    return report


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only-measure", action="store_true", help="measure the packaged graphs")
    arguments = parser.parse_args()
    sys.stdout.write(f"{json.dumps(asyncio.run(run(only_measure=arguments.only_measure)))}\n")
