"""Public conversations with questions and evidence messages, from files with checksums (`recall_talks.json`).

REALTALK: ten pairs of people write to each other for three weeks. LongMemEval: users and an assistant, long messages; the
sessions with the answers of some 20 users make one conversation here. Weights are chosen on the tuning half of the
conversations; of the held-out half, `user-1` and `user-3` were looked at as well.
"""

import json
import os
import re
import urllib.request
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from tests.embedders import CACHE_DIR

FILES: Final = Path(__file__).with_name("recall_talks.json")
KINDS: Final = {1: "several places", 2: "temporal", 3: "to be concluded"}  # of REALTALK
CONVERSATIONS: Final = 8  # of LongMemEval
PARTS: Final = 20  # of its questions, by the hashes of their ids; the files are those of the first CONVERSATIONS


Half: TypeAlias = Literal["tuning", "held-out"]
HALVES: Final[tuple[Half, ...]] = ("tuning", "held-out")


class Said(Struct, frozen=True):
    """A message of a conversation."""

    message_id: str
    speaker: str
    role: str
    at: datetime
    text: str


class Question(Struct, frozen=True):
    """`evidence` are the messages that hold the answer."""

    text: str
    kind: str
    asked_at: datetime
    evidence: frozenset[str]


class Talk(Struct, frozen=True):
    """A conversation in order, and the questions about it."""

    name: str
    messages: list[Said]
    questions: list[Question]


def files_of(name: str) -> list[bytes]:
    """The files of a set, from the folder of data sets or the cache; what is in neither is downloaded. Raises OSError without a
    network, and ValueError for a file that is not the one that was measured."""
    listed = json.loads(FILES.read_bytes())[name]
    return [checked(name, file, listed["url"] + file, digest) for file, digest in listed["files"].items()]


def checked(name: str, file: str, url: str, digest: str) -> bytes:
    shared, cached = Path(os.environ.get("MEMSTREAM_SHARED_DATA", "."), name, file), CACHE_DIR / "talks" / name / file
    found = next((path for path in (shared, cached) if path.is_file()), None)
    if found is None:
        cached.parent.mkdir(parents=True, exist_ok=True)
        with urllib.request.urlopen(url, timeout=60) as answer:
            cached.write_bytes(answer.read())
    content = (found or cached).read_bytes()
    if sha256(content).hexdigest() != digest:
        raise ValueError(f"{found or cached} is not the file that was measured: remove it to download it again")
    return content


def realtalk(half: Half) -> list[Talk]:
    stems = [Path(file).stem for file in json.loads(FILES.read_bytes())["realtalk"]["files"]]
    ordered = sorted(stems, key=lambda stem: sha256(f"realtalk/{stem}".encode()).hexdigest())
    of_half = ordered[HALVES.index(half) :: 2]
    return [
        people(stem, json.loads(content))
        for stem, content in zip(stems, files_of("realtalk"), strict=True)
        if stem in of_half
    ]


def people(name: str, data: dict[str, Any]) -> Talk:
    messages: dict[str, Said] = {}
    last = datetime.min.replace(tzinfo=UTC)
    for session in numbered(data):
        for turn in session:
            at = datetime.strptime(turn["date_time"], "%d.%m.%Y, %H:%M:%S").replace(tzinfo=UTC)
            last = max(at, last + timedelta(milliseconds=1))
            text = (turn["clean_text"] or "").strip() or ("[image]" if turn["img_file"] else "")
            if text:
                messages.setdefault(turn["dia_id"], Said(turn["dia_id"], turn["speaker"], "user", last, text))
    questions = [
        Question(each["question"], KINDS[each["category"]], last + timedelta(days=1), evidence)
        for each in data["qa"]
        if (evidence := frozenset(re.findall(r"D\d+:\d+", " ".join(each["evidence"]))) & messages.keys())
    ]
    return Talk(name, list(messages.values()), questions)


def numbered(data: dict[str, Any]) -> Iterator[list[dict[str, Any]]]:
    number = 1
    while f"session_{number}" in data:
        yield data[f"session_{number}"]
        number += 1


def longmemeval(half: Half) -> list[Talk]:
    parts: list[list[dict[str, Any]]] = [[] for _ in range(CONVERSATIONS)]
    for content in files_of("longmemeval"):
        each = json.loads(content)
        parts[int(sha256(each["question_id"].encode()).hexdigest(), 16) % PARTS].append(each)
    of_half = list(enumerate(parts))[HALVES.index(half) :: 2]
    return [user_and_assistant(f"user-{number}", part) for number, part in of_half]


def user_and_assistant(name: str, part: list[dict[str, Any]]) -> Talk:
    """All sessions with answers, by their dates."""
    sessions = {
        session: (moment(date), turns)
        for each in part
        for session, date, turns in zip(
            each["haystack_session_ids"], each["haystack_dates"], each["haystack_sessions"], strict=True
        )
    }
    messages = [
        Said(f"{session}:{number}", turn["role"], turn["role"], at + timedelta(minutes=number), turn["content"])
        for session, (at, turns) in sorted(sessions.items(), key=lambda item: item[1][0])
        for number, turn in enumerate(turns)
        if turn["content"].strip()
    ]
    known = {said.message_id for said in messages}
    questions = [
        Question(each["question"], each["question_type"], moment(each["question_date"]), evidence)
        for each in part
        if (evidence := frozenset(answers(each)) & known)
    ]
    return Talk(name, messages, questions)


def answers(each: dict[str, Any]) -> Iterator[str]:
    for session, turns in zip(each["haystack_session_ids"], each["haystack_sessions"], strict=True):
        yield from (f"{session}:{number}" for number, turn in enumerate(turns) if turn.get("has_answer"))


def moment(written: str) -> datetime:
    """ "2023/05/28 (Sun) 19:47"."""
    return datetime.strptime(re.sub(r" \(\w+\)", "", written), "%Y/%m/%d %H:%M").replace(tzinfo=UTC)


SETS: Final[dict[str, Callable[[Half], list[Talk]]]] = {"people": realtalk, "user and assistant": longmemeval}
