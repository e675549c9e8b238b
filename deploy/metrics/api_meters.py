"""The metrics of an API process."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, PlatformCollector, ProcessCollector
from prometheus_client.gc_collector import GCCollector

ANSWER_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)

SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


class ApiMeters:
    """Counters of an API process since its start; Prometheus scrapes `registry`."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        for collect in (ProcessCollector, PlatformCollector, GCCollector):
            collect(registry=self.registry)
        self.requests_s = Histogram(
            "memstream_http_request_duration_seconds",
            "Duration of requests until the response was sent; an event stream counts until it ends.",
            ("method", "route", "status"),
            buckets=ANSWER_BUCKETS_S,
            registry=self.registry,
        )
        self.context_used = Histogram(
            "memstream_context_used_ratio",
            "Share of their limit that requested conversation contexts use.",
            buckets=SHARES,
            registry=self.registry,
        )
        self.retrieval_cache_bytes = Gauge(
            "memstream_retrieval_cache_bytes",
            "Approximate size of the memories that this process caches for searches and context blocks.",
            registry=self.registry,
        )
        self.retrieved = self._counter(
            "memstream_memories_retrieved", "Memories returned by searches and reads, or put into a context block."
        )
        self.token_counts = self._counter(
            "memstream_token_counts",
            "Requests for the token count of a message, by whether the count was cached.",
            "cached",
        )
        self.blocks = self._counter(
            "memstream_context_blocks", "Context blocks, by whether they contain memories.", "memories"
        )
        self.reads = self._counter(
            "memstream_memory_reads",
            "Reads of memories and pages of memories, by whether this process had them cached.",
            "cached",
        )
        self.retrieval_reads = self._counter(
            "memstream_retrieval_memory_reads",
            "Memories read for searches and context blocks, by whether this process had them cached.",
            "cached",
        )
        self.prompt_tokens = self._counter(
            "memstream_prompt_tokens",
            "Tokens returned for prompts: conversation contexts (billed tokens), blocks and profiles.",
            "part",
        )
        self.pruned_messages_retrieved = self._counter(
            "memstream_pruned_messages_retrieved",
            "Passages in blocks from messages older than every message in the context of their own conversation.",
        )

    def _counter(self, name: str, help_text: str, *labels: str) -> Counter:
        return Counter(name, help_text, labels, registry=self.registry)

    def read(self, cached: bool) -> None:
        """Counts a read of a memory or a list page."""
        self.reads.labels(str(cached).lower()).inc()

    def found(self, cached: bool, number: int) -> None:
        """Counts memories read for a search or a block."""
        self.retrieval_reads.labels(str(cached).lower()).inc(number)

    def counted(self, cached: bool) -> None:
        """Counts a token count of a text."""
        self.token_counts.labels(str(cached).lower()).inc()
