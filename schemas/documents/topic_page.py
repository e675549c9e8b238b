"""The AsyncAPI document as a Markdown page: topics that chat services write, topics that they read, and internal ones."""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from schemas.documents.asyncapi import DAY_MS
from schemas.documents.examples import example
from schemas.documents.shapes import Schema, link, references, section

SIDES = {
    ("receive",): (
        "Input topics",
        "Published by chat services, with any Kafka client. The given key keeps a conversation's messages in one partition "
        "and in order. Clients that publish events of the same conversations, its end among them, must assign keys to "
        "partitions alike: those on librdkafka (kcat, confluent-kafka) do as the others (Java's, aiokafka) with the setting "
        "`partitioner=murmur2_random`. Otherwise an end ends only the messages in its own partition; `memstream doctor` "
        "finds such conversations.",
    ),
    ("send",): (
        "Output topics",
        "Published by memstream at least once: consumers recognise repeated records by their id or version.",
    ),
    ("receive", "send"): (
        "Internal topics",
        "Used between memstream's stages. They are not part of the contract and may change with any version.",
    ),
}


def page(document: Mapping[str, Any], schemas: Mapping[str, Schema]) -> str:
    """Markdown. `schemas` are the schemas that the document's messages refer to, by file name."""
    lines = [*introduction(document), *overview(document)]
    shapes: dict[str, Schema] = {}
    for side, (heading, description) in SIDES.items():
        lines += [f"## {heading}", "", description, ""]
        for name in of_side(document, side):
            lines += topic(document, schemas, name, shapes)
    lines += ["## Shapes", "", "Types of fields above.", ""]
    titles = {schema.get("title") for schema in schemas.values()}  # described above
    for name in sorted(shapes.keys() - titles):
        lines += section(name, shapes[name])
    return "\n".join(lines).rstrip() + "\n"


def introduction(document: Mapping[str, Any]) -> list[str]:
    info = document["info"]
    return [
        "# Topics",
        "",
        f"{info['description']} This is version {info['version']} of the contract; "
        "[schemas/README.md](../README.md#compatible-changes) says what may change.",
        "",
        "<!-- Written by `make schemas` from asyncapi.json and the schemas in this folder. Do not edit. -->",
        "",
        "Values are JSON in UTF-8. Consumers ignore unknown fields; a missing field has its default value. "
        "Machine-readable: [AsyncAPI](asyncapi.json) and JSON Schema.",
        "",
    ]


def overview(document: Mapping[str, Any]) -> list[str]:
    lines = ["| Topic | Key | Retention | Content |", "|---|---|---|---|"]
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
    configuration = document["channels"][name]["bindings"]["kafka"]["topicConfiguration"]
    return (
        f"{configuration['retention.ms'] // DAY_MS} days"
        if "retention.ms" in configuration
        else "latest record of each key"
    )


def topic(
    document: Mapping[str, Any], schemas: Mapping[str, Schema], name: str, shapes: dict[str, Schema]
) -> Iterator[str]:
    """The section of a topic; adds the shapes that it refers to to `shapes`."""
    message = document["components"]["messages"][name]
    key = message["bindings"]["kafka"]["key"]["description"]
    yield from (f"### {name}", "", message["summary"], "")
    yield from (f"Key: {key}. Retention: {retention(document, name)}. `{message['contentType']}`", "")
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
