"""OpenTelemetry spans of searches and their stages. Install ``oneiros[tracing]``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import time_ns
from typing import TYPE_CHECKING, Any, Final

from oneiros import __version__
from oneiros._lazy import needed
from oneiros.model.validation import require_flag

if TYPE_CHECKING:
    from oneiros.search.response import SearchResponse
    from oneiros.search.trace import StageTrace

__all__ = ["Spans"]

_MS: Final = 1_000_000  # nanoseconds


class Spans:
    """Creates spans of searches: ``oneiros.Engine("agent.db", watch=Spans())``.

    A search is a span "oneiros.search"; ``search_many`` is a span "oneiros.search_many" with one
    such span per query. The span is current while the search runs, so that spans of an embedder or
    a reranker become its children. Each stage of ``response.trace`` is a child "oneiros.<stage>".

    Attributes of a search are ``oneiros.profile``, ``oneiros.profile_hash``, ``oneiros.results``
    and ``oneiros.abstained``. Those of a stage are ``oneiros.candidates``, ``oneiros.survivors``,
    ``oneiros.note`` if it has a note, and ``gen_ai.usage.input_tokens`` and
    ``gen_ai.usage.output_tokens`` if it called a language model.

    Args:
        tracer: an OpenTelemetry tracer; default: the global provider's, named "oneiros".
        with_query: also record the query, which may be private, as ``oneiros.search.query``.

    Raises:
        ImportError: opentelemetry-api is not installed.
    """

    def __init__(self, tracer: Any = None, *, with_query: bool = False) -> None:
        self._api = needed("opentelemetry.trace", "tracing")
        self._with_query = require_flag("with_query", with_query)
        self._tracer = self._api.get_tracer("oneiros", __version__) if tracer is None else tracer

    @contextmanager
    def searching(self, method: str) -> Iterator[Callable[[Sequence[SearchResponse]], None]]:
        """Open a span for a search; yields a function that takes the responses."""
        began = time_ns()
        with self._tracer.start_as_current_span(f"oneiros.{method}", start_time=began) as span:

            def describe(responses: Sequence[SearchResponse]) -> None:
                if not span.is_recording():
                    return
                if method == "search":
                    self._describe(span, responses[0], began)
                    return
                span.set_attribute("oneiros.queries", len(responses))
                for response in responses:
                    start = max(began, time_ns() - int(response.trace.total_ms * _MS))
                    child = self._tracer.start_span("oneiros.search", start_time=start)
                    with self._api.use_span(child, end_on_exit=True):
                        self._describe(child, response, start)

            yield describe

    def _describe(self, span: Any, response: SearchResponse, began: int) -> None:
        """Set the attributes of a search's span, and create the spans of its stages."""
        span.set_attribute("oneiros.profile", response.profile)
        span.set_attribute("oneiros.profile_hash", response.profile_hash)
        span.set_attribute("oneiros.results", len(response))
        span.set_attribute("oneiros.abstained", response.abstained)
        if self._with_query:
            span.set_attribute("oneiros.search.query", response.query)
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
