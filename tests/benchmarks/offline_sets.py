"""Public conversations with the facts that their authors state about the speakers. `offline_sets.json` has the
checksums of the measured files."""

import csv
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from schemas.extraction.requests import SliceMessage
from tests import public_data
from tests.benchmarks.coherence_data import memorybank

# Persona sets have no times. A Wednesday, so that no date is a month's or a week's first day.
UNDATED = datetime(2026, 3, 11, 18, 0, tzinfo=UTC)
PERSONA = ("xpersona", "En_persona_valid.json")
PERSONA_FR = ("xpersona", "Fr_persona_split_valid_human_annotated.json")
SYNTHETIC = ("synthetic-persona-chat", "Synthetic-Persona-Chat_valid.csv")
REALTALK = "realtalk"
INSTRUCTIONS = ("fastchat", "mt_bench_question.jsonl")
DIALOGUES_DE = ("xdailydialog", "de_test_human.txt")
MEMORYBANK = ("memorybank", "memory_bank_en.json")
CHECKSUMS: Final[dict[str, str]] = json.loads(Path(__file__).with_suffix(".json").read_bytes())
SPACED = re.compile(r" (?=[.,!?;])")
UNSPACED = re.compile(r"(?<=[.!?])(?=[A-ZÄÖÜ])")
SESSION = re.compile(r"session_(\d+)")


class Talk(Struct, frozen=True, kw_only=True):
    """The messages of one speaker in one conversation or session, and the facts stated about them."""

    name: str
    messages: tuple[SliceMessage, ...]
    gold: tuple[str, ...] = ()


class Set(Struct, frozen=True, kw_only=True):
    name: str
    language: str
    talks: tuple[Talk, ...]


def present() -> list[Set]:
    """The sets whose files are there."""
    found = [
        Set(name="personas", language="en", talks=tuple(xpersona("personas", *PERSONA))),
        Set(name="synthetic_personas", language="en", talks=tuple(synthetic())),
        Set(name="chats", language="en", talks=tuple(realtalk())),
        Set(name="companion", language="en", talks=tuple(companion())),
        Set(name="instructions", language="en", talks=tuple(instructions())),
        Set(name="personas_fr", language="fr", talks=tuple(xpersona("personas_fr", *PERSONA_FR))),
        Set(name="dialogues_de", language="de", talks=tuple(dialogues())),
    ]
    return [each for each in found if each.talks]


def file_of(*parts: str) -> Path | None:
    """None where the file is not there. Raises ValueError for another one than was measured: its figures would say nothing."""
    path = public_data.found(*parts)
    if path is not None and hashlib.sha256(path.read_bytes()).hexdigest() != CHECKSUMS["/".join(parts)]:
        raise ValueError(f"{path} is not the file that was measured: fetch it again")
    return path


def held_out(name: str) -> bool:
    """Whether a conversation is in the half that no rule is tuned on: by its name alone."""
    return hashlib.sha256(name.encode()).digest()[0] % 2 == 1


def xpersona(name: str, *file: str) -> Iterator[Talk]:
    """XPersona: people who were given a persona talk; the persona is that of the second speaker."""
    path = file_of(*file)
    for number, each in enumerate(json.loads(path.read_text()) if path else ()):
        lines = [SPACED.sub("", second) for _, second in each["dialogue"]]
        yield Talk(name=f"{name}/{number}", messages=numbered(lines), gold=tuple(each["persona"]))


def synthetic() -> Iterator[Talk]:
    """Synthetic-Persona-Chat: a model's conversations about people's personas, as well-formed as text gets."""
    path = file_of(*SYNTHETIC)
    rows = csv.DictReader(path.read_text().splitlines(keepends=True) if path else ())
    for number, row in enumerate(rows):
        lines = row["Best Generated Conversation"].splitlines()
        for speaker in ("1", "2"):
            said = [line[8:] for line in lines if line.startswith(f"User {speaker}: ")]
            gold = tuple(row[f"user {speaker} personas"].splitlines())
            yield Talk(name=f"synthetic_personas/{number}/{speaker}", messages=numbered(said), gold=gold)


def realtalk() -> Iterator[Talk]:
    """REALTALK: ten pairs who chat for three weeks; what happened to each is listed by session, behind a name."""
    listed = [name for name in CHECKSUMS if name.startswith(f"{REALTALK}/")]
    for file in filter(None, (file_of(*name.split("/")) for name in sorted(listed))):
        chat = json.loads(file.read_text())
        speakers = {"agent_a": chat["name"]["speaker_1"], "agent_b": chat["name"]["speaker_2"]}
        for key in filter(SESSION.fullmatch, chat):
            for agent, speaker in speakers.items():
                gold = tuple(event["sub-event"].partition(" ")[2] for event in chat[f"events_{key}"][agent])
                said = [each for each in chat[key] if each["speaker"] == speaker]
                yield Talk(name=f"{file.stem}/{key}/{agent}", messages=tuple(chatted(said)), gold=gold)


def chatted(said: Sequence[dict[str, Any]]) -> Iterator[SliceMessage]:
    for position, each in enumerate(said):
        at = datetime.strptime(each["date_time"], "%d.%m.%Y, %H:%M:%S").replace(tzinfo=UTC)
        yield user_message(each["dia_id"], each["clean_text"], at, position)


def companion() -> Iterator[Talk]:
    """MemoryBank: what people tell an assistant on ten days. Nobody states what should be known of them."""
    path = file_of(*MEMORYBANK)
    for each in memorybank(path) if path else ():
        said = [message for message in each.messages if message.role == "user"]
        messages = (user_message(one.message_id, one.content, one.timestamp, at) for at, one in enumerate(said))
        yield Talk(name=f"companion/{each.name}", messages=tuple(messages))


def instructions() -> Iterator[Talk]:
    """MT-Bench: tasks for a model, many of them about texts and roles. They say little about the user."""
    path = file_of(*INSTRUCTIONS)
    for line in path.read_text().splitlines() if path else ():
        record = json.loads(line)
        yield Talk(name=f"instructions/{record['question_id']}", messages=numbered(record["turns"]))


def dialogues() -> Iterator[Talk]:
    """XDailyDialog: everyday dialogues, translated into German by people. Nobody states what should be known of the speakers."""
    path = file_of(*DIALOGUES_DE)
    for number, line in enumerate(path.read_text().splitlines() if path else ()):
        said = UNSPACED.sub(" ", line.split("\t")[0]).split("__eou__")
        for speaker in (0, 1):
            yield Talk(name=f"dialogues_de/{number}/{speaker}", messages=numbered(said[speaker::2]))


def numbered(lines: Sequence[str]) -> tuple[SliceMessage, ...]:
    return tuple(user_message(str(number), line, UNDATED, number) for number, line in enumerate(lines))


def user_message(message_id: str, content: str, at: datetime, position: int) -> SliceMessage:
    return SliceMessage(message_id=message_id, role="user", timestamp=at, content=content, position=position)
