"""Cuts archived messages into the requests that their window would make. Pure."""

from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import replace

from schemas import ids
from schemas.conversations.messages import Scope
from schemas.extraction.requests import ExtractionRequest, SliceMessage
from schemas.policies.policies import Policy
from sinks.archive.messages import ArchivedMessage
from streams.windows.arrival import make_entry
from streams.windows.detectors.detect import detect_in
from streams.windows.entry import Entry
from streams.windows.extraction import slices
from streams.windows.extraction.progress import latest
from streams.windows.segments import Segmentation
from streams.windows.tokens.counting import TokenCount, message_tokens


def window_entries(archived: Sequence[ArchivedMessage], policy: Policy, count: TokenCount) -> list[Entry]:
    """The messages of one partition, in order, as a window holds them."""
    entries, stands = [], Segmentation()
    for each in archived:
        said, gap_s = each.message, policy.window.task_gap_s
        entry, _, stands = make_entry(said, detect_in(said), each.position, message_tokens(said, count), stands, gap_s)
        entries.append(entry)
    return entries


def requests(
    scope: Scope,
    before: Sequence[ArchivedMessage],
    waiting: Sequence[ArchivedMessage],
    policy: Policy,
    count: TokenCount,
    now: datetime,
) -> list[ExtractionRequest]:
    """The background requests for the `waiting` messages; `before` are the messages preceding them."""
    overlap: Sequence[SliceMessage] = [entry.message for entry in window_entries(before, policy, count)]
    in_group = any(each.message.user_id not in (None, scope.user_id) for each in (*before, *waiting))
    owner_names = {
        each.message.name
        for each in (*before, *waiting)
        if each.message.role == "user" and each.message.name and each.message.user_id == scope.user_id is not None
    }
    made = []
    for run in slices.cut(window_entries(waiting, policy, count), policy):
        made.append(
            slices.request(
                run,
                scope,
                waiting[0].partition,
                policy,
                now.timestamp(),
                lane="background",
                overlap=overlap,
                in_group=in_group,
                owner_names=owner_names,
            )
        )
        overlap = latest(run, policy.overlap_messages)
    return made


def for_dry_run(request: ExtractionRequest, run_id: str, namespace: str | None) -> ExtractionRequest:
    """The request with its own id, so that its usage is not mistaken for the real request's, and restricted to one namespace
    if one is given."""
    namespaces = request.namespaces if namespace is None else (namespace,)
    return replace(request, request_id=ids.derive("dry run", run_id, request.request_id), namespaces=namespaces)
