"""A worker's membership in its consumer groups, its concurrency, its batches, and its shutdown."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from deploy.policies.files import read_files
from deploy.settings.defaults import PREFIX
from schemas.budgets.budgets import Lane
from schemas.errors import Misconfigured
from schemas.policies.policies import Policies
from sinks.extraction.batches import Bounds

# Bytes of the slices in a batch, which are in memory and sent in one call. The API accepts 256 MB of prompts.
BATCH_BYTES = 32 * 1024 * 1024


class WorkerFields(BaseModel):
    start_from: Literal["now", "earliest"] = Field(
        "now",
        description="where a consumer group starts reading at its first start; a topic without records older than "
        "the installation is read from its beginning",
    )
    session_timeout_s: float = Field(
        10.0, ge=6.0, le=300.0, description="time without a heartbeat after which a worker loses its partitions"
    )
    heartbeat_interval_s: float = Field(3.0, gt=0.0, description="interval of a worker's heartbeats")
    checkpoint_interval_s: float = Field(0.5, gt=0.0, le=10.0, description="interval of a partition's checkpoints")
    extraction_concurrency: int = Field(8, ge=1, le=256, description="live model calls at a time in one worker")
    background_concurrency: int = Field(4, ge=1, le=256, description="background model calls at a time in one worker")
    curation_concurrency: int = Field(4, ge=1, le=64, description="deciding transactions at a time in one worker")
    batch_wait_s: float = Field(300.0, gt=0.0, description="longest time that a request waits for its batch to fill")
    batch_requests: int = Field(1_000, ge=1, le=100_000, description="most requests in a batch")
    batch_poll_s: float = Field(
        60.0, gt=0.0, description="pause before the first poll of a batch; later pauses grow to ten times that"
    )
    policies_file: Path | None = Field(
        None, description="YAML or JSON file of policies, which come after those of the topic memory.policies"
    )
    stop_s: float = Field(
        10.0,
        ge=0.0,
        le=3600.0,
        description="time that a stopping worker or API has to finish running work",
    )
    stuck_s: float = Field(
        300.0, ge=10.0, le=86_400.0, description="time without progress on a lag after which a worker is not ready"
    )

    def slots(self) -> dict[Lane, int]:
        """The number of extraction requests per lane that one worker processes concurrently."""
        return {"live": self.extraction_concurrency, "background": self.background_concurrency}

    def model_concurrency(self) -> int:
        """The maximum number of concurrent model calls of a worker: one per request and one per decision."""
        return self.extraction_concurrency + self.background_concurrency + self.curation_concurrency

    def batch_bounds(self) -> Bounds:
        return Bounds(self.batch_requests, BATCH_BYTES, self.batch_wait_s)

    def policies(self) -> Policies:
        """The policies of the policy file. Raises Misconfigured if the file cannot be read or is invalid."""
        if self.policies_file is None:
            return Policies()
        try:
            listed = read_files([self.policies_file])
        except Misconfigured as exc:
            raise Misconfigured(f"{PREFIX}POLICIES_FILE: {exc}") from exc
        return Policies().merged_over(Policies(tuple(written.policy for written in listed)))
