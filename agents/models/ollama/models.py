"""The models of an Ollama server: whether one was pulled, and whether it runs there."""

from typing import Final

import httpx
import msgspec
from msgspec import Struct

from agents.models.ollama.errors import connection_error, model_missing

LATEST: Final = ":latest"
AVAILABLE_S: Final = 2.0


class Installed(Struct, frozen=True):
    """A model that was pulled."""

    name: str


class Models(Struct, frozen=True):
    """Null where none was pulled, in old versions."""

    models: list[Installed] | None


async def trouble(client: httpx.AsyncClient, model: str, where: str) -> str | None:
    """Why the server cannot be asked, looked up within AVAILABLE_S seconds; loads nothing."""
    try:
        response = await client.get("/api/tags", timeout=AVAILABLE_S)
        pulled = msgspec.json.decode(response.content, type=Models).models
    except httpx.HTTPError as exc:
        return str(connection_error(exc, where))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return f"what answers at {where} is no Ollama server: check MEMSTREAM_OLLAMA_BASE_URL"
    if tagged(model) in {tagged(each.name) for each in pulled or ()}:
        return None
    return str(model_missing(model, where))


def tagged(model: str) -> str:
    """A name as Ollama compares it: its tag is `latest` unless told otherwise, and case does not matter."""
    return (model if ":" in model.rpartition("/")[2] else model + LATEST).casefold()


def runs_elsewhere(model: str) -> bool:
    """Whether the server only hands questions on to Ollama's own machines, as for `gpt-oss:120b-cloud`."""
    return tagged(model).rpartition(":")[2].endswith("cloud")
