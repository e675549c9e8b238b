"""Cosine scales of embedding models for memories, from `scales.json`, measured by `make bench-recall`."""

from functools import cache
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from schemas.policies.policies import Fraction

TABLE: Final = Path(__file__).with_name("scales.json")
LAST_LATIN: Final = "\u024f"


class Scale(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Cosines from `cosine_from` to `cosine_to` count from 0 to 1.

    Memories with a relevance below `floor` are unrelated to the question. With `latin_only`, the model cannot tell texts in
    other scripts apart, so their cosines are ignored.
    """

    cosine_from: float = 0.30
    cosine_to: float = 0.80
    floor: Fraction = 0.18
    latin_only: bool = False

    def near(self, cosine: float) -> Fraction:
        """The scaled cosine, from 0 to 1."""
        return min(max((cosine - self.cosine_from) / (self.cosine_to - self.cosine_from), 0.0), 1.0)

    def reads(self, text: str) -> bool:
        """Whether the model knows the script of most letters of the text."""
        if not self.latin_only or text.isascii():
            return True
        letters = [each for each in text if each.isalpha()]
        return 2 * sum(each <= LAST_LATIN for each in letters) >= len(letters)


def scale_of(embedding_model: str) -> Scale:
    """The scale of the model; defaults for a model that was never measured."""
    return table().get(embedding_model, Scale())


@cache
def table() -> dict[str, Scale]:
    return msgspec.json.decode(TABLE.read_bytes(), type=dict[str, Scale])
