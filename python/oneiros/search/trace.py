"""Search traces: counts, times and notes per stage, and the words of the core's notes.

``print(response.trace)`` shows a table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oneiros import display
from oneiros.display.escaping import one_line, shortened
from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring.stages import Surfacing

if TYPE_CHECKING:
    import pandas as pd

    from oneiros.display.tables import DisplayTable
    from oneiros.search.call import SearchRequest
    from oneiros.search.pipeline import Walk

__all__ = [
    "NO_TIME",
    "REASONS",
    "Duplicate",
    "Note",
    "SearchTrace",
    "Shortfall",
    "StageTrace",
    "note_words",
    "reason_words",
    "respelled_words",
    "shortfall_words",
]


_SHOWN: Final = 300  # most characters of the stages in a repr


@dataclass(frozen=True, slots=True)
class StageTrace:
    """One stage of a search. Source: docs/systems/cognitive.md C15."""

    name: str
    candidate_count: int
    """Memories that entered the stage. "fusion" counts hits: a memory of two channels twice."""
    survivor_count: int
    """Memories that left it."""
    duration_ms: float
    prompt_tokens: int = 0
    completion_tokens: int = 0
    note: str = ""
    """Why the stage did less than it could have; else empty."""


@dataclass(frozen=True, slots=True, repr=False)
class SearchTrace:
    """All stages of a search in the order they ran. Source: docs/systems/cognitive.md C15.

    ``str()`` and notebooks show it as a table, with notes and duplicates below.

    >>> import oneiros
    >>> with oneiros.Engine(":memory:") as engine:
    ...     id = engine.add("Ada likes coffee")
    ...     trace = engine.search("coffee").trace
    ...     trace.stages[0].name, trace.total_tokens
    ('validity_filter', 0)
    """

    stages: tuple[StageTrace, ...]
    total_ms: float
    notes: tuple[str, ...] = ()
    duplicates: tuple[Duplicate, ...] = ()
    """Results left out because they duplicate a better one. Source: docs/systems/omega.md O26."""

    @property
    def total_tokens(self) -> int:
        """Tokens used by language models in all stages."""
        return sum(stage.prompt_tokens + stage.completion_tokens for stage in self.stages)

    def table(self) -> DisplayTable:
        """Return a table with one row per stage in the order they ran, and a row of totals."""
        rows = [
            (
                stage.name,
                stage.candidate_count,
                stage.survivor_count,
                stage.duration_ms,
                stage.prompt_tokens,
                stage.completion_tokens,
                stage.note,
            )
            for stage in self.stages
        ]
        read = sum(stage.prompt_tokens for stage in self.stages)
        written = sum(stage.completion_tokens for stage in self.stages)
        total = ("total", None, None, self.total_ms, read, written, "")
        return display.tables.DisplayTable(
            ("stage", "in", "out", "ms", "prompt tokens", "completion tokens", "note"),
            (*rows, total),
        )

    def _below(self) -> list[str]:
        """Return the lines below the table."""
        left = (f"left out: {pair.id} is like {pair.of}" for pair in self.duplicates)
        return [one_line(line) for line in (*self.notes, *left)]

    def __str__(self) -> str:
        return "\n".join((str(self.table()), *self._below()))

    def __repr__(self) -> str:
        names = shortened(", ".join(stage.name for stage in self.stages), _SHOWN)
        notes = f", {len(self.notes)} notes" if self.notes else ""
        return f"<SearchTrace: {self.total_ms:.3g} ms in {names}{notes}>"

    def to_frame(self) -> pd.DataFrame:
        """Return :meth:`table` as a pandas data frame.

        Raises:
            ImportError: pandas is not installed.
        """
        return self.table().to_frame()

    def _repr_html_(self) -> str:
        below = "".join(f"<p>{display.tables.html_text(line)}</p>" for line in self._below())
        return self.table()._repr_html_() + below


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A memory left out because it duplicates a better result."""

    id: str
    of: str
    """The id of the better result."""


# -- notes -------------------------------------------------------------------------------------------

NO_TIME: Final = "absent: the query names no time"

Shortfall = tuple[bool, float, float | None, float]
"""A result that was left out: whether its score is too low, score, cosine, share of words."""


class Note:
    """Numbers of the notes, as in the core (cpp/search/search_trace.h)."""

    NONE = 0
    VECTOR_ABSENT = 1
    NO_TIME = 2
    NOT_KEYWORD_LIKE = 3
    TIME_OR_DEEP = 4
    NOTHING_AS_LIKE = 5
    HAS_VARIANTS = 6
    TOO_FEW_HITS = 7
    NOT_STRONG = 8
    NEVER_RECALLED = 9
    FILLED = 10
    LEFT_BY_RULES = 11
    ON_BRIDGES = 12
    SURFACING = 13
    LOW = 14
    WEAK = 15
    NO_RERANKER = 16
    RERANKER = 17
    RETRY_NOT_NEEDED = 18
    RETRY_KEPT = 19
    RETRY_NOT_KEPT = 20
    NEWER_FIRST = 21
    BASELINE = 22
    SPELLING = 23
    RESPELLED = 24


