"""Labels of messages and conversations; `test_labelled.py` describes their origin."""

import json
from pathlib import Path

from streams.windows.detectors.detect import detect
from streams.windows.pruning.importance import base_importance

HERE = Path(__file__).parent
HALVES = ["tuning", "held_out"]


def labelled(name: str, half: str) -> list[dict]:
    return [each for each in json.loads((HERE / f"labelled_{name}.json").read_text()) if each["half"] == half]


def band(role: str, text: str) -> str:
    tenths = base_importance(detect(role, text).traits)
    return "high" if tenths >= 7 else "low" if tenths <= 3 else "normal"
