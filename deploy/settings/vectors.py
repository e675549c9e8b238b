"""Qdrant, and the embedders of its vectors."""

from typing import Literal

from pydantic import BaseModel, Field, SecretStr

from deploy.settings.defaults import DEV_QDRANT_PORT
from sinks.embeddings.models import MEMORY_DEFAULT, MEMORY_MODELS, MODELS, PASSAGE_DEFAULT


class VectorFields(BaseModel):
    qdrant_url: str = Field(
        f"http://127.0.0.1:{DEV_QDRANT_PORT}", pattern=r"^https?://", description="Qdrant's REST address"
    )
    qdrant_api_key: SecretStr | None = Field(None, description="Qdrant's API key, if it requires one")
    qdrant_collection: str = Field("memories", min_length=1, description="Qdrant collection of the memories")
    embedder: Literal["onnx", "ollama", "openai"] = Field(
        "onnx",
        description="the embedder: a model in this process (onnx), an Ollama server, or an endpoint with OpenAI's "
        "/embeddings",
    )
    embedder_model: str | None = Field(
        None,
        min_length=1,
        description=f"the embedder's model; for onnx one of {', '.join(MEMORY_MODELS)}; default with onnx: {MEMORY_DEFAULT.name}",
    )
    passage_embedder_model: str | None = Field(
        None,
        min_length=1,
        description=f"model for passages; for onnx one of {', '.join(MODELS)}; default: the model of memories, but with "
        f"onnx {PASSAGE_DEFAULT.name}",
    )
    embedder_base_url: str | None = Field(
        None, description="address of the embedder openai, up to /v1, or of Ollama if it is not 127.0.0.1:11434"
    )
    embedder_api_key: SecretStr | None = Field(
        None, description="bearer key of the embedder's endpoint, if it requires one"
    )
    embedder_dimension: int | None = Field(
        None,
        ge=1,
        le=65_536,
        description="requests vectors of this dimension from the endpoint (OpenAI's field dimensions; Voyage has "
        "another); default: the model's own",
    )

    @property
    def embedding_model(self) -> str:
        """The name of the memories' embedding model, as in the settings."""
        return self.embedder_model or (MEMORY_DEFAULT.name if self.embedder == "onnx" else "")

    @property
    def passage_embedding_model(self) -> str:
        """The name of the passages' embedding model, as in the settings."""
        if self.embedder == "onnx":
            return self.passage_embedder_model or PASSAGE_DEFAULT.name
        return self.passage_embedder_model or self.embedding_model
