"""Directories on this machine."""

from pathlib import Path

from pydantic import BaseModel, Field


class DirectoryFields(BaseModel):
    data_dir: Path = Field(Path(".memstream"), description="directory of the embedded stack's and the workers' files")
    cache_dir: Path = Field(
        Path("~/.cache/memstream"), description="cache of Kafka's jars, embedding models and vocabularies"
    )

    @property
    def cache(self) -> Path:
        return self.cache_dir.expanduser()
