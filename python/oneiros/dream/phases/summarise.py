"""Summarising: replace similar fading memories by one. Source: docs/systems/cognitive.md C21."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from oneiros._lazy import np
from oneiros.dream.phases.cool import HOT, to_cold
from oneiros.dream.phases.grouping import answer_of, groups_of, rounded
from oneiros.dream.phases.row_values import retained
from oneiros.index.columns import coded
from oneiros.model.fields import ENUMS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from oneiros.dream.changes import Rows
    from oneiros.dream.draft import Draft
    from oneiros.scoring.phases.cognitive import Summarising

    Matrix = npt.NDArray[np.float32]
    Mask = npt.NDArray[np.bool_]

__all__ = ["summarise"]

_ARCHIVED: Final = ENUMS["status"].index("archived")
_LARGEST: Final = (
    *("importance", "access_count", "created_at", "updated_at", "last_accessed_at"),
    *("learned_at", "strength", "depth", "certainty", "impact", "priority"),
)
"""Fields for which a summary gets the maximum of its sources, including times."""

_SHARED: Final = ("topic", "project", "session")


def summarise(draft: Draft, phase: Summarising) -> None:
    """Supersede each group of similar fading memories by one summary."""
    rows, vectors = _compared(draft, phase)
    sections = draft.column("category")[rows] + 3 * (draft.source.grouped("project")[rows] + 1)
    groups = groups_of(vectors, sections, phase)
    for group in groups:
        _summarise(draft, phase, rows[group], vectors[group])
    draft.count(compared=len(rows), groups=len(groups))


def _compared(draft: Draft, phase: Summarising) -> tuple[Rows, Matrix]:
    """Return the rows to compare, ascending, and their vectors.

    If there are more than a cycle compares, those with the lowest retention; among equals, the
    earlier.
    """
    retention = retained(draft)
    rows = np.flatnonzero(_may_be_summarised(draft) & (retention < phase.below)).astype(np.uint32)
    order = np.argsort(retention[rows], kind="stable")
    most, left = max(phase.most_compared, 1), phase.most_compared
    chosen, found = [rows[:0]], [draft.source.vectors(rows[:0])]
    for start in range(0, len(rows), most):
        portion = rows[order[start : start + most]]
        vectors = draft.source.vectors(portion)
        with_vector = np.flatnonzero(vectors.any(axis=1))[:left]
        chosen.append(portion[with_vector])
        found.append(vectors[with_vector])
        left -= len(with_vector)
        if not left or not vectors.shape[1]:
            break
    compared = np.concatenate(chosen)
    order = np.argsort(compared)
    return compared[order], np.concatenate(found)[order]


def _may_be_summarised(draft: Draft) -> Mask:
    """Return the mask of rows that C21 applies to, apart from retention and vectors.

    Summaries are not summarised again. Memories with a start or an end of validity are excluded,
    since their summary would have neither.
    """
    mask: Mask = draft.live & ~draft.protected & (draft.column("superseded") == 0)
    mask &= (draft.column("status") != _ARCHIVED) & (draft.column("tier") == HOT)
    mask &= draft.column("consolidation_quality") == 0
    mask &= np.isnan(draft.column("valid_from")) & ~draft.expiring
    return mask


def _summarise(draft: Draft, phase: Summarising, rows: Rows, vectors: Matrix) -> None:
    """Supersede rows by one summary, if all of them may be changed."""
    if not len(draft.changeable("C21", rows, whole=True)):
        return
    records = draft.source.records(rows)
    if not all(records):
        return  # one was erased since the cycle began
    record = {
        **_fields(draft, rows),
        **_shared(records),
        **_content(draft, rows, vectors),
        "consolidation_quality": phase.quality,
    }
    summary = draft.add("C21", record, rows)
    for row in rows.tolist():
        draft.supersede("C21", row, summary)
        draft.link("C21", summary, row, weight=phase.link, kind="summary")
    to_cold(draft, "C21", rows)


def _content(draft: Draft, rows: Rows, vectors: Matrix) -> dict[str, object]:
    """Return text and vector of a summary, without a summariser those of the most central row."""
    texts = draft.source.texts(rows)
    centre = vectors.mean(axis=0, dtype=np.float64)
    if draft.summarise is None:
        nearest = int(np.argmax(rounded(vectors @ centre)))  # the first of equals
        return {"text": texts[nearest], "embedding": vectors[nearest].copy()}
    text = answer_of("summarise", draft.summarise, texts)
    if not text.strip():
        msg = f"summarise: must write a text, got {text!r}"
        raise ValueError(msg)
    if draft.embeds:
        return {"text": text}
    return {"text": text, "embedding": (centre / np.linalg.norm(centre)).astype(np.float32)}


def _fields(draft: Draft, rows: Rows) -> dict[str, object]:
    """Return the fields of a summary that come from the columns of its sources."""
    values = {name: np.fmax.reduce(draft.column(name)[rows], keepdims=True) for name in _LARGEST}
    values["stability"] = draft.column("stability")[rows].mean(keepdims=True, dtype=np.float64)
    numbers = {
        name: coded(value.astype(draft.column(name).dtype))[0] for name, value in values.items()
    }
    kinds = Counter(draft.column("kind")[rows].tolist())
    fields: dict[str, Any] = {
        **{name: value for name, value in numbers.items() if value is not None},
        "kind": draft.source.kinds[kinds.most_common(1)[0][0]],
        "category": ENUMS["category"][draft.column("category")[rows[0]]],
    }
    veracities = set(draft.column("veracity")[rows].tolist())
    if len(veracities) == 1:
        fields["veracity"] = ENUMS["veracity"][veracities.pop()]
    return fields


def _shared(records: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """Return topic, project, session and tags as far as all sources share them."""
    first = records[0]
    words = {
        name: first[name]
        for name in _SHARED
        if first[name] is not None and all(record[name] == first[name] for record in records)
    }
    tags: Any = [record["tags"] for record in records]
    shared = [tag for tag in dict.fromkeys(tags[0]) if all(tag in other for other in tags)]
    return {**words, "tags": shared}
