"""The context of a search: the caller's file, tags and project. docs/systems/omega.md O16, O20."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oneiros.display.escaping import shortened
from oneiros.model.validation import text as text_check
from oneiros.model.validation import words as words_check
from oneiros.runtime.dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyroaring import BitMap

    from oneiros.index.row_sets import RowSets

    Surroundings = tuple[list[str], BitMap]

__all__ = ["Context"]

_check_file = text_check("file", low=1, high=4_096)
_check_project = text_check("project", low=1, high=256)
_check_situation = text_check("situation", low=1, high=64)
_check_tags = words_check("tags")
_LEAST_PART: Final = 3
_SHOWN: Final = 100  # most characters of a field in a repr


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Context:
    """The caller's current work. A search with a context favours memories that belong to it.

    Raises:
        TypeError, ValueError: an argument breaks its rule; the message names both.

    >>> import oneiros
    >>> context = oneiros.Context(file="src/billing/invoice.py", tags=["tax"])
    >>> context.words
    ['invoice.py', 'src', 'billing', 'invoice', 'tax']
    """

    file: str | None = None
    """The current file, 1 to 4,096 bytes of UTF-8. Its name, its name without the extension, and
    each part of its path of three characters or more are compared with the tags, project and text
    of memories."""

    tags: Sequence[str] = ()
    """Topics of the work, compared with the same fields."""

    project: str | None = None
    """The current project, 1 to 256 bytes of UTF-8. Memories of the same project match."""

    situation: str | None = None
    """A situation that the profile knows ("file_edit", "planning", ...), 1 to 64 bytes of UTF-8. It
    sets the weight of the context, and how close a memory must be."""

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

    def __repr__(self) -> str:
        given = {name: getattr(self, name) for name in ("file", "tags", "project", "situation")}
        shown = ", ".join(
            f"{name}={shortened(repr(value), _SHOWN)}" for name, value in given.items() if value
        )
        return f"Context({shown})"

    @property
    def words(self) -> list[str]:
        """The words of the file and the tags, in lower case, without repetitions."""
        words = map(str.lower, (*_words_of(self.file or ""), *self.tags))
        return list(dict.fromkeys(filter(None, words)))

    def surroundings(self, row_sets: RowSets) -> Surroundings:
        """Return the words, and the rows whose project contains one of them or is the caller's.

        Source: docs/systems/omega.md O20.
        """
        words = self.words
        return words, row_sets.of_projects(
            lambda project: (
                project == self.project or any(word in project.lower() for word in words)
            )
        )


def _words_of(path: str) -> list[str]:
    """Return the file's name, the longer parts of its path, and the name without its extension."""
    is_windows = "\\" in path and "/" not in path
    parts = [part for part in path.split("\\" if is_windows else "/") if part not in ("", ".")]
    name = parts[-1] if parts else ""
    words = [name, *(part for part in parts if len(part) >= _LEAST_PART)]
    stem, _, extension = name.rpartition(".")
    return [*words, stem] if extension and stem.strip(".") else words
