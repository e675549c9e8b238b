"""`make bench-understanding`: counts the correct, stale and missing memories after scripted conversations.

tests/benchmarks/README.md says what the scenarios and the figures are. Failures of the development half are on stderr, those of
the held-out half are only counted. The last line on stdout is one JSON object.
"""

import argparse
import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from agents.models.port import Provider
from deploy.settings import load
from deploy.wiring import models
from schemas.errors import Rejected, Retryable
from sinks.embeddings.models import MEMORY_DEFAULT
from tests.benchmarks.machine import machine
from tests.benchmarks.understanding.measures import Failure, Measured, Played, figures
from tests.benchmarks.understanding.oracle import Oracle
from tests.benchmarks.understanding.play import Stage, after, play, stage
from tests.benchmarks.understanding.scenarios import HALVES, Half, Scenario, scenarios

ORACLES: Final = {"oracle": True, "oracle-unaided": False}
PROVIDERS: Final = ("offline", "claude", "ollama", *ORACLES)
AT_ONCE: Final = 4  # scenarios, so that their conversations are interleaved
SHOWN_CHARS: Final = 300

ProviderOf = Callable[[Scenario], Provider]


async def run(
    chosen: Sequence[Scenario], provider: str, *, resolve: bool = False, compare: bool = True
) -> tuple[list[tuple[Scenario, Measured]], float]:
    """Each scenario that could be played with its measures, in the given order, and the seconds that it took to play all."""
    places = asyncio.Semaphore(AT_ONCE)

    async def played(scenario: Scenario, on: Stage, provider_of: ProviderOf) -> Played | None:
        async with places:
            try:
                return await play(scenario, on, provider_of(scenario), resolve=resolve)
            except (Retryable, Rejected) as exc:
                sys.stderr.write(f"{scenario.kind}/{scenario.id}\tnot played\t{exc}\n")
                return None

    async with stage(compare=compare) as on, asking(provider, on) as provider_of:
        began = time.monotonic()
        found = await asyncio.gather(*(played(each, on, provider_of) for each in chosen))
        at_the_end = sorted((one for one in found if one is not None), key=lambda one: one.scenario.over)
        measured = {
            each.scenario.id: Measured(await after(each, on, provider_of(each.scenario))) for each in at_the_end
        }
        took_s = time.monotonic() - began
    return [(scenario, measured[scenario.id]) for scenario in chosen if scenario.id in measured], took_s


@asynccontextmanager
async def asking(provider: str, on: Stage) -> AsyncIterator[ProviderOf]:
    """Yields the provider: the scenario's own candidates, or a provider by the settings."""
    if provider in ORACLES:

        def oracle(scenario: Scenario) -> Provider:
            async def known(app: str) -> list[Any]:
                return [each for of in (await on.known(app, scenario.people)).values() for each in of]

            return Oracle(scenario, known, hints=ORACLES[provider])

        yield oracle
        return
    model = models.provider(load().model_copy(update={"provider": provider}))
    try:
        yield lambda scenario: model
    finally:
        await model.close()


def figures_of_half(found: Sequence[tuple[Scenario, Measured]], half: Half) -> dict[str, Any]:
    """The figures of a half, in all, by kind and by language."""
    of_half = [(scenario, measured) for scenario, measured in found if scenario.half == half]
    by_kind: dict[str, Counter[str]] = {}
    by_language: dict[str, Counter[str]] = {}
    for scenario, measured in of_half:
        by_kind.setdefault(scenario.kind, Counter()).update(measured.counts)
        by_language.setdefault(scenario.lang, Counter()).update(measured.counts)
    return {
        "scenarios": len(of_half),
        **figures(sum(by_kind.values(), Counter())),
        "by_kind": {kind: figures(counts) for kind, counts in sorted(by_kind.items())},
        "by_language": {language: figures(counts) for language, counts in sorted(by_language.items())},
    }


def failures(found: Sequence[tuple[Scenario, Measured]], kinds: Sequence[str]) -> list[Failure]:
    """Returns the failures of the development half, of some figures if they are named."""
    each = (failure for scenario, one in found if scenario.half == "development" for failure in one.failures)
    return sorted((failure for failure in each if not kinds or failure.what in kinds), key=lambda one: one[:3])


def line(failure: Failure) -> str:
    texts = " | ".join(failure.texts)[:SHOWN_CHARS].replace("\n", " / ") or "nothing kept"
    return f"{failure.kind}/{failure.scenario}\t{failure.what}\t{failure.statement}\t{texts}\n"


def table(of_half: dict[str, Any]) -> str:
    """Returns the most important figures by kind, as Markdown."""
    names = ("contained", "stale_alive", "ended", "lost_wrongly", "never_kept", "wrong_person", "wrong_subject", "junk")
    lines = [f"| | {' | '.join(name.replace('_', ' ') for name in names)} |", "|---" * (1 + len(names)) + "|"]
    for kind, row in {**of_half["by_kind"], "all": of_half}.items():
        cells = (f"{row.get(name, 0)}/{row[f'{name}_of']}" if f"{name}_of" in row else "" for name in names)
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench-understanding", description=__doc__)
    parser.add_argument("--provider", choices=PROVIDERS, default="offline")
    parser.add_argument("--resolve", action="store_true", help="ask what candidates are to memories near them (policy)")
    parser.add_argument(
        "--rules-alone",
        dest="compare",
        action="store_false",
        help="no model compares candidates with memories near them",
    )
    parser.add_argument("--half", choices=HALVES, help="both unless told otherwise")
    parser.add_argument("--kind", action="append", default=[], help="only scenarios of these kinds")
    parser.add_argument("--ids", default="", help="only scenarios whose id begins so")
    parser.add_argument("--figure", action="append", default=[], help="show only failures of these figures")
    return parser.parse_args(argv)


def main(argv: list[str]) -> int:
    options = arguments(argv)
    halves: Sequence[Half] = HALVES if options.half is None else (options.half,)
    chosen = tuple(each for each in scenarios(options.kind, halves) if each.id.startswith(options.ids))
    if options.provider in ORACLES:
        chosen = tuple(each for each in chosen if each.oracle)
    found, took_s = asyncio.run(run(chosen, options.provider, resolve=options.resolve, compare=options.compare))
    for failure in failures(found, options.figure):
        sys.stderr.write(line(failure))
    figures_of = {half: figures_of_half(found, half) for half in halves}
    for half, row in figures_of.items():
        sys.stderr.write(f"\n{half}\n{table(row)}")
    whole = {
        "provider": options.provider,
        "resolve": options.resolve,
        "compare": options.compare,
        "not_played": len(chosen) - len(found),
        "embedder": MEMORY_DEFAULT.name,
        "took_s": round(took_s, 1),
        "machine": machine(),
    }
    sys.stdout.write(json.dumps(whole | figures_of) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
