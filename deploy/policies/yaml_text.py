"""YAML text to values with line numbers, by the core schema of YAML 1.2, in which `no` is a string and `12:30` too.

PyYAML implements YAML 1.1: `no` is false, `12:30` is 750, and of duplicate keys the last one wins.
"""

import re
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, ClassVar

import yaml
from msgspec import Struct
from yaml.constructor import ConstructorError
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

CORE = {
    "tag:yaml.org,2002:null": (r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    "tag:yaml.org,2002:bool": (r"^(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    "tag:yaml.org,2002:int": (r"^[-+]?[0-9]+$", list("-+0123456789")),
    "tag:yaml.org,2002:float": (
        r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$",
        list("-+0123456789."),
    ),
}


class CoreLoader(yaml.SafeLoader):
    """Loads plain scalars by the core schema, and refuses duplicate keys."""

    yaml_implicit_resolvers: ClassVar[dict[str, list[tuple[str, re.Pattern[str]]]]] = {}

    def construct_mapping(self, node: MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, ScalarNode) or key.tag == "tag:yaml.org,2002:merge":
                continue
            if key.value in seen:
                raise ConstructorError(None, None, f"duplicate key {key.value}", key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)  # type: ignore[no-any-return]

    def construct_yaml_int(self, node: ScalarNode) -> int:
        return int(self.construct_scalar(node))


for tag, (pattern, first) in CORE.items():
    CoreLoader.add_implicit_resolver(tag, re.compile(pattern), first)
CoreLoader.add_constructor("tag:yaml.org,2002:int", CoreLoader.construct_yaml_int)


class Document(Struct, frozen=True):
    """A value of a YAML text and the node it was read from."""

    value: Any
    node: Node

    def items(self) -> Iterator["Document"]:
        """The items of a list; of anything else, itself."""
        if not isinstance(self.node, SequenceNode):
            yield self
            return
        for value, node in zip(self.value, self.node.value, strict=True):
            yield Document(value, node)

    def at(self, steps: Sequence[str | int]) -> Any:
        """The node at a path; the nearest enclosing one if the path leads nowhere."""
        value = self.value
        for step in steps:
            try:
                value = value[step]
            except (KeyError, IndexError, TypeError):
                break
        return value

    def line(self, steps: Sequence[str | int] = ()) -> int:
        """The line, from 1, of the node at a path; a field begins with its name."""
        node, line = self.node, self.node.start_mark.line
        for step in steps:
            if isinstance(node, MappingNode):
                found = next(((key, value) for key, value in node.value if key.value == step), None)
                if found is None:
                    break
                line, node = found[0].start_mark.line, found[1]
            elif isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.value):
                node = node.value[step]
                line = node.start_mark.line
        return int(line) + 1


def documents(text: str) -> Iterator[Document]:
    """The documents of a text, without empty ones. Raises yaml.YAMLError."""
    loader = CoreLoader(text)
    try:
        while loader.check_node():
            node = loader.get_node()
            value = loader.construct_document(node)
            if value is not None:
                yield Document(value, node)
    finally:
        loader.dispose()


def to_yaml(value: Any) -> str:
    """A value as YAML that reads back as the same; fields keep their order."""
    text: str = yaml.dump(value, Dumper=CoreDumper, sort_keys=False, allow_unicode=True, width=120)
    return text


class CoreDumper(yaml.SafeDumper):
    """Quotes scalars that YAML 1.1 or 1.2 would read as something else than a string."""

    def ignore_aliases(self, data: Any) -> bool:
        return True
