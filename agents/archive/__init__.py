"""The archive stage: stores every message."""
