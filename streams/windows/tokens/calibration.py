"""Learns a ratio of billed to counted tokens per model, from the usage that providers report."""

import re
from collections.abc import Mapping
from typing import Final

from schemas.conversations.windows import Calibration

WEIGHT: Final = 0.05  # of a new observation, from the twentieth on: a moving average
MESSAGE_TOKENS: Final = 3  # of framing for each message, and once for the answer (published by OpenAI)
MIN_TOKENS: Final = 50  # of an observed request: in shorter ones the framing outweighs the text
MAX_RATIO: Final = 4.0  # of one request: bills for images or hidden reasoning say nothing about text

VERSION: Final = re.compile(r"-\d{8}|-\d{4}-\d\d-\d\d|@\d{8}|-latest|:[^:]+")
UNCALIBRATED: Final = Calibration()


def request_tokens(counted: int, messages: int) -> int:
    """The counted tokens of a request: `counted` for its texts and tools, and the framing of its messages."""
    return counted + MESSAGE_TOKENS * (messages + 1)


def observe(calibration: Calibration, counted: int, billed: int, fixed: int = 0) -> Calibration:
    """The calibration after a request of `counted` tokens was billed as `billed` input tokens, cached ones included.

    `fixed` are tokens that the provider adds to any text, such as its prompt for tool use (`ModelLimits.tool_use`). The first
    twenty requests have equal weights; later ones have `WEIGHT`, to follow a change of the model's tokenizer.
    """
    if counted < MIN_TOKENS or billed <= fixed:
        return calibration
    ratio = min(MAX_RATIO, (billed - fixed) / counted)
    observed = calibration.observed + 1
    weight = max(WEIGHT, 1.0 / observed)
    return Calibration(calibration.mean + weight * (ratio - calibration.mean), observed)


def of(calibrations: Mapping[str, Calibration], model: str | None) -> Calibration:
    """The calibration of a model: by its name, otherwise the most observed one of the same model with another version."""
    if not model:
        return UNCALIBRATED
    known = calibrations.get(model)
    if known is not None:
        return known
    related = [found for name, found in calibrations.items() if _versions(name, model) or _versions(model, name)]
    return max(related, key=lambda found: found.observed, default=UNCALIBRATED)


def _versions(longer: str, shorter: str) -> bool:
    """Whether `longer` is `shorter` with a date or a tag: `claude-haiku-4-5-20251001`, `llama3.2:latest`."""
    return VERSION.fullmatch(longer.removeprefix(shorter)) is not None if longer.startswith(shorter) else False
