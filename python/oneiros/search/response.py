"""What a search answers: results, each with its scores, and what every stage did."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from oneiros.errors import OneirosError, StoreCorrupt, UnknownMemory
from oneiros.runtime.dataclasses import NamedTuple, replace
from oneiros.search.trace import Duplicate, SearchTrace, StageTrace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from oneiros.display.tables import DisplayTable
    from oneiros.explain.explanation import Explanation
    from oneiros.graph.link import LinkEvidence
    from oneiros.model.memory import Memory
    from oneiros.store.loading import OwnRow

Read = TypeVar("Read")
Made = TypeVar("Made")

_QUERY = 80  # characters of a query that are shown

__all__ = [
    "Duplicate",
    "LoadMemories",
    "MadeAnswer",
    "ResponseParts",
    "ResultMemories",
    "SearchResponse",
    "SearchResult",
    "SearchTrace",
    "StageTrace",
    "load_each",
    "readable",
]


class LoadMemories(Protocol):
    """Loads memories by their ids, None in place of one that is not there."""

    def __call__(self, ids: Sequence[str], /) -> list[Memory | None]:
        """Return the memories."""

    def texts(self, ids: Sequence[str], /) -> list[str | None]:
        """Return their texts alone, which takes less."""

    def own_rows(self, ids: Sequence[str], /) -> list[OwnRow | None]:
        """Return text, title and tags, which takes as little."""


def load_each(
    load: Callable[[Sequence[str]], list[Read | None]], ids: Sequence[str]
) -> list[Read | StoreCorrupt | None]:
    """Return what a loader does, but the error in place of a memory that is damaged.

    Args:
        load: raises ``StoreCorrupt`` where one of them is.
        ids: of the memories.
    """
    try:
        return list(load(ids))
    except StoreCorrupt as error:
        if len(ids) == 1:
            return [error]
        return [one for id in ids for one in load_each(load, [id])]


def readable(
    load: Callable[[Sequence[str]], list[Read | None]], ids: Sequence[str]
) -> list[Read | None]:
    """Return what a loader does, but None in place of a memory that is damaged."""
    found = load_each(load, ids)
    return [None if isinstance(memory, StoreCorrupt) else memory for memory in found]


class ResultMemories:
    """Reads the memories of one response, or their texts, all at once on the first touch."""

    __slots__ = ("_ids", "_lock", "_memories", "_texts", "loader")

    def __init__(self, ids: Sequence[str], load: LoadMemories) -> None:
        self._ids = ids
        self.loader = load
        """Reads memories, or their texts, from the store."""
        self._lock = threading.RLock()  # a signal handler may look on the thread that holds it
        self._memories: dict[str, Memory | StoreCorrupt | None] | None = None
        self._texts: dict[str, str | StoreCorrupt | None] | None = None

    def load(self) -> dict[str, Memory | StoreCorrupt | None]:
        with self._lock:
            if self._memories is None:
                found = load_each(self.loader, self._ids)
                self._memories = dict(zip(self._ids, found, strict=True))
            return self._memories

    def memory(self, memory_id: str) -> Memory:
        return _present(memory_id, self.load()[memory_id])

    def text(self, memory_id: str) -> str | None:
        with self._lock:
            if self._texts is None:
                self._texts = self._found_texts()
            found = self._texts[memory_id]
        return None if found is None else _present(memory_id, found)

    def _found_texts(self) -> dict[str, str | StoreCorrupt | None]:
        if self._memories is None:
            read = load_each(self.loader.texts, self._ids)
            return dict(zip(self._ids, read, strict=True))
        return {
            id: one if one is None or isinstance(one, StoreCorrupt) else one.text
            for id, one in self._memories.items()
        }


def _present(memory_id: str, found: Read | StoreCorrupt | None) -> Read:
    if found is None:
        msg = f"id: {memory_id!r} was forgotten after the search"
        raise UnknownMemory(msg)
    if isinstance(found, StoreCorrupt):
        from copy import copy  # noqa: PLC0415 - as a rule nothing is damaged

        raise copy(found)  # each touch raises one of its own
    return found


class SearchResult:
    """One ranked memory."""

    __slots__ = (
        "_explanations",
        "_memories_of",
        "_place",
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
        explanations: Sequence[Explanation | None] | None = None,
        place: int = 0,
    ) -> None:
        self._memories_of = memories
        self.id = memory_id
        self.relevance_score, self.retention_score, self.combined_score = scores
        self.raw_score = self.combined_score
        """The score before scores are divided by the best (docs/systems/omega.md O29)."""
        self._explanations = explanations
        self._place = place
        self.found_by_links: LinkEvidence | None = None
        self.neighbour_of: str | None = None
        """The hit beside which it stands in its session, and which alone brought it; else None."""
        self.via_deep_recall = False
        self.parts: tuple[str, ...] = ()
        """Of a compound question, the parts that found it, in order; else empty."""

    @property
    def memory(self) -> Memory:
        """The memory as the store holds it when this is first touched.

        Raises:
            UnknownMemory: it was forgotten since the search.
            StoreCorrupt: its row in the store is damaged; the other results can be read.
        """
        return self._memories_of.memory(self.id)

    @property
    def text(self) -> str:
        """The memory's text, for which no memory is made; see :attr:`SearchResponse.texts`.

        Raises:
            UnknownMemory, StoreCorrupt: as :attr:`memory`.
        """
        return _present(self.id, self._memories_of.text(self.id))

    @property
    def explanation(self) -> Explanation | None:
        """How the score came about, made when this is first touched; None unless it was asked for."""
        return None if self._explanations is None else self._explanations[self._place]

    @property
    def is_associative(self) -> bool:
        """Whether links of other results brought it, and gave it its score."""
        return self.found_by_links is not None and self.found_by_links.weight is not None

    @property
    def path(self) -> tuple[str, ...]:
        """Ids from the direct result that led here to this memory; empty for a direct result."""
        return () if self.found_by_links is None else self.found_by_links.path

    @property
    def path_weight(self) -> float:
        """What the links on the path leave of a score; 1 for a direct result."""
        found = self.found_by_links
        return 1.0 if found is None or found.weight is None else found.weight

    @property
    def bridge(self) -> tuple[str, ...]:
        """Ids of the path by which it joins two of the first results that share no link; else empty.

        Source: docs/systems/cognitive.md C10.
        """
        return () if self.found_by_links is None else self.found_by_links.bridge

    @property
    def score(self) -> float:
        """The same as ``combined_score``."""
        return self.combined_score

    def _shown(self) -> tuple[str, str, str]:
        """Return the beginning of title and text, the kind and the day, each in one harmless line.

        The memory is read from the store if it was not yet. Of one that cannot be read any more, the
        text is the reason.
        """
        from oneiros.display.escaping import snippet  # noqa: PLC0415 - for those who look
        from oneiros.display.tables import CELL, day, fitted  # noqa: PLC0415 - for those who look

        try:
            memory = self.memory
        except OneirosError as error:
            return snippet(f"({error})", CELL), "", ""
        occurred = memory.created_at if memory.event_at is None else memory.event_at
        text = f"{memory.title}: {memory.text}" if memory.title else memory.text
        shown, kind = (fitted(snippet(one, CELL), CELL) for one in (text, memory.kind))
        return shown, kind, day(occurred)

    def __repr__(self) -> str:
        from oneiros.display.escaping import shortened  # noqa: PLC0415 - for those who look

        text, kind, date = self._shown()
        told = f"score={self.combined_score:.5g}, text={text!r}, kind={kind!r}, date={date!r}"
        return f"SearchResult({told}, id={shortened(repr(self.id), _QUERY)})"


class ResponseParts(Protocol):
    """What a response is made of, each part when it is first asked for."""

    def results(self, memories: ResultMemories) -> tuple[SearchResult, ...]:
        """Return new results, best first, whose memories are these."""

    def nearest_misses(self, load: LoadMemories) -> tuple[SearchResult, ...]:
        """Return new nearest candidates where nothing is returned."""

    def trace(self) -> SearchTrace:
        """Return what every stage did."""

    def direct_ids(self) -> tuple[str, ...] | None:
        """Return the ids of the direct results; None where no links were followed."""

    def linked_ids(self) -> frozenset[str]:
        """Return the ids of the results that links brought."""


class MadeAnswer(NamedTuple):
    """An :class:`Answer` whose parts were made elsewhere."""

    made_results: tuple[SearchResult, ...]
    made_trace: SearchTrace
    made_misses: tuple[SearchResult, ...] = ()
    made_direct_ids: tuple[str, ...] | None = None

    def results(self, memories: ResultMemories) -> tuple[SearchResult, ...]:
        """Return new results, best first, whose memories are these."""
        return _with_memories(self.made_results, memories)

    def nearest_misses(self, load: LoadMemories) -> tuple[SearchResult, ...]:
        """Return new nearest candidates where nothing is returned."""
        memories = ResultMemories([one.id for one in self.made_misses], load)
        return _with_memories(self.made_misses, memories)

    def trace(self) -> SearchTrace:
        """Return what every stage did."""
        return self.made_trace

    def direct_ids(self) -> tuple[str, ...] | None:
        """Return the ids of the direct results; None where no links were followed."""
        return self.made_direct_ids

    def linked_ids(self) -> frozenset[str]:
        """Return the ids of the results that links brought."""
        return frozenset(one.id for one in self.made_results if one.is_associative)


class SearchResponse:
    """The answer to one query, best first; always with its trace.

    ``ids``, ``scores`` and ``texts`` cost little; results are made when one is first looked at, the
    trace when it is. ``str()`` and a notebook show a row a result: the beginning of its text, kind,
    date, score and id; with explanations, :meth:`table` too. Texts are read from the store then, not
    before.
    """

    __slots__ = (
        "_answer",
        "_ids",
        "_made",
        "_memories",
        "_reinforcement_ms",
        "_scores",
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
        """The clock of this search, seconds UTC."""
        self.profile = profile
        """Name of the profile that ranked."""
        self.profile_hash = profile_hash
        """Content hash of that profile."""
        self.reason = reason
        """Why nothing is returned although there were candidates; else empty."""
        self.confidence = confidence
        """How near the first results are to the question, 0 to 1; None where the profile does not ask
        (docs/systems/omega.md O28)."""
        self.parts = parts
        """Of a compound question, its parts, each of which was searched (docs/systems/omega.md O10);
        else empty."""
        self._ids = ids
        self._scores = scores
        self._memories = memories
        self._answer = answer
        self._reinforcement_ms: float | None = None
        self._made: dict[str, Any] = {}

    def _once(self, name: str, make: Callable[[], Made]) -> Made:
        """Return what is made once, also where several threads ask at the same time."""
        found: Made | None = self._made.get(name)
        return self._made.setdefault(name, make()) if found is None else found

    @property
    def results(self) -> tuple[SearchResult, ...]:
        """The results, best first."""
        return self._once("results", lambda: self._answer.results(self._memories))

    @property
    def nearest_misses(self) -> tuple[SearchResult, ...]:
        """Where nothing is returned for :attr:`reason`: the nearest, best first. They count as no access."""
        load = self._memories.loader
        return self._once("misses", lambda: self._answer.nearest_misses(load))

    @property
    def trace(self) -> SearchTrace:
        """What every stage did."""
        return self._once("trace", self._whole_trace)

    def _whole_trace(self) -> SearchTrace:
        trace, duration_ms = self._answer.trace(), self._reinforcement_ms
        if duration_ms is None:
            return trace
        stage = StageTrace("reinforcement", len(self), len(self), duration_ms)
        return replace(trace, stages=(*trace.stages, stage), total_ms=trace.total_ms + duration_ms)

    @property
    def direct_ids(self) -> tuple[str, ...] | None:
        """Ids of the direct results, before what links brought was merged in; None: ``ids`` are."""
        return self._answer.direct_ids()

    @property
    def linked_ids(self) -> frozenset[str]:
        """Ids of the results that links brought."""
        return self._answer.linked_ids()

    @property
    def answer(self) -> ResponseParts:
        """What the response is made of."""
        return self._answer

    @property
    def abstained(self) -> bool:
        """Whether nothing is returned because nothing is near enough (docs/systems/omega.md O27)."""
        return bool(self.reason)

    def __len__(self) -> int:
        return len(self._ids)

    def __iter__(self) -> Iterator[SearchResult]:
        return iter(self.results)

    def with_reinforcement(self, duration_ms: float) -> SearchResponse:
        """Return the response with the stage that followed it in its trace. REQUIRES: nobody has it yet."""
        self._reinforcement_ms = duration_ms
        self._made.pop("trace", None)
        return self

    def again(
        self, load: LoadMemories, *, now: float | None = None, answer: ResponseParts | None = None
    ) -> SearchResponse:
        """Return the same answer in new results, whose memories are read when they are first touched.

        Args:
            load: the store's loader.
            now: the clock; None: the same.
            answer: with another trace; None: this one's.
        """
        return SearchResponse(
            query=self.query,
            now=self.now if now is None else now,
            profile=self.profile,
            profile_hash=self.profile_hash,
            ids=self._ids,
            scores=self._scores,
            memories=ResultMemories(self._ids, load),
            answer=self._answer if answer is None else answer,
            reason=self.reason,
            confidence=self.confidence,
            parts=self.parts,
        )

    def load(self) -> None:
        """Read the memories of results and nearest misses now, and not when one is first touched."""
        self._memories.load()
        if self.reason and self.nearest_misses:
            self.nearest_misses[0]._memories_of.load()

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
        """Texts of the results, best first, one an id; None for a memory forgotten since the search.

        All are read by one statement when this or ``result.text`` is first touched, without the
        cost of ``result.memory``, and are not read again: what is written later does not show. A
        text comes from a verified row. Of what use and dream cycles change nothing is read.

        Raises:
            StoreCorrupt: the row of one is damaged; it is named, and the others can be read by
                their ``result.text``.
        """
        return [self._memories.text(id) for id in self._ids]

    def table(self) -> DisplayTable:
        """Return one row a result, best first.

        With explanations its columns are rank, id, each channel's rank and score, relevance, each
        factor, score; without: rank, id, relevance, retention, score.
        """
        from oneiros.display.tables import DisplayTable  # noqa: PLC0415 - for those who look
        from oneiros.explain.render import explanations_table  # noqa: PLC0415

        told = [one for result in self.results if (one := result.explanation) is not None]
        if told and len(told) == len(self.results):
            return explanations_table(self.ids, told)
        return DisplayTable(
            ("rank", "id", "relevance", "retention", "score"),
            tuple(
                (rank, one.id, one.relevance_score, one.retention_score, one.score)
                for rank, one in enumerate(self.results, start=1)
            ),
        )

    def _overview(self) -> DisplayTable:
        """Return what people look for in each result, its id last."""
        from oneiros.display.tables import DisplayTable  # noqa: PLC0415 - for those who look

        rows = (
            (rank, *result._shown(), result.score, result.id)
            for rank, result in enumerate(self.results, start=1)
        )
        return DisplayTable(("rank", "text", "kind", "date", "score", "id"), tuple(rows))

    def _tables(self) -> list[DisplayTable]:
        """Return the overview, and the figures where every result is explained."""
        if not self.results:
            return []
        is_explained = all(result.explanation is not None for result in self.results)
        return [self._overview(), *([self.table()] if is_explained else [])]

    def _headline(self) -> str:
        from oneiros.display.escaping import shortened  # noqa: PLC0415 - for those who look

        count = f"{len(self.results)} result{'' if len(self.results) == 1 else 's'}"
        why = f": {self.reason}" if self.reason else ""
        return f"{count} for {shortened(repr(self.query), _QUERY)}, profile {self.profile}{why}"

    def __str__(self) -> str:
        return "\n".join((self._headline(), "\n\n".join(map(str, self._tables())))).rstrip()

    def __repr__(self) -> str:
        best = f", best score {self.results[0].score:.5g}" if self.results else ""
        return f"<SearchResponse: {self._headline()}{best}>"

    def _repr_html_(self) -> str:
        from oneiros.display.tables import html_text  # noqa: PLC0415 - for notebooks

        tables = "".join(table._repr_html_() for table in self._tables())
        return f"<p>{html_text(self._headline())}</p>{tables}"


def _with_memories(
    results: Sequence[SearchResult], memories: ResultMemories
) -> tuple[SearchResult, ...]:
    from copy import copy  # noqa: PLC0415 - for answers that are kept

    copies = tuple(map(copy, results))
    for one in copies:
        one._memories_of = memories
    return copies
