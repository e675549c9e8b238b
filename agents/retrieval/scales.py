"""What a cosine is worth: each embedding model has its own scale, measured by `make bench-recall`. The table is `scales.json`."""

from functools import cache
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from schemas.policies.policies import Fraction

TABLE: Final = Path(__file__).with_name("scales.json")
LAST_LATIN: Final = "\u024f"


class Scale(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A cosine of a question and a memory counts from `cosine_from`, as nothing, to `cosine_to`, as all.

    What is less relevant than `floor` has nothing to do with the question. A model that is `latin_only` finds all texts in other
    scripts alike, so that their cosines say nothing.
    """

    cosine_from: float = 0.30
    cosine_to: float = 0.80
    floor: Fraction = 0.18
    latin_only: bool = False

    def near(self, cosine: float) -> Fraction:
        """The part of a relevance that is nearness in meaning."""
        return min(max((cosine - self.cosine_from) / (self.cosine_to - self.cosine_from), 0.0), 1.0)

    def reads(self, text: str) -> bool:
        """Whether the model knows the script that most letters of a text are in."""
        if not self.latin_only or text.isascii():
            return True
        letters = [each for each in text if each.isalpha()]
        return 2 * sum(each <= LAST_LATIN for each in letters) >= len(letters)


def scale_of(embedding_model: str) -> Scale:
    """The model's, or the defaults for one that was never measured."""
    return table().get(embedding_model, Scale())


@cache
def table() -> dict[str, Scale]:
    return msgspec.json.decode(TABLE.read_bytes(), type=dict[str, Scale])
