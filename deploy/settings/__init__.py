"""Settings from environment variables with the prefix MEMSTREAM_ and a `.env` file, validated when the process starts.

Each module is a group of settings. The variable of a field is MEMSTREAM_<NAME>; its description is the documentation.
"""

import logging
import os
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final, NamedTuple, Self

from pydantic import BaseModel, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, DotEnvSettingsSource, SettingsConfigDict, SettingsError

from deploy.settings import checks
from deploy.settings.api import ApiFields
from deploy.settings.budgets import BudgetFields
from deploy.settings.defaults import PREFIX
from deploy.settings.directories import DirectoryFields
from deploy.settings.kafka import KafkaFields
from deploy.settings.models import ModelFields
from deploy.settings.observability import ObservabilityFields
from deploy.settings.postgres import PostgresFields
from deploy.settings.reranker import RerankerFields
from deploy.settings.retention import RetentionFields
from deploy.settings.schema_registry import SchemaRegistryFields
from deploy.settings.topics import TopicFields
from deploy.settings.vectors import VectorFields
from deploy.settings.workers import WorkerFields
from schemas.errors import Misconfigured
from streams.kafka.cluster import ClusterSettings

GROUPS: Final[dict[str, type[BaseModel]]] = {
    "Kafka": KafkaFields,
    "Topics": TopicFields,
    "Schema registry": SchemaRegistryFields,
    "PostgreSQL": PostgresFields,
    "Retention": RetentionFields,
    "Qdrant and embedder": VectorFields,
    "Reranker": RerankerFields,
    "Models": ModelFields,
    "Budgets": BudgetFields,
    "Workers": WorkerFields,
    "API": ApiFields,
    "Metrics, traces and logs": ObservabilityFields,
    "Directories": DirectoryFields,
}


SIMILAR: Final = (
    0.85  # share of equal letters; other programs' variables with the prefix, such as those of Kubernetes, have less
)

logger = logging.getLogger(__name__)


class Settings(
    KafkaFields,
    TopicFields,
    SchemaRegistryFields,
    PostgresFields,
    RetentionFields,
    VectorFields,
    RerankerFields,
    ModelFields,
    BudgetFields,
    WorkerFields,
    ApiFields,
    ObservabilityFields,
    DirectoryFields,
    BaseSettings,
):
    """All groups together. Field names are unique among them."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_file=".env", extra="ignore", frozen=True)

    @model_validator(mode="after")
    def fit_together(self) -> Self:
        checks.check_heartbeats(self)
        checks.check_kafka_security(self)
        checks.check_providers(self)
        checks.check_embedder(self)
        checks.check_reranker(self)
        checks.check_schema_registry(self)
        return self

    def cluster(self) -> ClusterSettings:
        return ClusterSettings(
            bootstrap_servers=self.bootstrap_servers,
            datadir=self.data_dir / "worker",
            session_timeout_s=self.session_timeout_s,
            heartbeat_interval_s=self.heartbeat_interval_s,
            checkpoint_interval_s=self.checkpoint_interval_s,
            security=self.security(),
        )


class SettingRow(NamedTuple):
    """A setting in the documentation and in `memstream settings`."""

    variable: str
    default: str
    meaning: str


def load(**overrides: object) -> Settings:
    """The settings of this process. Logs a warning for a variable that looks like a misspelt setting. Raises Misconfigured with
    each invalid variable, its value and the allowed values."""
    for variable, setting in misspelt([*os.environ, *DotEnvSettingsSource(Settings).env_vars]).items():
        logger.warning("%s is no setting of memstream and has no effect: did you mean %s?", variable, setting)
    try:
        return Settings(**overrides)  # type: ignore[arg-type]
    except ValidationError as exc:
        raise Misconfigured("; ".join(describe_error(dict(error)) for error in exc.errors())) from None
    except SettingsError as exc:  # names the field in quotes
        name = str(exc).split('"')[1]
        meaning = Settings.model_fields[name].description
        raise Misconfigured(f"{PREFIX}{name.upper()} is not JSON: {exc.__cause__} ({meaning})") from None


def misspelt(variables: Iterable[str]) -> dict[str, str]:
    """Variables that are no setting and differ in few letters from one, with that setting's variable. Without those for ports,
    which Kubernetes sets for every Service."""
    known = {name.upper() for name in Settings.model_fields}
    ours = {each.upper().removeprefix(PREFIX) for each in variables if each.upper().startswith(PREFIX)}
    unknown = sorted(name for name in ours - known if not name.endswith("_PORT"))
    nearest = {name: get_close_matches(name, known, n=1, cutoff=SIMILAR) for name in unknown}
    return {PREFIX + name: PREFIX + found[0] for name, found in nearest.items() if found}


def describe_error(error: dict[str, object]) -> str:
    """The error of one variable. The value of a secret is never repeated."""
    place: tuple[object, ...] = error["loc"]  # type: ignore[assignment]
    if not place:  # errors of several settings together
        return str(error["msg"]).removeprefix("Value error, ")
    name = str(place[0])
    field = Settings.model_fields.get(name)
    secret = field is not None and "Secret" in str(field.annotation)
    value = "(secret)" if secret else repr(error.get("input"))
    described = f" ({field.description})" if field is not None else ""
    return f"{PREFIX}{name.upper()}={value}: {error['msg']}{described}"


def tables() -> dict[str, list[SettingRow]]:
    """All settings by group."""
    return {title: rows(group) for title, group in GROUPS.items()}


def rows(group: type[BaseModel]) -> list[SettingRow]:
    found = []
    for name, field in group.model_fields.items():
        default = field.get_default(call_default_factory=True)
        shown = default.get_secret_value() if isinstance(default, SecretStr) else default
        found.append(SettingRow(PREFIX + name.upper(), "" if shown is None else str(shown), field.description or ""))
    return found
