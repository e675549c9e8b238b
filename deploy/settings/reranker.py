"""The reranker, which reorders search results."""

from typing import Literal

from pydantic import BaseModel, Field, SecretStr


class RerankerFields(BaseModel):
    reranker: Literal["off", "tei", "cohere", "jina", "voyage", "claude"] = Field(
        "off",
        description="the reranker of search results: an endpoint with the API of Text Embeddings Inference, "
        "Cohere, Jina or Voyage, or Claude",
    )
    reranker_model: str | None = Field(
        None, min_length=1, description="the reranker's model; default for claude: MEMSTREAM_CLAUDE_MODEL"
    )
    reranker_base_url: str | None = Field(
        None, description="base address of the reranker: required for tei, and for servers other than the vendor's own"
    )
    reranker_api_key: SecretStr | None = Field(
        None, description="bearer key of the reranker's endpoint, if it requires one"
    )
    reranker_within_s: float = Field(
        2.0, gt=0.0, le=15.0, description="time limit of the reranker; afterwards hits keep the order of the search"
    )
    reranker_candidates: int = Field(30, ge=2, le=100, description="number of best hits that the reranker sees")
