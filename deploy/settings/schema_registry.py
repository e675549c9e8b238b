"""The schema registry, for chat services that publish in the wire format of Confluent's serializers."""

from pathlib import Path

from pydantic import BaseModel, Field, SecretStr

from deploy.settings.defaults import HTTP_URL


class SchemaRegistryFields(BaseModel):
    schema_registry_url: str | None = Field(
        None,
        pattern=HTTP_URL,
        description="address of a schema registry; chat services may then publish Avro, Protobuf or JSON in "
        "Confluent's wire format, or plain JSON",
    )
    schema_registry_username: str | None = Field(
        None, min_length=1, description="user name or API key for the registry"
    )
    schema_registry_password: SecretStr | None = Field(
        None, min_length=1, description="password or API secret for the registry"
    )
    schema_registry_ca_file: Path | None = Field(
        None, description="PEM file of the registry's trusted authorities, instead of the system's"
    )
