"""Every dead letter has the headers that the published schema requires, whoever writes it."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agents.dead_letters.reader import original_record, parse_dead_letter, settlement
from agents.dead_letters.writer import dead_letter
from schemas.errors import Rejected
from schemas.kafka.dead_letters import letter_without_source
from schemas.kafka.records import Outgoing
from tests.builders.dead_letters import record_of
from tests.fakes.batches import record
from tests.json_schema import violations

ROOT = Path(__file__).parents[3]
AT = datetime(2026, 11, 1, 12, tzinfo=UTC)
WHY = Rejected("refused", "400 wrong input")
SOURCE = record("chat.messages", 7, b"x")
LETTER = dead_letter(SOURCE, "windows", WHY, AT)
WITHOUT_SOURCE = letter_without_source(b"m", "outbox", "vectors", WHY, AT)


def settled(letter: Outgoing) -> Outgoing:
    read = record_of(letter)
    return settlement(read, parse_dead_letter(read), "discarded", AT)


@pytest.mark.parametrize(
    "letter",
    [
        LETTER,
        dead_letter(SOURCE, "windows", WHY, AT, by_reference=True),
        WITHOUT_SOURCE,
        settled(LETTER),
        settled(WITHOUT_SOURCE),
    ],
    ids=["of a record", "by reference", "without a source", "settled", "settled without a source"],
)
def test_a_dead_letter_conforms_to_the_published_schema(letter: Outgoing):
    assert violations({name: value.decode() for name, value in letter.headers}, "dead-letter-headers") == []


def test_dead_letters_are_built_only_where_this_test_looks():
    layers = (
        path for layer in ("agents", "deploy", "sinks", "streams", "schemas") for path in (ROOT / layer).rglob("*.py")
    )
    builders = {str(path.relative_to(ROOT)) for path in layers if re.search(r"topic=\S*DEAD_LETTERS", path.read_text())}
    assert builders == {
        "agents/dead_letters/reader.py",
        "agents/dead_letters/writer.py",
        "schemas/kafka/dead_letters.py",
    }


def test_a_letter_without_a_source_record_has_its_time_and_cannot_be_replayed():
    read = record_of(WITHOUT_SOURCE)
    letter = parse_dead_letter(read)
    assert (letter.at, letter.source) == (AT, None)
    with pytest.raises(Rejected, match="does not name its source"):
        original_record(letter, read, "")
