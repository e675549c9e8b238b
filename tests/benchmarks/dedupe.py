"""`make bench-dedupe`: precision and recall of deduplication on labelled pairs, over thresholds, by three methods.

deploy/docs/curation.md says what the pairs are and what each figure means. Of the half that nothing was tuned on. The last
line on stdout is one JSON object; tables and progress are on stderr; `--plot` names the SVG that is written.
"""

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from msgspec.structs import asdict

from agents.curation.rules.decisions.thresholds import Thresholds, thresholds
from agents.curation.rules.statements.similarity import ALIKE
from schemas.policies.policies import DEFAULT_POLICY
from sinks.embeddings.models import MEMORY_DEFAULT, MODELS
from sinks.embeddings.onnx import OnnxEmbedder
from tests.benchmarks.line_plot import Panel, svg
from tests.benchmarks.machine import machine
from tests.cases.labelled_pairs import held_out, pairs
from tests.deduplication import RIGHT_WORD, WAYS, Case, Measured, Word, as_curated, cases, decision, is_folded, measured
from tests.embedders import packaged_embedder

FROM, TO = 0.50, 1.00
STEPS = [FROM + step / 100 for step in range(51)]
TOLD = [0.70, 0.75, 0.80, 0.85, 0.90, 0.95]
FIGURES = ("folded", "precision", "recall", "folded_contradictions")


def run(model: str, judged: Sequence[Case], limits: Thresholds) -> dict[str, Any]:
    """Everything that is told but the machine; tables go to stderr as they are made."""
    report: dict[str, Any] = {
        "model": model,
        "thresholds": asdict(limits),
        "pairs": Counter(case.pair.label for case in judged),
        "languages": Counter(case.pair.language for case in judged),
    }
    report["ways"] = {
        way: {f"{step:.2f}": figures(measured(judged, at(step, folds))) for step in STEPS}
        for way, folds in WAYS.items()
    }
    for way, rows in report["ways"].items():
        show(f"{way}, by its threshold", {f"{step:.2f}": rows[f"{step:.2f}"] for step in TOLD})
    report["set"] = as_set(judged, limits)
    show("as it is set", report["set"])
    report["by_language"] = {
        language: figures(measured(some, lambda case: as_curated(case, limits.merge)))
        for language in ("en", "de", "fr", "es", "zh")
        if (some := [case for case in judged if case.pair.language == language])
    }
    show("as it is set, without a model's word, by language", report["by_language"])
    report["lettered"] = of_letters(judged, limits)
    report["decision_us"] = decision_us(judged, limits)
    return report


def as_set(judged: Sequence[Case], limits: Thresholds) -> dict[str, Any]:
    """At the thresholds of the model: without its word, with that of a model that is right, and of one that sees repeats only."""
    words = {
        "without a model's word": lambda case: None,
        "a model that is always right": lambda case: RIGHT_WORD[case.pair.label],
        "a model that calls all a repetition": lambda case: "repeats",
    }

    def folds(say: Callable[[Case], Word]) -> Callable[[Case], bool]:
        return lambda case: is_folded(decision(case, limits, say(case)))

    return {name: figures(measured(judged, folds(say))) for name, say in words.items()}


def at(threshold: float, folds: Callable[[Case, float], bool]) -> Callable[[Case], bool]:
    """A method at one threshold."""
    return lambda case: folds(case, threshold)


def of_letters(judged: Sequence[Case], limits: Thresholds) -> dict[str, int]:
    """Whether texts that letters would fold are among the neighbours that the vector index finds."""
    lettered = [case for case in judged if case.letters > ALIKE and case.pair.one_memory]
    return {"pairs": len(lettered), "among_neighbours": sum(case.cosine >= limits.related for case in lettered)}


def decision_us(judged: Sequence[Case], limits: Thresholds) -> float:
    """Mean microseconds of a decision about one neighbour, texts taken apart before, as in a batch."""
    for case in judged:
        decision(case, limits)
    started = perf_counter()
    for case in judged:
        decision(case, limits)
    return round((perf_counter() - started) / len(judged) * 1e6, 1)


def figures(counts: Measured) -> dict[str, Any]:
    return {
        "folded": counts.folded,
        "rightly": counts.rightly,
        "precision": round(counts.precision, 4),
        "recall": round(counts.recall, 4),
        "folded_contradictions": counts.folded_contradictions,
    }


def show(title: str, rows: dict[str, dict[str, Any]]) -> None:
    """Prints a table as Markdown to stderr."""
    lines = [title, f"| | {' | '.join(name.replace('_', ' ') for name in FIGURES)} |", "|---" * 5 + "|"]
    for name, row in rows.items():
        cells = [f"{row[each]:.1%}" if isinstance(row[each], float) else str(row[each]) for each in FIGURES]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    sys.stderr.write("\n".join(lines) + "\n\n")


def plot(report: dict[str, Any]) -> str:
    contradictions = report["pairs"]["contradiction"]

    def panel(title: str, figure: str, of: int = 1) -> Panel:
        return Panel(
            title,
            {way: [(float(at), row[figure] / of) for at, row in rows.items()] for way, rows in report["ways"].items()},
        )

    return svg(
        [
            panel("Precision of what is folded", "precision"),
            panel("Recall of duplicates", "recall"),
            panel("Share of contradictions folded", "folded_contradictions", contradictions),
        ],
        x=(FROM, TO),
        x_title="threshold",
        described="Precision, recall and folded contradictions over the threshold, for cosine, Levenshtein, and as curated",
    )


async def judged_by(embedder: OnnxEmbedder) -> list[Case]:
    try:
        return await cases(held_out(pairs()), embedder)
    finally:
        embedder.close()


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="dedupe", description=__doc__)
    parser.add_argument("--plot", type=Path, help="where the SVG goes")
    parser.add_argument("--model", choices=MODELS, default=MEMORY_DEFAULT.name, help="the embedding model")
    options = parser.parse_args(argv)
    sys.stderr.write("embedding\n")
    judged = asyncio.run(judged_by(packaged_embedder(options.model)))
    report = run(options.model, judged, thresholds(options.model, DEFAULT_POLICY))
    if options.plot is not None:
        options.plot.write_text(plot(report), encoding="utf-8")
    sys.stdout.write(json.dumps(report | {"machine": machine()}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
