"""Refits the weights of what memories are worth on the recorded use of a store.

A memory was wanted if it has more positive than negative feedback, or if at least two sessions
recalled it. The weights of :class:`oneiros.scoring.phases.house.Budget` are fitted to tell wanted
memories from the others: a logistic regression whose ridge pulls towards the present weights, so
that little use changes little. It is judged on memories that it was not fitted to: by the share of
pairs of a wanted and another memory that it orders rightly (AUC).

Source: docs/systems/house.md H15.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Final

from oneiros._lazy import np
from oneiros.dream.changes import rows_of
from oneiros.dream.cycles import begin_draft
from oneiros.dream.phases.house import GIVEN, worth_terms
from oneiros.evaluation.metrics import Gain, paired_gain
from oneiros.model.validation import count, index_of, require_number, within
from oneiros.runtime.dataclasses import dataclass, replace
from oneiros.scoring.phases.house import Budget

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.engine import Engine

    Reals = npt.NDArray[np.float64]

__all__ = ["FITTED", "WorthFit", "fit_worth"]

FITTED: Final = ("information", "person", "answer", "long_talk", "age", "importance")
"""The weights that are fitted. Feedback says what was wanted, and is none of them."""

_LEAST_WANTED: Final = 20
_MOST_FOLDS: Final = 20
_STEPS: Final = 50
_LARGEST: Final = 1e3


@dataclass(frozen=True, slots=True, kw_only=True)
class WorthFit:
    """Fitted weights, and what they are better at."""

    before: Budget
    fitted: Budget
    wanted: int
    """Number of memories that were wanted."""
    others: int
    """Number of the other memories."""
    auc_before: float
    """Share of pairs of a wanted memory and another that the present weights order rightly."""
    auc: float
    """The same for weights fitted to other memories."""
    gain: Gain
    """The difference, by wanted memory."""

    @property
    def is_better(self) -> bool:
        """Whether the gain is beyond chance."""
        return self.gain.mean > 0.0 and self.gain.is_significant


def fit_worth(
    engine: Engine,
    budget: Budget | None = None,
    *,
    now: float | None = None,
    folds: int = 5,
    ridge: float = 10.0,
    seed: int = 0,
) -> WorthFit:
    """Fit the weights of the engine's phase :class:`Budget` to what was wanted in its store.

    Nothing is changed: ``profile.replace(phases=...)`` takes the result.

    Args:
        engine: an engine or read-only store with recorded use.
        budget: the present weights; None: those of the engine's profile, or the default ones.
        now: the time from which ages count, seconds since 1970; None: the engine's clock.
        folds: parts of the sessions that are left out in turn, 2 to 20.
        ridge: pull towards the present weights, >= 0.
        seed: of the parts and of the bootstrap, >= 0.

    Raises:
        ValueError, TypeError: fewer than 20 memories were wanted, or not wanted, or an argument is
            out of range.
    """
    within("folds", index_of("folds", folds), 2, _MOST_FOLDS)
    require_number("ridge", ridge, low=0.0)
    count("seed", seed)
    scope = engine._scope
    profile = scope.services.profile
    phase = budget or next((one for one in profile.phases if isinstance(one, Budget)), Budget())
    draft, _ = begin_draft(scope.services, profile, scope.now(now))
    rows = rows_of(draft.live)
    terms = worth_terms(draft, phase, rows)
    wanted = draft.column("feedback")[rows] > 0
    wanted |= (draft.column("session_spread")[rows] >= 2) & (draft.column("feedback")[rows] >= 0)
    for what, number in (("wanted", wanted.sum()), ("not wanted", (~wanted).sum())):
        if number < _LEAST_WANTED:
            msg = f"engine: at least {_LEAST_WANTED} memories must be {what}, got {number}"
            raise ValueError(msg)
    values = np.stack([terms[name] for name in FITTED], axis=1)
    given = terms[GIVEN]
    before = np.array([getattr(phase, name) for name in FITTED])
    parts = _parts(draft.source.grouped("session")[rows], folds, seed)
    own = np.zeros(len(rows))
    places = np.zeros((2, len(rows)))
    for part in range(folds):
        left, kept = parts == part, parts != part
        if not wanted[left].any() or wanted[left].all() or not wanted[kept].any():
            continue
        weights = _fit(values[kept], given[kept], wanted[kept], before, ridge)
        for which, chosen in enumerate((before, weights)):
            scores = values[left] @ chosen + given[left]
            places[which, left] = _shares_below(scores, wanted[left])
        own[left] = 1.0
    judged = wanted & (own > 0)
    if not judged.any():
        msg = f"folds: no part has wanted and other memories, got {folds}; take fewer"
        raise ValueError(msg)
    first, second = places[0, judged].tolist(), places[1, judged].tolist()
    weights = _fit(values, given, wanted, before, ridge)
    return WorthFit(
        before=phase,
        fitted=replace(phase, **dict(zip(FITTED, weights.round(3).tolist(), strict=True))),
        wanted=int(wanted.sum()),
        others=int((~wanted).sum()),
        auc_before=float(np.mean(first)),
        auc=float(np.mean(second)),
        gain=paired_gain(first, second, seed=seed),
    )


def _parts(sessions: npt.NDArray[np.int64], folds: int, seed: int) -> npt.NDArray[np.int64]:
    """Return the part of each row; rows of a session are in one part."""
    generator = random.Random(seed)
    groups = np.where(sessions < 0, -1 - np.arange(len(sessions)), sessions)
    names, which = np.unique(groups, return_inverse=True)
    order = np.array([generator.randrange(folds) for _ in names])
    found: npt.NDArray[np.int64] = order[which]
    return found


def _fit(
    values: Reals, given: Reals, wanted: npt.NDArray[np.bool_], before: Reals, ridge: float
) -> Reals:
    """Return the weights by Newton's method; weights below 0 become 0.

    Args:
        values: shape (n, weights).
        given: what is added, shape (n,).
        wanted: mask of the memories to tell apart, shape (n,).
        before: the weights to which the ridge pulls.
        ridge: its strength.
    """
    spread = values.std(axis=0) + 1e-9
    scaled = np.column_stack([np.ones(len(values)), values / spread])
    prior = np.concatenate([[0.0], before * spread])
    pull = np.concatenate([[0.0], np.full(len(before), ridge)])
    found = prior.copy()
    for _ in range(_STEPS):
        likely = 1.0 / (1.0 + np.exp(-np.clip(scaled @ found + given, -30.0, 30.0)))
        slope = scaled.T @ (wanted - likely) - pull * (found - prior)
        bend = (scaled * (likely * (1.0 - likely))[:, None]).T @ scaled + np.diag(pull + 1e-9)
        step = np.linalg.solve(bend, slope)
        found += step
        if np.abs(step).max() < 1e-9:
            break
    weights: Reals = np.clip(found[1:] / spread, 0.0, _LARGEST)
    return weights


def _shares_below(scores: Reals, wanted: npt.NDArray[np.bool_]) -> Reals:
    """Return for each wanted memory the share of the others that score lower; ties count half."""
    others = np.sort(scores[~wanted])
    low = np.searchsorted(others, scores, side="left")
    high = np.searchsorted(others, scores, side="right")
    found: Reals = (low + high) / (2.0 * len(others))
    return found
