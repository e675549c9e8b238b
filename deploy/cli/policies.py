"""`memstream policies`: check and publish policy files, see what applies, take a policy away, begin with a preset."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from msgspec import structs, to_builtins

from agents.policies.changes import records, tombstone
from deploy.cli import terminal
from deploy.cli.command import Json, command, several_commands
from deploy.cli.policy_store import applying, changes, stored
from deploy.policies.files import PRESETS, Written, preset, presets, read_file, read_files
from deploy.policies.yaml_text import to_yaml
from deploy.settings import load
from deploy.wiring import connections
from schemas.errors import Misconfigured
from schemas.policies.policies import DEFAULT_POLICY, Match, Policy

cli = several_commands("Manage policies as YAML files.")

Files = Annotated[list[Path], typer.Argument(help="YAML or JSON files of policies.", show_default=False)]
Name = Annotated[str, typer.Argument(help="The policy's name.", show_default=False)]


@cli.command()
@command
async def check(files: Files, json: Json = False) -> None:
    """Say what is wrong with policy files, a line each; nothing is published."""
    for each in read_files(files):
        if json:
            terminal.print_json({"name": each.policy.name, "origin": each.origin})
        else:
            terminal.print_line(f"{each.origin}: {each.policy.name} is a policy")


@cli.command()
@command
async def put(
    files: Annotated[list[Path] | None, typer.Argument(help="YAML or JSON files.", show_default=False)] = None,
    preset_name: Annotated[str | None, typer.Option("--preset", help="One that ships, instead of files.")] = None,
    name: Annotated[str | None, typer.Option(help="Another name for the preset.")] = None,
    match: Annotated[
        list[str] | None, typer.Option(help="What the preset applies to, FIELD=PATTERN; may be repeated.")
    ] = None,
    json: Json = False,
) -> None:
    """Publish policies: each gets the next version of its name, and applies in all processes within a second."""
    wanted = chosen(files or [], preset_name, name, match or [])
    settings = load()
    made = changes(wanted, await stored(settings))
    async with connections.kafka(settings) as publisher:
        await publisher.publish(records(made))
    for each in made:
        if json:
            terminal.print_json({"name": each.policy.name, "version": each.policy.version, "result": each.result})
        else:
            terminal.print_line(f"{each.result} {each.policy.name}, version {each.policy.version}")


@cli.command("list")
@command
async def list_policies(json: Json = False) -> None:
    """List the policies in the order in which they are tried: of the topic, of MEMSTREAM_POLICIES_FILE, built in."""
    settings = load()
    known = await stored(settings)
    for complaint in known.wrong.values():
        terminal.print_error(complaint)
    order = [*applying(settings, known).listed, DEFAULT_POLICY]
    origins = ["topic" if each.name in known.latest else "file" for each in order[:-1]] + ["built in"]
    if json:
        for each, origin in zip(order, origins, strict=True):
            terminal.print_json({"origin": origin} | as_fields(each))
        return
    rows = [row(each, origin) for each, origin in zip(order, origins, strict=True)]
    columns = ("policy", "version", "from", "applies to", "namespaces", "kinds")
    terminal.show_table("policies, as they are tried", columns, rows, wide="kinds")


@cli.command()
@command
async def show(name: Name, json: Json = False) -> None:
    """Show a policy as a file that `put` takes: only what differs from the defaults."""
    settings = load()
    listed = applying(settings, await stored(settings)).listed
    policy = next((each for each in listed if each.name == name), None)
    if policy is None:
        raise Misconfigured(f"no policy is called {name!r}; there are {named(listed)}, and the built-in one")
    if json:
        terminal.print_json(as_fields(policy))
    else:
        terminal.print_line(to_yaml(as_fields(policy)).rstrip())


@cli.command()
@command
async def delete(name: Name, json: Json = False) -> None:
    """Take a policy away from the topic; one of that name in a policies file applies again."""
    settings = load()
    known = await stored(settings)
    if name not in known.latest:
        raise Misconfigured(f"the topic has no policy {name!r}; it has {named(list(known.latest.values()))}")
    async with connections.kafka(settings) as publisher:
        await publisher.publish([tombstone(name)])
    if json:
        terminal.print_json({"name": name, "result": "deleted"})
    else:
        terminal.print_line(f"deleted {name}, which was at version {known.latest[name].version}")


@cli.command("presets")
@command
async def show_presets(
    name: Annotated[str | None, typer.Argument(help="Print this one's file.", show_default=False)] = None,
    json: Json = False,
) -> None:
    """List the policies that ship, or print the file of one, to begin with."""
    if name is not None:
        terminal.print_line(preset(name).read_text().rstrip())
        return
    for each, path in presets().items():
        said = path.read_text().splitlines()[0].removeprefix("# ")
        if json:
            terminal.print_json({"name": each, "file": str(PRESETS / path.name), "said": said})
        else:
            terminal.print_line(f"{each:<18} {said}")


def chosen(files: Sequence[Path], preset_name: str | None, name: str | None, match: Sequence[str]) -> list[Written]:
    """The policies of the files, or a preset under the name and the match that were asked for. Raises Misconfigured."""
    if bool(files) == (preset_name is not None):
        raise Misconfigured("name policy files, or one preset with --preset: `memstream policies presets` lists them")
    if preset_name is None:
        if name is not None or match:
            raise Misconfigured("--name and --match are for a preset: write `name` and `match` into the file")
        return read_files(files)
    (each,) = read_file(preset(preset_name))
    policy = structs.replace(each.policy, name=name or each.policy.name, match=matching(match))
    return [structs.replace(each, policy=policy)]


def matching(patterns: Sequence[str]) -> Match:
    """Raises Misconfigured for what is not FIELD=PATTERN with a field that policies match on."""
    fields = {field: pattern for field, _, pattern in (each.partition("=") for each in patterns)}
    wrong = [field for field, pattern in fields.items() if field not in Match.__struct_fields__ or not pattern]
    if wrong or len(fields) < len(patterns):
        raise Misconfigured(
            f"--match {wrong[0] if wrong else patterns[-1]}: write FIELD=PATTERN, each field once; "
            f"the fields are {', '.join(Match.__struct_fields__)}"
        )
    return Match(**fields)


def as_fields(policy: Policy) -> dict[str, Any]:
    """Name and version, and what differs from the defaults."""
    fields: dict[str, Any] = to_builtins(policy)
    return {"name": policy.name, "version": policy.version} | fields


def row(policy: Policy, origin: str) -> tuple[str, ...]:
    patterns = to_builtins(policy.match)
    applies = ", ".join(f"{field}={pattern}" for field, pattern in patterns.items()) or "everything"
    kinds = ", ".join(" ".join(filter(None, (kind.icon, kind.name))) for kind in policy.described_kinds)
    namespaces = "\n".join(policy.namespaces) if policy.extract else ""
    return (
        policy.name,
        str(policy.version),
        origin,
        applies,
        namespaces,
        kinds if policy.extract else "nothing extracted",
    )


def named(listed: Sequence[Policy]) -> str:
    return ", ".join(each.name for each in listed) or "none"
