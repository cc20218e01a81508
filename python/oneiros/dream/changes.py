"""The changes of a cycle as plain data: columns as arrays, everything else one by one."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any, Final

from oneiros._lazy import np
from oneiros.dream.report import REMOVALS
from oneiros.model.fields import ENUMS
from oneiros.runtime.dataclasses import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    Mask = npt.NDArray[np.bool_]
    Rows = npt.NDArray[np.uint32]

__all__ = [
    "ARCHIVED",
    "COLD",
    "CONSOLIDATED",
    "HOT",
    "STAGED",
    "STUB",
    "AddedMemory",
    "ChangedLinks",
    "ColumnChange",
    "ContentChange",
    "Held",
    "LinkChange",
    "removals",
    "removed_counts",
    "rows_of",
    "same_values",
]

STAGED: Final = ENUMS["status"].index("staged")
CONSOLIDATED: Final = ENUMS["status"].index("consolidated")
ARCHIVED: Final = ENUMS["status"].index("archived")
HOT: Final = ENUMS["tier"].index("hot")
COLD: Final = ENUMS["tier"].index("cold")
STUB: Final = ENUMS["tier"].index("stub")

_NUMBER: Final = "q"  # int64; a negative number is a memory that the cycle adds


class ColumnChange(NamedTuple):
    """One field of many memories, changed by one rule."""

    phase: str
    """The phase's name, such as "downscale"."""
    rule: str
    """The rule's code in docs/systems, such as "R12"."""
    field: str
    """The memory's field, which is also the column's name."""
    rows: Rows
    """Each once, shape (n,)."""
    before: npt.NDArray[Any]
    """Shape (n,), the column's dtype: NaN for no time, codes for words of an enumeration."""
    after: npt.NDArray[Any]
    """Shape (n,), the same dtype; differs from ``before`` in every place."""


class ContentChange(NamedTuple):
    """A change of one memory's field that is not in a column.

    The field is "text", "embedding" or "superseded_by".
    """

    phase: str
    rule: str
    field: str
    row: int
    before: object
    """The value as in a memory; an embedding is its float32 vector or None."""
    after: object
    """As ``before``; in ``superseded_by`` a negative number is a memory that the cycle adds."""


class LinkChange(NamedTuple):
    """A link between two rows, changed by one rule. A negative row is a memory the cycle adds."""

    phase: str
    rule: str
    one: int
    other: int
    gain: float
    """Gain of the weight, see docs/systems/cognitive.md C13; 0 if ``weight`` is set."""
    weight: float | None
    """The new weight, 0 to remove the link; None: apply ``gain``."""
    kind: str
    """The kind of a new link, a word of ``oneiros.store.KINDS``."""


class LinksOfRule(NamedTuple):
    """Links that one rule changes in the same way. :class:`LinkChange` describes the fields."""

    phase: str
    rule: str
    gain: float
    weight: float | None
    kind: str
    ones: array[int]
    others: array[int]
    """The other end of each link in ``ones``."""


class ChangedLinks:
    """The link changes of a cycle, in the order in which the rules made them.

    Stored as arrays. Iterating creates the :class:`LinkChange` objects.
    """

    def __init__(self) -> None:
        self._parts: list[LinksOfRule] = []

    @property
    def parts(self) -> Sequence[LinksOfRule]:
        """The same changes, consecutive ones grouped by rule, gain, weight and kind."""
        return self._parts

    def add(
        self,
        phase: str,
        rule: str,
        ones: npt.ArrayLike,
        others: npt.ArrayLike,
        *,
        gain: float,
        weight: float | None,
        kind: str,
    ) -> None:
        """Add links between pairs of memories, given as two numbers or two arrays of shape (n,)."""
        pairs = np.asarray(ones, np.int64), np.asarray(others, np.int64)
        if not pairs[0].size:
            return
        key = (phase, rule, gain, weight, kind)
        if not self._parts or self._parts[-1][: len(key)] != key:
            self._parts.append(LinksOfRule(*key, array(_NUMBER), array(_NUMBER)))
        part = self._parts[-1]
        part.ones.frombytes(pairs[0].tobytes())
        part.others.frombytes(pairs[1].tobytes())

    def without(self, rule: str) -> ChangedLinks:
        """Return a copy without the links of one rule."""
        rest = ChangedLinks()
        rest._parts = [part for part in self._parts if part.rule != rule]
        return rest

    def __len__(self) -> int:
        """Return the number of changes; a link that changes twice counts twice."""
        return sum(len(part.ones) for part in self._parts)

    def __iter__(self) -> Iterator[LinkChange]:
        """Yield the changes one by one."""
        for phase, rule, gain, weight, kind, ones, others in self._parts:
            for one, other in zip(ones, others, strict=True):
                yield LinkChange(phase, rule, one, other, gain, weight, kind)


class AddedMemory(NamedTuple):
    """A memory that the cycle adds."""

    phase: str
    rule: str
    record: Mapping[str, object]
    """The arguments of ``Engine.add``, including ``embedding`` and ``created_at``."""
    sources: Rows
    """The rows it was made from."""


class Held(NamedTuple):
    """Rows that a safety rail kept a phase from changing."""

    phase: str
    rule: str
    reason: str
    """"protected", "important", "young", "prune budget" or "change budget"."""
    rows: int
    """Number of rows that the phase would have changed."""


def rows_of(mask: Mask) -> Rows:
    """Return the rows of a mask, ascending."""
    return np.flatnonzero(mask).astype(np.uint32)


def same_values(values: npt.NDArray[Any], others: npt.NDArray[Any]) -> Mask:
    """Return where two arrays of one dtype are equal; NaN equals NaN."""
    same: Mask = values == others
    if values.dtype.kind == "f":
        same |= np.isnan(values) & np.isnan(others)
    return same


def removals(field: str, values: npt.NDArray[Any]) -> Mask:
    """Return the mask of new values of a column that remove their memory."""
    found: Mask = np.zeros(len(values), np.bool_)
    for removing, word in REMOVALS:
        if removing == field:
            found |= ~np.isnan(values) if word is None else values == ENUMS[field].index(word)
    return found


def removed_counts(values: Mapping[str, tuple[Rows, npt.NDArray[Any]]]) -> dict[str, int]:
    """Count the memories that a cycle removes, each once, by kind of removal.

    Kinds without a memory are left out.

    Args:
        values: by field, the rows that change and their new values.
    """
    counts: dict[str, int] = {}
    gone: Rows | None = None
    for (field, _), name in REMOVALS.items():
        if field not in values:
            continue
        rows, after = values[field]
        rows = rows[removals(field, after)]
        fresh = rows if gone is None else np.setdiff1d(rows, gone)
        gone = rows if gone is None else np.union1d(gone, rows)
        if len(fresh):
            counts[name] = len(fresh)
    return counts
