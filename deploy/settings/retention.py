"""Retention of memstream's own records in PostgreSQL."""

from pydantic import BaseModel, Field


class RetentionFields(BaseModel):
    usage_retention_days: int = Field(
        400, ge=0, le=3_650, description="days to keep usage records of model calls; 0: forever"
    )
    pruning_retention_days: int = Field(90, ge=0, le=3_650, description="days to keep records of prunings; 0: forever")
