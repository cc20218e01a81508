"""The phases of Reverie's cycle. Source: docs/systems/reverie.md R10 to R17."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from oneiros._lazy import np
from oneiros.display.escaping import shortened
from oneiros.dream.changes import ARCHIVED, CONSOLIDATED, STAGED, rows_of
from oneiros.dream.phases.row_values import by_kind, never_accessed, staleness
from oneiros.model.fields import ENUMS, LAYER_BY_DEPTH, LAYERS, kinds_of, table_of
from oneiros.scoring.kernels import reverie as kernels

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from oneiros.dream.changes import Mask, Rows
    from oneiros.dream.draft import Draft
    from oneiros.scoring.phases.reverie import Consolidate, Downscale, Place, Promote, Prune, Scan

    Codes = npt.NDArray[np.int64]
    Places = npt.NDArray[np.intp]
    Pairs = tuple[Rows, Rows]

__all__ = ["consolidate", "downscale", "place", "promote", "prune", "scan"]

_HOUR: Final = 3_600.0
_TAGS: Final = ENUMS["importance_tag"]
_ID: Final = 60  # characters of an id that are shown
_ANOTHER: Final = "another memory"  # shown if the id is unknown
_LOWEST: Final = min(LAYER_BY_DEPTH)
_FIRST_LAYER: Final = LAYERS.index(LAYER_BY_DEPTH[_LOWEST])


def scan(draft: Draft, phase: Scan) -> None:
    """Select the candidates for replay, the most urgent first.

    Reads status, updated_at, revision_count, duplicate_count, importance, and the words of the most
    urgent rows; writes nothing.

    Source: docs/systems/reverie.md R10.
    """
    rows = _eligible(draft, phase)
    bounds = _priorities(draft, phase, rows, np.zeros(len(rows)))
    order = np.lexsort((rows, -bounds))
    rows = rows[order]
    first = rows[: phase.compared]
    exact = _priorities(draft, phase, first, draft.source.overlaps(first, draft.live))
    first = first[np.lexsort((first, -exact))]
    draft.candidates = np.concatenate((first, rows[phase.compared :]))[: phase.limit]
    draft.count(eligible=len(rows), candidates=len(draft.candidates))


def _eligible(draft: Draft, phase: Scan) -> Rows:
    """Return live staged rows that are old enough and not replayed since their last change."""
    age_hours = (draft.now - draft.column("updated_at")) / _HOUR
    is_staged = draft.live & (draft.column("status") == STAGED)
    rows = rows_of(is_staged & (age_hours > phase.min_age_hours))
    return rows[np.isnan(draft.source.replayed_at(rows))]


def _priorities(
    draft: Draft, phase: Scan, rows: Rows, overlap: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return the priority of rows, shape (n,), given their word overlap with other rows."""
    uses = draft.column("revision_count")[rows].astype(np.float64)
    uses += draft.column("duplicate_count")[rows]
    priorities: npt.NDArray[np.float64] = kernels.scan_priority(
        (draft.now - draft.column("updated_at")[rows]) / _HOUR,
        uses,
        draft.column("importance")[rows].astype(np.float64),
        overlap,
        phase.half_life_hours,
        phase.access_floor,
    )
    return priorities


def consolidate(draft: Draft, phase: Consolidate) -> None:
    """Strengthen the candidates by their peers, and the links between memories replayed together.

    Reads session, topic, created_at, strength and the nearest vectors. Writes strength and links,
    and keeps in the draft the replayed candidates and the number of peers of each.

    Source: docs/systems/reverie.md R11, R17.
    """
    rows = draft.candidates
    parts = draft.source.parted()
    groups = [
        _within(parts[rows], draft.source.grouped(field)[rows]) for field in ("session", "topic")
    ]
    near = _nearest(draft, phase, rows, parts)
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


def _within(parts: Codes, codes: Codes) -> Codes:
    """Return numbers that are equal where codes and parts are; -1 for a negative code."""
    _, both = np.unique(codes * (parts.max(initial=0) + 1) + parts, return_inverse=True)
    within: Codes = np.where(codes < 0, -1, both)
    return within


