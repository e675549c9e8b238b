"""Traceparents in record headers, and parents of spans."""

from datetime import UTC, datetime

import pytest
from opentelemetry.trace import StatusCode

from schemas.errors import Deferred, Rejected
from schemas.kafka.records import Outgoing
from schemas.observability import traces
from tests.fakes.spans import CAUSE, OTHER, UNRECORDED, linked, recorded, trace_id, trace_of

RECORD = Outgoing(topic="memory.events", key=b"n", value=b"{}", headers=(("content-type", b"x"),))


def test_the_traceparent_is_read_from_the_record_headers():
    assert traces.traceparent_of([("a", b"b"), ("traceparent", CAUSE.encode())]) == CAUSE


@pytest.mark.parametrize(
    "value",
    [
        None,
        b"",
        b"nothing of the kind",
        CAUSE.encode()[:-1],
        CAUSE.upper().encode(),
        CAUSE.encode() + b"-more",  # version 00 ends here
        CAUSE.encode() + b"\n",
        b"ff" + CAUSE.encode()[2:],
        b"00-" + b"0" * 32 + b"-b7ad6b7169203331-01",
        b"00-0af7651916cd43dd8448eb211c80319c-" + b"0" * 16 + b"-01",
        b"01" + CAUSE.encode()[2:] + b"-" + b"x" * 1_000_000,
        b"\xff\xfe" * 30,
    ],
)
def test_an_invalid_traceparent_is_ignored(value: bytes | None):
    assert traces.traceparent_of([("traceparent", value)]) is None


def test_a_traceparent_of_a_later_version_is_parsed_as_the_current_version():
    assert traces.parse_traceparent(b"01" + CAUSE.encode()[2:] + b"-what-will-be") == CAUSE
    assert traces.parse_traceparent(CAUSE.encode()[:-2] + b"ff") == CAUSE  # of the flags only the first has a meaning


def test_without_tracing_a_traceparent_is_propagated_unchanged():
    with traces.span("work", causes=[CAUSE]):
        assert traces.headers() == (("traceparent", CAUSE.encode()),)
        assert traces.with_traceparent(RECORD).headers == (("content-type", b"x"), ("traceparent", CAUSE.encode()))
    assert traces.headers() == ()
    assert traces.with_traceparent(RECORD) is RECORD


def test_without_tracing_no_trace_is_started():
    for causes in ([], [None], [CAUSE, OTHER]):
        with traces.span("work", causes=causes):
            assert traces.current() is None


def test_a_span_with_one_cause_is_its_child():
    with recorded() as spans:
        with traces.span("work", {"memstream.request_id": "r"}, causes=[CAUSE, None, CAUSE]):
            carried = traces.current()
        span = spans.named("work")
    assert trace_id(span) == trace_of(CAUSE) == trace_of(carried)
    assert f"{span.parent.span_id:016x}" == CAUSE.split("-")[2]
    assert carried.split("-")[2] == f"{span.context.span_id:016x}"
    assert dict(span.attributes) == {"memstream.request_id": "r"}


def test_a_span_with_several_causes_starts_a_new_trace_linked_to_each():
    with recorded() as spans:
        with traces.span("work", causes=[CAUSE, OTHER, CAUSE]):
            pass
        span = spans.named("work")
    assert span.parent is None
    assert linked(span) == {trace_of(CAUSE), trace_of(OTHER)}


def test_an_unsampled_trace_is_not_recorded():
    with recorded() as spans:
        with traces.span("work", causes=[UNRECORDED]):
            assert trace_of(traces.current()) == trace_of(UNRECORDED)
            assert traces.current().endswith("-00")
        with traces.span("other work", causes=[UNRECORDED, CAUSE]):
            pass
        assert spans.names == ["other work"]
        assert trace_id(spans.named("other work")) == trace_of(CAUSE)


def test_a_record_with_a_traceparent_keeps_it():
    record = Outgoing(topic="t", key=None, value=b"", headers=(("traceparent", OTHER.encode()),))
    with traces.span("work", causes=[CAUSE]):
        assert traces.with_traceparent(record) is record


def test_a_span_records_the_class_of_an_error_but_not_its_message():
    with recorded() as spans:
        with pytest.raises(Rejected), traces.span("work"):
            raise Rejected("invalid", "the message said: my password is hunter2")
        span = spans.named("work")
    assert span.status.status_code is StatusCode.ERROR
    assert "hunter2" not in span.to_json()
    assert span.attributes["error.type"] == "Rejected"


def test_a_deferred_operation_is_not_a_span_error():
    with recorded() as spans:
        with pytest.raises(Deferred), traces.span("work"):
            raise Deferred(datetime(2026, 1, 1, tzinfo=UTC), "budget")
        span = spans.named("work")
    assert span.status.status_code is StatusCode.UNSET
    assert span.attributes["memstream.deferred"] == "budget"
