"""The classifier of sentences that runs in this process."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from schemas.extraction.sentences import Sentence, SentenceScores
from sinks.classification.cross_encoder import CrossEncoder

GRAPH: Final = Path(__file__).with_name("sentences.onnx")


class OnnxSentenceClassifier(CrossEncoder):
    """Reads what is around a sentence as the first text, and the sentence as the second. Its classes are the fields of
    SentenceScores."""

    def __init__(self, graph: Path = GRAPH) -> None:
        super().__init__(graph)

    async def classify(self, sentences: Sequence[Sentence]) -> list[SentenceScores | None]:
        """The scores of each sentence; None for one that is too long to be read whole. A sentence's scores do not depend on the
        other sentences (up to float rounding)."""
        return [None if each is None else SentenceScores(*each) for each in await self.probabilities(sentences)]