def _nearest(draft: Draft, phase: Consolidate, rows: Rows, parts: Codes) -> Sequence[Rows]:
    """Return for each row the consolidated rows of its part nearest to it."""
    found: list[Rows] = [np.empty(0, np.uint32)] * len(rows)
    among = draft.live & (draft.column("status") == CONSOLIDATED)
    for part in np.unique(parts[rows]).tolist():
        places = np.flatnonzero(parts[rows] == part)
        near = draft.source.nearest(rows[places], phase.nearest, among & (parts == part))
        for place, (others, _) in zip(places.tolist(), near, strict=True):
            found[place] = others
    return found


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
    gain = kernels.replay_delta(peers.astype(np.float64), age_hours, phase.max_delta)
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
    """Return all pairs of rows below ``end`` without duplicates, in order of occurrence."""
    ones, others = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
    _, first = np.unique(ones.astype(np.int64) * end + others, return_index=True)
    first.sort()
    return ones[first], others[first]


def downscale(draft: Draft, phase: Downscale) -> None:
    """Scale the strength of every live memory down; reads strength and importance_tag.

    Source: docs/systems/reverie.md R12.
    """
    rates = np.full(len(_TAGS), phase.rate, np.float32)
    rates[_TAGS.index("cross_session")] = 1.0 - (1.0 - phase.rate) * phase.cross_session_share
    rates[_TAGS.index("explicit")] = rates[_TAGS.index("schema_violation")] = 1.0
    rows = rows_of(draft.live)
    strength = draft.column("strength")[rows]
    rate = rates[draft.column("importance_tag")[rows]]
    scaled = kernels.downscale(strength, rate, phase.floor)
    draft.downscale("R12", rows, scaled)
    draft.count(before=_mean(strength), after=_mean(scaled))


def _mean(strength: np.ndarray[tuple[int], np.dtype[np.float32]]) -> float:
    """Return the mean, without memories that were erased since the cycle began; 0 for none."""
    known = strength[~np.isnan(strength)]
    return float(known.mean(dtype=np.float64)) if len(known) else 0.0


def prune(draft: Draft, phase: Prune) -> None:
    """Soft-delete memories, or archive those of some kinds, the stalest first.

    Reads the times of use, importance, priority, kind, superseded, access_count, strength,
    revision_count, status and equal texts; writes deleted_at and status.

    Source: docs/systems/reverie.md R13.
    """
    stale = staleness(draft, phase)
    limits = by_kind(draft, table_of(phase, "limits_days"), phase.other_limit_days)
    is_revised = (draft.column("revision_count") > 0) & (draft.age_days("updated_at") < limits)
    may_go = draft.live & ~is_revised
    is_archived = draft.column("status") == ARCHIVED
    kept_kinds = by_kind(draft, dict.fromkeys(kinds_of(phase, "archived_kinds"), 1.0), 0.0) != 0
    is_superseded = draft.column("superseded") != 0
    is_kept = draft.kept_for_worth
    is_stale = may_go & (stale >= phase.least_staleness)
    is_unused = may_go & _unused(draft, phase)
    reasons = {
        "stale": is_stale & ~is_kept,
        "superseded": may_go & is_superseded,
        "unused": is_unused & ~is_kept,
    }
    doomed = np.logical_or.reduce(list(reasons.values()))
    is_shown = draft.live & ~is_archived & ~is_superseded
    newest = _newest(draft, is_shown & ~(doomed & ~draft.protected))
    reasons["repeated"] = may_go & (newest >= 0)
    only_repeated = reasons["repeated"] & ~doomed
    doomed |= reasons["repeated"]
    draft.without_kept("R13", (is_stale | is_unused) & ~doomed & ~(kept_kinds & is_archived))
    doomed &= ~(kept_kinds & is_archived)
    rows = rows_of(doomed)
    rows = rows[np.lexsort((rows, -stale[rows]))]
    taken = draft.removable("R13", rows)
    draft.reasons["R13"] = reasons
    by = _superseded_by(draft, taken[reasons["superseded"][taken]])
    draft.because["R13"] = partial(_why_pruned, reasons, limits, newest, by)
    draft.archive("R13", taken[kept_kinds[taken]])
    draft.delete("R13", taken[~kept_kinds[taken]])
    repeats = taken[only_repeated[taken]]
    draft.rest(repeats, newest[repeats])
    draft.lower_trust("R13", newest[repeats], repeats)
    draft.count(**{reason: int(mask[taken].sum()) for reason, mask in reasons.items()})


