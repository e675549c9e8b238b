"""Checks of settings that depend on each other. Each raises ValueError with the variables, the values and the remedy."""

from deploy.settings.defaults import PREFIX
from deploy.settings.kafka import KafkaFields
from deploy.settings.models import ModelFields
from deploy.settings.reranker import RerankerFields
from deploy.settings.schema_registry import SchemaRegistryFields
from deploy.settings.vectors import VectorFields
from deploy.settings.workers import WorkerFields
from sinks.embeddings.models import MEMORY_MODELS, MODELS

SASL = ("username", "password")
OAUTH = ("oauth_token_url", "oauth_scope", "oauth_audience", "oauth_extensions", "oauth_ca_file")
REGION = "aws_region"
TLS = ("ca_file", "certificate_file", "key_file", "key_password")


def check_heartbeats(settings: WorkerFields) -> None:
    """Kafka's rule: a session must have time for three heartbeats."""
    if settings.heartbeat_interval_s * 3 > settings.session_timeout_s:
        raise ValueError(
            f"{PREFIX}HEARTBEAT_INTERVAL_S={settings.heartbeat_interval_s:g} must be at most a third of "
            f"{PREFIX}SESSION_TIMEOUT_S={settings.session_timeout_s:g}"
        )


def check_kafka_security(settings: KafkaFields) -> None:
    """The protocol has all settings that it needs, and none that it would ignore."""
    security = settings.security()
    mechanism = settings.kafka_sasl_mechanism if security.authenticated else None
    named = mechanism not in (None, "AWS_MSK_IAM")
    needed = dict.fromkeys(SASL, named) | {OAUTH[0]: mechanism == "OAUTHBEARER", REGION: mechanism == "AWS_MSK_IAM"}
    used = needed | dict.fromkeys(OAUTH, mechanism == "OAUTHBEARER") | dict.fromkeys(TLS, security.encrypted)
    given = {name for name in used if getattr(settings, f"kafka_{name}") is not None}
    chosen, variable = chosen_security(settings), f"{PREFIX}KAFKA_"
    for name, counts in used.items():
        if name in given and not counts:
            raise ValueError(f"{variable}{name.upper()} is set, but {chosen} does not use it")
        if needed.get(name) and name not in given:
            raise ValueError(f"{chosen} needs {variable}{name.upper()}")
    if len(given & {"certificate_file", "key_file"}) == 1 or ("key_password" in given and "key_file" not in given):
        raise ValueError(f"{variable}CERTIFICATE_FILE and {variable}KEY_FILE are set together, or not at all")


def chosen_security(settings: KafkaFields) -> str:
    """The Kafka security settings that decide which others are needed, as text."""
    protocol = f"{PREFIX}KAFKA_SECURITY_PROTOCOL={settings.kafka_security_protocol}"
    if not settings.security().authenticated:
        return protocol
    return f"{PREFIX}KAFKA_SASL_MECHANISM={settings.kafka_sasl_mechanism} with {protocol}"


def check_providers(settings: ModelFields) -> None:
    named = settings.provider_order.split(",")
    if len(set(named)) < len(named):
        raise ValueError(f"{PREFIX}PROVIDER_ORDER={settings.provider_order} names a provider twice")


def check_embedder(settings: VectorFields) -> None:
    """The embedder and its model are valid; by default texts are sent nowhere."""
    named = (
        ("EMBEDDER_MODEL", "memories", settings.embedding_model, MEMORY_MODELS),
        ("PASSAGE_EMBEDDER_MODEL", "passages", settings.passage_embedding_model, MODELS),
    )
    for variable, what, model, known in named:
        if settings.embedder == "onnx" and model not in known:
            raise ValueError(
                f"{PREFIX}{variable}={model} is not a model for {what} that runs in this process: "
                f"name one of {', '.join(known)}, or set {PREFIX}EMBEDDER"
            )
    if settings.embedder != "onnx" and settings.embedder_model is None:
        raise ValueError(f"{PREFIX}EMBEDDER={settings.embedder} needs {PREFIX}EMBEDDER_MODEL: name the model")
    if settings.embedder == "openai" and settings.embedder_base_url is None:
        raise ValueError(f"{PREFIX}EMBEDDER=openai needs {PREFIX}EMBEDDER_BASE_URL: the address up to /v1")


def check_reranker(settings: RerankerFields) -> None:
    chosen = f"{PREFIX}RERANKER={settings.reranker}"
    if settings.reranker == "tei" and settings.reranker_base_url is None:
        raise ValueError(f"{chosen} needs {PREFIX}RERANKER_BASE_URL: the address before /rerank")
    if settings.reranker in ("cohere", "jina", "voyage") and settings.reranker_model is None:
        raise ValueError(f"{chosen} needs {PREFIX}RERANKER_MODEL: name the model")


def check_schema_registry(settings: SchemaRegistryFields) -> None:
    given = {
        name for name in ("username", "password", "ca_file") if getattr(settings, f"schema_registry_{name}") is not None
    }
    variable = f"{PREFIX}SCHEMA_REGISTRY_"
    if given and settings.schema_registry_url is None:
        raise ValueError(f"{variable}{min(given).upper()} is set, and without {variable}URL nothing uses it")
    if len(given & {"username", "password"}) == 1:
        raise ValueError(f"{variable}USERNAME and {variable}PASSWORD are set together, or not at all")
