"""The OpenAPI document as a Markdown page: requests, parameters, bodies and answers."""

from collections.abc import Iterator, Mapping
from typing import Any

from schemas.documents.shapes import Schema, cell, kind, link, references, section, value

ORDER = (
    "context",
    "search",
    "memories",
    "changes",
    "events",
    "conversations",
    "namespaces",
)  # most frequently used first
PROBLEM = "ProblemDetails"
METHODS = ("get", "post", "put", "patch", "delete")


def page(document: Mapping[str, Any]) -> str:
    """Markdown of every operation, grouped by tag."""
    lines = [*introduction(document), *overview(document)]
    for tag in tags(document):
        lines += [f"## About {tag}", ""]
        for method, path, operation in of_tag(document, tag):
            lines += parameters(method, path, operation)
    lines += ["## Shapes", ""]
    for name in sorted(reachable_shapes(document)):
        lines += section(name, document["components"]["schemas"][name])
    return "\n".join(lines).rstrip() + "\n"


def introduction(document: Mapping[str, Any]) -> list[str]:
    info = document["info"]
    return [
        "# HTTP API",
        "",
        f"{info['description']} Version {info['version']}. [Serving](../../deploy/docs/serving.md) explains how the API behaves; "
        "this page lists requests and answers.",
        "",
        "<!-- Written by `make schemas` from openapi.json. Do not edit: change the routes. -->",
        "",
        "Bodies are JSON in UTF-8. Requests need a key, `Authorization: Bearer ...`, unless stated otherwise. Errors "
        f"are `application/problem+json`, {link(PROBLEM)}. The same document for programs: [OpenAPI 3.1](openapi.json).",
        "",
    ]


def overview(document: Mapping[str, Any]) -> list[str]:
    lines = ["| Request | Effect or answer |", "|---|---|"]
    for tag in tags(document):
        for method, path, operation in of_tag(document, tag):
            description = str(operation.get("description", operation["summary"])).split("\n\n")[0]
            lines.append(f"| {link(f'{method} {path}')} | {cell(description)} |")
    return [*lines, ""]


def operations(document: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield method.upper(), path, item[method]


def tags(document: Mapping[str, Any]) -> list[str]:
    found = dict.fromkeys(tag for _, _, operation in operations(document) for tag in operation.get("tags", ()))
    return sorted(found, key=lambda tag: (ORDER.index(tag) if tag in ORDER else len(ORDER), tag))


def of_tag(document: Mapping[str, Any], tag: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    return (each for each in operations(document) if tag in each[2].get("tags", ()))


def parameters(method: str, path: str, operation: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"### {method} {path}", "", str(operation.get("description", operation["summary"])).strip(), "")
    if not operation.get("security"):
        yield from ("Needs no key.", "")
    if parameters := operation.get("parameters"):
        yield from ("| Parameter | In | Type | Default | Meaning |", "|---|---|---|---|---|")
        yield from map(parameter, sorted(parameters, key=lambda each: not each.get("required")))
        yield ""
    if body := operation.get("requestBody"):
        yield from (f"Body: {' or '.join(media(body['content']))}", "")
    yield from ("| Answer | When | Body |", "|---|---|---|")
    yield from (answer(status, each) for status, each in operation["responses"].items())
    yield ""


def parameter(each: Mapping[str, Any]) -> str:
    schema: Schema = each.get("schema", {})
    name = f"**`{each['name']}`**" if each.get("required") else f"`{each['name']}`"
    default = "needed" if each.get("required") else value(schema.get("default"))
    description = cell(str(each.get("description", schema.get("description", ""))))
    return f"| {name} | {each['in']} | {kind(schema)} | {default} | {description} |"


def answer(status: str, each: Mapping[str, Any]) -> str:
    return f"| {status} | {cell(each.get('description', ''))} | {' or '.join(media(each.get('content', {})))} |"


def media(content: Mapping[str, Any]) -> Iterator[str]:
    for media_type, each in content.items():
        type_text = kind(each.get("schema", {}))
        yield (
            type_text
            if media_type in ("application/json", "application/problem+json")
            else f"{type_text} as `{media_type}`"
        )


def reachable_shapes(document: Mapping[str, Any]) -> set[str]:
    """The shapes that operations refer to, directly or through other shapes."""
    schemas, found = document["components"]["schemas"], set[str]()
    waiting = [name for *_, operation in operations(document) for name in references(operation)]
    while waiting:
        name = waiting.pop()
        if name in schemas and name not in found:
            found.add(name)
            waiting += references(schemas[name])
    return found
