"""Search traces: counts, times and notes per stage. ``print(response.trace)`` shows a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros.display.escaping import one_line
from oneiros.runtime.dataclasses import dataclass

if TYPE_CHECKING:
    from oneiros.display.tables import DisplayTable

__all__ = ["Duplicate", "SearchTrace", "StageTrace"]


@dataclass(frozen=True, slots=True)
class StageTrace:
    """One stage of a search. Source: docs/systems/cognitive.md C15."""

    name: str
    candidate_count: int
    """Memories that entered the stage."""
    survivor_count: int
    """Memories that left it."""
    duration_ms: float
    prompt_tokens: int = 0
    completion_tokens: int = 0
    note: str = ""
    """Why the stage did less than it could have; else empty."""


@dataclass(frozen=True, slots=True)
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
        from oneiros.display.tables import DisplayTable  # noqa: PLC0415 - only for display

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
        return DisplayTable(
            ("stage", "in", "out", "ms", "prompt tokens", "completion tokens", "note"),
            (*rows, total),
        )

    def _below(self) -> list[str]:
        """Return the lines below the table."""
        left = (f"left out: {pair.id} is like {pair.of}" for pair in self.duplicates)
        return [one_line(line) for line in (*self.notes, *left)]

    def __str__(self) -> str:
        return "\n".join((str(self.table()), *self._below()))

    def _repr_html_(self) -> str:
        from oneiros.display.tables import html_text  # noqa: PLC0415 - only for notebooks

        below = "".join(f"<p>{html_text(line)}</p>" for line in self._below())
        return self.table()._repr_html_() + below


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A memory left out because it duplicates a better result."""

    id: str
    of: str
    """The id of the better result."""
