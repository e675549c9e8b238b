"""Connection to PostgreSQL."""

from urllib.parse import urlsplit

from pydantic import BaseModel, Field, SecretStr, field_validator

from deploy.settings.defaults import DEV_POSTGRES_PORT


class PostgresFields(BaseModel):
    postgres_dsn: SecretStr = Field(
        SecretStr(f"postgresql://memstream@127.0.0.1:{DEV_POSTGRES_PORT}/memstream"),
        description="PostgreSQL connection URL",
    )
    migrate_at_start: bool = Field(
        False, description="whether a worker or the API migrates PostgreSQL before it starts"
    )

    @field_validator("postgres_dsn")
    @classmethod
    def is_a_postgres_url(cls, dsn: SecretStr) -> SecretStr:
        """The message omits the value, as it may contain a password."""
        try:
            parts = urlsplit(dsn.get_secret_value())
            known = parts.scheme in ("postgresql", "postgres") and (parts.port or True)
        except ValueError:
            known = False
        if not known:
            raise ValueError("should look like postgresql://user:password@host:5432/database")
        return dsn
