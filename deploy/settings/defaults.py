"""Constants that several groups of settings use: the prefix of the variables, and the ports of `memstream dev`."""

from typing import Annotated

from pydantic import Field

PREFIX = "MEMSTREAM_"
HTTP_URL = r"^https?://\S+$"

# Loopback ports of `memstream dev`: commands find it without settings of their own.
DEV_KAFKA_PORT, DEV_POSTGRES_PORT, DEV_QDRANT_PORT, DEV_API_PORT = 29092, 25432, 26333, 28080

Port = Annotated[int, Field(ge=0, le=65_535)]
