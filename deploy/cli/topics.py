"""`memstream topics`: creates topics, and compares existing ones with the settings."""

from deploy.cli import terminal
from deploy.cli.command import Json, command, several_commands
from deploy.settings import load
from streams.kafka import topics

cli = several_commands("Create and list memstream's topics.")


@cli.command()
@command
async def create(json: Json = False) -> None:
    """Create the missing topics. Existing topics stay unchanged."""
    settings = load()
    names = settings.topics()
    created = await topics.create(settings.cluster().client(), topics.specs(names), names.replication)
    if json:
        terminal.print_json({"created": created})
    else:
        terminal.print_line("\n".join(f"created {name}" for name in created) or "nothing to create")


@cli.command("list")
@command
async def list_topics(json: Json = False) -> int:
    """List the topics with their wanted and actual partitions. Exit code 1 if they differ."""
    settings = load()
    wanted = topics.specs(settings.topics())
    found = await topics.partition_counts(settings.cluster().client(), wanted)
    if json:
        for spec in wanted:
            terminal.print_json(
                {"topic": spec.name, "partitions": found[spec.name], "wanted": spec.partitions} | spec.configs()
            )
    else:
        rows = [
            (spec.name, str(found[spec.name]), str(spec.partitions), retention_text(spec.retention_days))
            for spec in wanted
        ]
        terminal.show_table("topics", ("topic", "partitions", "wanted", "kept"), rows)
    return 1 if topics.problems(wanted, found) else 0


def retention_text(retention_days: int | None) -> str:
    return "latest per key" if retention_days is None else f"{retention_days} d"
