"""Responses of searches: ranked results with their scores, and the trace of every stage."""

from __future__ import annotations

import json
import threading
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex, TypeVar, overload

from oneiros import display, explain, search
from oneiros._lazy import copy
from oneiros.display.counts import count_of
from oneiros.display.escaping import shortened, snippet
from oneiros.errors import OneirosError, StoreCorrupt, UnknownMemory
from oneiros.runtime.dataclasses import NamedTuple, replace
from oneiros.search.trace import Duplicate, SearchTrace, StageTrace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pandas as pd
    import pyarrow as pa

    from oneiros.display.tables import DisplayTable
    from oneiros.explain.explanation import Explanation
    from oneiros.graph.graph import LinkEvidence
    from oneiros.model.memory import Memory
    from oneiros.store.loading import OwnRow

Read = TypeVar("Read")
Made = TypeVar("Made")

_QUERY = 80  # characters of a query in headlines

__all__ = [
    "BuiltParts",
    "Duplicate",
    "LoadMemories",
    "ResponseParts",
    "ResultMemories",
    "SearchResponse",
    "SearchResult",
    "SearchTrace",
    "StageTrace",
    "load_each",
    "readable",
]


class LoadResults(Protocol):
    """Loads the memories of results by id; None for an id that does not exist."""

    def __call__(self, ids: Sequence[str], /) -> list[Memory | None]:
        """Return the memories."""

    def texts(self, ids: Sequence[str], /) -> list[str | None]:
        """Return only the texts, which is cheaper."""


class LoadMemories(LoadResults, Protocol):
    """Loads memories by id, or what searches read of them."""

    def own_rows(self, ids: Sequence[str], /) -> list[OwnRow | None]:
        """Return text, title and tags, which is as cheap as :meth:`texts`."""


def load_each(
    load: Callable[[Sequence[str]], list[Read | None]], ids: Sequence[str]
) -> list[Read | StoreCorrupt | None]:
    """Load memories, with the error in place of each damaged memory."""
    try:
        return list(load(ids))
    except StoreCorrupt as error:
        if len(ids) == 1:
            return [error]
        return [loaded for id in ids for loaded in load_each(load, [id])]


def readable(
    load: Callable[[Sequence[str]], list[Read | None]], ids: Sequence[str]
) -> list[Read | None]:
    """Load memories, with None in place of each damaged memory."""
    loaded = load_each(load, ids)
    return [None if isinstance(memory, StoreCorrupt) else memory for memory in loaded]


class LoadedMemories:
    """Memories that are read already, as :class:`LoadResults`."""

    def __init__(self, memories: dict[str, Memory | StoreCorrupt | None]) -> None:
        self._memories = memories

    def __call__(self, ids: Sequence[str], /) -> list[Memory | None]:
        """Return the memories."""
        return [
            None if (found := self._memories[id]) is None else _present(id, found) for id in ids
        ]

    def texts(self, ids: Sequence[str], /) -> list[str | None]:
        """Return the texts."""
        return [None if memory is None else memory.text for memory in self(ids)]


class ResultMemories:
    """The memories and texts of one response, each kind read in one go on first access."""

    __slots__ = ("_ids", "_lock", "_memories", "_texts", "loader")

    def __init__(self, ids: Sequence[str], load: LoadResults) -> None:
        self._ids = ids
        self.loader = load
        """Reads memories, or their texts, from the store."""
        self._lock = threading.RLock()  # a signal handler may read on the thread that holds it
        self._memories: dict[str, Memory | StoreCorrupt | None] | None = None
        self._texts: dict[str, str | StoreCorrupt | None] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        is_loaded = isinstance(self.loader, LoadedMemories)
        return ResultMemories, (
            list(self._ids),
            self.loader if is_loaded else LoadedMemories(self.load()),
        )

    def load(self) -> dict[str, Memory | StoreCorrupt | None]:
        if (memories := self._memories) is not None:
            return memories
        with self._lock:
            if self._memories is None:
                loaded = load_each(self.loader, self._ids)
                self._memories = dict(zip(self._ids, loaded, strict=True))
            return self._memories

    def memory(self, memory_id: str) -> Memory:
        return _present(memory_id, self.load()[memory_id])

    def texts(self, ids: Sequence[str]) -> list[str | None]:
        """Return texts, None for forgotten memories."""
        with self._lock:
            if self._texts is None:
                self._texts = self._load_texts()
            texts = self._texts
        return [
            text if (text := texts[id]) is None or type(text) is str else _present(id, text)
            for id in ids
        ]

    def _load_texts(self) -> dict[str, str | StoreCorrupt | None]:
        if self._memories is None:
            texts = load_each(self.loader.texts, self._ids)
            return dict(zip(self._ids, texts, strict=True))
        return {
            id: memory if memory is None or isinstance(memory, StoreCorrupt) else memory.text
            for id, memory in self._memories.items()
        }


