"""Compares our date and YAML parsers with libraries: `python -m tests.benchmarks.parsers`; the last line is JSON.

ruamel.yaml is among the development packages. dateparser is not: `pip install --target DIRECTORY dateparser`, and put the
directory at the end of PYTHONPATH. The sentences are those of our own tests, so they flatter ours.
"""

import sys
import time
from collections.abc import Callable, Iterable
from datetime import date
from importlib import import_module
from typing import Any

import orjson
from ruamel.yaml import YAML

from agents.models.dates.dates import dates_in, local
from deploy.policies.files import PRESETS
from deploy.policies.yaml_text import documents
from tests.builders.slices import BERLIN, MONDAY
from tests.cases.dated_sentences import NO_DATES, RESOLVED

ROUNDS = 5
NOW = local(MONDAY, BERLIN)
Dates = Callable[[str, str], list[date]]


def ours(sentence: str, language: str) -> list[date]:
    return [found.day for found in dates_in(sentence, NOW, language)]


def dateparser() -> Dates:
    search = import_module("dateparser.search").search_dates
    settings = {"RELATIVE_BASE": NOW.replace(tzinfo=None), "PREFER_DATES_FROM": "future"}

    def found(sentence: str, language: str) -> list[date]:
        return [moment.date() for _, moment in search(sentence, languages=[language], settings=settings) or ()]

    return found


def dates(read: Dates) -> dict[str, float]:
    return {
        "right_of_dates": sum(read(sentence, language) == [day] for language, sentence, day in RESOLVED),
        "right_of_none": sum(read(sentence, "en") == [] for sentence in NO_DATES),
        "us_a_sentence": seconds(lambda: [read(sentence, language) for language, sentence, _ in RESOLVED])
        * 1e6
        / len(RESOLVED),
    }


def yaml_ms() -> dict[str, float]:
    """All presets as one text."""
    text = "\n---\n".join(path.read_text() for path in sorted(PRESETS.glob("*.yaml")))
    readers: dict[str, Callable[[], Iterable[Any]]] = {
        "memstream": lambda: documents(text),
        "ruamel.yaml": lambda: YAML(typ="rt").load_all(text),
    }
    return {name: seconds(lambda read=read: list(read())) * 1e3 for name, read in readers.items()}  # type: ignore[misc]


def seconds(do: Callable[[], object]) -> float:
    do()
    begun = time.perf_counter()
    for _ in range(ROUNDS):
        do()
    return (time.perf_counter() - begun) / ROUNDS


def main() -> None:
    figures = {
        "dates": {"of": [len(RESOLVED), len(NO_DATES)], "memstream": dates(ours), "dateparser": dates(dateparser())},
        "yaml_ms": yaml_ms(),
    }
    sys.stdout.write(orjson.dumps(figures).decode() + "\n")


if __name__ == "__main__":
    main()
