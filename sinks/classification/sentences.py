"""The classifier of sentences that runs in this process."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from schemas.extraction.sentences import Sentence, SentenceScores
from sinks.classification.cross_encoder import CrossEncoder

NEAREST: Final = 60  # characters before a sentence that are read if all that is around it is too long
GRAPH: Final = Path(__file__).with_name("sentences.onnx")


class OnnxSentenceClassifier(CrossEncoder):
    """Reads pairs: the text around a sentence, and the sentence. Its classes are the fields of SentenceScores."""

    def __init__(self, graph: Path = GRAPH) -> None:
        super().__init__(graph)

    async def classify(self, sentences: Sequence[Sentence]) -> list[SentenceScores | None]:
        """The scores of each sentence, read with less of the text around it if both are too long; None for a sentence that
        is too long by itself. A sentence's scores do not depend on the other sentences (up to float rounding)."""
        found = await self.probabilities(sentences)
        long = [at for at, each in enumerate(found) if each is None]
        shorter = await self.probabilities([nearest(sentences[at]) for at in long])
        for at, each in zip(long, shorter, strict=True):
            found[at] = each
        return [None if each is None else SentenceScores(*each) for each in found]


def nearest(sentence: Sentence) -> Sentence:
    """The sentence with only the nearest text before it."""
    before, _, _ = sentence.around.partition(" … ")
    return Sentence(before[-NEAREST:], sentence.text)
