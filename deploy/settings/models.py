"""Models for extraction and compaction: providers, addresses, timeouts and limits."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field, SecretStr


class ModelFields(BaseModel):
    provider: Literal["offline", "claude", "ollama", "auto"] = Field(
        "offline", description="provider that extracts memories"
    )
    provider_order: str = Field(
        "ollama,claude,offline",
        pattern=r"^(ollama|claude|offline)(,(ollama|claude|offline))*$",
        description="order in which the provider auto tries providers; without offline at the end, requests wait "
        "during an outage",
    )
    anthropic_api_key: SecretStr | None = Field(
        None, description="API key of provider claude; default: ANTHROPIC_API_KEY"
    )
    anthropic_base_url: str | None = Field(
        None, description="base address of provider claude behind a proxy; default: ANTHROPIC_BASE_URL"
    )
    claude_model: str = Field("claude-haiku-5-5", min_length=1, description="model of provider claude")
    claude_compaction_model: str = Field(
        "claude-sonnet-5-5", min_length=1, description="model of provider claude for compaction"
    )
    claude_timeout_s: float = Field(
        30.0, ge=1.0, le=600.0, description="time limit of one attempt at Claude; a call has three"
    )
    claude_tokens_per_minute: int | None = Field(
        None,
        ge=1_000,
        description="tokens per minute and worker for Claude, in addition to the limits that the API reports",
    )
    ollama_model: str = Field("qwen3:4b", min_length=1, description="model of provider ollama, pulled beforehand")
    ollama_base_url: str = Field(
        "http://127.0.0.1:11434", pattern=r"^https?://", description="Ollama's address for provider ollama"
    )
    ollama_timeout_s: float = Field(
        120.0, ge=1.0, le=3600.0, description="time limit of one call to Ollama, including loading the model"
    )
    ollama_concurrency: int = Field(1, ge=1, le=64, description="calls to Ollama at a time in one worker")
    model_rest_s: float = Field(
        30.0, ge=0.1, le=600.0, description="pause of calls to a model that failed five times in a row"
    )
    model_context_tokens: dict[str, Annotated[int, Field(ge=1)]] = Field(
        default_factory=dict, description="context sizes of models by name, as JSON; replaces built-in sizes"
    )
