"""`make bench-wishes`: counts the wishes to forget in indirect words that are read, and the false ones.

The conversations in `indirect/*.jsonl` (`talk`) end with a wish, or with a tempting message that is none (`last`). Their author
knew neither rules nor training sentences. Only the last message is read. The held-out file is only counted.
"""

import json
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal, TypeAlias

from agents.models.offline.guessed_wishes import wishes_or_guess_in
from agents.models.offline.wishes import MessageWishes, wishes_in
from schemas.extraction.requests import SliceMessage

FOLDER: Final = Path(__file__).with_name("indirect")
FILES: Final = ("looked_at", "held_out")
SAID_AT: Final = datetime(2026, 5, 1, tzinfo=UTC)
NONE: Final = "none"
Reader: TypeAlias = Callable[[SliceMessage], MessageWishes]
READERS: Final[dict[Literal["patterns", "with_classifier"], Reader]] = {
    "patterns": wishes_in,
    "with_classifier": wishes_or_guess_in,
}


def last_messages(file: str) -> Iterator[tuple[SliceMessage, bool]]:
    """The last message of each conversation, and whether it is a wish."""
    for number, line in enumerate((FOLDER / f"{file}.jsonl").read_text().splitlines()):
        case = json.loads(line)
        content = case["talk"][-1].removeprefix("u: ")
        message = SliceMessage(
            message_id=case["id"],
            role="user",
            timestamp=SAID_AT,
            content=content,
            position=number,
            language=case["lang"],
        )
        yield message, case["last"] != NONE


def counts(file: str, read: Reader) -> dict[str, int]:
    found = [(is_wish, bool(read(message).wishes)) for message, is_wish in last_messages(file)]
    wishes = [is_read for is_wish, is_read in found if is_wish]
    others = [is_read for is_wish, is_read in found if not is_wish]
    return {"read": sum(wishes), "of": len(wishes), "false": sum(others), "of_others": len(others)}


def main() -> int:
    report = {file: {name: counts(file, read) for name, read in READERS.items()} for file in FILES}
    sys.stdout.write(json.dumps(report) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