def _unused(draft: Draft, phase: Prune) -> Mask:
    """Return the mask of old rows that were never accessed and have the lowest strength."""
    is_old = draft.settled_days() > phase.unused_days
    is_weak = draft.column("strength") <= np.float32(phase.strength_floor)
    unused: Mask = is_old & is_weak & never_accessed(draft)
    return unused


def _newest(draft: Draft, counted: Mask) -> npt.NDArray[np.int64]:
    """Return for each row the newest row of the same words that it may be merged with; -1: itself.

    The newest is that of those that are trusted as much, or more: who is trusted less takes nothing
    away by repeating it.
    All duplicates refer to the row that is kept, not to the next in a chain: if that row changes
    after the plan was made, all of them are kept. Rows that are valid at other times are no
    duplicates: the one that is kept would not be found for as long. Nor are those of other events.

    Args:
        draft: the rows.
        counted: mask of the rows to compare.
    """
    newest = np.full(len(draft), -1, np.int64)
    groups = [group[counted[group]] for group in draft.source.repeated()]
    if not groups:
        return newest
    rows = np.concatenate(groups)
    which = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    times = draft.valid_from, draft.valid_until, np.nan_to_num(draft.column("event_at"), nan=np.inf)
    parts = np.stack([which, *(column[rows] for column in times)])
    order = np.lexsort((rows, draft.column("created_at")[rows], *parts))
    rows, parts = rows[order], parts[:, order]
    begins = np.ones(len(rows), np.bool_)
    begins[1:] = (parts[:, 1:] != parts[:, :-1]).any(axis=0)
    which = np.cumsum(begins)
    last = np.searchsorted(which, which, side="right") - 1
    trust = draft.column("trust")[rows]
    for end in np.unique(last[trust > trust[last]]).tolist():
        start = int(np.searchsorted(which, which[end]))
        newest_first = trust[start : end + 1][::-1]
        found = np.searchsorted(np.maximum.accumulate(newest_first), newest_first)
        last[start : end + 1] = (end - found)[::-1]
    is_older = last > np.arange(len(rows))
    newest[rows[is_older]] = rows[last[is_older]]
    return newest


def _why_pruned(
    reasons: Mapping[str, Mask],
    limits: npt.NDArray[np.float64],
    newest: npt.NDArray[np.int64],
    by: Mapping[int, str],
    draft: Draft,
    rows: Rows,
) -> list[str]:
    """Return the reasons for each removed row as text."""
    idle, age = draft.idle_days()[rows], draft.age_days("created_at")[rows]
    found = []
    for place, row in enumerate(rows.tolist()):
        words = {
            "stale": f"not used for {idle[place]:.0f} days (limit {limits[row]:.0f})",
            "superseded": f"superseded by {by.get(row, _ANOTHER)}",
            "unused": f"never used in {age[place]:.0f} days, and at the lowest strength",
            "repeated": f"same text as {shortened(draft.source.ids[newest[row]], _ID) or _ANOTHER}",
        }
        found.append(", ".join(words[reason] for reason, mask in reasons.items() if mask[row]))
    return found


def _superseded_by(draft: Draft, rows: Rows) -> dict[int, str]:
    """Return the id of the memory that supersedes each row, as far as known."""
    records = zip(rows.tolist(), draft.source.records(rows), strict=True)
    found = {row: record.get("superseded_by") for row, record in records}
    for content in draft.contents:
        if content.field == "superseded_by" and content.row in found:
            by = content.after
            found[content.row] = draft.source.ids[by] if isinstance(by, int) and by >= 0 else None
    return {row: shortened(str(id), _ID) for row, id in found.items() if id}


