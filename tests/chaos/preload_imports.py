"""Modules and data that the parent of all forked commands loads once."""

import gc
from contextlib import suppress

import httpcore  # noqa: F401 -- httpx imports it when the first client is made
import pytest  # noqa: F401 -- the main module of whoever starts commands, which each process would import

import deploy.cli.serve
import deploy.cli.worker
import deploy.wiring.claude  # noqa: F401
from deploy.embedded.embedding_models import opened_model
from deploy.embedded.errors import EmbeddedPartFailed
from deploy.settings import load
from deploy.wiring.models import token_counter
from sinks.classification.comparer import OnnxComparer
from sinks.classification.sentences import OnnxSentenceClassifier

settings = load()
token_counter(settings)
# Models take two seconds of a core to load. None of them has threads before it is used.
OnnxComparer()
OnnxSentenceClassifier()
with suppress(EmbeddedPartFailed):  # without a network: what needs the model says so
    for model in (settings.embedding_model, settings.passage_embedding_model):
        opened_model(model, settings.cache)
gc.collect()
gc.freeze()  # a collection in a forked process would touch, and so copy, all of it
