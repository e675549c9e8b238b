"""`make bench-recall`: search quality on questions with known answers, the contribution of each part, and simpler
methods.

deploy/docs/retrieval.md says what the sets are and what each figure means. The last line on stdout is one JSON object; tables
and progress are on stderr.
"""

import asyncio
import json
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import asdict, replace

from agents.retrieval.ranking import DEFAULT_RANKING, Ranking
from agents.retrieval.scales import scale_of
from sinks.embeddings.models import MEMORY_DEFAULT
from tests.benchmarks import recall_memtrust as memtrust
from tests.benchmarks.machine import machine
from tests.benchmarks.questions.chats import unseen_chats
from tests.benchmarks.recall_measures import measured
from tests.benchmarks.recall_passages import said
from tests.benchmarks.recall_precision import seeded, sessions, single_turns
from tests.benchmarks.recall_sets import Asked, memorybank, written
from tests.benchmarks.recall_sparse import WAYS as SPARSE
from tests.benchmarks.recall_sparse import by_sparse
from tests.benchmarks.recall_stack import Store, store
from tests.benchmarks.recall_talks import HALVES, SETS, Talk
from tests.benchmarks.recall_words import WAYS, by_words

# One default for all sets; each of these takes one part away.
PARTS: dict[str, Ranking] = {
    "as it is": DEFAULT_RANKING,
    "without words": replace(DEFAULT_RANKING, dense=1.0),
    "without meaning": replace(DEFAULT_RANKING, dense=0.0),
    "weak ones beside the best": replace(DEFAULT_RANKING, beside_best=0.0),
}
NO_FLOOR = "without a floor"


def sets(shared: Path) -> dict[str, Asked]:
    return {
        "written (tuned on)": written(),
        "MemoryBank en (tuned on)": memorybank(shared, "en", tuned_on=True),
        "MemoryBank zh (tuned on)": memorybank(shared, "cn", tuned_on=True),
        "MemoryBank en": memorybank(shared, "en", tuned_on=False),
        "MemoryBank zh": memorybank(shared, "cn", tuned_on=False),
    }


def talks(options: Namespace) -> dict[str, list[Talk]]:
    """The conversations of each set. Raises OSError if they are not here and cannot be downloaded."""
    loaded = {name: load(options.half) for name, load in SETS.items()}
    if options.chats:
        loaded["unseen chats"] = unseen_chats()
    return {name: sorted(each, key=lambda talk: len(talk.messages))[: options.talks] for name, each in loaded.items()}


async def run(options: Namespace, shared: Path) -> dict[str, Any]:
    report: dict[str, Any] = {"ranking": asdict(DEFAULT_RANKING), "scale": asdict(scale_of(MEMORY_DEFAULT.name))}
    async with store() as held:
        report["said"] = await what_was_said(held, options)
        if options.only_said:
            return report
        question_sets = sets(shared)
        for name, each in question_sets.items():
            say(f"storing {name}: {len(each.memories)} memories")
            await held.put(each.memories)
        report["sets"] = {name: await ablated(held, name, each) for name, each in question_sets.items()}
        report["words"] = {
            name: {way: await by_words(held.pool, way, each) for way in WAYS} for name, each in question_sets.items()
        }
        for way in SPARSE:
            for name, figures in by_sparse(way, question_sets).items():
                report["words"][name][way] = figures
        for name, ways in report["words"].items():
            show(f"{name}: words alone", ways)
        report["precisionmembench"] = await precision(held, shared)
        report["memtrust"] = {
            "ranking": await memtrust.ranking(shared, held, held.retrieval()),
            "consistency": await memtrust.consistency(shared, held, held.retrieval()),
            "filter_injection": memtrust.injection(shared),
        }
        say(json.dumps(report["memtrust"], indent=1))
    return report


async def what_was_said(held: Store, options: Namespace) -> dict[str, Any]:
    try:
        conversations = talks(options)
    except OSError as exc:
        say(f"the conversations of recall_talks.json are not here, and cannot be downloaded: {exc}")
        return {}
    found = await said(held, conversations)
    for name, figures in found.items():
        show(f"What was said, {name}: share of the evidence", figures["ways"])
        show(f"What was said, {name}, by kind of question", figures["kinds"])
        say(
            f"{figures['search_ms']} ms; {figures['of_another_conversation_left_empty']} of others' questions left empty"
        )
    return found


async def ablated(held: Store, name: str, question_set: Asked) -> dict[str, Any]:
    rows = {part: await measured(held.retrieval(ranking), question_set.questions) for part, ranking in PARTS.items()}
    rows[NO_FLOOR] = await measured(held.retrieval(), question_set.questions, floor=0.0)
    show(name, rows)
    return rows


async def precision(held: Store, shared: Path) -> dict[str, Any]:
    beliefs = await seeded(shared, held, "precision")
    figures = {part: await single_turns(shared, beliefs.ranked_by(ranking)) for part, ranking in PARTS.items()}
    one_text = await seeded(shared, held, "precision as one text", as_one_text=True)
    figures["all that is known of a belief as one text"] = await single_turns(shared, one_text)
    show("PrecisionMemBench, 77 cases", figures)
    figures["sessions"] = await sessions(shared, await seeded(shared, held, "sessions"))
    say(f"PrecisionMemBench, 12 turns of sessions: {figures['sessions']}")
    return figures


def show(title: str, rows: Mapping[str, Mapping[str, Any]]) -> None:
    """Prints a table as Markdown to stderr."""
    names = [name for name in next(iter(rows.values())) if name != "failed"]
    lines = [title, f"| | {' | '.join(name.replace('_', ' ') for name in names)} |", "|---" * (len(names) + 1) + "|"]
    lines += [
        f"| {row} | {' | '.join(str(figures.get(name, '')) for name in names)} |" for row, figures in rows.items()
    ]
    say("\n".join(lines) + "\n")


def say(text: str) -> None:
    sys.stderr.write(text + "\n")


def parsed_options() -> Namespace:
    parser = ArgumentParser(prog="python -m tests.benchmarks.recall", description="Search quality.")
    parser.add_argument("--half", choices=HALVES, default="held-out", help="of the conversations (default: held-out)")
    parser.add_argument("--talks", type=int, help="only so many conversations of each set, the shortest")
    parser.add_argument("--chats", action="store_true", help="also the labelled chats that no training has seen")
    parser.add_argument("--only-said", action="store_true", help="only passages, not memories")
    return parser.parse_args()


def main() -> int:
    shared = os.environ.get("MEMSTREAM_SHARED_DATA")
    if not shared:
        say("MEMSTREAM_SHARED_DATA names no directory with the public data sets: set it")
        return 2
    sys.stdout.write(json.dumps(asyncio.run(run(parsed_options(), Path(shared))) | {"machine": machine()}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
