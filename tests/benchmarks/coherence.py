"""`make bench-coherence`: coherence of real conversations after pruning by each strategy, compared with truncation and
chance.

deploy/docs/window-measurements.md says what the data is and what each figure means. The last line on stdout is one JSON
object; the tables, and progress, are on stderr.
"""

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import tiktoken

from deploy.embedded.tiktoken_vocabulary import ensure_vocabulary
from schemas import codec
from schemas.conversations.messages import Message
from streams.windows.tokens.counting import TokenCounter
from streams.windows.traits import MessageTraits
from tests import public_data
from tests.benchmarks.coherence_data import Conversation, langmem, memorybank
from tests.benchmarks.coherence_measures import FIGURES, MARKED, counted, shares
from tests.benchmarks.coherence_methods import STRATEGIES, Way, at_once, at_random, on_arrival, truncated
from tests.benchmarks.signals import ENCODING
from tests.benchmarks.windows_turns import turns

SHARES = (0.50, 0.25)
SEEDS = 20  # of chance, whose shares are those of all of them together
FILES = (("memorybank", "memory_bank_en.json"), ("langmem", "claude_calls.jsonl"))

Seen = tuple[Sequence[MessageTraits], Conversation]
WAYS: dict[str, list[Way]] = {
    **{strategy: [at_once(strategy)] for strategy in STRATEGIES},
    "last_tokens": [truncated],
    "random_units": [at_random(seed) for seed in range(SEEDS)],
    **{f"{strategy}_on_arrival": [on_arrival(strategy, False)] for strategy in STRATEGIES},
    **{f"{strategy}_on_arrival_with_ends": [on_arrival(strategy, True)] for strategy in STRATEGIES},
}


def run(people: Path, calls: Path) -> dict[str, Any]:
    counter = TokenCounter(tiktoken.get_encoding(ENCODING))
    return {
        "memorybank": about("memorybank", memorybank(people), counter),
        "langmem": about("langmem", [langmem(calls)], counter),
    }


def about(name: str, conversations: Iterable[Conversation], counter: TokenCounter) -> dict[str, Any]:
    """Returns the size of a data set, and the figures of each method."""
    seen = [(list(turns(each.messages, lambda message: tokens(message, counter))), each) for each in conversations]
    report: dict[str, Any] = {
        "conversations": len(seen),
        "messages": sum(len(turned) for turned, _ in seen),
        "tokens": sum(turn.tokens for turned, _ in seen for turn in turned),
        "tokens_of_calls": sum(counted_calls(each.messages, counter) for _, each in seen),
        "questions": sum(len(each.questions) for _, each in seen),
        "repairs": sum(len(each.repairs) for _, each in seen),
        **{kind: sum(bool(turn.traits & bit) for turned, _ in seen for turn in turned) for kind, bit in MARKED.items()},
    }
    for share in SHARES:
        report[f"at_{share:.0%}"] = {way: left(ways, seen, share) for way, ways in WAYS.items()}
        sys.stderr.write(f"{name} at {share:.0%} of its tokens\n{table(report[f'at_{share:.0%}'])}\n")
    return report


def tokens(message: Message, counter: TokenCounter) -> int:
    """Counts the tokens of the text and of the calls, which a model is sent as JSON."""
    return counter(message.content) + counted_calls([message], counter)


def counted_calls(messages: Iterable[Message], counter: TokenCounter) -> int:
    calls = [call for message in messages for call in message.tool_calls]
    return sum(counter(call.name) + counter(codec.encode(call.arguments).decode()) for call in calls)


def left(ways: Sequence[Way], seen: Sequence[Seen], share: float) -> dict[str, Any]:
    counts: Counter[str] = Counter()
    for way in ways:
        for turned, each in seen:
            counts.update(counted(turned, each, way(turned, share)))
    return shares(counts, len(ways))


def table(rows: dict[str, dict[str, Any]]) -> str:
    """Formats the rows as Markdown."""
    lines = [f"| | {' | '.join(name.replace('_', ' ') for name in FIGURES)} |", "|---" * (len(FIGURES) + 1) + "|"]
    for way, row in rows.items():
        cells = ("-" if row[name] is None else f"{row[name]:.1%}" for name in FIGURES)
        lines.append(f"| {way.replace('_', ' ')} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main(argv: list[str]) -> int:
    cache_dir = Path(os.environ.get("MEMSTREAM_CACHE_DIR", Path.home() / ".cache" / "memstream"))
    parser = argparse.ArgumentParser(prog="coherence", description=__doc__)
    parser.add_argument("--cache-dir", type=Path, default=cache_dir)
    options = parser.parse_args(argv)
    people, calls = (public_data.found(*parts) for parts in FILES)
    if people is None or calls is None:
        missing = " and ".join("/".join(parts) for parts in FILES if public_data.found(*parts) is None)
        parser.error(f"{public_data.ABSENT} {missing}; deploy/docs/window-measurements.md says where they come from")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(ensure_vocabulary(options.cache_dir / "vocabulary"))
    sys.stdout.write(json.dumps(run(people, calls)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
