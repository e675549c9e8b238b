"""`memstream schemas`: registers memstream's JSON Schemas in a schema registry."""

from deploy.cli import terminal
from deploy.cli.command import Json, command, several_commands
from deploy.settings import load
from deploy.wiring import schema_registry

cli = several_commands("Register memstream's JSON Schemas.")


@cli.command()
@command
async def register(json: Json = False) -> None:
    """Register the schemas of the topics that chat services use, each as the subject TOPIC-value."""
    settings = load()
    subjects = schema_registry.subjects(settings)
    async with schema_registry.registry(settings) as registry:
        numbers = await registry.register(schema_registry.texts(subjects))
    if json:
        for subject, number in numbers.items():
            terminal.print_json({"subject": subject, "schema": f"{subjects[subject]}.schema.json", "id": number})
    else:
        rows = [(subject, f"{subjects[subject]}.schema.json", str(number)) for subject, number in numbers.items()]
        terminal.show_table("schemas", ("subject", "schema", "id"), rows)


@cli.callback()
def schemas() -> None:
    """Register memstream's JSON Schemas."""
