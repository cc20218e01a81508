"""Scoring of tables by profiles: columns are read in blocks, all profiles in one pass."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from oneiros.display.escaping import one_line
from oneiros.model.calls import nearest
from oneiros.model.fields import COLUMN_DEFAULTS, FIELDS, PRIORITY_BY_KIND, PRIORITY_OTHERWISE
from oneiros.rescoring.columns import DEFAULT_KIND, all_coders
from oneiros.rescoring.validity import Validity
from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring.row_scores import ColumnRange, blocks, columns_read, judged_values

if TYPE_CHECKING:
    from oneiros.rescoring.columns import Array, Column, ColumnTable, Mask, Piece
    from oneiros.scoring.compiled import CompiledProfile
    from oneiros.scoring.profile import Profile

__all__ = [
    "MISSING",
    "ORIGINS",
    "RequiredFields",
    "Scorer",
    "may_lack",
    "reading_of",
    "require_apart",
]


ORIGINS: Final = {"priority": "kind", "updated_at": "created_at"}
"""Field -> the field that its default is derived from."""

MISSING: Final = ("raise", "default")
"""Ways to treat a missing column: raise an error, or use its field's default."""

_MARKS: Final = ("pinned", "core", "tier", "trust")
"""States of single memories. Without the column, no row has one, and every row is trusted."""


def may_lack(field: str, names: Container[str]) -> bool:
    """Return whether a field's absence has a meaning in a table with the columns ``names``.

    That is so for times that a memory may lack, since factors define the result without them; for
    fields derived from another column; and for the marks, which no row has then.
    """
    return FIELDS[field].nullable or field in _MARKS or ORIGINS.get(field) in names


@dataclass(frozen=True, slots=True)
class RequiredFields:
    """The fields that some profiles need from a table."""

    scored: tuple[str, ...]
    """The fields that scores are computed from."""
    fields: tuple[str, ...]
    """The fields to read: ``scored`` and those that defaults are derived from."""
    not_after_now: frozenset[str]
    has_functions: bool
    """Whether there are custom functions, which must not see values that break a rule."""


@lru_cache(maxsize=64)
def reading_of(profiles: tuple[Profile, ...]) -> RequiredFields:
    """Return the fields that these profiles need together."""
    found: dict[str, None] = {}
    for profile in profiles:
        compiled = profile.compile(())
        found |= dict.fromkeys(columns_read(compiled))
        if compiled.reads_kinds:
            found["kind"] = None
    scored = [name for name in found if name in FIELDS and FIELDS[name].column is not None]
    origins = [ORIGINS[name] for name in scored if name in ORIGINS]
    return RequiredFields(
        scored=tuple(scored),
        fields=tuple(dict.fromkeys((*scored, *origins))),
        not_after_now=frozenset(name for profile in profiles for name in profile.not_after_now),
        has_functions=any(profile.has_functions for profile in profiles),
    )


if TYPE_CHECKING:
    _Registers = Callable[[CompiledProfile], Sequence[int]]


_NEAR = 0.72
"""Similarity from which a column's name counts as a misspelling of a field that may be absent."""
_SHOWN = 20  # column names in a message


@dataclass(slots=True)
class _Block:
    """Some rows of a table."""

    values: dict[str, Array]
    """Field -> values; the default where none is given."""
    pieces: dict[str, Piece]
    """Field -> the column as read."""
    plain_times: set[str]
    """Time fields given as plain numbers."""
    start: int
    """First row, for messages."""

    @property
    def has_broken(self) -> bool:
        """Whether any value is not a number at all."""
        return any(piece.broken for piece in self.pieces.values())


