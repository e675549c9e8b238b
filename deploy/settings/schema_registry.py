"""The schema registry, where chat services publish in the wire format of Confluent's serializers."""

from pathlib import Path

from pydantic import BaseModel, Field, SecretStr

HTTP = r"^https?://\S+$"


class SchemaRegistryFields(BaseModel):
    schema_registry_url: str | None = Field(
        None,
        pattern=HTTP,
        description="address of a schema registry: what chat services publish may then be Avro, Protobuf or JSON in Confluent's "
        "wire format, or plain JSON as without it",
    )
    schema_registry_username: str | None = Field(None, min_length=1, description="name (or API key) for that registry")
    schema_registry_password: SecretStr | None = Field(
        None, min_length=1, description="password (or API secret) for it"
    )
    schema_registry_ca_file: Path | None = Field(
        None, description="PEM file of its trusted authorities, instead of the system's"
    )
