"""`memstream policies`: checks, publishes, shows and deletes policies, and prints presets."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from msgspec import structs, to_builtins

from agents.models.one_language import translation_warning
from agents.policies.changes import records, tombstone
from deploy.cli import terminal
from deploy.cli.command import Json, WrongUsage, command, several_commands
from deploy.policies.files import PRESETS, PolicyText, preset, presets, read_file, read_files
from deploy.policies.yaml_text import to_yaml
from deploy.settings import load
from deploy.wiring import connections, models
from deploy.wiring.policy_store import plan_changes, policies_in_effect, stored_policies, unknown_policy
from schemas.errors import Misconfigured
from schemas.policies.matching import Match
from schemas.policies.namespaces import colliding
from schemas.policies.policies import DEFAULT_POLICY, Policies, Policy

cli = several_commands("Manage policies as YAML files.")

CHECK_PROVIDERS = ("offline",)  # `check` reads no settings, so it assumes the offline provider

Files = Annotated[list[Path], typer.Argument(help="YAML or JSON files of policies.", show_default=False)]
Name = Annotated[str, typer.Argument(help="The policy's name.", show_default=False)]


@cli.command()
@command
async def check(files: Files, json: Json = False) -> None:
    """Validate policy files and print one line per policy. Publishes nothing."""
    for each in read_files(files):
        if json:
            terminal.print_json({"name": each.policy.name, "origin": each.origin})
        else:
            terminal.print_line(f"{each.origin}: {each.policy.name} is valid")
        warn_of_language(each, CHECK_PROVIDERS)
        warn_of_collisions(each)


@cli.command()
@command
async def put(
    files: Annotated[list[Path] | None, typer.Argument(help="YAML or JSON files.", show_default=False)] = None,
    preset_name: Annotated[str | None, typer.Option("--preset", help="A preset, instead of files.")] = None,
    name: Annotated[str | None, typer.Option(help="Another name for the preset.")] = None,
    match: Annotated[
        list[str] | None, typer.Option(help="Conversations that the preset applies to, FIELD=PATTERN; may be repeated.")
    ] = None,
    json: Json = False,
) -> None:
    """Publish policies. Each gets the next version of its name and applies in all processes within a second."""
    policies = policies_to_put(files or [], preset_name, name, match or [])
    settings = load()
    for written in policies:
        warn_of_language(written, models.provider_names(settings))
        warn_of_collisions(written)
    changes = plan_changes(policies, await stored_policies(settings))
    async with connections.kafka(settings) as publisher:
        await publisher.publish(records(changes))
    for each in changes:
        if json:
            terminal.print_json({"name": each.policy.name, "version": each.policy.version, "result": each.result})
        else:
            terminal.print_line(f"{each.result} {each.policy.name}, version {each.policy.version}")


@cli.command("list")
@command
async def list_policies(json: Json = False) -> None:
    """List the policies in the order of matching: of the topic, of MEMSTREAM_POLICIES_FILE, built in."""
    settings = load()
    stored = await stored_policies(settings)
    for error in stored.invalid.values():
        terminal.print_error(error)
    order = [*policies_in_effect(settings, stored).listed, DEFAULT_POLICY]
    origins = ["topic" if each.name in stored.latest else "file" for each in order[:-1]] + ["built in"]
    if json:
        for each, origin in zip(order, origins, strict=True):
            terminal.print_json({"origin": origin} | as_fields(each))
        return
    rows = [row(each, origin) for each, origin in zip(order, origins, strict=True)]
    columns = ("policy", "version", "from", "applies to", "namespaces", "kinds")
    terminal.show_table("policies, in the order of matching", columns, rows, wide="kinds")


@cli.command()
@command
async def show(name: Name, json: Json = False) -> None:
    """Show a policy as a file for `put`: only the fields that differ from the defaults."""
    settings = load()
    policies = policies_in_effect(settings, await stored_policies(settings))
    policy = next((each for each in policies.listed if each.name == name), None)
    if policy is None:
        raise unknown_policy(name, policies)
    if json:
        terminal.print_json(as_fields(policy))
    else:
        terminal.print_line(to_yaml(as_fields(policy)).rstrip())


@cli.command()
@command
async def delete(name: Name, json: Json = False) -> None:
    """Delete a policy from the topic. A policy of that name in a policies file applies again."""
    settings = load()
    stored = await stored_policies(settings)
    if (key := stored.key_of(name)) is None:
        raise Misconfigured(f"the topic has no policy {name!r}; it has {names_of(list(stored.latest.values()))}")
    async with connections.kafka(settings) as publisher:
        await publisher.publish([tombstone(key)])
    if json:
        terminal.print_json({"name": name, "result": "deleted"})
    elif name in stored.latest:
        terminal.print_line(f"deleted {name}, which was at version {stored.latest[name].version}")
    else:
        terminal.print_line(f"deleted the invalid record of {name}")


@cli.command("presets")
@command
async def show_presets(
    name: Annotated[str | None, typer.Argument(help="The preset to print.", show_default=False)] = None,
    json: Json = False,
) -> None:
    """List the policies that ship with memstream, or print one as a file to edit."""
    if name is not None:
        terminal.print_line(preset(name).read_text().rstrip())
        return
    for each, path in presets().items():
        description = path.read_text().splitlines()[0].removeprefix("# ")
        if json:
            terminal.print_json({"name": each, "file": str(PRESETS / path.name), "said": description})
        else:
            terminal.print_line(f"{each:<18} {description}")


def warn_of_language(written: PolicyText, providers: Sequence[str]) -> None:
    if warning := translation_warning(Policies((written.policy,)), providers):
        terminal.print_error(f"{written.origin}: {warning}")


def warn_of_collisions(written: PolicyText) -> None:
    """Warns of templates that can give a person's namespace the name of a shared one."""
    for own, shared in colliding(written.policy.namespaces):
        terminal.print_error(
            f"{written.origin}: namespaces {own!r} and {shared!r} can have the same name, so that a person's memories and those"
            f" of all would be in one namespace: begin one with a word, as in 'user/{own}'"
        )


