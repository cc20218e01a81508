"""The changes of a cycle as plain data: columns as arrays, everything else one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import numpy.typing as npt

    Rows = npt.NDArray[np.uint32]

__all__ = ["AddedMemory", "ColumnChange", "ContentChange", "Held", "LinkChange"]


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
