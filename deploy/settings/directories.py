"""Where files lie on this machine."""

from pathlib import Path

from pydantic import BaseModel, Field


class DirectoryFields(BaseModel):
    data_dir: Path = Field(Path(".memstream"), description="files of the embedded stack and of workers")
    cache_dir: Path = Field(
        Path("~/.cache/memstream"), description="Kafka's jars, embedding models and vocabularies, kept between runs"
    )

    @property
    def cache(self) -> Path:
        return self.cache_dir.expanduser()
