"""The two protocols of embedding endpoints: request bodies, and the rows of an answer in the order of the texts."""

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import msgspec
from msgspec import Struct

Row: TypeAlias = list[float | None]  # servers in C and Rust encode NaN as null


class Dialect(Protocol):
    """A protocol of embedding endpoints. Pure: it builds requests and reads answers."""

    path: str

    def request_body(self, model: str, texts: Sequence[str], dimension: int | None) -> dict[str, Any]:
        """The request body; `dimension` asks for vectors shortened to it."""

    def rows(self, answer: object) -> list[Row]:
        """The vectors of an answer. Raises ValueError for an answer of another shape."""

    def canonical_model(self, model: str) -> str:
        """The canonical name of the model, stored with its vectors."""

    def runs_remotely(self, model: str) -> bool:
        """Whether the model's name says that the server forwards texts to another machine."""


class Embedded(Struct, frozen=True):
    embeddings: list[Row]


class OllamaDialect:
    """Ollama's `/api/embed`."""

    path = "/api/embed"

    def request_body(self, model: str, texts: Sequence[str], dimension: int | None) -> dict[str, Any]:
        # From 0.13.5 on, Ollama ignores `truncate` and refuses long texts; the caller handles both.
        body = {"model": model, "input": list(texts), "truncate": True}
        return body if dimension is None else body | {"dimensions": dimension}

    def rows(self, answer: object) -> list[Row]:
        return msgspec.convert(answer, Embedded).embeddings

    def canonical_model(self, model: str) -> str:
        """Ollama ignores case in names and reads `:latest` where there is no tag."""
        return (model if ":" in model.rpartition("/")[2] else f"{model}:latest").casefold()

    def runs_remotely(self, model: str) -> bool:
        """Ollama's cloud runs models named `...:cloud` and `...-cloud`."""
        return self.canonical_model(model).rpartition(":")[2].endswith("cloud")


class Item(Struct, frozen=True):
    index: int
    embedding: Row


class Listed(Struct, frozen=True):
    data: list[Item]


class OpenAiDialect:
    """OpenAI's `/embeddings`, as Voyage, Text Embeddings Inference, vLLM and others offer it under `/v1`.

    `encoding_format` is left out: numbers are the default everywhere, and Voyage does not accept the name.
    """

    path = "/embeddings"

    def request_body(self, model: str, texts: Sequence[str], dimension: int | None) -> dict[str, Any]:
        body = {"model": model, "input": list(texts)}
        return body if dimension is None else body | {"dimensions": dimension}

    def rows(self, answer: object) -> list[Row]:
        items = sorted(msgspec.convert(answer, Listed).data, key=lambda item: item.index)
        if [item.index for item in items] != list(range(len(items))):
            raise ValueError("the indexes in the response do not match the texts")
        return [item.embedding for item in items]

    def canonical_model(self, model: str) -> str:
        return model

    def runs_remotely(self, model: str) -> bool:
        return False
