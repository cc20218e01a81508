"""What a cycle changes: columns by arrays, everything else one by one. Data, and nothing but data."""

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
    """As docs/systems has it, such as "R12"."""
    field: str
    """The memory's field, which is also the column's name."""
    rows: Rows
    """Each once, shape (n,)."""
    before: npt.NDArray[Any]
    """Shape (n,), the column's dtype; a time that is none is NaN, a word of an enumeration its code."""
    after: npt.NDArray[Any]
    """Shape (n,), the same dtype; differs from ``before`` in every place."""


class ContentChange(NamedTuple):
    """A field that lies in no column, of one memory: "text", "embedding", "superseded_by"."""

    phase: str
    rule: str
    field: str
    row: int
    before: object
    """As a memory holds it; an embedding is its float32 vector, or None."""
    after: object
    """As ``before``; in ``superseded_by`` a number below 0 stands for a memory that is added."""


class LinkChange(NamedTuple):
    """The link of two memories, changed by one rule. A number below 0 is a memory that is added."""

    phase: str
    rule: str
    one: int
    other: int
    gain: float
    """What it gains, as docs/systems/cognitive.md C13 says; 0 where ``weight`` is set."""
    weight: float | None
    """What it becomes, 0 to take it away; None: it gains."""
    kind: str
    """Of a new one: a word of ``oneiros.store.KINDS``."""


class AddedMemory(NamedTuple):
    """A memory that the cycle makes."""

    phase: str
    rule: str
    record: Mapping[str, object]
    """As ``Engine.add`` takes it, ``embedding`` and ``created_at`` among it."""
    sources: Rows
    """What it was made of."""


class Held(NamedTuple):
    """What safety rails kept a phase from."""

    phase: str
    rule: str
    reason: str
    """"protected", "important", "young", "prune budget" or "change budget"."""
    rows: int
    """How many it would have changed."""
