"""Chats with questions and the messages that answer them, to train the encoder of questions.

`labelled/*.txt` were written for this. A file is one chat: lines `number|speaker|text`, a line `QUESTIONS`, then lines
`kind|question|numbers of the messages that hold the answer`. FriendsQA (Yang and Choi, 2019; Apache-2.0) asks about scenes of
a television series; two of its three files are used (`recall_talks.json`).
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from tests.benchmarks.recall_talks import Question, Said, Talk, files_of

LABELLED: Final = Path(__file__).with_name("labelled")
KINDS: Final = ("fact", "time", "category", "several", "conclusion")
QUESTIONS: Final = "QUESTIONS"
HELD_OUT: Final = 6  # one chat in as many, by the hash of its name


class Asked(Struct, frozen=True):
    """A question. `evidence` are the places of the messages that answer it."""

    kind: str
    text: str
    evidence: tuple[int, ...]


class Chat(Struct, frozen=True):
    """`messages` are pairs of speaker and text."""

    name: str
    messages: list[tuple[str, str]]
    questions: list[Asked]

    @property
    def is_held_out(self) -> bool:
        return int(sha256(self.name.encode()).hexdigest(), 16) % HELD_OUT == 0


def files() -> list[Path]:
    return sorted(LABELLED.glob("*.txt"))


def hash_of_files() -> str:
    return sha256(b"\0".join(path.read_bytes() for path in files())).hexdigest()


def labelled() -> list[Chat]:
    """The chats written for this. Raises ValueError for a file that does not have the form."""
    return [chat_of(path) for path in files()]


def unseen_chats() -> list[Talk]:
    """The labelled chats that no training has seen, a message a minute."""
    return [talk_of(chat) for chat in labelled() if chat.is_held_out]


def talk_of(chat: Chat) -> Talk:
    began = datetime(2026, 5, 1, 12, tzinfo=UTC)
    messages = [
        Said(
            message_id=str(number),
            speaker=speaker,
            role="assistant" if speaker.lower() in ("assistant", "ai") else "user",
            at=began + timedelta(minutes=number),
            text=text,
        )
        for number, (speaker, text) in enumerate(chat.messages)
    ]
    asked_at = began + timedelta(days=1)
    questions = [
        Question(each.text, each.kind, asked_at, frozenset(map(str, each.evidence))) for each in chat.questions
    ]
    return Talk(chat.name, messages, questions)


def chat_of(path: Path) -> Chat:
    lines = [line for line in path.read_text().splitlines() if line.strip()]
    if lines.count(QUESTIONS) != 1:
        raise ValueError(f"{path}: not one line {QUESTIONS}")
    said, question_lines = lines[: lines.index(QUESTIONS)], lines[lines.index(QUESTIONS) + 1 :]
    messages = [message_of(path, number, line) for number, line in enumerate(said, 1)]
    return Chat(path.stem, messages, [asked_of(path, line, len(messages)) for line in question_lines])


def message_of(path: Path, number: int, line: str) -> tuple[str, str]:
    given, _, rest = line.partition("|")
    speaker, _, text = rest.partition("|")
    if given != str(number) or not speaker.strip() or not text.strip():
        raise ValueError(f"{path}: not `{number}|speaker|text`: {line}")
    return speaker.strip(), text.strip()


def asked_of(path: Path, line: str, messages: int) -> Asked:
    kind, _, rest = line.partition("|")
    text, _, numbers = rest.rpartition("|")
    evidence = tuple(sorted({int(each) - 1 for each in numbers.split() if each.isdigit()}))
    is_whole = bool(evidence) and len(evidence) == len(numbers.split()) and evidence[0] >= 0 and evidence[-1] < messages
    if kind not in KINDS or not text.strip() or not is_whole:
        raise ValueError(f"{path}: not `kind|question|numbers of messages`: {line}")
    return Asked(kind, text.strip(), evidence)


def friendsqa() -> list[Chat]:
    """Raises OSError without a network, and ValueError for files other than those measured."""
    return [chat for content in files_of("friendsqa") for chat in scenes(json.loads(content))]


def scenes(data: dict[str, Any]) -> Iterator[Chat]:
    for scene in data["data"]:
        for number, each in enumerate(scene["paragraphs"]):
            said = each["utterances:"]
            places = {one["uid"]: place for place, one in enumerate(said)}
            messages = [(speaker_of(one["speakers"]), one["utterance"]) for one in said]
            questions = [
                Asked("fact", one["question"].strip(), evidence)
                for one in each["qas"]
                if (evidence := tuple(sorted({places[answer["utterance_id"]] for answer in one["answers"]})))
            ]
            yield Chat(f"{scene['title']}-{number}", messages, questions)


def speaker_of(names: list[str]) -> str:
    """First names, by which the questions call them."""
    return " and ".join(name.split()[0] for name in names) or "Note"