REASONS: Final = frozenset((Note.SURFACING, Note.LOW, Note.WEAK))
"""Notes on why nothing is returned, put in words by :func:`reason_words`."""


def _words_of_walk(walk: Walk) -> str:
    """Return how the nearest vectors were searched; "" if all were compared."""
    if not walk.breadth:
        return ""
    words = f"approximate: HNSW, breadth {walk.breadth}"
    return words if walk.recall is None else f"{words}, measured recall {walk.recall:.3f}"


def note_words(note: int, first: float, second: float, request: SearchRequest, walk: Walk) -> str:
    """Return a stage's note, with its two figures, in words; "" for none."""
    match note:
        case Note.VECTOR_ABSENT:
            return request.absent or _words_of_walk(walk)
        case Note.NO_TIME:
            return NO_TIME
        case Note.NOT_KEYWORD_LIKE:
            return "skipped: the query is not keyword-like"
        case Note.TIME_OR_DEEP:
            return "skipped: a time is named, or recall is deep"
        case Note.NOTHING_AS_LIKE:
            return f"nothing as like as {first:g}"
        case Note.HAS_VARIANTS:
            return "skipped: the question is asked in other words too"
        case Note.TOO_FEW_HITS:
            return f"not strong: {first:.0f} hits"
        case Note.NOT_STRONG:
            return f"not strong: {display.tables.figure(first)}, and {display.tables.figure(second)} ahead"
        case Note.NEVER_RECALLED:
            return "no memory was ever recalled"
        case Note.FILLED:
            return f"{first:.0f} raw scores beyond those found"
        case Note.LEFT_BY_RULES:
            return f"{first:.0f} left by the profile's rules"
        case Note.ON_BRIDGES:
            return f"{first:.0f} on bridges"
        case Note.NEWER_FIRST:
            return f"{first:.0f} raised above an older value"
        case Note.BASELINE:
            return f"cosines count from {display.tables.figure(first)}"
        case Note.SPELLING:
            return f"vectors of spelling count {display.tables.figure(first)} of their weight"
        case Note.NO_RERANKER:
            return "absent: no reranker"
        case Note.RETRY_NOT_NEEDED:
            return f"not needed: confidence {display.tables.figure(first)}"
        case Note.RETRY_KEPT | Note.RETRY_NOT_KEPT:
            kept = "kept" if note == Note.RETRY_KEPT else "not kept"
            return f"confidence {display.tables.figure(first)}, asked again {display.tables.figure(second)}: {kept}"
    return ""


def respelled_words(lines: str) -> str:
    """Return which words were searched in place of words that no text has.

    Args:
        lines: a word of the query, a space and the other word, on each line.
    """
    pairs = (line.split(" ", 1) for line in lines.splitlines())
    return "; ".join(f"no text has {word!r}, searched as {other!r}" for word, other in pairs)


def shortfall_words(shortfall: Shortfall, rule: Surfacing) -> str:
    """Return why a result is not close enough."""
    is_low, score, cosine, overlap = shortfall
    if is_low:
        return f"score {display.tables.figure(score)} below {rule.least_score:g}"
    lacks = f"overlap {display.tables.figure(overlap)} below {rule.least_overlap:g}"
    if cosine is None:
        return lacks
    return f"cosine {display.tables.figure(cosine)} below {rule.least_cosine:g}, {lacks}"


def reason_words(
    reason: tuple[int, float, float, int, Shortfall],
    rule: object,
    word_count: int,
) -> str:
    """Return why nothing is returned.

    Args:
        reason: number of the note, two figures, count of results left out, the best of them.
        rule: the abstention rule as this attempt applied it.
        word_count: number of words in the query.
    """
    note, first, second, left_count, nearest = reason
    if note == Note.WEAK:
        least = getattr(rule, "cosine", 0.0)
        return (
            f"the best cosine is {display.tables.figure(first)}, below {least:g}, and "
            f"{second:.0f} of the question's {word_count} words are found"
        )
    assert isinstance(rule, Surfacing)
    best = shortfall_words(nearest, rule)
    if note == Note.SURFACING:
        return f"none of {left_count} candidates is near enough; the best: {best}"
    return f"none of {left_count} results scores enough; the best: {best}"
