"""The AsyncAPI document as a page: what a chat service publishes, what it hears, and what memstream says to itself."""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from schemas.documents.asyncapi import DAY_MS
from schemas.documents.examples import example
from schemas.documents.shapes import Schema, link, references, section

SIDES = {
    ("receive",): (
        "What you publish",
        "Publish with any Kafka client, keyed as said: a conversation's messages stay in one partition, and so in order.",
    ),
    ("send",): (
        "What you may hear",
        "Records are delivered at least once: each has an id, or a version, by which to pass over what you have had.",
    ),
    ("receive", "send"): (
        "What memstream says to itself",
        "Between its stages. It is not part of the contract, and may change with any version.",
    ),
}


def page(document: Mapping[str, Any], schemas: Mapping[str, Schema]) -> str:
    """Markdown. `schemas` are those that the document's messages refer to, by file name."""
    lines = [*introduction(document), *overview(document)]
    shapes: dict[str, Schema] = {}
    for side, (heading, said) in SIDES.items():
        lines += [f"## {heading}", "", said, ""]
        for name in of_side(document, side):
            lines += topic(document, schemas, name, shapes)
    lines += ["## Shapes", "", "What fields hold that lead here.", ""]
    titles = {schema.get("title") for schema in schemas.values()}  # these stand above
    for name in sorted(shapes.keys() - titles):
        lines += section(name, shapes[name])
    return "\n".join(lines).rstrip() + "\n"


def introduction(document: Mapping[str, Any]) -> list[str]:
    info = document["info"]
    return [
        "# Topics",
        "",
        f"{info['description']} This is version {info['version']} of the contract; [what may "
        "change](../README.md#what-may-change) of it is said elsewhere.",
        "",
        "<!-- Written by `make schemas` from asyncapi.json and the schemas beside it: change those. -->",
        "",
        "Values are JSON in UTF-8. Readers pass over fields that they do not know; a field that is left out is at its default. "
        "Programs read the same as [AsyncAPI](asyncapi.json) and JSON Schema.",
        "",
    ]


def overview(document: Mapping[str, Any]) -> list[str]:
    lines = ["| Topic | Key | Kept | Holds |", "|---|---|---|---|"]
    for side in SIDES:
        for name in of_side(document, side):
            message = document["components"]["messages"][name]
            key = message["bindings"]["kafka"]["key"]["description"]
            lines.append(f"| {link(name)} | {key} | {retention(document, name)} | {message['summary']} |")
    return [*lines, ""]


def of_side(document: Mapping[str, Any], side: tuple[str, ...]) -> Iterator[str]:
    for name in document["channels"]:
        actions = sorted(
            operation["action"]
            for operation in document["operations"].values()
            if operation["channel"]["$ref"] == f"#/channels/{name}"
        )
        if tuple(actions) == side:
            yield name


def retention(document: Mapping[str, Any], name: str) -> str:
    told = document["channels"][name]["bindings"]["kafka"]["topicConfiguration"]
    return f"{told['retention.ms'] // DAY_MS} days" if "retention.ms" in told else "the latest of each key"


def topic(
    document: Mapping[str, Any], schemas: Mapping[str, Schema], name: str, shapes: dict[str, Schema]
) -> Iterator[str]:
    """Its section; the shapes that it leads to are added to `shapes`."""
    message = document["components"]["messages"][name]
    key = message["bindings"]["kafka"]["key"]["description"]
    yield from (f"### {name}", "", message["summary"], "")
    yield from (f"Key: {key}. Kept: {retention(document, name)}. `{message['contentType']}`", "")
    if (shown := example(name)) is not None:
        yield from ("```json", orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode(), "```", "")
    for part in ("payload", "headers"):
        if part in message:
            file = message[part]["$ref"].removeprefix("./")
            schema = schemas[file]
            collect(schema, schema.get("$defs", {}), shapes)
            yield from section(schema["title"], schema, 4)
            yield from (f"Schema: [{file}]({file})", "")


def collect(schema: Any, defined: Mapping[str, Schema], shapes: dict[str, Schema]) -> None:
    for name in references(schema):
        if name not in shapes and name in defined:
            shapes[name] = defined[name]
            collect(defined[name], defined, shapes)
