"""The phases of the cognitive system's cycle. Source: docs/systems/cognitive.md C19 to C22."""

from __future__ import annotations

import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from oneiros._lazy import np
from oneiros.dream.changes import ARCHIVED, COLD, HOT, STUB, rows_of
from oneiros.dream.phases.row_values import retained
from oneiros.filters.fields import WORDS
from oneiros.index.columns import coded
from oneiros.model.fields import ENUMS
from oneiros.model.validation import TEXT_LIMIT, require_choice, require_utf8
from oneiros.model.validation import text as text_check
from oneiros.scoring.factors import Retention

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from oneiros.dream.changes import Mask, Rows
    from oneiros.dream.cycles import Judge
    from oneiros.dream.draft import Draft
    from oneiros.scoring.phases.cognitive import Conflicts, Cooling, Stubbing, Summarising

    Matrix = npt.NDArray[np.float32]
    Pair = tuple[int, int]
    Places = npt.NDArray[np.intp]

__all__ = [
    "VERDICTS",
    "beginning",
    "comparable",
    "cool",
    "cut_to_stubs",
    "judge_conflicts",
    "new_rows",
    "retire",
    "summarise",
    "verdict_of",
]

_DAY: Final = 86_400.0
_check_summary: Final = text_check("summarise", low=0, high=TEXT_LIMIT)
_AT_ONCE: Final = 4_096
"""Rows whose texts and vectors are read at a time."""
_JOINER: Final = "\u200d"
_LONGEST_CLUSTER: Final = 32
_LARGEST: Final = (
    *("importance", "access_count", "created_at", "updated_at", "last_accessed_at"),
    *("learned_at", "strength", "depth", "certainty", "impact", "priority"),
)
"""Fields for which a summary gets the maximum of its sources, including times."""
_SHARED: Final = ("topic", "project", "session", "user", "agent", "namespace", "source")
VERDICTS: Final = ("contradiction", "update", "duplicate", "distinct")
"""The allowed results of a judge for an older and a newer text."""
_MOST: Final = 2**32 - 1  # the field's maximum duplicate count
_SEEDS_AT_ONCE: Final = 64
_STEPS: Final = 1e5
"""Cosines are rounded to five decimals, so that equal vectors have equal cosines: the rounding of a
matrix product depends on a vector's position."""


def cool(draft: Draft, phase: Cooling) -> None:
    """Note when memories reach their retention floor, and cool those that stay there.

    Superseded memories go first, then those longest at the floor.

    Source: docs/systems/cognitive.md C19.
    """
    hot = draft.live & (draft.column("tier") == HOT)
    superseded = hot & (draft.column("superseded") != 0)
    at_floor = hot & ~superseded & _at_floor(draft, phase)
    since = draft.column("at_floor_since")
    # An access after ``since`` lifted the memory off the floor, so it arrived again.
    arrived = at_floor & (np.isnan(since) | (since < draft.column("last_accessed_at")))
    left = hot & ~superseded & ~at_floor & ~np.isnan(since)
    counted = np.where(arrived, draft.now, since)
    stayed = np.flatnonzero(at_floor & ((draft.now - counted) / _DAY >= phase.days))
    longest_first = stayed[np.argsort(counted[stayed], kind="stable")]
    gone = np.concatenate([np.flatnonzero(superseded), longest_first])
    _to_cold(draft, "C19", gone.astype(np.uint32))
    draft.change("C19", "at_floor_since", rows_of(arrived), draft.now)
    draft.change("C19", "at_floor_since", rows_of(left), np.nan)
    _date_tiers(draft)


def _to_cold(draft: Draft, rule: str, rows: Rows) -> None:
    """Move rows to the cold tier as of now, in order of priority; cold rows are unchanged."""
    moved = draft.change(rule, "tier", rows, COLD)
    draft.change(rule, "cold_since", moved, draft.now)


def _at_floor(draft: Draft, phase: Cooling) -> Mask:
    """Return the mask of rows at the floor of their category, without core memories."""
    floors = np.array(draft.factor(Retention).floors)[draft.column("category")]
    near: Mask = retained(draft) - floors <= phase.within
    near &= draft.column("core") == 0
    return near