def _present(memory_id: str, loaded: Read | StoreCorrupt | None) -> Read:
    if loaded is None:
        msg = f"id: {memory_id!r} was forgotten after the search"
        raise UnknownMemory(msg)
    if isinstance(loaded, StoreCorrupt):
        raise copy.copy(loaded)  # a new exception each time: raising adds a traceback
    return loaded


class SearchResult:
    """One ranked memory.

    Attributes:
        id: id of the memory.
        relevance_score: what fusion made of the channels.
        retention_score: product of the profile's lifecycle factors, each without its damping.
        combined_score: the score that ranks.
        raw_score: the score before scores are divided by the best (docs/systems/omega.md O29).
        found_by_links: paths of links to it or over it; None if links played no part.
        neighbour_of: id of the result whose session neighbour it is, if only that brought it.
        via_deep_recall: whether only ``deep_recall=True`` returns it.
        parts: parts of a compound query that found it, in order; else empty.

    >>> import oneiros
    >>> with oneiros.Engine(":memory:") as engine:
    ...     id = engine.add("Ada likes coffee")
    ...     result = engine.search("coffee").results[0]
    ...     result.text, result.score == result.combined_score
    ('Ada likes coffee', True)
    """

    __slots__ = (
        "_channels",
        "_explain",
        "_explanation",
        "_memories",
        "combined_score",
        "found_by_links",
        "id",
        "neighbour_of",
        "parts",
        "raw_score",
        "relevance_score",
        "retention_score",
        "via_deep_recall",
    )

    def __init__(
        self,
        memories: ResultMemories,
        memory_id: str,
        scores: tuple[float, float, float],
        explain: Callable[[], Explanation | None] | None = None,
        channels: Callable[[], Mapping[str, float]] = dict,
    ) -> None:
        self._memories = memories
        self._channels = channels
        self.id = memory_id
        self.relevance_score, self.retention_score, self.combined_score = scores
        self.raw_score = self.combined_score
        self._explain = explain
        self._explanation: Explanation | None = None
        self.found_by_links: LinkEvidence | None = None
        self.neighbour_of: str | None = None
        self.via_deep_recall = False
        self.parts: tuple[str, ...] = ()

    def __copy__(self) -> SearchResult:
        copied = object.__new__(SearchResult)
        for name in self.__slots__:  # without making channels and explanation, as a pickle does
            setattr(copied, name, getattr(self, name))
        return copied

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle has: channels and explanation are made now."""
        state = {name: getattr(self, name) for name in self.__slots__}
        made = {
            "_channels": dict(self.channels),
            "_explanation": self.explanation,
            "_explain": None,
        }
        return state | made

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
        self._channels = partial(dict, state["_channels"])

    @property
    def memory(self) -> Memory:
        """The memory, read from the store on first access.

        Raises:
            UnknownMemory: the memory was forgotten after the search.
            StoreCorrupt: its row in the store is damaged; the other results can be read.
        """
        return self._memories.memory(self.id)

    @property
    def text(self) -> str:
        """The memory's text, read without the rest of it; see :attr:`SearchResponse.texts`.

        Raises:
            UnknownMemory, StoreCorrupt: as :attr:`memory`.
        """
        return _present(self.id, self._memories.texts((self.id,))[0])

    @property
    def channels(self) -> Mapping[str, float]:
        """By name of each channel that found it: the channel's own score, such as BM25 or a cosine.

        Empty for a memory that no channel found, such as one reached by links. Of a compound query,
        the scores in the part that ranked it best.
        """
        return self._channels()

    @property
    def explanation(self) -> Explanation | None:
        """Explanation of the score; None unless the search was called with ``explain=True``."""
        if self._explanation is None and self._explain is not None:
            self._explanation = self._explain()
        return self._explanation

    @property
    def is_associative(self) -> bool:
        """Whether links of other results found it and set its score."""
        return self.found_by_links is not None and self.found_by_links.weight is not None

    @property
    def path(self) -> tuple[str, ...]:
        """Ids from the direct result to this memory, along links; empty for a direct result."""
        return () if self.found_by_links is None else self.found_by_links.path

    @property
    def path_weight(self) -> float:
        """Share of the score that the links on the path leave; 1 for a direct result."""
        evidence = self.found_by_links
        return 1.0 if evidence is None or evidence.weight is None else evidence.weight

    @property
    def bridge(self) -> tuple[str, ...]:
        """Ids of the path on which it connects two top results without a direct link; else empty.

        Source: docs/systems/cognitive.md C10.
        """
        return () if self.found_by_links is None else self.found_by_links.bridge

    @property
    def score(self) -> float:
        """Same as ``combined_score``."""
        return self.combined_score

    def _cells(self) -> tuple[str, str, str]:
        """Return the start of title and text, the kind and the day, each in one escaped line.

        Reads the memory from the store on first access. If that fails, the text is the reason.
        """
        tables = display.tables
        try:
            memory = self.memory
        except OneirosError as error:
            return snippet(f"({error})", tables.CELL), "", ""
        occurred = memory.created_at if memory.event_at is None else memory.event_at
        text = f"{memory.title}: {memory.text}" if memory.title else memory.text
        text, kind = (
            tables.fitted(snippet(value, tables.CELL), tables.CELL) for value in (text, memory.kind)
        )
        return text, kind, tables.day(occurred)

    def __repr__(self) -> str:
        text, kind, date = self._cells()
        fields = f"score={self.combined_score:.5g}, text={text!r}, kind={kind!r}, date={date!r}"
        return f"SearchResult({fields}, id={shortened(repr(self.id), _QUERY)})"


class ResponseParts(Protocol):
    """The parts of a response, each built on demand."""

    def results(self, memories: ResultMemories) -> tuple[SearchResult, ...]:
        """Return new results, best first, that read from ``memories``."""

    def nearest_misses(self, load: LoadResults) -> tuple[SearchResult, ...]:
        """Return the nearest candidates as new results, if the search abstained."""

    def trace(self) -> SearchTrace:
        """Return the trace of all stages."""

    def direct_ids(self) -> tuple[str, ...] | None:
        """Return the ids of the direct results; None if no links were followed."""

    def linked_ids(self) -> frozenset[str]:
        """Return the ids of the results that were found by links."""


class BuiltParts(NamedTuple):
    """:class:`ResponseParts` that are built already."""

    built_results: tuple[SearchResult, ...]
    built_trace: SearchTrace
    built_misses: tuple[SearchResult, ...] = ()
    built_direct_ids: tuple[str, ...] | None = None
    built_linked_ids: frozenset[str] | None = None
    """None: those of the associative results."""

    def results(self, memories: ResultMemories) -> tuple[SearchResult, ...]:
        """Return copies of the results that read from ``memories``."""
        return _with_memories(self.built_results, memories)

    def nearest_misses(self, load: LoadResults) -> tuple[SearchResult, ...]:
        """Return copies of the nearest misses."""
        memories = ResultMemories([miss.id for miss in self.built_misses], load)
        return _with_memories(self.built_misses, memories)

    def trace(self) -> SearchTrace:
        """Return the trace of all stages."""
        return self.built_trace

    def direct_ids(self) -> tuple[str, ...] | None:
        """Return the ids of the direct results; None if no links were followed."""
        return self.built_direct_ids

    def linked_ids(self) -> frozenset[str]:
        """Return the ids of the results that were found by links."""
        if self.built_linked_ids is not None:
            return self.built_linked_ids
        return frozenset(result.id for result in self.built_results if result.is_associative)


class SearchResponse:
    """The results of one query, best first, and the trace of the search.

    ``ids``, ``scores`` and ``texts`` are cheap. Results and trace are built on first access.
    ``str()`` and notebooks show one row per result (start of its text, kind, date, score and id),
    and :meth:`table` if the search was explained; only then texts are read from the store.

    Pickling reads the memories and builds everything, so that another process needs no store.

    >>> import oneiros
    >>> with oneiros.Engine(":memory:") as engine:
    ...     id = engine.add("Ada likes coffee")
    ...     response = engine.search("coffee")
    ...     len(response), response.texts, response.ids == [id]
    (1, ['Ada likes coffee'], True)
    """

    __slots__ = (
        "_answer",
        "_ids",
        "_made",
        "_memories",
        "_reinforcement_ms",
        "_scores",
        "_trace",
        "confidence",
        "now",
        "parts",
        "profile",
        "profile_hash",
        "query",
        "reason",
    )

    def __init__(
        self,
        *,
        query: str,
        now: float,
        profile: str,
        profile_hash: str,
        ids: Sequence[str],
        scores: Sequence[float],
        memories: ResultMemories,
        answer: ResponseParts,
        reason: str = "",
        confidence: float | None = None,
        parts: tuple[str, ...] = (),
    ) -> None:
        self.query = query
        self.now = now
        """The time of the search, seconds UTC."""
        self.profile = profile
        """Name of the profile that ranked."""
        self.profile_hash = profile_hash
        """Content hash of that profile."""
        self.reason = reason
        """Why the search abstained: no candidate is close enough to the query; else empty."""
        self.confidence = confidence
        """Under the default profile, the probability that the first result is relevant, 0 to 1
        (docs/confidence.md). It is that of the first memory found, whatever ``offset=`` and
        ``min_score=`` leave out; None if nothing is found or the search abstains. Under a profile
        with a retry, the closeness of the first results to the query (docs/systems/omega.md O28).
        None under other profiles."""
        self.parts = parts
        """Parts of a compound query, each searched (docs/systems/omega.md O10); else empty."""
        self._ids = ids
        self._scores = scores
        self._memories = memories
        self._answer = answer
        self._reinforcement_ms: float | None = None
        self._trace = answer.trace
        self._made: dict[str, Any] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the response with its memories, results and trace, which are read and built now."""
        fields = {name: getattr(self, name) for name in _PLAIN_FIELDS}
        memories, misses = self._memories, self.nearest_misses
        if misses:  # the memories of results and of misses are read by one loader
            loaded = memories.load() | misses[0]._memories.load()
            memories = ResultMemories(list(self._ids), LoadedMemories(loaded))
        answer = BuiltParts(self.results, self.trace, misses, self.direct_ids, self.linked_ids)
        fields |= {"ids": list(self._ids), "scores": list(self._scores)}
        fields |= {"memories": memories, "answer": answer}
        return _unpickled, (fields,)

    def _cached(self, name: str, make: Callable[[], Made]) -> Made:
        """Return the value under ``name``, made on first access. All threads get the same one."""
        made: Made | None = self._made.get(name)
        return self._made.setdefault(name, make()) if made is None else made

    @property
    def results(self) -> tuple[SearchResult, ...]:
        """The results, best first."""
        return self._cached("results", lambda: self._answer.results(self._memories))

    @property
    def nearest_misses(self) -> tuple[SearchResult, ...]:
        """The nearest candidates, best first, if the search abstained. They count as no access."""
        load = self._memories.loader
        return self._cached("misses", lambda: self._answer.nearest_misses(load))

    @property
    def trace(self) -> SearchTrace:
        """The trace of all stages."""
        return self._cached("trace", self._make_trace)

    def _make_trace(self) -> SearchTrace:
        trace, duration_ms = self._trace(), self._reinforcement_ms
        if duration_ms is None:
            return trace
        stage = StageTrace("reinforcement", len(self), len(self), duration_ms)
        return replace(trace, stages=(*trace.stages, stage), total_ms=trace.total_ms + duration_ms)

    @property
    def direct_ids(self) -> tuple[str, ...] | None:
        """Ids of the direct results, before links were merged in; None: ``ids`` are all direct."""
        return self._answer.direct_ids()

    @property
    def linked_ids(self) -> frozenset[str]:
        """Ids of the results that were found by links."""
        return self._answer.linked_ids()

    @property
    def answer(self) -> ResponseParts:
        """The parts that the response is built from."""
        return self._answer

    @property
    def abstained(self) -> bool:
        """Whether nothing is close enough to be returned (docs/systems/omega.md O27)."""
        return bool(self.reason)

    def __len__(self) -> int:
        return len(self._ids)

    def __iter__(self) -> Iterator[SearchResult]:
        return iter(self.results)

    @overload
    def __getitem__(self, place: SupportsIndex) -> SearchResult: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[SearchResult, ...]: ...
    def __getitem__(self, place: SupportsIndex | slice) -> SearchResult | tuple[SearchResult, ...]:
        """Return the result at a place, from 0, or those of a slice."""
        return self.results[place]

    def with_reinforcement(self, duration_ms: float) -> SearchResponse:
        """Add the reinforcement stage to the trace and return self.

        REQUIRES: the response was not handed out yet.
        """
        self._reinforcement_ms = duration_ms
        self._made.pop("trace", None)
        return self

    def again(
        self,
        load: LoadMemories,
        *,
        now: float | None = None,
        trace: Callable[[], SearchTrace] | None = None,
    ) -> SearchResponse:
        """Return a copy with new results, whose memories are read on first access.

        Args:
            load: the store's loader.
            now: time of the search, seconds UTC; None: unchanged.
            trace: makes another trace; None: unchanged.
        """
        copied = SearchResponse(
            query=self.query,
            now=self.now if now is None else now,
            profile=self.profile,
            profile_hash=self.profile_hash,
            ids=self._ids,
            scores=self._scores,
            memories=ResultMemories(self._ids, load),
            answer=self._answer,
            reason=self.reason,
            confidence=self.confidence,
            parts=self.parts,
        )
        copied._trace = self._trace if trace is None else trace
        return copied

    def load(self) -> None:
        """Read the memories of results and nearest misses now instead of on first access."""
        self._memories.load()
        if self.reason and self.nearest_misses:
            self.nearest_misses[0]._memories.load()

    @property
    def ids(self) -> list[str]:
        """Ids of the results, best first."""
        return list(self._ids)

    @property
    def scores(self) -> list[float]:
        """Scores of the results, best first."""
        return list(self._scores)

    @property
    def texts(self) -> list[str | None]:
        """Texts of the results, best first, one per id; None for a memory forgotten since.

        One statement reads all texts on first access of this or ``result.text``, without the cost
        of ``result.memory``. Later writes do not change them. Each text comes from a row whose
        checksum was verified; the fields that use and dream cycles change are not read.

        Raises:
            StoreCorrupt: a row is damaged. The message names it; the other texts can be read by
                ``result.text``.
        """
        return self._memories.texts(self._ids)

    def to_dict(self) -> dict[str, Any]:
        """Return the response as values that JSON has, as ``oneiros search --json`` prints them.

        Reads the memories. Their times are ISO 8601, and in place of the vector stands its
        ``embedding_dimension``. The memory of a result is None if it was forgotten since or its row
        is damaged. ``now`` is the time of the search.

        >>> import oneiros
        >>> with oneiros.Engine(":memory:") as engine:
        ...     id = engine.add("Ada likes coffee", id="coffee")
        ...     record = engine.search("coffee").to_dict()
        >>> record["results"][0]["id"], record["results"][0]["memory"]["text"]
        ('coffee', 'Ada likes coffee')
        """
        return search.records.response_record(self)

    def to_json(self, *, indent: int | None = None) -> str:
        """Return :meth:`to_dict` as JSON text.

        Args:
            indent: spaces per level; None: one line.
        """
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=indent)

    def to_arrow(self) -> pa.Table:
        """Return the results as an Arrow table, one row each, best first.

        Columns: rank, id, score, relevance_score, retention_score, channels (a map of name to
        score), then every field of the memory but its vector: times as timestamps in UTC, lists of
        texts as lists, ``metadata`` as JSON text. Fields of a memory that was forgotten since or is
        damaged, and times that microseconds in 64 bits cannot hold, are null.

        Raises:
            ImportError: pyarrow is not installed (the extra ``oneiros[arrow]``).
        """
        return search.records.arrow_table(self)

    def table(self) -> DisplayTable:
        """Return a table with one row per result, best first.

        Columns: rank, id, relevance, retention, score. For an explained search: rank, id, each
        channel's rank and score, relevance, each factor, score.
        """
        found = (result.explanation for result in self.results)
        explanations = [explanation for explanation in found if explanation is not None]
        if explanations and len(explanations) == len(self.results):
            return explain.explanation.explanations_table(self.ids, explanations)
        return display.tables.DisplayTable(
            ("rank", "id", "relevance", "retention", "score"),
            tuple(
                (rank, result.id, result.relevance_score, result.retention_score, result.score)
                for rank, result in enumerate(self.results, start=1)
            ),
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas data frame with one row per result, best first.

        Columns: those of :meth:`table`, with text, kind and created_at after the id; these are
        missing for a memory that was forgotten since or is damaged. So is a created_at that pandas
        cannot hold: before 1677 or after 2262.

        Raises:
            ImportError: pandas is not installed.

        >>> import oneiros
        >>> with oneiros.Engine(":memory:") as engine:
        ...     id = engine.add("Ada likes coffee", id="coffee")
        ...     frame = engine.search("coffee").to_frame()
        >>> frame.text.tolist()
        ['Ada likes coffee']
        """
        return search.records.data_frame(self)

    def _overview(self) -> DisplayTable:
        """Return a table of rank, text, kind, date, score and id."""
        rows = (
            (rank, *result._cells(), result.score, result.id)
            for rank, result in enumerate(self.results, start=1)
        )
        columns = ("rank", "text", "kind", "date", "score", "id")
        return display.tables.DisplayTable(columns, tuple(rows))

    def _tables(self) -> list[DisplayTable]:
        """Return the overview, and :meth:`table` if every result is explained."""
        if not self.results:
            return []
        is_explained = all(result.explanation is not None for result in self.results)
        return [self._overview(), *([self.table()] if is_explained else [])]

    def _headline(self) -> str:
        count = count_of(len(self.results), "result")
        why = f": {self.reason}" if self.reason else ""
        return f"{count} for {shortened(repr(self.query), _QUERY)}, profile {self.profile}{why}"

    def __str__(self) -> str:
        return "\n".join((self._headline(), "\n\n".join(map(str, self._tables())))).rstrip()

    def __repr__(self) -> str:
        best = f", best score {self.results[0].score:.5g}" if self.results else ""
        return f"<SearchResponse: {self._headline()}{best}>"

    def _repr_html_(self) -> str:
        return display.notebook.response_html(self)


_PLAIN_FIELDS = ("query", "now", "profile", "profile_hash", "reason", "confidence", "parts")


def _unpickled(fields: dict[str, Any]) -> SearchResponse:
    return SearchResponse(**fields)


def _with_memories(
    results: Sequence[SearchResult], memories: ResultMemories
) -> tuple[SearchResult, ...]:
    copies = tuple(map(copy.copy, results))
    for result in copies:
        result._memories = memories
    return copies
