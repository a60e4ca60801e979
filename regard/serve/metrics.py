"""What Prometheus may ask."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)

SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128)


class Metrics:
    """Counts of one server, in a registry of its own."""

    kind = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        own = self._registry = CollectorRegistry()
        ProcessCollector(registry=own)
        PlatformCollector(registry=own)
        self.requests = Counter(
            "regard_requests", "Requests to run a model.", ["model", "status"], registry=own
        )
        self.seconds = Histogram(
            "regard_request_seconds",
            "From a request to the end of its answer.",
            ["model"],
            buckets=SECONDS,
            registry=own,
        )
        self.together = Histogram(
            "regard_group_inputs",
            "Inputs that go on together, whenever some join.",
            ["model"],
            buckets=SIZES,
            registry=own,
        )
        self.steps = Counter(
            "regard_steps", "Steps of groups: a symbol for each input.", registry=own
        )
        self.dropped = Counter(
            "regard_dropped", "Inputs given up: late, or nobody waited any more.", registry=own
        )

    def watch(self, **states: tuple[str, Callable[[], float]]) -> None:
        """Numbers that are looked up when somebody asks."""
        for name, (about, value) in states.items():
            Gauge(f"regard_{name}", about, registry=self._registry).set_function(value)

    def text(self) -> bytes:
        """In the form that Prometheus reads."""
        return generate_latest(self._registry)
