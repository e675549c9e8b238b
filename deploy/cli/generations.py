"""`memstream generations`: lists and discards replays."""

from typing import Annotated, Any

import typer
from msgspec import structs

from deploy.cli import terminal
from deploy.cli.command import Json, command, several_commands
from deploy.settings import load
from deploy.wiring import connections, replay
from schemas.counts import counted
from schemas.replay.generations import Generation, Progress
from sinks.replay.generations import Generations

COLUMNS = ("generation", "made", "is", "replays", "conversations", "namespaces")

cli = several_commands("List and discard generations, the results of replays.")


@cli.command("list")
@command
async def list_generations(json: Json = False) -> None:
    """List generations, newest first."""
    async with connections.postgres(load(), max_size=1) as pool:
        generations = Generations(pool)
        found = [(each, await generations.progress(each.generation_id)) for each in await generations.latest()]
    none = "there are no generations: `memstream replay` creates one"
    terminal.show_list(found, json, "generations", COLUMNS, row, fields=summary, wide="replays", empty_text=none)


@cli.command()
@command
async def discard(
    generation: Annotated[str, typer.Argument(help="The generation's id.")],
    json: Json = False,
) -> None:
    """Delete a generation. Live memories stay; its cutover can no longer be undone."""
    async with replay.connected(load()) as parts:
        namespaces = await parts.cutover().discard(generation)
    if json:
        terminal.print_json({"generation": generation, "is": "discarded", "namespaces": namespaces})
    else:
        terminal.print_line(f"discarded generation {generation}, of {counted(namespaces, 'namespaces')}")


def row(listed: tuple[Generation, Progress]) -> tuple[str, ...]:
    generation, progress = listed
    plan = generation.plan
    span = f"{plan.since:%Y-%m-%d %H:%M} to " if plan.since else "until "
    by = [f"policy {name}" for name in plan.overridden] + [each for each in (plan.provider, plan.model) if each]
    scope = f"{plan.namespaces} {span}{plan.until:%Y-%m-%d %H:%M} from {plan.source}"
    done = f"{progress.done} of {progress.conversations}" + (f", {progress.failed} failed" if progress.failed else "")
    return (
        *(generation.generation_id, f"{generation.created_at:%Y-%m-%d %H:%M}", generation.status),
        *(scope + (f" by {', '.join(by)}" if by else ""), done, str(progress.namespaces)),
    )


def summary(listed: tuple[Generation, Progress]) -> dict[str, Any]:
    """Returns the generation without its policies, which are whole files."""
    generation, progress = listed
    plan = structs.asdict(generation.plan)
    plan.pop("policies")
    about = {"generation": generation.generation_id, "status": generation.status, "made": generation.created_at}
    return about | plan | structs.asdict(progress)