def _date_tiers(draft: Draft) -> None:
    """Set ``cold_since`` of cold rows that lack it, and clear it of rows that a search warmed."""
    tier, dated = draft.column("tier"), ~np.isnan(draft.column("cold_since"))
    undated = draft.live & (tier == COLD) & ~dated
    warmed = draft.live & (tier == HOT) & dated
    draft.change("C19", "cold_since", rows_of(undated), draft.now)
    draft.change("C19", "cold_since", rows_of(warmed), np.nan)


def cut_to_stubs(draft: Draft, phase: Stubbing) -> None:
    """Cut memories that were cold for long to the beginning of their text, the longest cold first.

    Their vectors and links are removed.

    Source: docs/systems/cognitive.md C20.
    """
    since = draft.activity("cold_since")
    long_cold = (draft.now - since) / _DAY >= phase.days
    long_cold &= draft.live & (draft.column("tier") == COLD) & (draft.column("core") == 0)
    rows = rows_of(draft.without_kept("C20", long_cold))
    draft.because["C20"] = _because
    taken = draft.cut_to_stub("C20", rows[np.argsort(since[rows], kind="stable")])
    for start in range(0, len(taken), _AT_ONCE):
        _cut_contents(draft, taken[start : start + _AT_ONCE], phase.characters)
    _cut_links(draft, taken)


def beginning(text: str, length: int) -> str:
    """Return the beginning of a text, without cutting a character from its combining marks.

    Args:
        text: any text.
        length: maximum length in code points.
    """
    for end in range(min(length, len(text)), max(length - _LONGEST_CLUSTER, 0), -1):
        if end == len(text) or not _joins(text, end):
            return text[:end]
    return text[:length]


def _joins(text: str, place: int) -> bool:
    """Whether the code points before and at a place form one visible character."""
    return _JOINER in text[place - 1 : place + 1] or unicodedata.category(text[place])[0] == "M"


def _cut_contents(draft: Draft, rows: Rows, length: int) -> None:
    texts, vectors = draft.source.texts(rows), draft.source.vectors(rows)
    for row, text, vector in zip(rows.tolist(), texts, vectors, strict=True):
        kept = beginning(text, length)
        if kept != text:
            draft.set_content("C20", "text", row, text, kept)
        if vector.any():
            draft.set_content("C20", "embedding", row, vector, None)


def _cut_links(draft: Draft, rows: Rows) -> None:
    cut: set[int] = set()
    for row in rows.tolist():
        for other in draft.source.linked(row).tolist():
            if other not in cut:  # else the link is removed already
                draft.link("C20", row, other, weight=0.0)
        cut.add(row)


def _because(draft: Draft, rows: Rows) -> list[str]:
    """Return the reason for each cut row as text."""
    days = (draft.now - draft.activity("cold_since")[rows]) / _DAY
    return [f"cold for {count:.0f} days" for count in days.tolist()]


def summarise(draft: Draft, phase: Summarising) -> None:
    """Supersede each group of similar fading memories by one summary.

    Source: docs/systems/cognitive.md C21.
    """
    rows, vectors = _compared(draft, phase)
    sections = draft.column("category")[rows] + 3 * draft.source.parted()[rows]
    groups = _groups_of(vectors, sections, phase)
    for group in groups:
        _summarise(draft, phase, rows[group], vectors[group])
    draft.count(compared=len(rows), groups=len(groups))


def _compared(draft: Draft, phase: Summarising) -> tuple[Rows, Matrix]:
    """Return the rows to compare, ascending, and their vectors.

    If there are more than a cycle compares, those with the lowest retention; among equals, the
    earlier.
    """
    retention = retained(draft)
    rows = rows_of(_may_be_summarised(draft) & (retention < phase.below))
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
    mask &= (draft.column("status") != ARCHIVED) & (draft.column("tier") == HOT)
    mask &= draft.column("consolidation_quality") == 0
    mask &= np.isinf(draft.valid_from) & np.isinf(draft.valid_until)
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
        "derived_from": [id for row in rows.tolist() if (id := draft.source.ids[row])],
        "trust": _least_trust(draft, rows, records),
    }
    summary = draft.add("C21", record, rows)
    for row in rows.tolist():
        draft.supersede("C21", row, summary)
        draft.link("C21", summary, row, weight=phase.link, kind="summary")
    _to_cold(draft, "C21", rows)


