"""A classifier that knows the scores of some sentences; all others state nothing."""

from collections.abc import Mapping, Sequence

from schemas.extraction.sentences import Sentence, SentenceScores

OTHER = SentenceScores(other=0.97, statement=0.01, limit=0.0, wish=0.0, unreal=0.02)
STATEMENT = SentenceScores(other=0.04, statement=0.94, limit=0.01, wish=0.0, unreal=0.01)
LIKELY_STATEMENT = SentenceScores(other=0.2, statement=0.7, limit=0.05, wish=0.0, unreal=0.05)
LIMIT = SentenceScores(other=0.02, statement=0.03, limit=0.93, wish=0.01, unreal=0.01)
WISH = SentenceScores(other=0.02, statement=0.01, limit=0.01, wish=0.95, unreal=0.01)
UNREAL = SentenceScores(other=0.05, statement=0.04, limit=0.0, wish=0.0, unreal=0.91)


class FakeSentenceClassifier:
    """`classified` has every sentence that was to be classified."""

    def __init__(self, known: Mapping[str, SentenceScores] | None = None) -> None:
        self.known = dict(known or {})
        self.classified: list[Sentence] = []
        self.closed = False

    async def classify(self, sentences: Sequence[Sentence]) -> list[SentenceScores | None]:
        self.classified += sentences
        return [self.known.get(each.text, OTHER) for each in sentences]

    def close(self) -> None:
        self.closed = True
