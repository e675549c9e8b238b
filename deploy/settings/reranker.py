"""The reranker: who looks a second time at what a search found."""

from typing import Literal

from pydantic import BaseModel, Field, SecretStr


class RerankerFields(BaseModel):
    reranker: Literal["off", "tei", "cohere", "jina", "voyage", "claude"] = Field(
        "off",
        description="who puts what a search found into a better order: an endpoint that speaks as Text Embeddings Inference, "
        "Cohere, Jina or Voyage do, or Claude",
    )
    reranker_model: str | None = Field(
        None, min_length=1, description="the reranker's model; of claude MEMSTREAM_CLAUDE_MODEL unless named"
    )
    reranker_base_url: str | None = Field(
        None, description="address before the endpoint's path: for tei, or for a server that speaks as another does"
    )
    reranker_api_key: SecretStr | None = Field(
        None, description="bearer key of the reranker's endpoint, if it wants one"
    )
    reranker_within_s: float = Field(
        2.0, gt=0.0, le=15.0, description="longest wait for the reranker; then hits keep the order of the search"
    )
    reranker_candidates: int = Field(30, ge=2, le=100, description="hits that the reranker is shown, the best first")
