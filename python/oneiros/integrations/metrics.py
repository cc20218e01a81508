"""OpenTelemetry metrics of memory operations, dream cycles and stores. Install ``oneiros[tracing]``."""

from __future__ import annotations

import math
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from oneiros import __version__
from oneiros._lazy import needed
from oneiros.dream.report import DreamReport
from oneiros.engine import Engine
from oneiros.errors import OneirosError
from oneiros.integrations.operations import operation_of
from oneiros.model.validation import require_instance, require_utf8

if TYPE_CHECKING:
    from oneiros.engine.observers import Event
    from oneiros.search.response import SearchResponse

__all__ = ["Metrics"]

_SECONDS: Final = (
    *(1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.025),
    0.05,
    0.1,
    0.5,
    1.0,
    10.0,
)
_COUNTS: Final = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)
_UNION: Final = "fusion"  # the stage that joins the hits of all channels
_FRESH_SECONDS: Final = 0.1
_GAUGES: Final = {  # name -> path in Engine.stats(), unit, description
    "oneiros.store.memories": (("memories",), "{memory}", "Live memories."),
    "oneiros.store.deleted": (("deleted",), "{memory}", "Soft-deleted memories."),
    "oneiros.store.damaged": (("damaged",), "{memory}", "Memories found damaged."),
    "oneiros.store.vectors": (("vectors",), "{vector}", "Vectors."),
    "oneiros.store.without_vector": (
        ("without_vector",),
        "{memory}",
        "Live memories that lack a vector.",
    ),
    "oneiros.store.links": (("links",), "{link}", "Links between memories."),
    "oneiros.store.file": (("file_bytes",), "By", "Size of the store's file and its log."),
    "oneiros.lexical.resident": (
        ("lexical", "resident_bytes"),
        "By",
        "Memory of the lexical index.",
    ),
    "oneiros.waiting.writes": (("waiting", "writes"), "{write}", "Writes that wait or run."),
    "oneiros.waiting.uses": (
        ("waiting", "uses"),
        "{memory}",
        "Memories whose use is not written yet.",
    ),
}