class Scorer:
    """Scores tables; row numbers in messages count on from one table to the next.

    Args:
        profiles: at least one.
        now: seconds since the epoch.
        threads: number of threads in the core.
        invalid: as :class:`Validity` takes it.
        extra: further fields to read and validate, such as ``status``.
    """

    def __init__(
        self,
        profiles: Sequence[Profile],
        *,
        now: float,
        threads: int,
        invalid: str,
        extra: Sequence[str] = (),
    ) -> None:
        self._profiles = profiles
        self._now = now
        self._threads = threads
        self._coders = all_coders()
        self._extra = tuple(extra)
        self._reading = reading_of(tuple(profiles))
        self._validity = Validity(invalid, now, self._reading.not_after_now)
        self._scored = self._reading.scored
        self.fields = [*self._reading.fields]
        """The fields read from a table."""
        self.fields += [name for name in extra if name not in self.fields]
        self._derived_last = sorted(self.fields, key=lambda name: name in ORIGINS)
        self._opened: tuple[ColumnTable | None, dict[str, Column]] = (None, {})
        self.row_count = 0
        self.future_counts = [0] * len(profiles)
        """Rows with times after ``now``, counted as age 0, by profile."""

    def dtype_of(self, table: ColumnTable) -> np.dtype[Any]:
        """Return the widest float dtype among the columns read, float64 if there is none."""
        return _widest(self._open(table))

    def missing(self, table: ColumnTable) -> list[str]:
        """Return the fields that the profiles read and the table does not have."""
        columns = self._open(table)
        return [name for name in self._scored if name not in columns]

    def score(
        self,
        table: ColumnTable,
        dtype: np.dtype[Any] | None = None,
        advance: Callable[[int], object] | None = None,
        out: Sequence[Array] | None = None,
    ) -> tuple[list[Array], dict[str, Array]]:
        """Return the scores by profile, and the values of the extra fields.

        Args:
            table: any number of rows.
            dtype: the dtype of the computation; None: :meth:`dtype_of` the table.
            advance: called with the number of rows done.
            out: one contiguous array per profile to write to; None: new arrays.

        Raises:
            ValueError: a value breaks a rule, or a column shares memory with ``out``.
        """
        columns = self._open(table)
        if out is None:
            computed = _widest(columns) if dtype is None else dtype
            scores = [np.empty(table.size, computed) for _ in self._profiles]
        else:
            scores = list(out)
        extra = {name: np.empty(table.size, np.float64) for name in self._extra}
        for start, stop in blocks(table.size):
            block = self._read(columns, start, stop, are_records=table.are_records)
            for array in scores if out is not None else ():
                require_apart(array, block.values)
            outputs = [[array[start:stop]] for array in scores]
            self._run(block, _score_of, outputs, table.size)
            for name, array in extra.items():
                array[start:stop] = block.values.get(name, COLUMN_DEFAULTS[name])
            if advance is not None:
                advance(stop - start)
        self.row_count += table.size
        return scores, extra

    def factors(self, table: ColumnTable) -> list[dict[str, Array]]:
        """Return the factors of each profile: name to float64, shape (rows,).

        Raises:
            ValueError: a value breaks a rule.
        """
        columns = self._open(table)
        found = [
            {factor.name: np.empty(table.size) for factor in profile.factors}
            for profile in self._profiles
        ]
        for start, stop in blocks(table.size):
            block = self._read(columns, start, stop, are_records=table.are_records)
            outputs = [[array[start:stop] for array in arrays.values()] for arrays in found]
            self._run(block, _factors_of, outputs, table.size)
        self.row_count += table.size
        return found

    def _open(self, table: ColumnTable) -> dict[str, Column]:
        if self._opened[0] is not table:
            found = {name: table.column(name, self._coders) for name in self.fields}
            existing = {name: column for name, column in found.items() if column is not None}
            self._opened = table, existing
        return self._opened[1]

    def require_columns(self, table: ColumnTable, missing: str) -> None:
        """Refuse a table without a column that a profile multiplies by.

        Args:
            table: any number of rows.
            missing: "raise"; or "default", which accepts a table with at least one scored column.

        Raises:
            ValueError: a column is missing that :func:`may_lack` does not excuse; or one that it
                excuses, but a column has almost its name.
        """
        absent = self.missing(table)
        is_bare = bool(absent) and len(absent) == len(self._scored)
        needed = [name for name in absent if not may_lack(name, self._open(table))]
        if is_bare:
            needed = needed or absent
        elif missing == "default":
            return
        elif not needed:
            self._refuse_near_names(absent, table.names)
            return
        readers: dict[str, list[str]] = {}
        for profile in self._profiles:
            lacked = _alternatives(reading_of((profile,)).scored, needed)
            readers.setdefault(", ".join(lacked), []).append(profile.name)
        readers.pop("", None)
        wanted = [
            f"{lacked}, which {', '.join(by)} {'multiplies' if len(by) == 1 else 'multiply'} by"
            for lacked, by in readers.items()
        ]
        near = [f"{one_line(name)} for {lacked}" for lacked, name in _likely(needed, table.names)]
        advice = f" (perhaps {', '.join(near)})" if near else ""
        if not is_bare:
            advice += "; with missing=default, their defaults count"
        elif missing == "default":
            advice += "; missing=default needs at least one column to score by"
        msg = f"table: lacks {' and '.join(wanted)}; has {_listed(table.names)}{advice}"
        raise ValueError(msg)

    def _refuse_near_names(self, absent: Sequence[str], names: Sequence[str]) -> None:
        """Refuse a table that lacks a field but has a column of almost the same name.

        Raises:
            ValueError: names both.
        """
        for field, column in _likely(absent, names, _NEAR):
            by = [each.name for each in self._profiles if field in reading_of((each,)).scored]
            msg = (
                f"table: lacks {field}, which {', '.join(by)} {'reads' if len(by) == 1 else 'read'}, "
                f"but has {one_line(column)}; rename it, or with missing=default {field} counts as "
                "not given"
            )
            raise ValueError(msg)

    def _read(
        self, columns: dict[str, Column], start: int, stop: int, *, are_records: bool
    ) -> _Block:
        pieces = {name: column.read(start, stop) for name, column in columns.items()}
        values: dict[str, Array] = {}
        for name in self._derived_last:
            if name in pieces:
                values[name] = self._filled(name, pieces[name], values, are_records=are_records)
        plain_times = {name for name, column in columns.items() if column.is_plain_time}
        return _Block(values, pieces, plain_times, start + self.row_count)

    def _filled(
        self, name: str, piece: Piece, values: dict[str, Array], *, are_records: bool
    ) -> Array:
        """Return the values, with the default where one is missing or unreadable."""
        holes = piece.missing
        if piece.broken:
            holes = np.zeros(len(piece.values), np.bool_) if holes is None else holes.copy()
            holes[list(piece.broken)] = True
        if holes is None:
            return piece.values
        if name == "kind":
            return np.where(holes, 0, piece.values).astype(np.uint32)
        is_unknown = FIELDS[name].kind == "time" and not are_records
        default = np.nan if is_unknown else self._default(name, values)
        return np.where(holes, default, piece.values)

    def _default(self, name: str, values: dict[str, Array]) -> Array | float:
        """Return the default of an absent value. Source: docs/systems/fields.md."""
        if name == "created_at":
            return self._now
        if name == "updated_at":
            return values.get("created_at", self._now)
        if name == "priority" and "kind" in values:
            words = self._coders["kind"].words
            table = [PRIORITY_BY_KIND.get(word, PRIORITY_OTHERWISE) for word in words]
            return np.array(table, np.uint8)[values["kind"]]
        return COLUMN_DEFAULTS[name]

    def _operands(
        self, values: dict[str, Array]
    ) -> tuple[tuple[str, ...], dict[str, Array | float]]:
        """Return the kind of each code, and every column that the profiles read."""
        kinds = self._coders["kind"].words if "kind" in values else (DEFAULT_KIND,)
        operands: dict[str, Array | float] = {"kind": 0.0, **values}
        for name in self._scored:
            if name not in operands:
                operands[name] = self._default(name, values)
        return kinds, operands

    def _run(
        self,
        block: _Block,
        registers_of: _Registers,
        outputs: Sequence[Sequence[Array]],
        whole_size: int,
    ) -> None:
        """Write the block's values by profile; rows that break a rule get NaN.

        The core checks ranges as it reads. Only a block in which it finds a violation is searched
        here for the row and rule.
        """
        is_judged = not self._reading.has_functions and not block.has_broken
        ranges = self._validity.ranges(block.values, block.plain_times) if is_judged else []
        lost: Mask | None = None
        if not is_judged:
            lost = self._settled(block)
        future_counts, is_within = self._computed(block, registers_of, outputs, ranges, whole_size)
        if not is_within:
            given = dict(block.values)
            lost = self._settled(block)
            if any(block.values[name] is not values for name, values in given.items()):
                future_counts, _ = self._computed(block, registers_of, outputs, [], whole_size)
        for place, count in enumerate(future_counts):
            self.future_counts[place] += count
        for output in chain.from_iterable(outputs) if lost is not None else ():
            output[lost] = np.nan

    def _settled(self, block: _Block) -> Mask | None:
        return self._validity.settle(block.values, block.pieces, block.plain_times, block.start)

    def _computed(
        self,
        block: _Block,
        registers_of: _Registers,
        outputs: Sequence[Sequence[Array]],
        ranges: Sequence[ColumnRange],
        whole_size: int,
    ) -> tuple[list[int], bool]:
        """Return the rows with times after ``now`` by profile, and whether all ``ranges`` hold."""
        kinds, operands = self._operands(block.values)
        future_counts, is_within = [0] * len(self._profiles), True
        for place, profile in enumerate(self._profiles):
            compiled = profile.compile(kinds)
            if not outputs[place]:
                continue
            future_counts[place], holds = judged_values(
                compiled,
                registers_of(compiled),
                operands,
                ranges,
                now=self._now,
                out=outputs[place],
                threads=self._threads,
                whole_size=whole_size,
            )
            is_within = is_within and holds
            ranges = ()  # checking them once is enough
        return future_counts, is_within and not ranges


