"""Settings: environment variables with the prefix MEMSTREAM_ and a `.env` file, checked when the process starts."""

from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from deploy.policies.files import read_files
from schemas.errors import Misconfigured
from schemas.extraction.requests import Lane
from schemas.kafka import topics
from schemas.policies.policies import Policies
from sinks.extraction.batches import Bounds
from streams.kafka.cluster import ClusterSettings
from streams.kafka.security import Mechanism, Protocol, Security
from streams.kafka.topics import TopicSettings

PREFIX = "MEMSTREAM_"

# Loopback ports of `memstream dev`: other tools find it without settings of their own.
DEV_KAFKA_PORT, DEV_POSTGRES_PORT, DEV_QDRANT_PORT, DEV_API_PORT = 29092, 25432, 26333, 28080

# Of the slices in a batch. The API takes 256 MB of prompts; this much is held in memory at a time, and sent in one call.
BATCH_BYTES = 32 * 1024 * 1024

BROKERS = r"^[^\s,:/]+:\d{1,5}(,[^\s,:/]+:\d{1,5})*$"

Port = Annotated[int, Field(ge=1, le=65535)]
LimitName = Literal["tokens_per_hour", "tokens_per_day", "usd_per_hour", "usd_per_day"]
Limits = dict[LimitName, Annotated[float, Field(ge=0, le=1e15, allow_inf_nan=False)]]


