"""Consolidation: replay the candidates together. Source: docs/systems/reverie.md R11, R17."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oneiros._lazy import np
from oneiros.model.fields import ENUMS
from oneiros.scoring.kernels import reverie

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from oneiros.dream.changes import Rows
    from oneiros.dream.draft import Draft
    from oneiros.scoring.phases.reverie import Consolidate

    Codes = npt.NDArray[np.int64]
    Places = npt.NDArray[np.intp]
    Pairs = tuple[Rows, Rows]

__all__ = ["consolidate"]

_HOUR: Final = 3_600.0
_CONSOLIDATED: Final = ENUMS["status"].index("consolidated")


def consolidate(draft: Draft, phase: Consolidate) -> None:
    """Strengthen the candidates by their peers, and the links between memories replayed together.

    Reads session, topic, created_at, strength and the nearest vectors. Writes strength and links,
    and keeps in the draft the replayed candidates and the number of peers of each.
    """
    rows = draft.candidates
    groups = [draft.source.grouped(field)[rows] for field in ("session", "topic")]
    near = _nearest(draft, phase, rows)
    peers = _sharing(groups) + np.array([len(found) for found in near], np.int64)
    is_replayed = _strengthen(draft, phase, rows, peers)
    places = np.flatnonzero(is_replayed)
    replayed = [_pairs(rows, group, places, phase.most_linked) for group in groups]
    replayed.append(_pairs_with(rows, near, places))
    ones, others = _each_once(replayed, len(draft))
    draft.link("R11", ones, others, gain=phase.link_gain)
    draft.candidates = rows[is_replayed]
    draft.peer_counts = np.zeros(len(draft), np.int64)
    draft.peer_counts[draft.candidates] = peers[is_replayed]
    draft.count(replayed=len(places), links=len(ones))


def _nearest(draft: Draft, phase: Consolidate, rows: Rows) -> Sequence[Rows]:
    """Return for each row the consolidated rows nearest to it."""
    among = draft.live & (draft.column("status") == _CONSOLIDATED)
    if not phase.nearest or not among.any():
        return [np.empty(0, np.uint32)] * len(rows)
    return [found for found, _ in draft.source.nearest(rows, phase.nearest, among)]


def _sharing(groups: Sequence[Codes]) -> Codes:
    """Count for each candidate the others of its session or topic.

    The sum of both groups minus the others that are in both.
    """
    session, topic = groups
    both = np.where((session < 0) | (topic < 0), -1, session * (topic.max(initial=0) + 1) + topic)
    return _others(session) + _others(topic) - _others(both)


def _others(codes: Codes) -> Codes:
    """Count for each code the others that are equal; 0 for a negative code."""
    _, which, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    others: Codes = np.where(codes < 0, 0, sizes[which] - 1)
    return others


def _strengthen(
    draft: Draft, phase: Consolidate, rows: Rows, peers: Codes
) -> npt.NDArray[np.bool_]:
    """Add the gain of the replay; returns the mask of rows with their new strength."""
    strength = draft.column("strength")[rows].astype(np.float64)
    age_hours = (draft.now - draft.column("created_at")[rows]) / _HOUR
    gain = reverie.replay_delta(peers.astype(np.float64), age_hours, phase.max_delta)
    wanted = np.minimum(strength + gain, 1.0).astype(np.float32)
    draft.change("R11", "strength", rows, wanted)
    is_replayed: npt.NDArray[np.bool_] = draft.column("strength")[rows] == wanted
    return is_replayed


def _pairs(rows: Rows, codes: Codes, places: Places, most: int) -> Pairs:
    """Return all pairs of each group's ``most`` most urgent rows, the more urgent row first."""
    places = places[codes[places] >= 0]
    order = places[np.argsort(codes[places], kind="stable")]
    _, starts, sizes = np.unique(codes[order], return_index=True, return_counts=True)
    rank = np.arange(len(order)) - np.repeat(starts, sizes)
    after = np.minimum(np.repeat(sizes, sizes), most) - 1 - rank  # number of later rows to pair
    order, after = order[rank < most], after[rank < most]
    first = np.repeat(np.arange(len(order)), after)
    nth = np.arange(len(first)) - np.repeat(np.cumsum(after) - after, after)
    return rows[order[first]], rows[order[first + 1 + nth]]


def _pairs_with(rows: Rows, near: Sequence[Rows], places: Places) -> Pairs:
    """Return pairs of each row with each of its nearest rows."""
    found = [near[place] for place in places.tolist()]
    return np.repeat(rows[places], list(map(len, found))), np.concatenate([rows[:0], *found])


def _each_once(pairs: Sequence[Pairs], end: int) -> Pairs:
    """Return all pairs without duplicates, in order of first occurrence.

    Args:
        pairs: arrays of pairs of rows.
        end: the number of rows.
    """
    ones, others = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
    _, first = np.unique(ones.astype(np.int64) * end + others, return_index=True)
    first.sort()
    return ones[first], others[first]