def require_apart(out: Array, columns: Mapping[str, object]) -> None:
    """Refuse results in memory that is still to be read.

    Raises:
        ValueError: ``out`` shares memory with a column.
    """
    for name, values in columns.items():
        if isinstance(values, np.ndarray) and np.may_share_memory(out, values):
            msg = f"out: must share no memory with the table, got that of {name}"
            raise ValueError(msg)


def _score_of(compiled: CompiledProfile) -> Sequence[int]:
    return (compiled.score,)


def _factors_of(compiled: CompiledProfile) -> Sequence[int]:
    return compiled.factors


def _alternatives(fields: Sequence[str], needed: Sequence[str]) -> list[str]:
    """Return the fields that are needed, each with the field that could replace it."""
    return [
        f"{name} or {ORIGINS[name]}" if ORIGINS.get(name, name) not in needed else name
        for name in fields
        if name in needed
    ]


def _likely(lacked: Sequence[str], names: Sequence[str], *least: float) -> list[tuple[str, str]]:
    """Return pairs of a field and a column whose names are each other's nearest."""
    fields = {_letters(field): field for field in lacked}
    columns = {_letters(name): name for name in names if name not in FIELDS}
    return [
        (fields[field], columns[column])
        for field in fields
        if (column := nearest(field, columns, *least)) and nearest(column, fields, *least) == field
    ]


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(one_line, islice(names, _SHOWN)))
    more = len(names) - _SHOWN
    return f"{shown} and {more} more" if more > 0 else shown or "no columns"


def _widest(columns: dict[str, Column]) -> np.dtype[Any]:
    found = [column.real for column in columns.values() if column.real is not None]
    return np.result_type(*found) if found else np.dtype(np.float64)
