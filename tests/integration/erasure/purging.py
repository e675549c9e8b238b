"""Purges of a namespace at moments that a test sets."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from agents.curation.curator import Curator
from schemas.memories.commands import Command
from schemas.policies.policies import Policies
from tests.integration.curation_bench import NOON

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench

OWNER = "notes/mara"
LATER = timedelta(hours=1)  # than anything that the bench says


def after(bench: "Bench", moment: timedelta) -> Curator:
    return bench.curator_under(Policies(), clock=lambda: NOON + moment)


def purge(namespace: str = OWNER, kind: Any = "purge", **fields: Any) -> Command:
    return Command(**({"command_id": uuid4().hex, "kind": kind, "namespace": namespace, "at": NOON + LATER} | fields))
