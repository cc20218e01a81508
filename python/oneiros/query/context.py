"""What the caller is doing while it asks. Source: docs/systems/omega.md O16, O20."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from oneiros.field_checks import text as text_check
from oneiros.field_checks import words as words_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    from pyroaring import BitMap

    from oneiros.projections.row_sets import RowSets
    from oneiros.texts.sought import Sought

    Rows = npt.NDArray[np.uint32]
    Signals = dict[str, npt.NDArray[np.float64]]

__all__ = ["Context", "Surroundings"]

_check_file = text_check("file", low=1, high=4_096)
_check_project = text_check("project", low=1, high=256)
_check_situation = text_check("situation", low=1, high=64)
_check_tags = words_check("tags")
_APART: Final = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What the caller is doing: given with a search, it favours memories that belong to it."""

    file: str | None = None
    """The path that is worked on; its words are looked for in memories."""

    tags: Sequence[str] = ()
    """What the work is about; memories share tags with it."""

    project: str | None = None
    """The project that is worked in."""

    situation: str | None = None
    """One that the profile knows ("file_edit", "planning", ...): how much all this weighs, and how
    near a memory must be."""

    def __post_init__(self) -> None:
        for name, check in (
            ("file", _check_file),
            ("project", _check_project),
            ("situation", _check_situation),
        ):
            value = getattr(self, name)
            if value is not None:
                check(value)
        object.__setattr__(self, "tags", tuple(dict.fromkeys(_check_tags(self.tags))))

    @property
    def file_words(self) -> list[str]:
        """The words of the file's name and folders, three letters or more, lower case, each once."""
        parts = _APART.split(self.file or "")
        return list(dict.fromkeys(part.lower() for part in parts if len(part) >= 3))

    def surroundings(self, row_sets: RowSets) -> Surroundings:
        """Return the rows that belong to it."""
        from oneiros.scopes import where  # noqa: PLC0415 - filters load their conditions

        return Surroundings(
            tuple(row_sets.matching(where(tags=tag)) for tag in self.tags),
            None if self.project is None else row_sets.matching(where(project=self.project)),
            self.file_words,
        )


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What belongs to a context, as rows and words."""

    tags: tuple[BitMap, ...]
    """The rows of each tag."""
    project: BitMap | None
    file_words: list[str]

    def signals(self, rows: Rows, sought: Sought | None) -> Signals:
        """Return what the factor "context" reads of each row.

        Args:
            rows: of candidates.
            sought: their texts; None leaves the file's words out.
        """
        told: Signals = {}
        numbers = rows.tolist()
        if self.tags:
            told["tag_overlap"] = np.array(
                [float(sum(row in held for held in self.tags)) for row in numbers]
            )
        if self.project is not None:
            told["project_match"] = np.array([float(row in self.project) for row in numbers])
        if self.file_words and sought is not None:
            counts = sought.column.count_words(rows=rows, words=self.file_words, with_tags=False)
            told["content_match"] = np.asarray(counts, np.float64)
        return told
