"""The metrics of a worker. Alerts and dashboards rely on their names; units are in the names."""

import re
from collections.abc import Sequence

from msgspec import Struct
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, PlatformCollector, ProcessCollector
from prometheus_client.gc_collector import GCCollector

from agents.dead_letters.writer import dead_letter_headers
from agents.models.port import Answer
from deploy.metrics.delivery import DeliveryCollector
from schemas import codec
from schemas.budgets.budgets import MICROS
from schemas.budgets.usage import Consumed
from schemas.conversations.windows import Cause
from schemas.kafka import topics
from schemas.kafka.records import Outgoing

# From the time of rules to that of a local model.
CALL_BUCKETS_S = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120)

# The id and type of an event precede all user text.
CHANGE = re.compile(rb'"type":"memstream\.memory\.([a-z_]+)"')
ACTIVITY = re.compile(rb'"type":"memstream\.([a-z_.]+)"')
PRUNED = (b"window.pruned", b"window.cleared")

TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


class PrunedMessages(Struct, frozen=True):
    cause: Cause
    removed: int


class PrunedEvent(Struct, frozen=True):
    """The fields of a pruning event that are counted."""

    data: PrunedMessages


class Meters:
    """Counters of a worker since its start, and gauges; Prometheus scrapes `registry`.

    Gauges that end in `_all` describe PostgreSQL and are the same in every worker: use their maximum, not their sum.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        for collect in (ProcessCollector, PlatformCollector, GCCollector):
            collect(registry=self.registry)
        self.delivery = DeliveryCollector()
        self.registry.register(self.delivery)
        self._models()
        self._published()
        self._passages()
        self._stored_counts()

    def _models(self) -> None:
        registry = self.registry
        self.model_requests_s = Histogram(
            "memstream_model_request_duration_seconds",
            "Requests to models, by outcome: answered, retryable, rejected, deferred or failed.",
            ("operation", "provider", "outcome"),
            buckets=CALL_BUCKETS_S,
            registry=registry,
        )
        self.proposals = Counter(
            "memstream_proposals",
            "Memories that models proposed and that passed the checks.",
            ("provider",),
            registry=registry,
        )
        self.junk = Counter(
            "memstream_proposals_rejected",
            "Memories that models proposed and that failed a check.",
            ("provider", "reason"),
            registry=registry,
        )
        by_model = ("provider", "model", "lane", "operation")
        self.calls = Counter("memstream_model_calls", "Billed calls to models.", by_model, registry=registry)
        self.tokens = Counter("memstream_model_tokens", "Billed tokens.", (*by_model, "kind"), registry=registry)
        self.cost = Counter(
            "memstream_model_cost_usd", "Cost of calls to models with a known price.", by_model, registry=registry
        )
        self.available = Gauge(
            "memstream_provider_available",
            "Whether a provider is available: 0 while it is down, until its circuit breaker closes again.",
            ("provider",),
            registry=registry,
        )
        self.breaker = Gauge(
            "memstream_breaker_state",
            "1 for the current state of a provider's circuit breaker: closed, open or half-open.",
            ("provider", "state"),
            registry=registry,
        )
        self.budget_left = Gauge(
            "memstream_budget_left_ratio_all",
            "Share of an overall limit that is neither spent nor reserved.",
            ("limit",),
            registry=registry,
        )

    def _published(self) -> None:
        registry = self.registry
        self.changes = Counter(
            "memstream_memory_changes", "Memory events published, by change.", ("change",), registry=registry
        )
        self.activity = Counter(
            "memstream_activity",
            "Activity events published, by type without `memstream.`: extraction.completed, command.rejected, "
            "window.pruned, ...",
            ("type",),
            registry=registry,
        )
        self.pruned = Counter(
            "memstream_messages_pruned", "Messages that left their context, by cause.", ("cause",), registry=registry
        )
        self.dead_letters = Counter(
            "memstream_dead_letters", "Records written to the dead letters.", ("stage", "reason"), registry=registry
        )
        self.published = Counter(
            "memstream_published_records",
            "Records published and confirmed by the brokers.",
            ("topic",),
            registry=registry,
        )

    def _passages(self) -> None:
        registry = self.registry
        self.passages_indexed = Counter(
            "memstream_passages_indexed", "Passages that became searchable.", registry=registry
        )
        self.passage_embedding_s = Counter(
            "memstream_passage_embedding_seconds", "Time spent on embedding passages.", registry=registry
        )
        self.passages = Gauge("memstream_passages_all", "Approximate number of searchable passages.", registry=registry)
        self.passage_bytes = Gauge(
            "memstream_passage_bytes_all", "Bytes of passages in PostgreSQL, with their indexes.", registry=registry
        )
        self.passage_removals_age_s = Gauge(
            "memstream_passage_removals_oldest_age_seconds_all",
            "Age of the oldest vector that waits to be deleted from Qdrant after its passage was deleted.",
            registry=registry,
        )

    def _stored_counts(self) -> None:
        registry = self.registry
        self.outbox = Gauge(
            "memstream_outbox_rows_all", "Changes that wait in the outbox to be published.", registry=registry
        )
        self.outbox_age_s = Gauge(
            "memstream_outbox_oldest_age_seconds_all", "Age of the oldest change in the outbox.", registry=registry
        )
        self.memories = Gauge("memstream_memories_all", "Live memories.", registry=registry)
        self.namespaces = Gauge(
            "memstream_namespaces_all",
            "Namespaces with live memories (some) and without (none).",
            ("memories",),
            registry=registry,
        )
        self.windows = Gauge("memstream_windows_all", "Token windows, by phase.", ("phase",), registry=registry)
        self.split_conversations = Gauge(
            "memstream_split_conversations_all",
            "Conversations whose events are in several partitions, each with a token window.",
            registry=registry,
        )
        self.parked = Gauge(
            "memstream_parked_requests_all", "Requests that wait, by lane.", ("lane",), registry=registry
        )
        self.runs = Gauge(
            "memstream_consolidation_runs_all",
            "Consolidation runs of the last day, by status.",
            ("status",),
            registry=registry,
        )
        self.overdue_s = Gauge(
            "memstream_consolidation_overdue_seconds_all",
            "Time since the earliest scheduled time that has no run yet.",
            registry=registry,
        )

    def answered(self, answer: Answer) -> None:
        """Counts the proposals of an answer, of a call or of a batch."""
        self.proposals.labels(answer.provider).inc(len(answer.memories))
        for reason, count in answer.rejected.items():
            self.junk.labels(answer.provider, reason).inc(count)

    def sent(self, records: Sequence[Outgoing]) -> None:
        """Counts records that the broker confirmed; `topic` is a logical name."""
        for record in records:
            self.published.labels(record.topic).inc()
            if record.topic == topics.DEAD_LETTERS:
                headers = dead_letter_headers(record.headers)
                self.dead_letters.labels(headers.get("stage", ""), headers.get("reason", "")).inc()
            elif record.topic == topics.EVENTS and (found := CHANGE.search(record.value or b"", 0, 1024)):
                self.changes.labels(found[1].decode()).inc()
            elif record.topic == topics.ACTIVITY and (found := ACTIVITY.search(record.value or b"", 0, 1024)):
                self.activity.labels(found[1].decode()).inc()
                if found[1] in PRUNED and record.value:
                    left = codec.decode(record.value, PrunedEvent).data
                    self.pruned.labels(left.cause).inc(left.removed)

    def consumed(self, records: Sequence[Consumed]) -> None:
        """Counts the billed usage of calls once it is booked."""
        for record in records:
            labels = (record.provider, record.model, record.lane, record.operation)
            self.calls.labels(*labels).inc(record.calls)
            for kind in TOKENS:
                self.tokens.labels(*labels, kind.removesuffix("_tokens")).inc(getattr(record, kind))
            if record.cost_micros is not None:
                self.cost.labels(*labels).inc(record.cost_micros / MICROS)
