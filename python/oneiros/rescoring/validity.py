"""Validation of a table's values before they are scored. Source: docs/systems/ciar.md A6."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from oneiros.model.fields import FIELDS
from oneiros.model.memory import iso_time
from oneiros.model.validation import wrong
from oneiros.scoring.row_scores import ColumnRange

if TYPE_CHECKING:
    from oneiros.rescoring.columns import Array, Mask, Piece

__all__ = ["CHOICES", "Validity"]

CHOICES: Final = ("raise", "nan", "clamp")
_WHOLE: Final = ("int", "bool", "enum")
_CLAMPED: Final = ("float32", "int", "seconds")  # kinds of field whose range has a nearest value


class Validity:
    """Validates blocks of rows.

    Args:
        invalid: "raise", "nan" (a row that breaks a rule scores NaN) or "clamp" (numbers are
            clamped to their range, times after ``now`` to ``now``; a value without a nearest valid
            value scores NaN).
        now: seconds since the epoch.
        not_after_now: time fields that must not be after ``now``.
    """

    def __init__(self, invalid: str, now: float, not_after_now: Collection[str]) -> None:
        self._invalid = invalid
        self._now = now
        self._not_after_now = frozenset(not_after_now)

    def ranges(self, values: dict[str, Array], plain_times: set[str]) -> list[ColumnRange]:
        """Return the ranges that the core checks in one block; :meth:`settle` names violations.

        The core compares doubles, :meth:`settle` the column's dtype, so the core misses nothing.

        Args:
            values: field -> values.
            plain_times: time fields given as plain numbers.
        """
        wanted = [
            self._range(name, column, is_plain_time=name in plain_times)
            for name, column in values.items()
        ]
        return [each for each in wanted if each is not None]

    def settle(
        self, values: dict[str, Array], pieces: dict[str, Piece], plain_times: set[str], start: int
    ) -> Mask | None:
        """Validate one block; with "clamp", replace out-of-range entries of ``values``.

        Args:
            values: field -> values; the default where none is given.
            pieces: field -> the column as read.
            plain_times: time fields given as plain numbers.
            start: the block's first row, for messages.

        Returns:
            Mask of the rows that score NaN; None: none.

        Raises:
            ValueError: ``invalid="raise"`` and a row breaks a rule; names the first such row.
        """
        problems: list[tuple[int, str]] = []
        lost: Mask | None = None
        for name, column in values.items():
            bad = self._outside(name, column, is_plain_time=name in plain_times)
            broken = pieces[name].broken if name in pieces else {}
            if bad is None and not broken:
                continue
            if self._invalid == "raise":
                problems.append(self._first_problem(name, column, bad, broken))
                continue
            bad = np.zeros(len(column), np.bool_) if bad is None else bad
            if self._invalid == "clamp":
                values[name], bad = self._clamped(name, column, bad)
            bad[list(broken)] = True
            lost = bad if lost is None else lost | bad
        if problems:
            place, message = min(problems, key=lambda problem: problem[0])
            msg = f"{message} in row {start + place}"
            raise ValueError(msg)
        return lost

    def _outside(self, name: str, values: Array, *, is_plain_time: bool) -> Mask | None:
        """Return a mask of the values outside their range, None if there are none."""
        wanted = self._range(name, values, is_plain_time=is_plain_time)
        if wanted is None:
            return None
        with np.errstate(invalid="ignore"):
            bad: Mask = ~((values >= wanted.low) & (values <= wanted.high))
            if wanted.may_be_nan:
                bad &= ~np.isnan(values)
            elif wanted.must_be_whole:
                bad |= values != np.floor(values)
        return bad if bad.any() else None

    def _range(self, name: str, values: Array, *, is_plain_time: bool) -> ColumnRange | None:
        """Return the range to check, None if the dtype cannot exceed it."""
        low, high = self._bounds(name, is_plain_time=is_plain_time)
        if not len(values) or _must_lie_within(values.dtype, low, high):
            return None
        kind = FIELDS[name].kind
        is_counted = kind in _WHOLE and values.dtype.kind == "f"
        return ColumnRange(values, low, high, kind in ("time", "seconds"), is_counted)

    def _bounds(self, name: str, *, is_plain_time: bool) -> tuple[float, float]:
        bounds = FIELDS[name].range
        if bounds is None:  # kinds: any word with a code is valid
            return -np.inf, np.inf
        high = bounds.high
        if FIELDS[name].kind == "time":
            high = high if is_plain_time else np.finfo(np.float64).max
            high = min(high, self._now) if name in self._not_after_now else high
        return bounds.low, high

    def _clamped(self, name: str, values: Array, bad: Mask) -> tuple[Array, Mask]:
        """Return the clamped values, and a mask of those that cannot be clamped."""
        field = FIELDS[name]
        assert field.range is not None
        if field.kind == "time":
            is_late = bad & (values > self._now) & (values <= field.range.high)
            return np.where(is_late, self._now, values), bad & ~is_late
        if field.kind not in _CLAMPED:
            return values, bad
        is_count = field.kind == "int"  # any integer width: the range may not fit in it
        numbers = values.astype(np.float64) if is_count else values
        clipped = np.clip(numbers, field.range.low, field.range.high)
        with np.errstate(invalid="ignore"):
            is_lost = np.isnan(clipped) | (is_count & (clipped != np.floor(clipped)))
        return clipped, bad & is_lost

    def _first_problem(
        self, name: str, values: Array, bad: Mask | None, broken: dict[int, str]
    ) -> tuple[int, str]:
        place = min(broken, default=len(values))
        outside = len(values) if bad is None else int(np.argmax(bad))
        if place <= outside:
            return place, broken[place]
        return outside, wrong(name, self._rule(name, values[outside]), values[outside].item())

    def _rule(self, name: str, value: Any) -> str:
        bounds = FIELDS[name].range
        assert bounds is not None
        if name in self._not_after_now and self._now < value <= bounds.high:
            return f"at most now, {_moment(self._now)}"
        return bounds.rule


def _must_lie_within(dtype: np.dtype[Any], low: float, high: float) -> bool:
    """Return whether every value of this type is within the bounds."""
    if dtype.kind == "b":
        return True
    if dtype.kind not in "iu":
        return False
    info = np.iinfo(dtype)
    return bool(low <= info.min and info.max <= high)


def _moment(seconds: float) -> str:
    time = iso_time(seconds)
    return f"{seconds!r} ({time})" if isinstance(time, str) else repr(seconds)
