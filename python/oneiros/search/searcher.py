"""Searches from keywords to responses: options, requests, runs, reinforcement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

from oneiros import lexical
from oneiros.index.questions import encoded
from oneiros.model.validation import checked_threads, is_scalar_array, require_text, texts
from oneiros.search.cache import CachedResponse
from oneiros.search.call import SearchCall, query_vector, run_call
from oneiros.search.options import SearchOptions
from oneiros.search.pipeline import answer, answer_many

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.engine.scope import Scope
    from oneiros.lexical.statistics import QueryStatistics
    from oneiros.search.call import SearchRequest
    from oneiros.search.options import BatchKeywords, SearchKeywords
    from oneiros.search.response import SearchResponse

__all__ = ["search", "search_many", "statistics"]


def search(
    scope: Scope,
    query: str,
    k: int,
    keywords: SearchKeywords,
    method: Callable[..., object],
) -> SearchResponse:
    """Search for one query; see :meth:`oneiros.Engine.search`. Messages name ``method``."""
    watch = scope.shared.watch
    if watch is None and not scope.shared.observers:
        return _search(scope, query, k, keywords, method)
    if watch is None:
        response = _search(scope, query, k, keywords, method)
    else:
        with watch.searching("search") as report:
            response = _search(scope, query, k, keywords, method)
            report([response])
    _publish(scope, "search", [response])
    return response


def _publish(scope: Scope, method: str, responses: Sequence[SearchResponse]) -> None:
    """Pass the event of a search to the observers, if there are any."""
    shared = scope.shared
    if shared.observers and responses:
        shared.publish(
            "search",
            method,
            [id for response in responses for id in response.ids],
            time=responses[0].now,
            revision=shared.revision,
            bounds=scope.bounds,
        )


def _search(
    scope: Scope,
    query: str,
    k: int,
    keywords: SearchKeywords,
    method: Callable[..., object],
) -> SearchResponse:
    started = perf_counter()
    embedding = keywords.pop("embedding", None)
    options = SearchOptions.checked(scope.zoned_keywords(keywords), method)
    return run_call(
        scope, options, k, lambda call: _searched(call, query, embedding, scope, started)
    )


def _searched(
    call: SearchCall,
    query: str,
    embedding: npt.ArrayLike | None,
    scope: Scope,
    started: float,
) -> SearchResponse:
    call.options.require_reinforcement(call.profile)
    if call.options.reinforce:
        scope.services.require_writable("search(reinforce=True)")
    rule = call.profile.cache
    is_clocked = call.options.now is not None or call.options.exclude_newer is not None
    if rule is None or is_clocked or call.is_explained:
        response, _ = _run(call, query, embedding, scope)
        return call.reinforce([response])[0]
    load, cache = scope.loader, call.services.recent
    key, revision = call.key(query, embedding), call.content_revision
    cached = cache.get(key, revision=revision, now=call.now)
    if cached is not None:
        return call.reinforce([cached.again(call.now, started, load)])[0]
    response, is_incomplete = _run(call, query, embedding, scope)
    if not is_incomplete:
        # A copy: the caller may change its own results.
        cached = CachedResponse(response.again(load), rule.kept_for(response.confidence))
        cache.put(key, cached, revision=revision, most=rule.most)
    return call.reinforce([response])[0]


def _run(
    call: SearchCall, query: str, embedding: npt.ArrayLike | None, scope: Scope
) -> tuple[SearchResponse, bool]:
    """Run a search without the cache, a compound query part by part.

    Returns:
        The response, and whether :func:`_is_incomplete` holds for any part.
    """
    load = scope.loader
    if call.profile.understanding is None:  # then no query is compound
        request = call.request(query, embedding)
        response = answer(request, call, call.visible(), load)
        return response, _is_incomplete(request, response)
    requests, counts = call.requests([query], [embedding])
    visible = call.visible()
    responses = [answer(request, call, visible, load) for request in requests]
    is_incomplete = any(map(_is_incomplete, requests, responses))
    return call.merge_parts([query], counts, requests, responses)[0], is_incomplete


def search_many(
    scope: Scope,
    queries: Sequence[str],
    k: int,
    keywords: BatchKeywords,
    method: Callable[..., object],
) -> list[SearchResponse]:
    """Search for a batch of queries; see :meth:`oneiros.Engine.search_many`."""
    watch = scope.shared.watch
    if watch is None:
        responses = _search_many(scope, queries, k, keywords, method)
    else:
        with watch.searching("search_many") as report:
            responses = _search_many(scope, queries, k, keywords, method)
            report(responses)
    _publish(scope, "search_many", responses)
    return responses


def _search_many(
    scope: Scope,
    queries: Sequence[str],
    k: int,
    keywords: BatchKeywords,
    method: Callable[..., object],
) -> list[SearchResponse]:
    queries = texts("queries", queries)
    embeddings = _checked_embeddings(keywords.pop("embeddings", None), len(queries))
    threads = checked_threads(keywords.pop("threads", None))
    options = SearchOptions.checked(scope.zoned_keywords(keywords), method)
    return run_call(
        scope, options, k, lambda call: _searched_many(call, queries, embeddings, scope, threads)
    )


def _searched_many(
    call: SearchCall,
    queries: Sequence[str],
    embeddings: Sequence[npt.ArrayLike | None],
    scope: Scope,
    threads: int,
) -> list[SearchResponse]:
    call.options.require_reinforcement(call.profile)
    if call.options.reinforce:
        scope.services.require_writable("search_many(reinforce=True)")
    requests, counts = call.requests(queries, embeddings)
    if not requests:
        return []
    responses = answer_many(requests, call, call.visible(), scope.loader, threads)
    return call.reinforce(call.merge_parts(queries, counts, requests, responses))


def statistics(
    scope: Scope, queries: str | Sequence[str], syntax: str, known: QueryStatistics | None
) -> QueryStatistics:
    """Return what weighs queries in a scope; see :meth:`oneiros.Engine.statistics`."""
    options = SearchOptions.checked({"syntax": syntax}, statistics)
    checked = queries if isinstance(queries, str) else texts("queries", queries)
    scope.follow_others()
    read_model = scope.read_model
    indexes, bounds, row_sets = read_model.indexes, scope.condition(), read_model.row_sets
    counted = partial(
        lexical.statistics.statistics_of,
        indexes.lexical,
        indexes.made_with,
        checked,
        known,
        syntax=options.syntax,
        typos=True,
    )
    if bounds is None:
        return counted(rows=None)
    come_count = row_sets.come_count
    rows = row_sets.in_bounds(bounds).bits
    found = counted(rows=rows)
    if rows is None and row_sets.have_come_since(come_count):  # perhaps of another scope
        found = counted(rows=row_sets.bits_in(bounds))
    return found


def question_of(
    scope: Scope, query: str | None, embedding: npt.ArrayLike | None
) -> Callable[[], bytes | None] | None:
    """Return the function that makes the stored form of a verdict's question; None without one.

    Raises:
        TypeError, ValueError: the query is not a text, or the embedding breaks its rule.
    """
    if query is None and embedding is None:
        return None
    text = "" if query is None else query
    require_text("query", text)
    if embedding is not None:
        query_vector(scope, text, embedding)  # refuses a wrong one before anything else

    def question() -> bytes | None:
        vector, _ = query_vector(scope, text, embedding)
        return encoded(text, vector)

    return question


def _checked_embeddings(embeddings: Any, count: int) -> list[npt.ArrayLike | None]:
    """Return the vectors of a batch, one per query or None.

    Raises:
        TypeError: not iterable.
        ValueError: not ``count`` of them.
    """
    if embeddings is None:
        return [None] * count
    if is_scalar_array(embeddings) or not isinstance(embeddings, Iterable):
        msg = f"embeddings: expected {count}, one a query, got {type(embeddings).__name__}"
        raise TypeError(msg)
    vectors = list(embeddings)
    if len(vectors) != count:
        msg = f"embeddings: expected {count}, one a query, got {len(vectors)}"
        raise ValueError(msg)
    return vectors


def _is_incomplete(request: SearchRequest, response: SearchResponse) -> bool:
    """Return whether a reranker or expander failed or was too slow: it may do better later."""
    if request.expanded is not None and request.expanded.has_failed:
        return True
    return request.reranker is not None and any(
        stage.name.endswith("rerank") and stage.note for stage in response.trace.stages
    )
