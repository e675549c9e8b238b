"""`make bench-offline`: what the rules keep of conversations that nobody here wrote, how much of it is junk, how fast they are.

tests/benchmarks/README.md says what is counted. The last line on stdout is one JSON object; the table is on stderr.
"""

import argparse
import json
import sys
import time
from typing import Any

from agents.models.offline.provider import findings
from agents.models.offline.rules.sentences import sentences
from tests import public_data
from tests.benchmarks.machine import machine
from tests.benchmarks.offline_measures import Kept, labelled, measured, rows
from tests.benchmarks.offline_sets import Set, Talk, held_out, present

HALVES = ("tuned", "held_out")


def run(sets: list[Set], halves: tuple[str, ...]) -> dict[str, Any]:
    told: dict[str, Any] = {"machine": machine()}
    for each in sets:
        told[each.name] = {half: of_half(each, half) for half in halves}
    return told


def of_half(data: Set, half: str) -> dict[str, Any]:
    talks = [talk for talk in data.talks if held_out(talk.name) == (half == "held_out")]
    began = time.process_time()
    kept = {talk.name: kept_of(talk) for talk in talks}
    spent = time.process_time() - began
    said = {talk.name: [one for message in talk.messages for one in sentences(message.content)] for talk in talks}
    figures = measured(talks, kept, said, data.language)
    return figures | {"cpu_ms_of_100_messages": round(1e5 * spent / max(1, figures["messages"]), 1)}


def kept_of(talk: Talk) -> list[Kept]:
    return [
        Kept(talk.name, message.message_id, finding.text)
        for message in talk.messages
        for _, finding in findings(message)
    ]


def table(told: dict[str, Any]) -> str:
    """As Markdown, for people."""
    found = list(rows(told))
    names = list(found[0][2])
    lines = [f"| | {' | '.join(name.replace('_', ' ') for name in names)} |", "|---" * (len(names) + 1) + "|"]
    lines += [f"| {name}, {half} | {' | '.join(str(row[each]) for each in names)} |" for name, half, row in found]
    return "\n".join(lines) + "\n"


def show(sets: list[Set], half: str) -> None:
    """Each text that is kept, with its key and label, and what was said: for labelling, and for reading."""
    for data in sets:
        for talk in data.talks:
            if held_out(talk.name) == (half == "held_out"):
                said = {message.message_id: message.content for message in talk.messages}
                for one in kept_of(talk):
                    row = (one.key, labelled().get(one.key, ""), data.name, one.text, said[one.message_id])
                    sys.stdout.write("\t".join(part.replace("\n", " ") for part in row) + "\n")


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="offline", description=__doc__)
    parser.add_argument("--half", choices=HALVES, help="only this one; both unless told otherwise")
    parser.add_argument("--set", help="only this one")
    parser.add_argument("--show", action="store_true", help="what is kept, instead of figures")
    options = parser.parse_args(argv)
    sets = [each for each in present() if options.set in (None, each.name)]
    if not sets:
        parser.error(f"{public_data.ABSENT} any of the sets; tests/benchmarks/README.md says where they come from")
    if options.show:
        show(sets, options.half or "tuned")
        return 0
    told = run(sets, (options.half,) if options.half else HALVES)
    sys.stderr.write(table(told))
    sys.stdout.write(json.dumps(told) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