def place(draft: Draft, phase: Place) -> None:
    """Consolidate staged memories that are used or old, then archive weak, stale ones.

    Reads status, accesses, revisions, peers in this cycle, times, kind and strength; writes status.

    Source: docs/systems/reverie.md R14.
    """
    activity = draft.column("access_count").astype(np.int64)
    activity += draft.column("revision_count")
    if draft.peer_counts is not None:
        activity += draft.peer_counts
    is_old = draft.age_days("created_at") >= phase.least_age_days
    is_ready = draft.live & (draft.column("status") == STAGED)
    is_ready &= is_old | (activity >= phase.least_activity)
    rows = rows_of(is_ready)
    consolidated = draft.change("R14", "status", rows, CONSOLIDATED)
    stale = staleness(draft, phase)
    is_fading = draft.live & (draft.column("status") == CONSOLIDATED)
    is_fading &= (stale >= phase.least_staleness) & (
        draft.column("strength") < np.float32(phase.below_strength)
    )
    rows = rows_of(draft.without_kept("R14", is_fading))
    draft.because["R14"] = _why_archived
    archived = draft.archive("R14", rows[np.lexsort((rows, -stale[rows]))])
    draft.count(consolidated=len(consolidated), archived=len(archived))


def _why_archived(draft: Draft, rows: Rows) -> list[str]:
    """Return the reason for each archived row as text."""
    values = zip(draft.idle_days()[rows], draft.column("strength")[rows], strict=True)
    return [
        f"not used for {idle:.0f} days, and weak (strength {strength:.2f})"
        for idle, strength in values
    ]


def promote(draft: Draft, phase: Promote) -> None:
    """Move each memory by at most one depth, and set its layer from its depth and signal.

    Reads depth, session_spread, access_count, revision_count, times and kind; writes depth and
    canonical_layer.

    Source: docs/systems/reverie.md R15, R16.
    """
    depth = draft.column("depth").astype(np.int64)
    stale = staleness(draft, phase)
    has_passed = draft.previous is None or draft.now > draft.previous
    rises = _is_used(draft, phase, depth) & (stale < phase.below_staleness) & has_passed
    falls = ~rises & (depth > _LOWEST) & _missed(draft, phase, stale)
    live = rows_of(draft.live)
    depth += rises
    depth -= falls
    moved = draft.change("R15", "depth", live, depth[live])
    layer = draft.column("depth").astype(np.int64) - _LOWEST + _FIRST_LAYER
    layer -= _signals(draft, phase) < phase.least_signal
    draft.change("R15", "canonical_layer", live, np.maximum(layer, _FIRST_LAYER)[live])
    draft.count(up=int(rises[moved].sum()), down=int(falls[moved].sum()))


def _is_used(draft: Draft, phase: Promote, depth: npt.NDArray[np.int64]) -> Mask:
    """Return the mask of rows used in enough sessions for the next depth."""
    spread = draft.column("session_spread")
    accesses = draft.column("access_count")
    second = (depth == 1) & (spread >= phase.second_spread) & (accesses >= phase.second_accesses)
    used: Mask = second | ((depth == 2) & (spread >= phase.third_spread))
    return used


def _missed(draft: Draft, phase: Promote, stale: npt.NDArray[np.float64]) -> Mask:
    """Return the mask of rows that exceeded their limit again since the previous cycle."""
    missed = np.floor(stale / phase.missed_limits)
    if draft.previous is None:
        found: Mask = missed > 0
        return found
    before = staleness(draft, phase, draft.previous)
    more: Mask = missed > np.floor(before / phase.missed_limits)
    return more


def _signals(draft: Draft, phase: Promote) -> npt.NDArray[np.float64]:
    """Return the signal of each row, by R16, shape (n,)."""
    signals: npt.NDArray[np.float64] = kernels.signal(
        draft.column("access_count").astype(np.float64),
        draft.age_days("created_at"),
        draft.column("revision_count").astype(np.float64),
        by_kind(draft, table_of(phase, "weights"), phase.other_weight),
    )
    return signals
