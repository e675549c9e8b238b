"""Memories and questions with known answers: MemoryBank's probes, and questions about one person written for this
benchmark.

Every second person of MemoryBank, and the written questions, are what weights were tuned on; the others are only reported.
"""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from uuid import NAMESPACE_OID, uuid5

from msgspec import Struct

from schemas.memories.memories import Memory
from tests.benchmarks.coherence_data import EVIDENCE
from tests.benchmarks.recall_stack import NOW
from tests.builders.memories import a_memory

WRITTEN = Path(__file__).with_name("recall_questions.json")
LANGUAGES = {"en": "en", "cn": "zh"}
TRANSLATED_OTHERWISE = ("Roland",)  # his third day has other turns in Chinese, so that labels do not fit


class Question(Struct, frozen=True):
    """`answers`: all memories of any one of these sets answer it; without any, nothing does."""

    namespace: str
    text: str
    answers: tuple[frozenset[str], ...] = ()


class Asked(Struct, frozen=True):
    """A set of memories, with the questions that are put to it."""

    memories: list[Memory]
    questions: list[Question]


def written() -> Asked:
    data = json.loads(WRITTEN.read_text())
    made = {name: memory("written", name, text) for name, text in data["memories"].items()}
    questions = [
        Question("written", text, tuple(frozenset((made[name].memory_id,)) for name in names))
        for text, names in data["answered"]
    ]
    questions += [Question("written", text) for text in data["unrelated"]]
    return Asked(list(made.values()), questions)


def memorybank(shared: Path, language: str, *, tuned_on: bool) -> Asked:
    """Each message is a memory; the people are each a namespace."""
    directory, question_set = shared / "memorybank", Asked([], [])
    evidence = json.loads(EVIDENCE.read_text())
    probes = probes_of(directory / f"probing_questions_{language}.jsonl")
    english = [name.strip() for name in json.loads((directory / "memory_bank_en.json").read_text())]
    people = json.loads((directory / f"memory_bank_{language}.json").read_text())
    for number, (name, (key, person)) in enumerate(zip(english, people.items(), strict=True)):
        if (number % 2 == 0) != tuned_on or (language == "cn" and name in TRANSLATED_OTHERWISE):
            continue
        namespace = f"{language}/{name}"
        question_set.memories.extend(messages(namespace, person["history"], LANGUAGES[language]))
        for text, labelled in zip(probes[key.strip()], evidence[name], strict=True):
            if labelled:
                answers = tuple(frozenset(identity(namespace, place) for place in each.split()) for each in labelled)
                question_set.questions.append(Question(namespace, text, answers))
    return question_set


def probes_of(path: Path) -> dict[str, list[str]]:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return {name.strip(): texts for line in lines for name, texts in line.items()}


def messages(namespace: str, history: dict[str, list[dict[str, str]]], language: str) -> Iterator[Memory]:
    for day, talk in enumerate(history.values()):
        for turn, each in enumerate(talk):
            for part, letter in (("query", "u"), ("response", "a")):
                yield memory(namespace, f"{day}.{turn}{letter}", each[part], language=language)


def memory(namespace: str, name: str, text: str, language: str | None = None) -> Memory:
    return a_memory(
        text, NOW - timedelta(days=30), memory_id=identity(namespace, name), namespace=namespace, language=language
    )


def identity(namespace: str, name: str) -> str:
    return str(uuid5(NAMESPACE_OID, f"{namespace} {name}"))
