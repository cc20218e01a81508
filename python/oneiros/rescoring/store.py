"""Scores of a whole store without a query, and promotion of memories that score high."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from oneiros._lazy import needed, np
from oneiros.display.counts import count_of
from oneiros.filters import set_of
from oneiros.model.fields import ENUMS
from oneiros.model.validation import checked_threads, require_flag
from oneiros.runtime.dataclasses import NamedTuple, dataclass, replace
from oneiros.scoring.factors.thompson import verdict_tables
from oneiros.scoring.promotion import promoted, threshold_of
from oneiros.scoring.row_scores import blocks, columns_read, score_rows, values_of_registers

if TYPE_CHECKING:
    import numpy.typing as npt
    from pyroaring import BitMap

    from oneiros.clock import Time
    from oneiros.engine.scope import Scope
    from oneiros.filters import Where
    from oneiros.scoring.compiled import CompiledProfile
    from oneiros.scoring.profile import Profile

__all__ = ["PromotedMemory", "PromotionReport", "Rescored", "promote", "rescore"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rescored:
    """Scores by memory, as columns. Iterating yields pairs of id and score."""

    ids: Sequence[str]
    """In order of insertion."""
    scores: npt.NDArray[np.float64]
    """Shape (n,), in the order of ``ids``."""
    profile: str
    profile_hash: str
    now: float
    """Seconds since the epoch."""
    future_count: int
    """Memories with times after ``now``, counted as age 0."""

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[tuple[str, float]]:
        return zip(self.ids, self.scores.tolist(), strict=True)

    def to_arrow(self) -> Any:
        """Return a pyarrow table of ``id`` and ``score``; the scores are not copied.

        Raises:
            ImportError: pyarrow (the extra ``oneiros[arrow]``) is missing.
        """
        pa = needed("pyarrow", "arrow")
        return pa.table({"id": pa.array(self.ids, pa.string()), "score": self.scores})

    def to_pandas(self) -> Any:
        """Return a pandas frame of ``id`` and ``score``.

        Raises:
            ImportError: pandas is missing.
        """
        pd = needed("pandas", "pandas")
        return pd.DataFrame({"id": list(self.ids), "score": self.scores})

    def __repr__(self) -> str:
        return f"<Rescored by {self.profile!r}: {count_of(len(self), 'memory')}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class PromotedMemory:
    """A promoted memory with its score and factors."""

    id: str
    score: float
    factors: dict[str, float]
    """The profile's factors by name; over a relevance of 1 they give the score."""

    def __str__(self) -> str:
        made_of = ", ".join(f"{name} {value:.3f}" for name, value in self.factors.items())
        return f"{self.id}: {self.score:.3f} ({made_of})"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PromotionReport:
    """The result of a promotion or of its dry run. Source: docs/systems/ciar.md A4."""

    promoted: tuple[PromotedMemory, ...]
    """Memories moved from staged to consolidated, in order of insertion."""
    considered: int
    """Number of staged memories scored."""
    profile: str
    profile_hash: str
    threshold: float
    now: float
    """Seconds since the epoch."""
    is_dry_run: bool
    future_count: int
    """Scored memories with times after ``now``, counted as age 0."""

    @property
    def ids(self) -> list[str]:
        """The ids of the promoted memories."""
        return [memory.id for memory in self.promoted]

    def _headline(self) -> str:
        verb = "would be promoted" if self.is_dry_run else "promoted"
        rule = f"{self.profile} >= {self.threshold:g}"
        return f"{len(self.promoted)} of {self.considered} staged {verb} ({rule})"

    def __repr__(self) -> str:
        return f"<PromotionReport: {self._headline()}>"  # str() adds a line per memory

    def __str__(self) -> str:
        return "\n".join((self._headline(), *map(str, self.promoted)))


if TYPE_CHECKING:
    Column = npt.NDArray[Any]
    Scores = npt.NDArray[np.float64]


_STAGED = ENUMS["status"].index("staged")
_FEW = 4  # gather the wanted rows if at most one in _FEW is wanted, else score all rows


def rescore(
    scope: Scope,
    profile: Profile | str | None = None,
    now: Time | None = None,
    *,
    where: Where | None = None,
    threads: int | None = None,
) -> Rescored:
    """Score every live memory; see :meth:`oneiros.Engine.rescore`."""
    chosen, count = scope.profile(profile), checked_threads(threads)
    scope.follow_others()
    moment = scope.now(now)
    writer = scope.services.sync.writer

    def copied() -> _Rows:
        return _copied(scope, chosen, scope.matching(where), moment)

    def scored() -> tuple[list[str], Scores, int]:
        rows = scope.matching(where)
        scores, future_count = _scores(scope, _compiled(scope, chosen), rows, moment, count)
        ids = scope.read_model.lifecycle.ids
        return [ids[row] for row in rows], scores, future_count

    if chosen.has_functions:
        copies = writer.run(copied)
        ids, (scores, future_count) = copies.ids, copies.scores(moment, count)
    else:
        ids, scores, future_count = writer.run(scored)  # no column changes meanwhile
    return Rescored(
        ids=ids,
        scores=scores,
        profile=chosen.name,
        profile_hash=chosen.hash,
        now=moment,
        future_count=future_count,
    )


