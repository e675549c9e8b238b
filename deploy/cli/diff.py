"""`memstream diff`: shows what a generation would change."""

from collections import Counter
from typing import Annotated, Final

import typer
from msgspec import structs

from agents.replay.comparison import Difference
from agents.replay.namespace_comparison import differences
from deploy.cli import terminal
from deploy.cli.command import Json, command, one_command
from deploy.settings import load
from deploy.wiring import replay
from schemas.errors import Misconfigured
from schemas.memories.memories import Memory
from sinks.replay.shadows import Shadows

cli = one_command()

UNCHANGED: Final = frozenset(("same", "kept"))
SOURCES_SHOWN: Final = 3


@cli.command()
@command
async def diff(
    generation: Annotated[str, typer.Argument(help="The generation's id, as `memstream replay` prints it.")],
    namespace: Annotated[str | None, typer.Option("--namespace", "-n", help="Only this namespace.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Include unchanged memories.")] = False,
    json: Json = False,
) -> None:
    """Show what a generation would add, remove and change, with the source messages. Changes nothing."""
    settings, counts = load(), Counter[str]()
    async with replay.connected(settings) as parts:
        replayed = await parts.generations.get(generation)
        if replayed is None:
            raise Misconfigured(f"there is no generation {generation!r}: see `memstream generations list`")
        shadows, after = Shadows(parts.pool, generation), ""
        while page := await shadows.namespaces(after):
            for name in (each.namespace for each in page if namespace in (None, each.namespace)):
                found = await differences(parts.pool, replayed, name, parts.vectors.embedding_model)
                counts.update(each.fate for each in found)
                show(name, [each for each in found if everything or each.fate not in UNCHANGED], json)
            after = page[-1].namespace
    if not json:
        terminal.print_line(summary(counts))


def show(namespace: str, found: list[Difference], json: bool) -> None:
    if json:
        for each in found:
            terminal.print_json({"namespace": namespace} | structs.asdict(each))
    elif found:
        terminal.show_table(namespace, ("what", "memory", "from"), [row(each) for each in found], wide="memory")


def row(difference: Difference) -> tuple[str, str, str]:
    before, after = difference.before, difference.after
    if difference.fate == "changed" and before is not None and after is not None:
        change = f"{before.kind}: {before.text}\n→ {after.kind}: {after.text}"
        other_fields = [name for name in difference.fields if name not in ("text", "kind")]
        text = f"{change}\n({', '.join(other_fields)})" if other_fields else change
        return difference.fate, text, sources(after)
    memory = before or after
    assert memory is not None
    why = f"\n({difference.why})" if difference.why else ""
    return difference.fate, f"{memory.kind}: {memory.text}{why}", sources(memory)


def sources(memory: Memory) -> str:
    """Returns the ids of the memory's source messages, one per line."""
    shown = [source.message_id for source in memory.sources[:SOURCES_SHOWN]]
    left = len(memory.sources) - len(shown)
    return "\n".join([*shown, f"and {left} more"] if left > 0 else shown)


def summary(counts: Counter[str]) -> str:
    if not counts:
        return "the generation and the live memories are both empty"
    order = ("added", "lost", "changed", "same", "kept", "withheld")
    return ", ".join(f"{counts[fate]} {fate}" for fate in order if counts[fate])
