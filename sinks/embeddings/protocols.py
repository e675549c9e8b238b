"""The two protocols of embedding endpoints: what is asked, and the rows of an answer in the order of the texts."""

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import msgspec
from msgspec import Struct

Row: TypeAlias = list[float | None]  # servers in C and Rust write null for what is not a number


class Dialect(Protocol):
    """Knows a protocol; speaks to nobody."""

    path: str

    def asked(self, model: str, texts: Sequence[str], dimension: int | None) -> dict[str, Any]:
        """The request's body; with a `dimension` vectors are asked for that are shortened to it."""

    def rows(self, answer: object) -> list[Row]:
        """Raises ValueError for an answer of another shape."""

    def recorded(self, model: str) -> str:
        """The name under which the model's vectors are kept: one, however it is written."""

    def runs_elsewhere(self, model: str) -> bool:
        """Whether the server hands texts on to another, as the model's name tells."""


class Embedded(Struct, frozen=True):
    embeddings: list[Row]


class OllamaDialect:
    """Ollama's `/api/embed`."""

    path = "/api/embed"

    def asked(self, model: str, texts: Sequence[str], dimension: int | None) -> dict[str, Any]:
        # Since 0.13.5 `truncate` is passed over and a long text refused: who asks must be ready for that, too.
        body = {"model": model, "input": list(texts), "truncate": True}
        return body if dimension is None else body | {"dimensions": dimension}

    def rows(self, answer: object) -> list[Row]:
        return msgspec.convert(answer, Embedded).embeddings

    def recorded(self, model: str) -> str:
        """Ollama compares names without case, and reads `:latest` where there is no tag."""
        return (model if ":" in model.rpartition("/")[2] else f"{model}:latest").casefold()

    def runs_elsewhere(self, model: str) -> bool:
        """Ollama's own machines answer for `...:cloud` and `...-cloud`."""
        return self.recorded(model).rpartition(":")[2].endswith("cloud")


class Item(Struct, frozen=True):
    index: int
    embedding: Row


class Listed(Struct, frozen=True):
    data: list[Item]


class OpenAiDialect:
    """OpenAI's `/embeddings`, as Voyage, Text Embeddings Inference, vLLM and others have it under `/v1`.

    No `encoding_format` is named: numbers are the default of all, and Voyage knows no name for them.
    """

    path = "/embeddings"

    def asked(self, model: str, texts: Sequence[str], dimension: int | None) -> dict[str, Any]:
        body = {"model": model, "input": list(texts)}
        return body if dimension is None else body | {"dimensions": dimension}

    def rows(self, answer: object) -> list[Row]:
        items = sorted(msgspec.convert(answer, Listed).data, key=lambda item: item.index)
        if [item.index for item in items] != list(range(len(items))):
            raise ValueError("its indexes are not those of the texts")
        return [item.embedding for item in items]

    def recorded(self, model: str) -> str:
        return model

    def runs_elsewhere(self, model: str) -> bool:
        return False
