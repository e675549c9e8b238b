"""Texts to vectors: the port, models that run in this process, models behind an endpoint, and a fake for tests."""

import os

# Disables telemetry: when imported, onnxruntime would send data about this machine to Microsoft, with an id that it stores in
# the home directory.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
