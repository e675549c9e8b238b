"""`memstream schemas`: the JSON Schemas of what travels, put into a schema registry."""

from typing import Final

from deploy.cli import terminal
from deploy.cli.command import Json, command, several_commands
from deploy.settings import load
from deploy.wiring import schema_registry
from schemas.documents.generate import TARGET
from schemas.kafka import topics

cli = several_commands("Register memstream's JSON Schemas.")

# What others publish and hear; what stages say to each other is no contract.
REGISTERED: Final = {
    topics.MESSAGES: "message",
    topics.ENDED: "conversation-ended",
    topics.COMMANDS: "command",
    topics.POLICIES: "policy",
    topics.EVENTS: "memory-event",
    topics.STATE: "memory",
    topics.ACTIVITY: "activity-event",
}


@cli.command()
@command
async def register(json: Json = False) -> None:
    """Register the schemas of what you publish and hear, each under TOPIC-value."""
    settings = load()
    subjects = {f"{settings.topics().physical(topic)}-value": name for topic, name in REGISTERED.items()}
    texts = {subject: (TARGET / f"{name}.schema.json").read_text() for subject, name in subjects.items()}
    async with schema_registry.registry(settings) as registry:
        numbers = await registry.register(texts)
    if json:
        for subject, number in numbers.items():
            terminal.print_json({"subject": subject, "schema": f"{subjects[subject]}.schema.json", "id": number})
    else:
        rows = [(subject, f"{subjects[subject]}.schema.json", str(number)) for subject, number in numbers.items()]
        terminal.show_table("schemas", ("subject", "schema", "id"), rows)


@cli.callback()
def schemas() -> None:
    """Register memstream's JSON Schemas."""