class Settings(BaseSettings):
    """Each field is the variable MEMSTREAM_<NAME>; the description is its line in the documentation's table."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_file=".env", extra="ignore", frozen=True)

    bootstrap_servers: str = Field(
        f"127.0.0.1:{DEV_KAFKA_PORT}", pattern=BROKERS, description="Kafka brokers, host:port, separated by commas"
    )
    kafka_security_protocol: Protocol = Field("PLAINTEXT", description="how Kafka is spoken to")
    kafka_sasl_mechanism: Mechanism = Field("SCRAM-SHA-512", description="of name and password, with SASL_SSL")
    kafka_username: str | None = Field(None, min_length=1, description="with SASL_SSL: who memstream is for Kafka")
    kafka_password: SecretStr | None = Field(None, min_length=1, description="with SASL_SSL: its password")
    kafka_ca_file: Path | None = Field(
        None, description="with SSL or SASL_SSL: PEM file of whom to trust, where it is not the system's authorities"
    )
    kafka_certificate_file: Path | None = Field(
        None, description="with SSL or SASL_SSL: PEM file of memstream's own certificate, if brokers ask for one"
    )
    kafka_key_file: Path | None = Field(None, description="PEM file of the key of that certificate")
    kafka_key_password: SecretStr | None = Field(None, min_length=1, description="of that key, if it is encrypted")
    postgres_dsn: SecretStr = Field(
        SecretStr(f"postgresql://memstream@127.0.0.1:{DEV_POSTGRES_PORT}/memstream"),
        description="PostgreSQL connection URL",
    )
    qdrant_url: str = Field(
        f"http://127.0.0.1:{DEV_QDRANT_PORT}", pattern=r"^https?://", description="Qdrant's REST address"
    )
    qdrant_api_key: SecretStr | None = Field(None, description="Qdrant's API key, if it wants one")
    qdrant_collection: str = Field("memories", min_length=1, description="Qdrant collection of the memories")
    topic_prefix: str = Field("", pattern=r"^[A-Za-z0-9._-]*$", description="put before every topic and group name")
    conversation_partitions: int = Field(8, ge=1, le=1000, description="partitions of the topics keyed by conversation")
    namespace_partitions: int = Field(8, ge=1, le=1000, description="partitions of the topics keyed by namespace")
    replication: int = Field(
        1,
        ge=1,
        le=10,
        description="replication factor of topics that memstream creates; from 2 on, two copies must be in sync for a write",
    )
    max_message_bytes: int = Field(
        1_048_576, ge=524_288, description="largest message a chat service may publish; own topics take four times that"
    )
    kept_days: dict[str, Annotated[int, Field(ge=1, le=36_500)]] = Field(
        default_factory=dict,
        description='days that topics which memstream creates keep their records, as JSON by name: {"chat.messages": 3}; '
        "else as schemas/generated/topics.md says",
    )
    start_from: Literal["now", "earliest"] = Field(
        "now", description="where a consumer group's very first start begins to read"
    )
    session_timeout_s: float = Field(10.0, ge=6.0, le=300.0, description="after which a silent worker is replaced")
    heartbeat_interval_s: float = Field(3.0, gt=0.0, description="between a worker's heartbeats")
    checkpoint_interval_s: float = Field(0.5, gt=0.0, le=10.0, description="between a partition's checkpoints")
    store: Literal["rocksdb", "memory"] = Field(
        "rocksdb", description="where a worker keeps its copy of window rows; memory reads them anew at each start"
    )
    provider: Literal["offline", "claude", "ollama", "auto"] = Field("offline", description="who extracts memories")
    provider_order: str = Field(
        "ollama,claude,offline",
        pattern=r"^(ollama|claude|offline)(,(ollama|claude|offline))*$",
        description="whom provider auto asks, the first that can answer; without offline at its end an outage waits",
    )
    anthropic_api_key: SecretStr | None = Field(None, description="for provider claude; else ANTHROPIC_API_KEY counts")
    anthropic_base_url: str | None = Field(
        None, description="for provider claude behind a proxy; else ANTHROPIC_BASE_URL counts"
    )
    claude_model: str = Field("claude-haiku-5-5", min_length=1, description="model of provider claude")
    claude_compaction_model: str = Field(
        "claude-sonnet-5-5", min_length=1, description="model of provider claude for compaction"
    )
    claude_timeout_s: float = Field(30.0, ge=1.0, le=600.0, description="of one attempt at Claude; there are three")
    claude_concurrency: int = Field(16, ge=1, le=256, description="calls to Claude at a time in one worker")
    claude_tokens_per_minute: int | None = Field(
        None, ge=1_000, description="tokens a minute and worker for Claude, beside the limits that the API tells"
    )
    ollama_model: str = Field("qwen3:4b", min_length=1, description="model of provider ollama, pulled beforehand")
    ollama_base_url: str = Field(
        "http://127.0.0.1:11434", pattern=r"^https?://", description="Ollama's address for provider ollama"
    )
    ollama_timeout_s: float = Field(
        120.0, ge=1.0, le=3600.0, description="of one call to Ollama, loading the model included"
    )
    ollama_concurrency: int = Field(1, ge=1, le=64, description="calls to Ollama at a time in one worker")
    model_rest_s: float = Field(
        30.0, ge=0.1, le=600.0, description="for which a model that failed five times in a row is left alone"
    )
    embedder: Literal["onnx", "ollama", "openai"] = Field(
        "onnx",
        description="who embeds: the model that ships, an Ollama server, or any endpoint with OpenAI's /embeddings",
    )
    embedder_model: str | None = Field(None, min_length=1, description="model of an embedder other than onnx")
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
    extraction_concurrency: int = Field(8, ge=1, le=256, description="live model calls at a time in one worker")
    background_concurrency: int = Field(
        4, ge=1, le=256, description="model calls at a time in one worker for what nobody waits for"
    )
    batch_wait_s: float = Field(300.0, gt=0.0, description="how long a request waits for others to make a batch with")
    batch_requests: int = Field(1_000, ge=1, le=100_000, description="requests in a batch at most")
    batch_poll_s: float = Field(
        60.0, gt=0.0, description="before a batch is first looked at; later pauses grow to ten times that"
    )
    usage_retention_days: int = Field(
        400, ge=0, le=3_650, description="for how long records of what model calls consumed are kept; 0 for ever"
    )
    pruning_retention_days: int = Field(
        90, ge=0, le=3_650, description="for how long it is kept what left contexts, when and why; 0 for ever"
    )
    curation_concurrency: int = Field(4, ge=1, le=64, description="deciding transactions at a time in one worker")
    model_context_tokens: dict[str, Annotated[int, Field(ge=1)]] = Field(
        default_factory=dict, description="context sizes of models by name, as JSON, where the built-in table is wrong"
    )
    budget: Limits = Field(
        default_factory=dict,
        description="what all namespaces together may spend on models, as JSON: tokens_per_hour, tokens_per_day, "
        "usd_per_hour, usd_per_day",
    )
    chat_budget: Limits = Field(
        default_factory=dict,
        description="what the whole chat system may spend on models, likewise; memory gets MEMSTREAM_MEMORY_SHARE of it",
    )
    memory_share: float = Field(0.05, ge=0.0, le=1.0, description="memory's part of MEMSTREAM_CHAT_BUDGET, at most")
    background_reserve: float = Field(
        0.2, ge=0.0, le=1.0, description="part of these budgets that is kept for live work; policies have their own"
    )
    prices_file: Path | None = Field(None, description="JSON table of model prices, over the built-in one")
    policies_file: Path | None = Field(
        None, description="YAML or JSON file of policies that apply beneath those of the topic memory.policies"
    )
    api_host: str = Field("127.0.0.1", min_length=1, description="address that the API listens on")
    api_port: int = Field(
        DEV_API_PORT, ge=0, le=65_535, description="port that the API listens on; 0 takes any free one"
    )
    api_requests_per_minute: int = Field(
        6_000, ge=1, le=10_000_000, description="of one key to one API process, on average; a tenth of it at once"
    )
    api_max_body_bytes: int = Field(1_048_576, ge=1_024, le=1 << 30, description="largest body of a request to the API")
    api_wait_s: float = Field(
        5.0, gt=0.0, le=60.0, description="how long the API awaits what comes of a change, before it answers 202"
    )
    api_stop_s: float = Field(
        10.0, gt=0.0, le=600.0, description="what requests under way get to end when the API stops"
    )
    stop_s: float = Field(
        10.0, ge=0.0, le=3600.0, description="what a worker that is told to stop gets to finish what is under way"
    )
    stuck_s: float = Field(
        300.0, ge=10.0, le=86_400.0, description="after which a worker is not ready whose lag does not move"
    )
    migrate_at_start: bool = Field(
        False, description="whether a worker or the API migrates PostgreSQL before it starts"
    )
    metrics_port: int | None = Field(
        None, ge=0, le=65_535, description="port that a worker is scraped and probed on; 0 takes any free one"
    )
    api_metrics_port: int | None = Field(
        None, ge=0, le=65_535, description="port that an API process is scraped on; 0 takes any free one"
    )
    metrics_host: str = Field(
        "127.0.0.1", min_length=1, description="address that workers and the API listen on for that"
    )
    data_dir: Path = Field(Path(".memstream"), description="where the embedded stack and workers keep files")
    cache_dir: Path = Field(
        Path("~/.cache/memstream"), description="where Kafka's jars and vocabularies are kept between runs"
    )
    tokenizer: Literal["o200k_base", "cl100k_base"] = Field("o200k_base", description="tiktoken encoding for counts")
    traces: Literal["off", "otlp"] = Field(
        "off",
        description="whether spans are sent, by OTLP over HTTP; OTEL_EXPORTER_OTLP_ENDPOINT and its like say where",
    )
    log_format: Literal["text", "json"] = Field(
        "text", description="how log lines look: for people, or one JSON object each"
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="least level that is logged; only debug quotes what was said"
    )

    @field_validator("postgres_dsn")
    @classmethod
    def is_a_postgres_url(cls, dsn: SecretStr) -> SecretStr:
        """The message tells nothing of the value: it may hold a password."""
        try:
            parts = urlsplit(dsn.get_secret_value())
            known = parts.scheme in ("postgresql", "postgres") and (parts.port or True)
        except ValueError:
            known = False
        if not known:
            raise ValueError("should look like postgresql://user:password@host:5432/database")
        return dsn

    @model_validator(mode="after")
    def heartbeats_fit_the_session(self) -> Self:
        """Kafka's own rule: a session must have room for three heartbeats."""
        if self.heartbeat_interval_s * 3 > self.session_timeout_s:
            raise ValueError(
                f"{PREFIX}HEARTBEAT_INTERVAL_S={self.heartbeat_interval_s:g} must be at most a third of "
                f"{PREFIX}SESSION_TIMEOUT_S={self.session_timeout_s:g}"
            )
        return self

    def slots(self) -> dict[Lane, int]:
        """How many extraction requests of each lane may be on their way through one worker's model."""
        return {"live": self.extraction_concurrency, "background": self.background_concurrency}

    @field_validator("kept_days")
    @classmethod
    def topics_are_kept_for_a_time(cls, kept: dict[str, int]) -> dict[str, int]:
        """Those that keep the latest record of each key do so for ever: what they forgot nobody would remember."""
        possible = [name for name, days in topics.KEPT_DAYS.items() if days is not None]
        if unknown := sorted(kept.keys() - set(possible)):
            raise ValueError(f"{unknown[0]} is none of the topics whose time can be chosen: {', '.join(possible)}")
        return kept

    @model_validator(mode="after")
    def providers_are_named_once(self) -> Self:
        named = self.provider_order.split(",")
        if len(set(named)) < len(named):
            raise ValueError(f"{PREFIX}PROVIDER_ORDER={self.provider_order} names a provider twice")
        return self

    @model_validator(mode="after")
    def embedder_is_named(self) -> Self:
        """Texts are sent nowhere by default."""
        if self.embedder != "onnx" and self.embedder_model is None:
            raise ValueError(f"{PREFIX}EMBEDDER={self.embedder} needs {PREFIX}EMBEDDER_MODEL: name the model")
        if self.embedder == "openai" and self.embedder_base_url is None:
            raise ValueError(f"{PREFIX}EMBEDDER=openai needs {PREFIX}EMBEDDER_BASE_URL: the address up to /v1")
        return self

    @model_validator(mode="after")
    def kafka_security_is_whole(self) -> Self:
        """What the protocol needs is there, and what it would not use is not: a password that is ignored protects nothing."""
        sasl, tls = self.security().authenticated, self.security().encrypted
        by_name, by_file = ("username", "password"), ("ca_file", "certificate_file", "key_file", "key_password")
        used = dict.fromkeys(by_name, sasl) | dict.fromkeys(by_file, tls)
        given = {name for name in used if getattr(self, f"kafka_{name}") is not None}
        protocol, variable = f"{PREFIX}KAFKA_SECURITY_PROTOCOL={self.kafka_security_protocol}", f"{PREFIX}KAFKA_"
        for name, counts in used.items():
            if name in given and not counts:
                raise ValueError(f"{variable}{name.upper()} is set, and {protocol} would not use it")
            if name in by_name and sasl and name not in given:
                raise ValueError(f"{protocol} needs {variable}{name.upper()}")
        if len(given & {"certificate_file", "key_file"}) == 1 or ("key_password" in given and "key_file" not in given):
            raise ValueError(f"{variable}CERTIFICATE_FILE and {variable}KEY_FILE are set together, or not at all")
        return self

    def batch_bounds(self) -> Bounds:
        return Bounds(self.batch_requests, BATCH_BYTES, self.batch_wait_s)

    def topics(self) -> TopicSettings:
        return TopicSettings(
            prefix=self.topic_prefix,
            conversation_partitions=self.conversation_partitions,
            namespace_partitions=self.namespace_partitions,
            replication=self.replication,
            max_message_bytes=self.max_message_bytes,
            kept_days=self.kept_days,
        )

    def cluster(self) -> ClusterSettings:
        return ClusterSettings(
            bootstrap_servers=self.bootstrap_servers,
            datadir=self.data_dir / "worker",
            session_timeout_s=self.session_timeout_s,
            heartbeat_interval_s=self.heartbeat_interval_s,
            checkpoint_interval_s=self.checkpoint_interval_s,
            store=self.store,
            security=self.security(),
        )

    def security(self) -> Security:
        return Security(
            protocol=self.kafka_security_protocol,
            mechanism=self.kafka_sasl_mechanism,
            username=self.kafka_username,
            password=revealed(self.kafka_password),
            ca_file=self.kafka_ca_file,
            certificate_file=self.kafka_certificate_file,
            key_file=self.kafka_key_file,
            key_password=revealed(self.kafka_key_password),
        )

    def policies(self) -> Policies:
        """Those of the policies file. Raises Misconfigured when it cannot be read or holds something else."""
        if self.policies_file is None:
            return Policies()
        try:
            listed = read_files([self.policies_file])
        except Misconfigured as exc:
            raise Misconfigured(f"{PREFIX}POLICIES_FILE: {exc}") from exc
        return Policies().over(Policies(tuple(written.policy for written in listed)))

    @property
    def cache(self) -> Path:
        return self.cache_dir.expanduser()


