"""Qdrant, and the embedder that makes its vectors."""

from typing import Literal

from pydantic import BaseModel, Field, SecretStr

from deploy.settings.defaults import DEV_QDRANT_PORT
from sinks.embeddings.models import MEMORY_DEFAULT, MODELS, PASSAGE_DEFAULT


class VectorFields(BaseModel):
    qdrant_url: str = Field(
        f"http://127.0.0.1:{DEV_QDRANT_PORT}", pattern=r"^https?://", description="Qdrant's REST address"
    )
    qdrant_api_key: SecretStr | None = Field(None, description="Qdrant's API key, if it wants one")
    qdrant_collection: str = Field("memories", min_length=1, description="Qdrant collection of the memories")
    embedder: Literal["onnx", "ollama", "openai"] = Field(
        "onnx",
        description="who embeds: a model in this process, an Ollama server, or any endpoint with OpenAI's /embeddings",
    )
    embedder_model: str | None = Field(
        None,
        min_length=1,
        description=f"the embedder's model; of onnx {', '.join(MODELS)} (unless named, {MEMORY_DEFAULT.name})",
    )
    passage_embedder_model: str | None = Field(
        None,
        min_length=1,
        description="the model for passages of what was said; unless named, the same as for memories, but of onnx "
        f"{PASSAGE_DEFAULT.name}",
    )
    embedder_base_url: str | None = Field(
        None, description="address of embedder openai, up to /v1, or of Ollama if not on 127.0.0.1:11434"
    )
    embedder_api_key: SecretStr | None = Field(
        None, description="bearer key of the embedder's endpoint, if it wants one"
    )
    embedder_dimension: int | None = Field(
        None,
        ge=1,
        le=65_536,
        description="asks the endpoint for vectors shortened to it, by the name that OpenAI has for that "
        "(Voyage has another); else as the model makes them",
    )

    @property
    def embedding_model(self) -> str:
        """The name of the memories' model as the settings give it."""
        return self.embedder_model or (MEMORY_DEFAULT.name if self.embedder == "onnx" else "")

    @property
    def passage_embedding_model(self) -> str:
        """The name of the passages' model, likewise."""
        if self.embedder == "onnx":
            return self.passage_embedder_model or PASSAGE_DEFAULT.name
        return self.passage_embedder_model or self.embedding_model