class Metrics:
    """Measures memory operations: ``oneiros.Engine("agent.db", watch=Metrics())``.

    - ``gen_ai.client.operation.duration``: seconds of each call, a histogram, by
      ``gen_ai.operation.name`` (see :class:`oneiros.integrations.tracing.Spans`),
      ``oneiros.method`` and, after an exception, ``error.type``.
    - ``oneiros.search.candidates`` and ``oneiros.search.results``: the memories that the channels
      of a search found, each once, and those it returned, histograms by ``oneiros.profile``.
    - ``oneiros.dream.cycles`` and ``oneiros.dream.changes``: counters of cycles and their changes, by
      ``oneiros.method`` and ``oneiros.profile``. Dry runs do not count.
    - ``oneiros.dream.removed``: a counter of memories that cycles removed, by ``oneiros.removal``.

    :meth:`observe` adds gauges of a store. Nothing measured contains a text or an id of a memory.
    ``watch=[Spans(), Metrics()]`` traces and measures.

    Args:
        meter: an OpenTelemetry meter; default: the global provider's, named "oneiros".

    Raises:
        ImportError: opentelemetry-api is not installed.

    Examples:
        >>> import oneiros
        >>> from opentelemetry.sdk.metrics import MeterProvider
        >>> from opentelemetry.sdk.metrics.export import InMemoryMetricReader
        >>> reader = InMemoryMetricReader()
        >>> watch = Metrics(MeterProvider(metric_readers=[reader]).get_meter("app"))
        >>> with oneiros.Engine(":memory:", watch=watch) as engine:
        ...     id = engine.add("Ada takes her coffee black")
        >>> resource, *_ = reader.get_metrics_data().resource_metrics
        >>> [metric.name for metric in resource.scope_metrics[0].metrics]
        ['gen_ai.client.operation.duration']
    """

    def __init__(self, meter: Any = None) -> None:
        self._api = needed("opentelemetry.metrics", "tracing")
        self._meter = self._api.get_meter("oneiros", __version__) if meter is None else meter
        self._lock = threading.Lock()
        self._observed: list[tuple[_Figures, dict[str, str]]] = []
        self._has_gauges = False
        self._durations = self._histogram(
            "gen_ai.client.operation.duration", "s", "Duration of memory operations.", _SECONDS
        )
        self._candidates = self._histogram(
            "oneiros.search.candidates", "{memory}", "Memories that channels found.", _COUNTS
        )
        self._results = self._histogram(
            "oneiros.search.results", "{memory}", "Memories that a search returned.", _COUNTS
        )
        self._cycles = self._counter("oneiros.dream.cycles", "{cycle}", "Dream cycles.")
        self._changes = self._counter("oneiros.dream.changes", "{change}", "Changes of cycles.")
        self._removed = self._counter(
            "oneiros.dream.removed", "{memory}", "Memories that cycles removed."
        )

    def _histogram(self, name: str, unit: str, description: str, bounds: Sequence[float]) -> Any:
        return self._meter.create_histogram(
            name,
            unit=unit,
            description=description,
            explicit_bucket_boundaries_advisory=bounds,
        )

    def _counter(self, name: str, unit: str, description: str) -> Any:
        return self._meter.create_counter(name, unit=unit, description=description)

    @contextmanager
    def searching(self, method: str) -> Iterator[Callable[[Sequence[SearchResponse]], None]]:
        """Measure a search; yields a function that takes the responses."""
        with self._timed(method):
            yield self._measure_searches

    @contextmanager
    def calling(self, method: str) -> Iterator[Callable[[object, Sequence[Event]], None]]:
        """Measure a call that writes; yields a function that takes result and events."""
        with self._timed(method) as attributes:

            def measure(result: object, events: Sequence[Event]) -> None:
                attributes["gen_ai.operation.name"] = operation_of(method, events)
                if isinstance(result, DreamReport) and not result.is_dry_run:
                    self._measure_cycle(method, result)

            yield measure

    @contextmanager
    def _timed(self, method: str) -> Iterator[dict[str, str]]:
        """Measure the time of the block; yields its attributes, which may be changed."""
        attributes = {"gen_ai.operation.name": operation_of(method), "oneiros.method": method}
        began = perf_counter()
        try:
            yield attributes
        except BaseException as error:
            attributes["error.type"] = type(error).__qualname__
            raise
        finally:
            self._durations.record(perf_counter() - began, attributes)

    def _measure_searches(self, responses: Sequence[SearchResponse]) -> None:
        for response in responses:
            attributes = {"oneiros.profile": response.profile}
            self._results.record(len(response), attributes)
            for stage in response.trace.stages:
                if stage.name == _UNION:
                    self._candidates.record(stage.survivor_count, attributes)

    def _measure_cycle(self, method: str, report: DreamReport) -> None:
        attributes = {"oneiros.method": method, "oneiros.profile": report.profile}
        self._cycles.add(1, attributes)
        self._changes.add(report.change_count, attributes)
        for removal, count in report.removed.items():
            self._removed.add(count, {"oneiros.removal": removal})

    def observe(self, engine: Engine, *, store_id: str | None = None) -> None:
        """Add gauges of a store: memories, vectors, links, index, and what waits to be written.

        They are read by :meth:`oneiros.Engine.stats` when metrics are collected, as long as the
        engine is open, and are named ``oneiros.store.*``, ``oneiros.waiting.*`` and
        ``oneiros.lexical.resident``. A meter makes an instrument of a name once, so observe all
        engines by one ``Metrics``.

        Args:
            engine: the engine of the store, which this does not keep alive.
            store_id: a name for the store, as the attribute ``gen_ai.memory.store.id``; give one
                if several stores are observed. Default: none.

        Raises:
            TypeError, ValueError: an argument breaks its rule.
        """
        require_instance("engine", engine, (Engine,), "an Engine")
        attributes = {}
        if store_id is not None:
            require_utf8("store_id", store_id)
            attributes["gen_ai.memory.store.id"] = store_id
        with self._lock:
            self._observed = [each for each in self._observed if not each[0].is_gone]
            self._observed.append((_Figures(engine), attributes))
            if self._has_gauges:
                return
            self._has_gauges = True
        for name, (path, unit, description) in _GAUGES.items():
            self._meter.create_observable_gauge(
                name, callbacks=[partial(self._read, path)], unit=unit, description=description
            )

    def _read(self, path: Sequence[str], _options: object) -> list[Any]:
        """Return a figure of each store as an observation; none of those whose engine is closed."""
        with self._lock:
            observed = list(self._observed)
        read = [(figures.read(path), attributes) for figures, attributes in observed]
        return [
            self._api.Observation(value, attributes)
            for value, attributes in read
            if value is not None
        ]


class _Figures:
    """The figures of an engine, read once for all gauges of a collection."""

    def __init__(self, engine: Engine) -> None:
        self._engine = weakref.ref(engine)
        self._lock = threading.Lock()
        self._read_at = -math.inf
        self._stats: dict[str, Any] | None = None

    @property
    def is_gone(self) -> bool:
        """Whether the engine was collected."""
        return self._engine() is None

    def read(self, path: Sequence[str]) -> float | None:
        """Return a figure of ``Engine.stats()``; None if the engine is closed or fails."""
        with self._lock:
            if perf_counter() - self._read_at > _FRESH_SECONDS:
                self._stats = self._stats_now()
                self._read_at = perf_counter()
            found: Any = self._stats
        for name in path:
            found = None if found is None else found[name]
        return found  # type: ignore[no-any-return]

    def _stats_now(self) -> dict[str, Any] | None:
        engine = self._engine()
        try:
            return None if engine is None else engine.stats()
        except OneirosError:
            return None
