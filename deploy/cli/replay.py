"""`memstream replay`: what was said, extracted again beside what is remembered."""

import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final, get_args

import typer
from msgspec import structs

from agents.replay.replayer import Replayer
from deploy.cli import terminal
from deploy.cli.command import Json, command, one_command
from deploy.cli.moments import moment
from deploy.cli.policy_store import applying, stored
from deploy.policies.files import read_files
from deploy.runtime.process import log_to_stderr
from deploy.settings import Settings, load
from deploy.wiring import replay as wiring
from deploy.wiring.replay import Parts
from deploy.wiring.stage_parts import now
from schemas.access.keys import EVERYWHERE
from schemas.errors import Misconfigured
from schemas.policies.policies import Policies
from schemas.replay.generations import Generation, Plan, Progress, ReplaySource

cli = one_command()

TOLD_EVERY_S: Final = 5.0
PROVIDERS: Final = ("offline", "claude", "ollama", "auto")

Time = Annotated[
    datetime | None, typer.Option(parser=moment, metavar="TIME", help="24h, 7d, 2026-11-22 or 2026-11-22T14:00.")
]


@cli.command()
@command
async def replay(
    namespace: Annotated[
        str | None,
        typer.Option("--namespace", "-n", help="What is said to these namespaces; * stands for any characters."),
    ] = None,
    since: Time = None,
    until: Time = None,
    everything: Annotated[bool, typer.Option("--all", help="All that was ever said.")] = False,
    source: Annotated[str, typer.Option("--from", help="archive, or kafka: what its topic still holds.")] = "archive",
    policy: Annotated[
        list[Path] | None, typer.Option(help="A file of policies that apply as if they had been put; may be repeated.")
    ] = None,
    provider: Annotated[str | None, typer.Option(help=f"Who extracts: {', '.join(PROVIDERS)}.")] = None,
    model: Annotated[str | None, typer.Option(help="The provider's model.")] = None,
    resume: Annotated[
        str | None, typer.Option(metavar="GENERATION", help="Go on with a replay that was interrupted.")
    ] = None,
    json: Json = False,
) -> None:
    """Extract archived messages again, with other policies or another model, beside the live memories."""
    settings = load()
    quiet = {"log_level": "warning"} if settings.log_level == "info" else {}  # a line a slice is for workers
    log_to_stderr(settings.model_copy(update=quiet))
    named = any((namespace is not None, since, until, everything, policy, provider, model))
    if resume is None:
        require_scope(namespace, since, until, everything)
    elif named:
        raise Misconfigured("--resume goes on with what was asked for then: leave the other options out")
    before = applying(settings, await stored(settings))
    async with wiring.connected(settings) as parts:
        if resume is not None:
            generation = await wiring.interrupted(parts.generations, resume)
            replayer = await wiring.replayer(parts, generation, before)
        else:
            plan = planned(settings, before, policy or [], provider, model, source)
            scope = {"namespaces": namespace or EVERYWHERE, "since": since, "until": until or now()}
            generation = wiring.generation(structs.replace(plan, **scope), now())
            replayer = await wiring.replayer(parts, generation, before)
            await wiring.begin(parts, generation, replayer)
        await run(parts, generation, replayer, json)


def require_scope(namespace: str | None, since: datetime | None, until: datetime | None, everything: bool) -> None:
    """Raises Misconfigured unless it is said what is replayed, in so many words: each namespace costs money."""
    if namespace is not None and not namespace.strip():
        raise Misconfigured("--namespace is empty: name one, or say --all")
    if not (namespace or since or until or everything):
        raise Misconfigured("say what is replayed: --namespace, --since, --until, or --all")
    end = until or now()
    if since is not None and since >= end:
        raise Misconfigured(
            f"--since {since.isoformat()} is not before {end.isoformat()}, where the time ends: turn them round"
        )


async def run(parts: Parts, generation: Generation, replayer: Replayer, json: bool) -> None:
    generations, name = parts.generations, generation.generation_id
    begun = await generations.progress(name)
    if not json:
        terminal.print_line(
            f"generation {name}: {told_of(begun)}; `memstream replay --resume {name}` goes on if it is interrupted"
        )
    await wiring.replay(parts, generation, replayer, counting(begun, json))
    done = await generations.progress(name)
    if json:
        terminal.print_json({"generation": name, "status": "ready"} | structs.asdict(done))
        return
    terminal.print_line(
        f"replayed {done.done} conversations in {done.slices} slices, into {done.namespaces} namespaces"
    )
    if done.failed:
        terminal.print_error(f"{done.failed} slices got no answer, such as: {done.failure}")
    terminal.print_line(f"`memstream diff {name}` shows what it would change, `memstream cutover {name}` changes it")


def told_of(progress: Progress) -> str:
    if not progress.conversations:
        return "conversations as they are read"
    return f"{progress.conversations} conversations, {progress.done} of them done"


def counting(begun: Progress, json: bool, clock: Callable[[], float] = time.monotonic) -> Callable[[], None]:
    """Says now and then how far it is."""
    taken, last_s = begun.done, clock()

    def told() -> None:
        nonlocal taken, last_s
        taken += 1
        if not json and clock() - last_s >= TOLD_EVERY_S:
            last_s = clock()
            terminal.print_line(f"  {taken}" + (f" of {begun.conversations}" if begun.conversations else ""))

    return told


def planned(
    settings: Settings, before: Policies, files: list[Path], provider: str | None, model: str | None, source: str
) -> Plan:
    """All but what is replayed. Raises Misconfigured."""
    sources: tuple[ReplaySource, ...] = get_args(ReplaySource)
    chosen = next((each for each in sources if each == source), None)
    if chosen is None:
        raise Misconfigured(f"--from {source}: it should be {' or '.join(sources)}")
    if provider is not None and provider not in PROVIDERS:
        raise Misconfigured(f"--provider {provider}: it should be one of {', '.join(PROVIDERS)}")
    written = tuple(each.policy for each in read_files(files))
    plan = Plan(
        until=now(),
        policies=Policies(written).merged_over(before),
        source=chosen,
        overridden=tuple(policy.name for policy in written),
        provider=provider,
        model=model,
    )
    wiring.asking(settings, plan)
    return plan
