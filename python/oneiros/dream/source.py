"""What a draft of the store reads that lies in no column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    from oneiros.dream.changes import Rows

    Column = npt.NDArray[Any]
    Mask = npt.NDArray[np.bool_]

__all__ = ["Source"]


class Source(Protocol):
    """The store as a draft reads it. Rows are numbers of the process's columns."""

    def is_of(self, lifecycle: object) -> bool:
        """Whether its rows are those of these columns."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The words for the codes of the column ``kind``; that of code 0 is empty."""

    @property
    def ids(self) -> Sequence[str]:
        """By row; "" where a memory was erased."""

    def row_of(self, id: str) -> int | None:
        """The row of an id; None where there is none."""

    def column(self, name: str) -> Column:
        """A read-only view of a column, one value a row; an erased one's ``deleted_at`` is NaN."""

    def live_rows(self) -> Rows:
        """The rows of memories that are not deleted, rising."""

    def texts(self, rows: Rows) -> list[str]:
        """The texts of rows as they were given."""

    def records(self, rows: Rows) -> list[Mapping[str, object]]:
        """What else the store holds of rows, as a memory holds it.

        That is title, topic, project, session, tags, metadata, sessions and superseded_by.
        """

    def grouped(self, field: str) -> npt.NDArray[np.int64]:
        """One number a row, the same where the field is; -1 where a row has none.

        Args:
            field: "topic", "project" or "session".
        """

    def overlaps(self, rows: Rows, among: Mask) -> npt.NDArray[np.float64]:
        """For each row the largest Jaccard of its words with another row's of its topic, 0 to 1.

        Words are those of docs/systems/omega.md O3; rows without a topic count as of one topic.

        Args:
            rows: those asked about.
            among: which rows they are compared with, one value a row.
        """

    def vectors(self, rows: Rows) -> npt.NDArray[np.float32]:
        """Unit vectors, shape (n, dimension); zeros where a row has none; (n, 0) where no row has."""

    def nearest(
        self, rows: Rows, count: int, among: Mask
    ) -> list[tuple[Rows, npt.NDArray[np.float64]]]:
        """For each row the rows nearest by cosine, itself left out, the best first, with cosines.

        Args:
            rows: those asked about; one without a vector has none.
            count: most a row.
            among: which rows may be named, one value a row.
        """

    def repeated(self) -> list[Rows]:
        """Groups of live rows with one text in one topic and project, each in order of insertion.

        Rows without a topic count as of one topic, those without a project as of one project.
        """

    def linked(self, row: int) -> Rows:
        """The rows that a row is linked with."""

    def replayed_at(self, rows: Rows) -> npt.NDArray[np.float64]:
        """When rows were last replayed, seconds; NaN where never, or before they last changed."""