def promote(
    scope: Scope,
    profile: Profile | str = "ciar",
    threshold: float | None = None,
    now: Time | None = None,
    *,
    where: Where | None = None,
    dry_run: bool = False,
    threads: int | None = None,
) -> PromotionReport:
    """Consolidate staged memories that score high enough; see :meth:`oneiros.Engine.promote`."""
    dry_run = require_flag("dry_run", dry_run)
    chosen, count = scope.profile(profile), checked_threads(threads)
    least = threshold_of(chosen, threshold)
    scope.follow_others()
    moment = scope.now(now)

    def staged() -> _Rows:
        """Copy the staged rows. REQUIRES: runs on the writer's thread."""
        return _copied(scope, chosen, _staged(scope, scope.matching(where)), moment)

    def judged(rows: _Rows) -> PromotionReport:
        scores, future_count = rows.scores(moment, count)
        high = np.flatnonzero(promoted(scores, least))
        return PromotionReport(
            promoted=_promoted(rows, high, scores[high], moment),
            considered=len(rows.ids),
            profile=chosen.name,
            profile_hash=chosen.hash,
            threshold=least,
            now=moment,
            is_dry_run=dry_run,
            future_count=future_count,
        )

    report: PromotionReport | None = None
    if dry_run or chosen.has_functions:
        report = judged(scope.services.sync.writer.run(staged))
        if dry_run:
            return report

    def changes() -> list[tuple[str, dict[str, object]]]:
        nonlocal report
        if report is None:
            report = judged(staged())
        else:  # others may have changed memories since
            left = set(staged().ids)
            still = tuple(memory for memory in report.promoted if memory.id in left)
            report = replace(report, promoted=still)
        return [(id, {"status": "consolidated"}) for id in report.ids]

    scope.services.remember.set_columns(changes)
    assert report is not None
    scope.publish("update", "promote", report.ids, moment)
    return report


def _compiled(scope: Scope, profile: Profile) -> CompiledProfile:
    return profile.compile(scope.read_model.lifecycle.kinds)


def _staged(scope: Scope, rows: BitMap) -> BitMap:
    status = scope.read_model.lifecycle.column("status")
    return rows & set_of(np.flatnonzero(status == _STAGED).astype(np.uint32))


def _scores(
    scope: Scope, compiled: CompiledProfile, rows: BitMap, now: float, threads: int
) -> tuple[Scores, int]:
    """Score the given rows: all rows in place if most are wanted, else gathered ones."""
    columns = _columns(scope, compiled, now)
    size = len(scope.read_model.lifecycle.ids)
    if len(rows) * _FEW > size:
        scores, future_count = _in_blocks(compiled, columns, size, now, threads)
        if len(rows) == size:
            return scores, future_count
        if not future_count:  # else the count may include unwanted rows
            return scores[np.array(rows.to_array(), np.uint32)], 0
    numbers = np.array(rows.to_array(), np.uint32)
    gathered = {name: column[numbers] for name, column in columns.items()}
    return _in_blocks(compiled, gathered, len(numbers), now, threads)


def _in_blocks(
    compiled: CompiledProfile, columns: Mapping[str, Column], size: int, now: float, threads: int
) -> tuple[Scores, int]:
    """Return the score of each row of columns, and the number of rows with times after ``now``."""
    scores = np.empty(size)
    future_count = 0
    for start, stop in blocks(size):
        part = {name: column[start:stop] for name, column in columns.items()}
        future_count += score_rows(compiled, part, now=now, out=scores[start:stop], threads=threads)
    return scores, future_count


class _Rows(NamedTuple):
    """Copies of the rows to score.

    Functions of the user run over them on the thread of the caller, as they may take long, write,
    and wait for threads that do.
    """

    compiled: CompiledProfile
    ids: list[str]
    columns: dict[str, Column]

    def scores(self, now: float, threads: int) -> tuple[Scores, int]:
        """Return what :func:`_scores` does."""
        return _in_blocks(self.compiled, self.columns, len(self.ids), now, threads)


def _copied(scope: Scope, profile: Profile, rows: BitMap, now: float) -> _Rows:
    """Copy the rows. REQUIRES: runs on the writer's thread."""
    compiled, ids = _compiled(scope, profile), scope.read_model.lifecycle.ids
    numbers = np.array(rows.to_array(), np.uint32)
    columns = _columns(scope, compiled, now)
    return _Rows(
        compiled,
        [ids[row] for row in rows],
        {name: column[numbers] for name, column in columns.items()},
    )


def _columns(scope: Scope, compiled: CompiledProfile, now: float) -> dict[str, Column]:
    """Return the columns that the profile reads, with per-row verdict columns."""
    lifecycle = scope.read_model.lifecycle
    names = columns_read(compiled)
    columns = {name: lifecycle.column(name) for name in names if name in lifecycle.names}
    verdicts = scope.verdicts(compiled.profile)
    if verdicts:
        codes = lifecycle.column("kind")
        factors = compiled.profile.factors
        tables = verdict_tables(factors, verdicts, lifecycle.kinds, now)
        columns |= {name: np.array(values)[codes] for name, values, _ in tables}
    return columns


def _promoted(
    rows: _Rows, high: npt.NDArray[np.intp], scores: Scores, now: float
) -> tuple[PromotedMemory, ...]:
    compiled = rows.compiled
    columns = {name: column[high] for name, column in rows.columns.items()}
    factors = [np.empty(len(high)) for _ in compiled.names]
    if len(high) and factors:
        values_of_registers(compiled, compiled.factors, columns, now=now, out=factors, threads=1)
    return tuple(
        PromotedMemory(
            id=rows.ids[place_of_row],
            score=score,
            factors={
                name: float(values[place])
                for name, values in zip(compiled.names, factors, strict=True)
            },
        )
        for place, (place_of_row, score) in enumerate(
            zip(high.tolist(), scores.tolist(), strict=True)
        )
    )
