"""Searches from their keywords to their responses: options, questions, one run each, reinforcement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

from oneiros.model.validation import is_scalar_array, texts
from oneiros.runtime.threads import checked_threads
from oneiros.search.cache import Kept
from oneiros.search.call import SearchCall
from oneiros.search.options import SearchOptions
from oneiros.search.pipeline import answer, answer_many

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.engine.scope import Scope
    from oneiros.search.options import BatchKeywords, SearchKeywords
    from oneiros.search.request import SearchRequest
    from oneiros.search.response import SearchResponse

__all__ = ["search", "search_many"]


def search(
    scope: Scope,
    query: str,
    k: int,
    keywords: SearchKeywords,
    method: Callable[..., object],
) -> SearchResponse:
    """Answer one question; see :meth:`oneiros.Engine.search`.

    Args:
        scope: of the engine, or a part of it.
        query: the question.
        k: at most so many results.
        keywords: as the method was given them.
        method: as the caller knows it, for messages.
    """
    watch = scope.shared.watch
    if watch is None:
        return _search(scope, query, k, keywords, method)
    with watch.searching("search") as tell:
        response = _search(scope, query, k, keywords, method)
        tell([response])
    return response


def _search(
    scope: Scope,
    query: str,
    k: int,
    keywords: SearchKeywords,
    method: Callable[..., object],
) -> SearchResponse:
    started = perf_counter()
    embedding = keywords.pop("embedding", None)
    call = SearchCall(scope, SearchOptions.checked(keywords, method), k)
    call.options.require_reinforcement(call.profile)
    rule = call.profile.cache
    if rule is None or call.options.now is not None or call.is_explained:
        response, _ = _answered(call, query, embedding, scope)
        return call.reinforced([response])[0]
    load, recent = scope.loader, call.services.recent
    key, revision = call.key(query, embedding), call.services.sync.content_revision
    kept = recent.get(key, revision=revision, now=call.now)
    if kept is not None:
        return call.reinforced([kept.again(call.now, started, load)])[0]
    response, fell_short = _answered(call, query, embedding, scope)
    if not fell_short:
        # A copy: what the caller does to the results is not told to who asks next.
        kept = Kept(response.again(load), rule.kept_for(response.confidence))
        recent.put(key, kept, revision=revision, most=rule.most)
    return call.reinforced([response])[0]


def _answered(
    call: SearchCall, query: str, embedding: npt.ArrayLike | None, scope: Scope
) -> tuple[SearchResponse, bool]:
    """Search anew, part by part where the question has several.

    Returns:
        The answer; whether a reranker or an expander said less than it might next time.
    """
    questions, counts = call.questions([query], [embedding])
    visible, load = call.visible(), scope.loader
    projections = call.services.projections
    responses = [answer(question, projections, visible, load) for question in questions]
    fell_short = any(map(_has_fallen_short, questions, responses))
    return call.together([query], counts, questions, responses)[0], fell_short


def search_many(
    scope: Scope,
    queries: Sequence[str],
    k: int,
    keywords: BatchKeywords,
    method: Callable[..., object],
) -> list[SearchResponse]:
    """Answer a batch of questions; see :meth:`oneiros.Engine.search_many`."""
    watch = scope.shared.watch
    if watch is None:
        return _search_many(scope, queries, k, keywords, method)
    with watch.searching("search_many") as tell:
        responses = _search_many(scope, queries, k, keywords, method)
        tell(responses)
    return responses


def _search_many(
    scope: Scope,
    queries: Sequence[str],
    k: int,
    keywords: BatchKeywords,
    method: Callable[..., object],
) -> list[SearchResponse]:
    asked = texts("queries", queries)
    embeddings = _one_each(keywords.pop("embeddings", None), len(asked))
    threads = checked_threads(keywords.pop("threads", None))
    call = SearchCall(scope, SearchOptions.checked(keywords, method), k)
    call.options.require_reinforcement(call.profile)
    questions, counts = call.questions(asked, embeddings)
    if not questions:
        return []
    responses = answer_many(
        questions, call.services.projections, call.visible(), scope.loader, threads
    )
    return call.reinforced(call.together(asked, counts, questions, responses))


def _one_each(embeddings: Any, count: int) -> list[npt.ArrayLike | None]:
    """Return the vectors of a batch, one a query, each perhaps None.

    Raises:
        TypeError, ValueError: what is no such batch.
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


def _has_fallen_short(request: SearchRequest, response: SearchResponse) -> bool:
    """Whether a reranker or an expander, where there is one, said less than it might next time.

    Args:
        request: one that was searched whole, or a part of a compound one.
        response: the answer to it.
    """
    if request.expanded is not None and request.expanded.has_failed:
        return True
    return request.reranker is not None and any(
        stage.name.endswith("rerank") and stage.note for stage in response.trace.stages
    )
