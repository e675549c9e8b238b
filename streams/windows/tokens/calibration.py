"""Turns counted tokens into billed ones: a ratio per model, learned from the usage that providers return."""

import re
from collections.abc import Mapping
from typing import Final

from schemas.conversations.windows import Calibration

WEIGHT: Final = 0.05  # of one more request, once there were twenty: the mean of the last few dozen
MESSAGE_TOKENS: Final = 3  # that frame each message, and as many once for the answer (OpenAI's published count)
FEWEST_TOKENS: Final = 50  # of a request that teaches: in shorter ones the framing outweighs the text
STEEPEST: Final = (
    4.0  # ratio of one request that is believed: a bill for images or hidden thoughts says nothing of text
)


VERSION: Final = re.compile(r"-\d{8}|-\d{4}-\d\d-\d\d|@\d{8}|-latest|:[^:]+")
UNCALIBRATED: Final = Calibration()


def request_tokens(counted: int, messages: int) -> int:
    """Counted tokens of a request: those of its texts, tools and all, and what frames its messages."""
    return counted + MESSAGE_TOKENS * (messages + 1)


def observe(calibration: Calibration, counted: int, billed: int, fixed: int = 0) -> Calibration:
    """The calibration after one more request of `counted` tokens was billed as `billed` input tokens.

    `fixed` is what the provider adds whatever the text, such as its prompt for tool use (`ModelLimits.tool_use`). Tokens
    read from or written to a provider's cache count as billed. The first requests weigh alike, so that one request
    already helps; later ones by `WEIGHT`, so that a model's change of tokenizer is followed.
    """
    if counted < FEWEST_TOKENS or billed <= fixed:
        return calibration
    ratio = min(STEEPEST, (billed - fixed) / counted)
    observed = calibration.observed + 1
    weight = max(WEIGHT, 1.0 / observed)
    return Calibration(calibration.mean + weight * (ratio - calibration.mean), observed)


def of(calibrations: Mapping[str, Calibration], model: str | None) -> Calibration:
    """What is known of a model: by its name, else by the most observed name that is its own with a version, or without."""
    if not model:
        return UNCALIBRATED
    known = calibrations.get(model)
    if known is not None:
        return known
    related = [found for name, found in calibrations.items() if _versions(name, model) or _versions(model, name)]
    return max(related, key=lambda found: found.observed, default=UNCALIBRATED)


def _versions(longer: str, shorter: str) -> bool:
    """Whether a name is another one with a date or a tag behind: `claude-haiku-4-5-20251001`, `llama3.2:latest`."""
    return VERSION.fullmatch(longer.removeprefix(shorter)) is not None if longer.startswith(shorter) else False
