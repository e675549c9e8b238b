"""`make bench-offline`: coverage, junk and speed of the offline rules on public conversations.

tests/benchmarks/README.md says what is counted. The last line on stdout is one JSON object; the table is on stderr.
"""

import argparse
import asyncio
import json
import sys
import time
from contextlib import ExitStack, closing
from typing import Any

from agents.models.offline.findings import findings_in, parse, scores_of
from agents.models.offline.rules.engine.sentences import sentences
from agents.models.offline.rules.findings.classified_statements import ONE_SPEAKER, SEVERAL_SPEAKERS, Thresholds
from agents.models.port import SentenceClassifier
from sinks.classification.sentences import OnnxSentenceClassifier
from tests import public_data
from tests.benchmarks.machine import machine
from tests.benchmarks.offline_measures import Kept, labelled, measured, rows
from tests.benchmarks.offline_sets import Set, Talk, held_out, present

HALVES = ("tuned", "held_out")
WITH_ASSISTANTS = frozenset({"companion", "instructions"})


def run(sets: list[Set], halves: tuple[str, ...], classifier: SentenceClassifier | None) -> dict[str, Any]:
    report: dict[str, Any] = {"machine": machine()}
    for each in sets:
        report[each.name] = {half: of_half(each, half, classifier) for half in halves}
    return report


def of_half(data: Set, half: str, classifier: SentenceClassifier | None) -> dict[str, Any]:
    talks = [talk for talk in data.talks if held_out(talk.name) == (half == "held_out")]
    began = time.process_time()
    kept = {talk.name: kept_of(talk, classifier, least_of(data)) for talk in talks}
    spent = time.process_time() - began
    said = {talk.name: [one for message in talk.messages for one in sentences(message.content)] for talk in talks}
    figures = measured(talks, kept, said, data.language)
    return figures | {"cpu_ms_of_100_messages": round(1e5 * spent / max(1, figures["messages"]), 1)}


def kept_of(talk: Talk, classifier: SentenceClassifier | None, least: Thresholds) -> list[Kept]:
    read_messages = [parse(message) for message in talk.messages]
    previous = ("", *(message.content for message in talk.messages))
    inputs = list(zip(read_messages, previous, strict=False))
    scores = asyncio.run(scores_of(classifier, inputs)) if classifier else [[] for _ in inputs]
    return [
        Kept(talk.name, each.message.message_id, finding.text)
        for each, scored in zip(read_messages, scores, strict=True)
        for _, finding in findings_in(each, scores=scored, thresholds=least)
    ]


def least_of(data: Set) -> Thresholds:
    """Returns the thresholds of the provider: higher ones for conversations between people."""
    return ONE_SPEAKER if data.name in WITH_ASSISTANTS else SEVERAL_SPEAKERS


def table(report: dict[str, Any]) -> str:
    """Formats the rows as Markdown."""
    found = list(rows(report))
    names = list(found[0][2])
    lines = [f"| | {' | '.join(name.replace('_', ' ') for name in names)} |", "|---" * (len(names) + 1) + "|"]
    lines += [f"| {name}, {half} | {' | '.join(str(row[each]) for each in names)} |" for name, half, row in found]
    return "\n".join(lines) + "\n"


def show(sets: list[Set], half: str, classifier: SentenceClassifier | None) -> None:
    """Each text that is kept, with its key and label, and what was said: for labelling, and for reading."""
    for data in sets:
        for talk in data.talks:
            if held_out(talk.name) == (half == "held_out"):
                said = {message.message_id: message.content for message in talk.messages}
                for one in kept_of(talk, classifier, least_of(data)):
                    row = (one.key, labelled().get(one.key, ""), data.name, one.text, said[one.message_id])
                    sys.stdout.write("\t".join(part.replace("\n", " ") for part in row) + "\n")


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="offline", description=__doc__)
    parser.add_argument("--half", choices=HALVES, help="only this one; both unless told otherwise")
    parser.add_argument("--set", help="only this one")
    parser.add_argument("--show", action="store_true", help="what is kept, instead of figures")
    parser.add_argument("--rules-alone", action="store_true", help="no model classifies sentences")
    options = parser.parse_args(argv)
    sets = [each for each in present() if options.set in (None, each.name)]
    if not sets:
        parser.error(f"{public_data.ABSENT} any of the sets; tests/benchmarks/README.md says where they come from")
    with ExitStack() as stack:
        classifier = None if options.rules_alone else stack.enter_context(closing(OnnxSentenceClassifier()))
        if options.show:
            show(sets, options.half or "tuned", classifier)
            return 0
        report = run(sets, (options.half,) if options.half else HALVES, classifier)
    sys.stderr.write(table(report))
    sys.stdout.write(json.dumps(report) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
