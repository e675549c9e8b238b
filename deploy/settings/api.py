"""The HTTP API: its address and limits."""

from pydantic import BaseModel, Field

from deploy.settings.defaults import DEV_API_PORT, Port


class ApiFields(BaseModel):
    api_host: str = Field("127.0.0.1", min_length=1, description="address that the API listens on")
    api_port: Port = Field(DEV_API_PORT, description="port that the API listens on; 0: any free port")
    api_requests_per_minute: int = Field(
        6_000, ge=1, le=10_000_000, description="average rate limit per key and API process; bursts up to a tenth of it"
    )
    api_questions_at_once: int = Field(
        16,
        ge=1,
        le=10_000,
        description="searches and context blocks that a process answers concurrently; twice as many may wait",
    )
    api_wait_s: float = Field(
        5.0,
        gt=0.0,
        le=60.0,
        description="time that a request waits for the outcome of its change before it answers 202",
    )
