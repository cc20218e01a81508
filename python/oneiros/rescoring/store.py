"""Scores of a whole store without a query, and promotion of memories that score high."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from oneiros._lazy import needed, np
from oneiros.filters import set_of
from oneiros.model.fields import ENUMS
from oneiros.model.validation import checked_threads, require_flag
from oneiros.runtime.dataclasses import dataclass
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
        return f"<Rescored by {self.profile!r}: {len(self)} memories>"


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
    Rows = npt.NDArray[np.uint32]
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
    parts = scope.services

    def scored() -> Rescored:
        rows = scope.matching(where)
        compiled = _compiled(scope, chosen)
        scores, future_count = _scores(scope, compiled, rows, moment, count)
        ids = scope.read_model.lifecycle.ids
        return Rescored(
            ids=[ids[row] for row in rows],
            scores=scores,
            profile=chosen.name,
            profile_hash=chosen.hash,
            now=moment,
            future_count=future_count,
        )

    return parts.sync.writer.run(scored)  # on the writer's thread no column changes meanwhile


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

    def judged() -> PromotionReport:
        """Score the current columns. REQUIRES: runs on the writer's thread."""
        rows = _staged(scope, scope.matching(where))
        compiled = _compiled(scope, chosen)
        scores, future_count = _scores(scope, compiled, rows, moment, count)
        high = np.flatnonzero(promoted(scores, least))
        taken = np.array(rows.to_array(), np.uint32)[high]
        return PromotionReport(
            promoted=_promoted(scope, compiled, taken, scores[high], moment),
            considered=len(rows),
            profile=chosen.name,
            profile_hash=chosen.hash,
            threshold=least,
            now=moment,
            is_dry_run=dry_run,
            future_count=future_count,
        )

    sync = scope.services.sync
    if dry_run:
        return sync.writer.run(judged)
    reports: list[PromotionReport] = []

    def changes() -> list[tuple[str, dict[str, object]]]:
        reports.append(judged())
        return [(each.id, {"status": "consolidated"}) for each in reports[0].promoted]

    scope.services.remember.set_columns(changes)
    scope.publish("update", "promote", reports[0].ids, moment)
    return reports[0]


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
        scores = np.empty(size)
        future_count = 0
        for start, stop in blocks(size):
            part = {name: column[start:stop] for name, column in columns.items()}
            future_count += score_rows(
                compiled, part, now=now, out=scores[start:stop], threads=threads
            )
        if len(rows) == size:
            return scores, future_count
        if not future_count:  # else the count may include unwanted rows
            return scores[np.array(rows.to_array(), np.uint32)], 0
    numbers = np.array(rows.to_array(), np.uint32)
    scores = np.empty(len(numbers))
    future_count = 0
    for start, stop in blocks(len(numbers)):
        part = {name: column[numbers[start:stop]] for name, column in columns.items()}
        future_count += score_rows(compiled, part, now=now, out=scores[start:stop], threads=threads)
    return scores, future_count


def _columns(scope: Scope, compiled: CompiledProfile, now: float) -> dict[str, npt.NDArray[Any]]:
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
    scope: Scope, compiled: CompiledProfile, rows: Rows, scores: Scores, now: float
) -> tuple[PromotedMemory, ...]:
    columns = {name: column[rows] for name, column in _columns(scope, compiled, now).items()}
    factors = [np.empty(len(rows)) for _ in compiled.names]
    if len(rows) and factors:
        values_of_registers(compiled, compiled.factors, columns, now=now, out=factors, threads=1)
    ids = scope.read_model.lifecycle.ids
    return tuple(
        PromotedMemory(
            id=ids[row],
            score=score,
            factors={
                name: float(values[place])
                for name, values in zip(compiled.names, factors, strict=True)
            },
        )
        for place, (row, score) in enumerate(zip(rows.tolist(), scores.tolist(), strict=True))
    )