def _content(draft: Draft, rows: Rows, vectors: Matrix) -> dict[str, object]:
    """Return text and vector of a summary, without a summariser those of the most central row."""
    texts = draft.source.texts(rows)
    centre = vectors.mean(axis=0, dtype=np.float64)
    if draft.summarise is None:
        nearest = int(np.argmax(_rounded(vectors @ centre)))  # the first of equals
        return {"text": texts[nearest], "embedding": vectors[nearest].copy()}
    text = _answer_of("summarise", draft.summarise, texts)
    if not text.strip():
        msg = f"summarise: must write a text, got {text!r}"
        raise ValueError(msg)
    _check_summary(text)
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


def _least_trust(draft: Draft, rows: Rows, records: Sequence[Mapping[str, Any]]) -> float:
    """Return the least trust of rows: the stored number, unless the cycle lowered it."""
    stored: float = min(record["trust"] for record in records)
    lowest = draft.column("trust")[rows].min(keepdims=True)
    if np.float32(stored) > lowest[0]:
        stored = coded(lowest)[0]
    return stored


def _shared(records: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """Return the words, tags and labels that all sources share."""
    first = records[0]
    words = {
        name: first[name]
        for name in _SHARED
        if first[name] is not None and all(record[name] == first[name] for record in records)
    }
    return {**words, **{name: _in_all(records, name) for name in WORDS}}


def _in_all(records: Sequence[Mapping[str, object]], field: str) -> list[str]:
    """Return the words of a field that all records have."""
    words: Any = [record[field] for record in records]
    return [word for word in dict.fromkeys(words[0]) if all(word in other for other in words)]


def judge_conflicts(draft: Draft, phase: Conflicts) -> None:
    """Retire the older memory of each pair that the judge finds conflicting, most similar first.

    Without a judge, the pairs are only counted.

    Source: docs/systems/cognitive.md C22.
    """
    pairs = _pairs(draft, phase)
    judged = retired = 0
    if draft.judge is not None:
        chosen = pairs[: phase.most_pairs]
        rows = np.array(chosen, np.uint32).reshape(-1)
        texts = dict(zip(rows.tolist(), draft.source.texts(rows), strict=True))
        for older, newer in chosen:
            if draft.column("superseded")[[older, newer]].any():
                continue
            verdict = verdict_of(draft.judge, texts[older], texts[newer])
            judged += 1
            if verdict != "distinct":
                retired += retire(draft, "C22", older, newer, is_duplicate=verdict == "duplicate")
    draft.count(pairs=len(pairs), judged=judged, retired=retired)


def verdict_of(judge: Judge, older: str, newer: str) -> str:
    """Return a judge's verdict, one of :data:`VERDICTS`, on an older and a newer text."""
    verdict = _answer_of("judge", judge, older, newer)
    require_choice("judge", verdict, VERDICTS)
    return verdict


def retire(draft: Draft, rule: str, older: int, newer: int, *, is_duplicate: bool) -> bool:
    """Mark a row as superseded by a newer one; returns whether the limits allow it.

    A newer row that repeats the older one counts one duplicate more, and has the lesser trust of
    both. Under C22 superseded memories are cooled at once.
    """
    rows = np.array([older, newer] if is_duplicate else [older], np.uint32)
    if not len(draft.changeable(rule, rows, whole=True)):
        return False
    draft.supersede(rule, older, newer)
    if rule == "C22":
        _to_cold(draft, "C19", rows[:1])
    if is_duplicate:
        draft.lower_trust(rule, rows[1:], rows[:1])
        count = int(draft.column("duplicate_count")[newer])
        draft.change(rule, "duplicate_count", rows[1:], min(count + 1, _MOST))
        draft.rest(rows[1:], rows[:1])  # counts as a duplicate only if the older one is retired
    return True


def _pairs(draft: Draft, phase: Conflicts) -> list[Pair]:
    """Return pairs of a similar older and newer row, each once, the most similar first."""
    current = comparable(draft)
    rows = new_rows(draft, current)[: phase.most_asked]
    parts = draft.source.parted()
    similarity: dict[Pair, int] = {}
    least = _rounded(phase.above_cosine)
    for part in np.unique(parts[rows]).tolist():
        members = rows[parts[rows] == part]
        found = draft.source.nearest(members, phase.nearest, current & (parts == part))
        for row, (others, cosines) in zip(members.tolist(), found, strict=True):
            for other, cosine in zip(others.tolist(), _rounded(cosines).tolist(), strict=True):
                if cosine > least:
                    pair = _by_age(draft, row, other)
                    similarity[pair] = max(cosine, similarity.get(pair, cosine))
    return sorted(similarity, key=lambda pair: (-similarity[pair], pair))


def comparable(draft: Draft) -> Mask:
    """Return the mask of rows that a judge may be asked about.

    Rows that are not valid now are left out: where one retired another, searches would find neither.
    """
    current: Mask = draft.live & (draft.column("superseded") == 0)
    current &= (draft.column("status") != ARCHIVED) & (draft.column("tier") != STUB)
    current &= (draft.valid_from <= draft.now) & (draft.valid_until >= draft.now)
    return current


def new_rows(draft: Draft, current: Mask) -> Rows:
    """Return the rows added or changed since the last cycle, the latest first.

    Imported memories may be dated long before the store learned of them. If the clock of the last
    cycle lies ahead, all rows are returned.
    """
    updated = draft.column("updated_at")
    if draft.previous is not None and draft.previous <= draft.now:
        came = np.fmax(draft.column("created_at"), draft.column("learned_at"))
        current = current & (np.fmax(came, updated) >= draft.previous)
    rows = rows_of(current)
    return rows[np.argsort(-updated[rows], kind="stable")]


def _by_age(draft: Draft, first: int, second: int) -> Pair:
    """Return two rows, the one with the older text first."""

    def times(row: int) -> tuple[float, float, int]:
        return draft.column("updated_at")[row], draft.column("created_at")[row], row

    return (first, second) if times(first) < times(second) else (second, first)


def _answer_of(name: str, function: Callable[..., str], *args: object) -> str:
    """Call a user function, the argument ``name``, and return its text; errors name it."""
    try:
        answer = function(*args)
    except Exception as error:
        error.add_note(f"raised by {name}, which the dream cycle asked")
        raise
    require_utf8(name, answer)
    return answer


def _rounded(cosines: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Return cosines as whole multiples of 1e-5."""
    return np.rint(np.asarray(cosines, np.float64) * _STEPS).astype(np.int64)


def _groups_of(vectors: Matrix, sections: npt.NDArray[Any], phase: Summarising) -> list[Places]:
    """Return groups of ``phase.group_size`` vectors, all near the seed of their group.

    Each ungrouped vector in turn is a seed: it takes the first ungrouped vectors of its section,
    earlier ones too, that are near enough. With too few, it forms no group and may join a later one.

    Args:
        vectors: unit vectors, shape (n, d).
        sections: the section of each vector; a group holds vectors of one section.
        phase: sets the minimum cosine and the size of a group.

    Returns:
        The indexes of each group, ascending; the groups in the order of their seeds.
    """
    order = np.argsort(sections, kind="stable")
    bounds = np.flatnonzero(np.diff(sections[order])) + 1
    found = []
    for section in np.split(order, bounds):
        if len(section) >= phase.group_size:
            found += [section[group] for group in _groups(vectors[section], phase)]
    return [np.sort(group) for group in sorted(found, key=lambda group: int(group[0]))]


def _groups(vectors: Matrix, phase: Summarising) -> list[Places]:
    """Return the groups of one section, each with its seed first."""
    free = np.ones(len(vectors), np.bool_)
    least = _rounded(phase.least_cosine)
    found = []
    for start in range(0, len(vectors), _SEEDS_AT_ONCE):
        seeds = start + np.flatnonzero(free[start : start + _SEEDS_AT_ONCE])
        for seed, cosines in zip(seeds, vectors[seeds] @ vectors.T, strict=True):
            if not free[seed]:
                continue
            free[seed] = False
            near = np.flatnonzero(free & (cosines > phase.least_cosine - 1 / _STEPS))
            first = near[_rounded(cosines[near]) >= least][: phase.group_size - 1]
            free[seed] = len(first) + 1 < phase.group_size
            if not free[seed]:
                free[first] = False
                found.append(np.concatenate([[seed], first]))
    return found
