"""`memstream replay`: extracts archived messages again, beside the live memories."""

import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final, get_args

import typer
from msgspec import structs

from agents.replay.replayer import Replayer
from deploy.cli import terminal
from deploy.cli.command import Json, WrongUsage, command, one_command
from deploy.cli.time_options import parse_time
from deploy.policies.files import read_files
from deploy.runtime.process import log_to_stderr
from deploy.settings import Settings, load
from deploy.wiring import replay as wiring
from deploy.wiring.clock import now
from deploy.wiring.policy_store import policies_in_effect, stored_policies
from deploy.wiring.replay import ReplayParts
from schemas.access.keys import EVERYWHERE
from schemas.counts import counted
from schemas.policies.policies import Policies
from schemas.replay.generations import Generation, Plan, Progress, ReplaySource

cli = one_command()

REPORT_EVERY_S: Final = 5.0
PROVIDERS: Final = ("offline", "claude", "ollama", "auto")

Since = Annotated[
    datetime | None,
    typer.Option(parser=parse_time, metavar="TIME", help="Only messages since this time: 24h, 7d, 2026-11-22T14:00."),
]
Until = Annotated[
    datetime | None,
    typer.Option(parser=parse_time, metavar="TIME", help="Only messages before this time; default: now."),
]


@cli.command()
@command
async def replay(
    namespace: Annotated[
        str | None,
        typer.Option("--namespace", "-n", help="Only these namespaces; * stands for any characters."),
    ] = None,
    since: Since = None,
    until: Until = None,
    everything: Annotated[bool, typer.Option("--all", help="Replay all messages.")] = False,
    source: Annotated[
        str, typer.Option("--from", help="Source of messages: archive, or kafka for those still in the topic.")
    ] = "archive",
    policy: Annotated[
        list[Path] | None,
        typer.Option(help="File of policies for this replay, in place of published ones; may be repeated."),
    ] = None,
    provider: Annotated[str | None, typer.Option(help=f"The provider for extraction: {', '.join(PROVIDERS)}.")] = None,
    model: Annotated[str | None, typer.Option(help="The provider's model.")] = None,
    resume: Annotated[str | None, typer.Option(metavar="GENERATION", help="Continue an interrupted replay.")] = None,
    json: Json = False,
) -> None:
    """Extract archived messages again, with other policies or another model, beside the live memories."""
    settings = load()
    has_options = any((namespace is not None, since, until, everything, policy, provider, model))
    if resume is None:
        require_scope(namespace, since, until, everything)
    elif has_options:
        raise WrongUsage("--resume uses the options of the first call: omit all others")
    before = policies_in_effect(settings, await stored_policies(settings))
    # Not before a broker has answered: the Kafka client would log the reason of an error that the command explains.
    overrides = {"log_level": "warning"} if settings.log_level == "info" else {}  # omits the log lines per slice
    log_to_stderr(settings.model_copy(update=overrides))
    async with wiring.connected(settings) as parts:
        if resume is not None:
            generation = await wiring.resumable_generation(parts.generations, resume)
            replayer = await wiring.replayer(parts, generation, before)
        else:
            plan = build_plan(settings, before, policy or [], provider, model, source)
            scope = {"namespaces": namespace or EVERYWHERE, "since": since, "until": until or now()}
            generation = wiring.generation(structs.replace(plan, **scope), now())
            replayer = await wiring.replayer(parts, generation, before)
            await wiring.begin(parts, generation, replayer)
        await run(parts, generation, replayer, json)


def require_scope(namespace: str | None, since: datetime | None, until: datetime | None, everything: bool) -> None:
    """Raises WrongUsage unless the options either limit the replay or say --all, as each namespace costs model calls."""
    if namespace is not None and not namespace.strip():
        raise WrongUsage("--namespace is empty: give a namespace, or --all")
    narrowed = bool(namespace or since or until)
    if narrowed == everything:
        raise WrongUsage("select what to replay: either --namespace, --since and --until, or --all")
    end = until or now()
    if since is not None and since >= end:
        raise WrongUsage(
            f"--since {since.isoformat()} is not before {end.isoformat()}, the end of the period: swap them"
        )


async def run(parts: ReplayParts, generation: Generation, replayer: Replayer, json: bool) -> None:
    generations, name = parts.generations, generation.generation_id
    at_start = await generations.progress(name)
    if not json:
        terminal.print_line(
            f"generation {name}: {progress_text(at_start)}; `memstream replay --resume {name}` continues it if interrupted"
        )
    await wiring.replay(parts, generation, replayer, progress_printer(at_start, json))
    progress = await generations.progress(name)
    if json:
        terminal.print_json({"generation": name, "status": "ready"} | structs.asdict(progress))
        return
    terminal.print_line(
        f"replayed {counted(progress.done, 'conversations')} in {counted(progress.slices, 'slices')}, "
        f"into {counted(progress.namespaces, 'namespaces')}"
    )
    if progress.failed:
        terminal.print_error(f"{counted(progress.failed, 'slices')} failed, for example: {progress.failure}")
    terminal.print_line(f"`memstream diff {name}` shows the differences, `memstream cutover {name}` applies them")


def progress_text(progress: Progress) -> str:
    if not progress.conversations:
        return "conversations are counted while reading"
    return f"{counted(progress.conversations, 'conversations')}, {progress.done} of them done"


def progress_printer(at_start: Progress, json: bool, clock: Callable[[], float] = time.monotonic) -> Callable[[], None]:
    """Returns a callback that counts conversations and prints progress every few seconds."""
    done, last_s = at_start.done, clock()

    def count_conversation() -> None:
        nonlocal done, last_s
        done += 1
        if not json and clock() - last_s >= REPORT_EVERY_S:
            last_s = clock()
            terminal.print_line(f"  {done}" + (f" of {at_start.conversations}" if at_start.conversations else ""))

    return count_conversation


def build_plan(
    settings: Settings, before: Policies, files: list[Path], provider: str | None, model: str | None, source: str
) -> Plan:
    """Returns the plan of the replay, without its conversations. Raises WrongUsage."""
    sources: tuple[ReplaySource, ...] = get_args(ReplaySource)
    chosen = next((each for each in sources if each == source), None)
    if chosen is None:
        raise WrongUsage(f"--from {source}: use {' or '.join(sources)}")
    if provider is not None and provider not in PROVIDERS:
        raise WrongUsage(f"--provider {provider}: use one of {', '.join(PROVIDERS)}")
    written = tuple(each.policy for each in read_files(files))
    plan = Plan(
        until=now(),
        policies=Policies(written).merged_over(before),
        source=chosen,
        overridden=tuple(policy.name for policy in written),
        provider=provider,
        model=model,
    )
    wiring.replay_settings(settings, plan)
    return plan
