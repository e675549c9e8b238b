"""Writes the tables of deploy/docs/serving.md from the output of bench-serve: `python -m tests.benchmarks.serve_table <
told.json`."""

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final

IN_TURN: Final = {
    "list": "a namespace's memories, each for the first time",
    "list_again": "the same again, from the cache",
    "search_by_filters": "search by filters, without a question",
    "search": "search in both tiers by a question that nobody has asked before",
    "search_memories": "the same in memories alone",
    "search_said": "the same in what was said alone",
    "search_large": "the same in one namespace with a tenth of all passages",
    "search_repeated": "search by a question that was asked before",
    "search_without_embedding": "PostgreSQL, Qdrant and ranking of it, without HTTP",
    "context": "a context block for a question that nobody has asked before",
    "context_repeated": "a context block for a question that was asked before",
}
AT_A_RATE: Final = {
    "context_at_50_per_s": "50 context blocks a second, each for a new question",
    "context_repeated_at_50_per_s": "50 context blocks a second, for questions that were asked before",
}
ON_DISK: Final = {
    "characters_a_message": "characters of it, on average",
    "archive_a_message": "in the archive",
    "passages_postgres_a_message": "its passages in PostgreSQL",
    "passages_qdrant_a_message": "its passages in Qdrant",
}
PARTS: Final = ("api", "postgres", "vectors")

Store = Mapping[str, Any]


def tables(report: Mapping[str, Any]) -> Iterator[str]:
    stores: list[Store] = report["stores"]
    yield from in_turn(stores)
    yield ""
    yield from at_a_rate(stores)
    yield ""
    yield from following(stores)
    yield ""
    yield from on_disk(stores)
    written = ", ".join(f"{size(each)} in {each['seeded_s']} s" for each in stores)
    yield f"\nWritten: {written}. Load averages at the end: {report['load']}."
    if further := report.get("extrapolated_at_1000000"):
        yield ""
        yield from extrapolated(further)


def in_turn(stores: list[Store]) -> Iterator[str]:
    yield row("One client, in turn", *(f"{part} at {size(each)}" for each in stores for part in ("p50", "p95")), "CPU")
    yield ruler(2 * len(stores) + 2)
    for name, said in IN_TURN.items():
        times = (each[name].get(f"{part}_ms", "") for each in stores for part in ("p50", "p95"))
        cpu = [stores[-1][name].get(f"{part}_cpu_ms") for part in PARTS]
        yield row(said, *times, " + ".join(f"{each:.1f}" for each in cpu if each is not None))


def at_a_rate(stores: list[Store]) -> Iterator[str]:
    yield row(
        "At a rate, for 20 s", *(f"p50, p95, p99 at {size(each)}" for each in stores), "degraded, failed", "cores"
    )
    yield ruler(len(stores) + 3)
    for name, said in AT_A_RATE.items():
        times = (", ".join(str(each[name].get(f"p{part}_ms", "")) for part in (50, 95, 99)) for each in stores)
        lacking = ", ".join(str(sum(each[name][what] for each in stores)) for what in ("degraded", "failed"))
        yield row(said, *times, lacking, " + ".join(str(stores[-1][name][f"{part}_cpu_share"]) for part in PARTS))


def following(stores: list[Store]) -> Iterator[str]:
    yield row("1,000 streams of events", *map(size, stores))
    yield ruler(len(stores) + 1)
    streams = [each["streams"] for each in stores]
    yield row("until all had begun, s", *(each["opened_s"] for each in streams))
    yield row("memory of the API for each, kB", *(each["kb_each"] for each in streams))
    yield row("share of a core while nothing happens", *(each["api_cpu_share_idle"] for each in streams))
    made = (f"{each['create']['p50_ms']}, {each['create']['p95_ms']}" for each in streams)
    yield row("making a memory, p50 and p95, ms", *made)
    event_times = (f"{each['event_p50_ms']}, {each['event_p95_ms']}" for each in streams)
    yield row("until its event is at a follower, p50 and p95, ms", *event_times)


def on_disk(stores: list[Store]) -> Iterator[str]:
    yield row("Bytes a message", *(f"{each['bytes']['messages']:,} messages" for each in stores))
    yield ruler(len(stores) + 1)
    for name, said in ON_DISK.items():
        yield row(said, *(f"{each['bytes'][name]:,}" for each in stores))


def extrapolated(further: Mapping[str, Mapping[str, float | None]]) -> Iterator[str]:
    yield row("Extrapolated to 1,000,000", "p50", "p95")
    yield ruler(3)
    for name, times in further.items():
        yield row((IN_TURN | AT_A_RATE)[name], *("" if each is None else each for each in times.values()))


def size(store: Store) -> str:
    return f"{store['memories']:,}"


def row(*cells: Any) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def ruler(cells: int) -> str:
    return "|---" * cells + "|"


if __name__ == "__main__":
    sys.stdout.write("\n".join(tables(json.loads(sys.stdin.read().splitlines()[-1]))) + "\n")
