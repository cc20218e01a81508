"""The phases of the default profile. Source: docs/systems/house.md H15, H16.

The budget archives what is worth least: the worth of every memory that is shown, or that this phase archived before, is computed
over columns; they are sorted by it, and the first that fit the budget stay or come back. So the
result depends on the store alone, and not on how often cycles ran before.

Cost: linear in the words of the texts, plus one sort.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from oneiros._lazy import np
from oneiros.conflicts.finding import DISTINCT_WEIGHT
from oneiros.dream.changes import ARCHIVED, rows_of
from oneiros.dream.phases.cognitive import comparable, new_rows, retire, verdict_of
from oneiros.dream.phases.row_values import by_kind
from oneiros.model.fields import table_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.dream.changes import Mask, Rows
    from oneiros.dream.draft import Draft
    from oneiros.scoring.phases.house import Budget, ChangedFacts

    Reals = npt.NDArray[np.float64]

__all__ = ["GIVEN", "keep_to_budget", "settle_changed_facts", "worth", "worth_terms"]

GIVEN: Final = "given"
"""The term of kind and trust."""

_DAY: Final = 86_400.0
_YEAR_DAYS: Final = 365.0
_LEAST_TRUST: Final = 1e-3


def settle_changed_facts(draft: Draft, phase: ChangedFacts) -> None:
    """Retire the older memory of each pair that the judge finds changed, the most confident first.

    Without a judge, nothing is done.

    Source: docs/systems/house.md H16.
    """
    if draft.judge is None:
        return
    current = comparable(draft)
    rows = new_rows(draft, current)[: phase.most_asked]
    confidence = draft.source.conflicting(
        rows, current, nearest=phase.nearest, least_confidence=phase.least_confidence
    )
    chosen = sorted(confidence, key=lambda pair: (-confidence[pair], pair))[: phase.most_pairs]
    named = sorted({row for pair in chosen for row in pair})
    texts = dict(zip(named, draft.source.texts(np.array(named, np.uint32)), strict=True))
    judged = retired = distinct = 0
    for older, newer in chosen:
        if draft.column("superseded")[[older, newer]].any():
            continue
        verdict = verdict_of(draft.judge, texts[older], texts[newer])
        judged += 1
        if verdict == "distinct":
            weight = draft.source.link_weight(older, newer) or DISTINCT_WEIGHT
            draft.link("H16", older, newer, weight=weight, kind="distinct")
            distinct += 1
        else:
            retired += retire(draft, "H16", older, newer, is_duplicate=verdict == "duplicate")
    draft.count(pairs=len(confidence), judged=judged, retired=retired, distinct=distinct)


def keep_to_budget(draft: Draft, phase: Budget) -> None:
    """Archive the rows of least worth beyond the budget; bring back those that fit in again.

    Reads words, sessions, times, feedback, importance, kind, trust and status; writes status and
    cold_since.
    """
    if not phase.has_limit:
        return
    was_aside = draft.set_aside_rows
    judged = draft.live & ((draft.column("status") != ARCHIVED) | was_aside)
    rows = rows_of(judged)
    values = worth(draft, phase, rows)
    is_fixed = (draft.protected | draft.kept_for_worth | draft.young)[rows]
    is_past = ((draft.column("superseded") != 0) | (draft.valid_until < draft.now))[rows]
    order = np.lexsort(
        (rows, -draft.column("created_at")[rows], -values, is_past & ~is_fixed, ~is_fixed)
    )
    fits = is_fixed.copy()
    fits[order[: _room(draft, phase, rows[order])]] = True
    is_low = np.zeros(len(rows), np.bool_)
    if phase.least_value is not None:
        is_low = (values < phase.least_value) & ~is_fixed
    by_row = np.zeros(len(draft))
    by_row[rows] = values
    draft.because["H15"] = partial(_because, by_row)
    last_first = order[::-1]
    last_first = last_first[~was_aside[rows[last_first]]]
    beyond = rows[last_first[~fits[last_first]]]
    low = rows[last_first[(fits & is_low)[last_first]]]
    taken = len(draft.set_aside("H15", beyond, is_asked=True))
    taken += len(draft.set_aside("H15", low, is_asked=False))
    back = rows[fits & ~is_low & was_aside[rows]]
    brought = draft.bring_back("H15", back)
    draft.count(judged=len(rows), archived=taken, brought_back=len(brought))


def _room(draft: Draft, phase: Budget, ordered: Rows) -> int:
    """Return how many of the rows, in order of worth, fit the budget."""
    room = len(ordered)
    if phase.share is not None:
        room = min(room, int(np.ceil(phase.share * len(ordered))))
    if phase.count is not None:
        room = min(room, phase.count)
    if phase.size is not None:
        sizes = draft.source.vector_bytes()[ordered]
        sizes += draft.source.person_words(ordered).bytes
        room = min(room, int(np.searchsorted(np.cumsum(sizes), phase.size, side="right")))
    return room


def worth(draft: Draft, phase: Budget, rows: Rows) -> Reals:
    """Return what each row is worth keeping, shape (n,): the larger, the likelier it is asked for.

    Source: docs/systems/house.md H15.
    """
    terms = worth_terms(draft, phase, rows)
    found = terms.pop(GIVEN)
    for name, values in terms.items():
        found += getattr(phase, name) * values
    return found


def worth_terms(draft: Draft, phase: Budget, rows: Rows) -> dict[str, Reals]:
    """Return the terms of the worth by the name of their weight, shape (n,) each.

    Losses are negative. The entry :data:`GIVEN` has no weight.
    """
    source = draft.source
    spoken = source.person_words(rows)
    words = np.maximum(spoken.words, 1).astype(np.float64)
    said = source.information(rows)
    first = np.minimum(spoken.first / words, phase.most_person)
    second = np.minimum(spoken.second / words, phase.most_person)
    follows, asking = _asking(draft)
    size = words / phase.whole_answer
    changed = np.fmax(draft.column("created_at"), draft.column("updated_at"))[rows]
    age_days = np.maximum(draft.now - changed, 0.0) / _DAY
    feedback = draft.column("feedback")[rows].astype(np.float64)
    trust = draft.column("trust")[rows].astype(np.float64)
    return {
        "information": said / (said + phase.half_information),
        "person": first - second,
        "answer": follows[rows] * np.minimum(1.0, 1.0 / size),
        "long_talk": -asking[rows] * np.log(np.maximum(1.0, size)),
        "age": -np.log1p(age_days / _YEAR_DAYS),
        "feedback": np.sign(feedback) * np.log1p(np.abs(feedback)),
        "importance": draft.column("importance")[rows].astype(np.float64) - 0.5,
        GIVEN: np.log(by_kind(draft, table_of(phase, "kind_weights"), 1.0)[rows])
        + np.log(np.maximum(trust, _LEAST_TRUST)),
    }


def _asking(draft: Draft) -> tuple[Mask, Reals]:
    """Return which rows follow one of their session that asks, and the share of it that asks.

    Both are of the rows without a session, too: none follows one, and its share is 0.
    """
    sessions = draft.source.grouped("session")
    rows = rows_of(draft.live & (sessions >= 0))
    times = draft.column("event_at")[rows]
    times = np.where(np.isnan(times), draft.column("created_at")[rows], times)
    rows = rows[np.lexsort((rows, times, sessions[rows]))]
    codes, asks = sessions[rows], draft.column("asks")[rows] > 0.0
    follows = np.zeros(len(draft), np.bool_)
    follows[rows[1:]] = (codes[1:] == codes[:-1]) & asks[:-1]
    shares = np.zeros(len(draft))
    if len(rows):
        shares[rows] = (np.bincount(codes, asks) / np.maximum(np.bincount(codes), 1))[codes]
    return follows, shares


def _because(values: Reals, draft: Draft, rows: Rows) -> list[str]:
    """Return the reason for each archived row as text."""
    ages = draft.age_days("created_at")[rows]
    return [
        f"worth {value:.2f}, {age:.0f} days old: less than what is kept"
        for value, age in zip(values[rows].tolist(), ages.tolist(), strict=True)
    ]