def load(**overrides: object) -> Settings:
    """Settings of this process. Raises Misconfigured naming each wrong variable, its value and what it takes."""
    try:
        return Settings(**overrides)  # type: ignore[arg-type]
    except ValidationError as exc:
        raise Misconfigured("; ".join(complaint(dict(error)) for error in exc.errors())) from None


def complaint(error: dict[str, object]) -> str:
    """One wrong variable. A secret's value is never repeated."""
    place: tuple[object, ...] = error["loc"]  # type: ignore[assignment]
    if not place:  # of several settings together
        return str(error["msg"]).removeprefix("Value error, ")
    name = str(place[0])
    field = Settings.model_fields.get(name)
    secret = field is not None and "Secret" in str(field.annotation)
    value = "(secret)" if secret else repr(error.get("input"))
    described = f" ({field.description})" if field is not None else ""
    return f"{PREFIX}{name.upper()}={value}: {error['msg']}{described}"


def revealed(secret: SecretStr | None) -> str | None:
    return None if secret is None else secret.get_secret_value()


def table() -> list[tuple[str, str, str]]:
    """(variable, default, meaning) of every setting, for the documentation and `memstream settings`."""
    rows = []
    for name, field in Settings.model_fields.items():
        default = field.get_default(call_default_factory=True)
        shown = default.get_secret_value() if isinstance(default, SecretStr) else default
        rows.append((PREFIX + name.upper(), "" if shown is None else str(shown), field.description or ""))
    return rows