def policies_to_put(
    files: Sequence[Path], preset_name: str | None, name: str | None, match: Sequence[str]
) -> list[PolicyText]:
    """Returns the policies of the files, or the preset with the given name and match. Raises WrongUsage, and Misconfigured
    for an invalid file."""
    if bool(files) == (preset_name is not None):
        raise WrongUsage(
            "give policy files, or one preset with --preset: `memstream policies presets` lists the presets"
        )
    if preset_name is None:
        if name is not None or match:
            raise WrongUsage("--name and --match need --preset: in a file, write `name` and `match`")
        return read_files(files)
    (each,) = read_file(preset(preset_name))
    policy = structs.replace(each.policy, name=name or each.policy.name, match=parse_match(match))
    return [structs.replace(each, policy=policy)]


def parse_match(patterns: Sequence[str]) -> Match:
    """Parses FIELD=PATTERN options. Raises WrongUsage for another format and for unknown fields."""
    fields = {field: pattern for field, _, pattern in (each.partition("=") for each in patterns)}
    wrong = [field for field, pattern in fields.items() if field not in Match.__struct_fields__ or not pattern]
    if wrong or len(fields) < len(patterns):
        raise WrongUsage(
            f"--match {wrong[0] if wrong else patterns[-1]}: write FIELD=PATTERN, each field once; "
            f"the fields are {', '.join(Match.__struct_fields__)}"
        )
    return Match(**fields)


def as_fields(policy: Policy) -> dict[str, Any]:
    """Returns the name, the version, and the fields that differ from the defaults."""
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


def names_of(listed: Sequence[Policy]) -> str:
    return ", ".join(each.name for each in listed) or "none"
