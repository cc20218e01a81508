"""A whole store scored without a query, and the promotion of memories that score high."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oneiros.argument_checks import require_flag
from oneiros.batch.rescored import PromotedMemory, PromotionReport, Rescored
from oneiros.fields import ENUMS
from oneiros.numpy_on_use import np
from oneiros.ranking.factors.thompson import verdict_tables
from oneiros.ranking.promotion import promoted, threshold_of
from oneiros.ranking.row_scores import blocks, columns_read, score_rows, values_of_registers
from oneiros.ranking.threads import checked_threads
from oneiros.scopes import set_of

if TYPE_CHECKING:
    import numpy.typing as npt
    from pyroaring import BitMap

    from oneiros.clock import Time
    from oneiros.engine.scope import Scope
    from oneiros.ranking.compiled import CompiledProfile
    from oneiros.ranking.profile import Profile
    from oneiros.scopes import Where

    Rows = npt.NDArray[np.uint32]
    Scores = npt.NDArray[np.float64]

__all__ = ["promote", "rescore"]

_STAGED = ENUMS["status"].index("staged")
_FEW = 4  # one row in so many wanted, or fewer: gathering them costs less than scoring all


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
        ids = parts.projections.lifecycle.ids
        return Rescored(
            ids=[ids[row] for row in rows],
            scores=scores,
            profile=chosen.name,
            profile_hash=chosen.hash,
            now=moment,
            future_count=future_count,
        )

    return parts.sync.writer.run(scored)  # where nothing else changes a column meanwhile


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
        """Judge the columns as they are. REQUIRES: the thread that writes."""
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
        return [(one.id, {"status": "consolidated"}) for one in reports[0].promoted]

    scope.services.remember.set_columns(changes)
    return reports[0]


def _compiled(scope: Scope, profile: Profile) -> CompiledProfile:
    return profile.compile(scope.services.projections.lifecycle.kinds)


def _staged(scope: Scope, rows: BitMap) -> BitMap:
    status = scope.services.projections.lifecycle.column("status")
    return rows & set_of(np.flatnonzero(status == _STAGED).astype(np.uint32))


def _scores(
    scope: Scope, compiled: CompiledProfile, rows: BitMap, now: float, threads: int
) -> tuple[Scores, int]:
    """Score some rows: in place where they are most of all, else gathered."""
    columns = _columns(scope, compiled, now)
    size = len(scope.services.projections.lifecycle.ids)
    if len(rows) * _FEW > size:
        scores = np.empty(size)
        future_count = 0
        for start, stop in blocks(size):
            held = {name: column[start:stop] for name, column in columns.items()}
            future_count += score_rows(
                compiled, held, now=now, out=scores[start:stop], threads=threads
            )
        if len(rows) == size:
            return scores, future_count
        if not future_count:  # else some may be of rows that are not wanted
            return scores[np.array(rows.to_array(), np.uint32)], 0
    numbers = np.array(rows.to_array(), np.uint32)
    scores = np.empty(len(numbers))
    future_count = 0
    for start, stop in blocks(len(numbers)):
        held = {name: column[numbers[start:stop]] for name, column in columns.items()}
        future_count += score_rows(compiled, held, now=now, out=scores[start:stop], threads=threads)
    return scores, future_count


def _columns(scope: Scope, compiled: CompiledProfile, now: float) -> dict[str, npt.NDArray[Any]]:
    """The columns that the profile reads, and what verdicts say of every row."""
    lifecycle = scope.services.projections.lifecycle
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
    ids = scope.services.projections.lifecycle.ids
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
