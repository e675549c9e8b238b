"""The HTTP API: where it listens, and its limits."""

from pydantic import BaseModel, Field

from deploy.settings.defaults import DEV_API_PORT, Port


class ApiFields(BaseModel):
    api_host: str = Field("127.0.0.1", min_length=1, description="address that the API listens on")
    api_port: Port = Field(DEV_API_PORT, description="port that the API listens on; 0 takes any free one")
    api_requests_per_minute: int = Field(
        6_000, ge=1, le=10_000_000, description="of one key to one API process, on average; a tenth of it at once"
    )
    api_questions_at_once: int = Field(
        16,
        ge=1,
        le=10_000,
        description="searches and context blocks that one process answers at a time; twice as many wait",
    )
    api_wait_s: float = Field(
        5.0, gt=0.0, le=60.0, description="longest wait of a request for the outcome of its change, before 202"
    )
