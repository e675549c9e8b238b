"""The models of an Ollama server: whether a model is pulled, and whether it runs on that server."""

from typing import Final

import httpx
import msgspec
from msgspec import Struct

from agents.models.ollama.errors import connection_error, model_missing

LATEST: Final = ":latest"
CHECK_TIMEOUT_S: Final = 2.0


class InstalledModel(Struct, frozen=True):
    """A pulled model."""

    name: str


class ModelList(Struct, frozen=True):
    """The pulled models; old versions send null for none."""

    models: list[InstalledModel] | None


async def unavailable_reason(client: httpx.AsyncClient, model: str, where: str) -> str | None:
    """The reason why the server or the model is unavailable; None if it is available. Takes at most CHECK_TIMEOUT_S seconds and
    loads no model."""
    try:
        response = await client.get("/api/tags", timeout=CHECK_TIMEOUT_S)
        pulled = msgspec.json.decode(response.content, type=ModelList).models
    except httpx.HTTPError as exc:
        return str(connection_error(exc, where))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return f"the server at {where} is not an Ollama server: check MEMSTREAM_OLLAMA_BASE_URL"
    if with_tag(model) in {with_tag(each.name) for each in pulled or ()}:
        return None
    return str(model_missing(model, where))


def with_tag(model: str) -> str:
    """The name as Ollama compares it: in lower case, with the tag `latest` if it has none."""
    return (model if ":" in model.rpartition("/")[2] else model + LATEST).casefold()


def is_cloud_model(model: str) -> bool:
    """Whether the server forwards questions to Ollama's cloud, as for `gpt-oss:120b-cloud`."""
    return with_tag(model).rpartition(":")[2].endswith("cloud")
