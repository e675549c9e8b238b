"""Texts to vectors: the port, models that run in this process, models behind an endpoint, and a fake for tests."""

import os

# From its import on onnxruntime would tell Microsoft about this machine, under an id that it keeps in the home directory.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
