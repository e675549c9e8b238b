"""Modules and data that the parent of all forked commands loads once."""

import gc

import httpcore  # noqa: F401 -- httpx imports it when the first client is made
import pytest  # noqa: F401 -- the main module of whoever starts commands, which each process would import

import deploy.cli.serve
import deploy.cli.worker
import deploy.wiring.claude  # noqa: F401
from deploy.settings import load
from deploy.wiring.models import token_counter

token_counter(load())
gc.collect()
gc.freeze()  # a collection in a forked process would touch, and so copy, all of it
