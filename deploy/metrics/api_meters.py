"""The metrics of one API process by their names."""

from prometheus_client import CollectorRegistry, Counter, Histogram, PlatformCollector, ProcessCollector
from prometheus_client.gc_collector import GCCollector

ANSWER_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class ApiMeters:
    """Counts since the process started; `registry` is what is scraped."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        for collect in (ProcessCollector, PlatformCollector, GCCollector):
            collect(registry=self.registry)
        self.requests_s = Histogram(
            "memstream_http_request_duration_seconds",
            "Requests until their answer was sent whole; a stream of events takes as long as it is followed.",
            ("method", "route", "status"),
            buckets=ANSWER_BUCKETS_S,
            registry=self.registry,
        )
        self.retrieved = Counter(
            "memstream_memories_retrieved",
            "Memories that were found, read or put into a context.",
            registry=self.registry,
        )
        self.token_counts = Counter(
            "memstream_token_counts",
            "Texts of conversations whose tokens were asked for, by whether their count was kept.",
            ("kept",),
            registry=self.registry,
        )
        self.blocks = Counter(
            "memstream_context_blocks",
            "Blocks made for prompts, by whether they hold memories.",
            ("memories",),
            registry=self.registry,
        )

    def counted(self, kept: bool) -> None:
        """The tokens of a text were asked for."""
        self.token_counts.labels(str(kept).lower()).inc()
