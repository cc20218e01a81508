"""What every stage of a search did. ``print(response.trace)`` shows it as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    """Why the stage did less than it might have; empty when there is nothing to say."""


@dataclass(frozen=True, slots=True)
class SearchTrace:
    """Every stage in the order it ran. Source: docs/systems/cognitive.md C15."""

    stages: tuple[StageTrace, ...]
    total_ms: float
    notes: tuple[str, ...] = ()
    duplicates: tuple[Duplicate, ...] = ()
    """What was left out for a better result it is like. Source: docs/systems/omega.md O26."""

    @property
    def total_tokens(self) -> int:
        """Tokens that language models used in all stages."""
        return sum(stage.prompt_tokens + stage.completion_tokens for stage in self.stages)

    def table(self) -> DisplayTable:
        """Return one row a stage in the order they ran, and one for all of them together."""
        from oneiros.display.tables import DisplayTable  # noqa: PLC0415 - for those who look

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
        """What is told below the table."""
        from oneiros.display.escaping import one_line  # noqa: PLC0415 - for those who look

        left = [f"left out: {one.id} is like {one.of}" for one in self.duplicates]
        return [one_line(line) for line in (*self.notes, *left)]

    def __str__(self) -> str:
        return "\n".join((str(self.table()), *self._below()))

    def _repr_html_(self) -> str:
        from oneiros.display.tables import html_text  # noqa: PLC0415 - for notebooks

        below = "".join(f"<p>{html_text(line)}</p>" for line in self._below())
        return self.table()._repr_html_() + below


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A memory that was left out for a better one it is like."""

    id: str
    of: str
    """The id of the better one."""
