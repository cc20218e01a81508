"""OpenTelemetry spans of memory operations and of the stages of searches. Install ``oneiros[tracing]``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import time_ns
from typing import TYPE_CHECKING, Any, Final

from oneiros import __version__
from oneiros._lazy import needed
from oneiros.errors import OneirosError
from oneiros.integrations.operations import CYCLES, cycle_attributes, operation_of
from oneiros.model.validation import require_flag, require_utf8

if TYPE_CHECKING:
    from oneiros.engine.observers import Event
    from oneiros.search.response import SearchResponse, SearchResult
    from oneiros.search.trace import StageTrace

__all__ = ["Spans"]

_MS: Final = 1_000_000  # nanoseconds


class Spans:
    """Creates spans of memory operations: ``oneiros.Engine("agent.db", watch=Spans())``.

    Names and attributes are those of OpenTelemetry's conventions for GenAI memory operations, as
    far as they have any. A span is named by its operation, which is also
    ``gen_ai.operation.name``: "search_memory", "create_memory", "update_memory", "upsert_memory"
    (an ``add`` that updated a memory), "delete_memory", and "create_memory_store" for opening a
    store. Dream cycles are "oneiros.dream" and "oneiros.undo_dream", new vectors "oneiros.embed".
    ``oneiros.method`` is the method that was called. The span is current while the method runs, so
    that spans of an embedder or a reranker become its children.

    Other attributes are ``gen_ai.memory.record.count``, ``gen_ai.memory.record.id`` if the call
    changed a single memory, ``gen_ai.memory.store.id`` if given, and ``error.type`` after an
    exception. The exception is recorded, too, with its message, which quotes the beginning of a
    value that the engine refused. A search also has ``oneiros.profile``, ``oneiros.profile_hash`` and
    ``oneiros.abstained``; a cycle has its figures as ``oneiros.dream.*``.

    Each stage of ``response.trace`` is a child "oneiros.<stage>" with ``oneiros.candidates``,
    ``oneiros.survivors``, ``oneiros.note`` if it has a note, and ``gen_ai.usage.input_tokens`` and
    ``gen_ai.usage.output_tokens`` if it called a language model. ``search_many`` has a child
    "search_memory" per query.

    Args:
        tracer: an OpenTelemetry tracer; default: the global provider's, named "oneiros".
        store_id: a name for the store, as ``gen_ai.memory.store.id``. Default: none.
        with_query: also record the query, which may be private, as ``gen_ai.memory.query.text``.
        with_records: also record the memories that searches return, which may be private, as
            ``gen_ai.memory.records``: JSON with "id", "content" and "score". Reads their texts.

    Raises:
        ImportError: opentelemetry-api is not installed.
        TypeError, ValueError: an argument breaks its rule.

    Examples:
        >>> import oneiros
        >>> from opentelemetry.sdk.trace import TracerProvider
        >>> from opentelemetry.sdk.trace.export import SimpleSpanProcessor
        >>> from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
        >>> finished, provider = InMemorySpanExporter(), TracerProvider()
        >>> provider.add_span_processor(SimpleSpanProcessor(finished))
        >>> watch = Spans(provider.get_tracer("app"))
        >>> with oneiros.Engine(":memory:", watch=watch) as engine:
        ...     id = engine.add("Ada takes her coffee black")
        >>> [span.name for span in finished.get_finished_spans()]
        ['create_memory_store', 'create_memory']
    """

    def __init__(
        self,
        tracer: Any = None,
        *,
        store_id: str | None = None,
        with_query: bool = False,
        with_records: bool = False,
    ) -> None:
        self._api = needed("opentelemetry.trace", "tracing")
        if store_id is not None:
            require_utf8("store_id", store_id)
        self._store_id = store_id
        self._with_query = require_flag("with_query", with_query)
        self._with_records = require_flag("with_records", with_records)
        self._tracer = self._api.get_tracer("oneiros", __version__) if tracer is None else tracer

    @contextmanager
    def searching(self, method: str) -> Iterator[Callable[[Sequence[SearchResponse]], None]]:
        """Open a span for a search; yields a function that takes the responses."""
        began = time_ns()
        with self._around(method, began) as span:

            def describe(responses: Sequence[SearchResponse]) -> None:
                if not span.is_recording():
                    return
                if method == "search":
                    self._describe(span, responses[0], began)
                    return
                span.set_attribute("oneiros.queries", len(responses))
                count = sum(map(len, responses))
                span.set_attribute("gen_ai.memory.record.count", count)
                for response in responses:
                    start = max(began, time_ns() - int(response.trace.total_ms * _MS))
                    child = self._tracer.start_span(
                        operation_of(method), start_time=start, attributes=self._first("search")
                    )
                    with self._api.use_span(child, end_on_exit=True):
                        self._describe(child, response, start)

            yield describe

    @contextmanager
    def calling(self, method: str) -> Iterator[Callable[[object, Sequence[Event]], None]]:
        """Open a span for a call that writes; yields a function that takes result and events."""
        with self._around(method, time_ns()) as span:

            def describe(result: object, events: Sequence[Event]) -> None:
                if not span.is_recording():
                    return
                operation = operation_of(method, events)
                span.update_name(operation)
                span.set_attribute("gen_ai.operation.name", operation)
                ids = list(dict.fromkeys(id for event in events for id in event.ids))
                if method != "open":
                    span.set_attribute("gen_ai.memory.record.count", len(ids))
                if len(ids) == 1:
                    span.set_attribute("gen_ai.memory.record.id", ids[0])
                if events:
                    span.set_attribute("oneiros.revision", events[-1].revision)
                if method in CYCLES:
                    span.set_attributes(cycle_attributes(result))

            yield describe

    @contextmanager
    def _around(self, method: str, began: int) -> Iterator[Any]:
        """Open a span, current until the end of the block."""
        with self._tracer.start_as_current_span(
            operation_of(method), start_time=began, attributes=self._first(method)
        ) as span:
            try:
                yield span
            except BaseException as error:
                span.set_attribute("error.type", type(error).__qualname__)
                raise

    def _first(self, method: str) -> dict[str, str]:
        """Return the attributes that a span has from its start, when it may be sampled."""
        first = {"gen_ai.operation.name": operation_of(method), "oneiros.method": method}
        if self._store_id is not None:
            first["gen_ai.memory.store.id"] = self._store_id
        return first

    def _describe(self, span: Any, response: SearchResponse, began: int) -> None:
        """Set the attributes of a search's span, and create the spans of its stages."""
        span.set_attribute("oneiros.profile", response.profile)
        span.set_attribute("oneiros.profile_hash", response.profile_hash)
        span.set_attribute("oneiros.abstained", response.abstained)
        span.set_attribute("gen_ai.memory.record.count", len(response))
        if self._with_query:
            span.set_attribute("gen_ai.memory.query.text", response.query)
        if self._with_records:
            records = [_record(result) for result in response.results]
            span.set_attribute("gen_ai.memory.records", json.dumps(records))
        # Only durations are known: lay the stages out back to back, none ending later than now.
        end = max(began, time_ns())
        start = max(began, end - int(response.trace.total_ms * _MS))
        for stage in response.trace.stages:
            stop = min(end, start + int(stage.duration_ms * _MS))
            self._stage(stage, start, stop)
            start = stop

    def _stage(self, stage: StageTrace, start: int, stop: int) -> None:
        attributes: dict[str, str | int] = {
            "oneiros.candidates": stage.candidate_count,
            "oneiros.survivors": stage.survivor_count,
        }
        if stage.note:
            attributes["oneiros.note"] = stage.note
        if stage.prompt_tokens or stage.completion_tokens:
            attributes["gen_ai.usage.input_tokens"] = stage.prompt_tokens
            attributes["gen_ai.usage.output_tokens"] = stage.completion_tokens
        span = self._tracer.start_span(
            f"oneiros.{stage.name}", start_time=start, attributes=attributes
        )
        span.end(end_time=stop)


def _record(result: SearchResult) -> dict[str, object]:
    """Return a result as a record of the convention; a memory that was erased has no content."""
    try:
        content: str | None = result.text
    except OneirosError:
        content = None
    return {"id": result.id, "content": content, "score": result.score}
