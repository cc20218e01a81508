"""Whole stores scored without a query, and what their scores earn: promotion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oneiros.argument_checks import require_flag
from oneiros.bounded import Bounded
from oneiros.fields import ENUMS
from oneiros.numpy_on_use import np
from oneiros.ranking.threads import checked_threads
from oneiros.scopes import set_of

if TYPE_CHECKING:
    import numpy.typing as npt
    from pyroaring import BitMap

    from oneiros.bounded import Time
    from oneiros.ranking.compiled import CompiledProfile
    from oneiros.ranking.profile import Profile
    from oneiros.rescored import PromotedMemory, PromotionReport, Rescored
    from oneiros.scopes import Where

    Rows = npt.NDArray[np.uint32]
    Scores = npt.NDArray[np.float64]

__all__ = ["Rescoring"]

_STAGED = ENUMS["status"].index("staged")
_FEW = 4  # one row in so many wanted, or fewer: gathering them costs less than scoring all


class Rescoring(Bounded):
    """Memories that can be scored all at once."""

    def rescore(
        self,
        profile: Profile | str | None = None,
        now: Time | None = None,
        *,
        where: Where | None = None,
        threads: int | None = None,
    ) -> Rescored:
        """Score every live memory, as a search would where all were equally relevant.

        Never counts as an access. The scores are those of one moment: writes and searches that
        strengthen wait meanwhile (a few nanoseconds a memory).

        Args:
            profile: by name or as a ``Profile``; default: the engine's.
            now: the clock, as in :meth:`add`; times after it are age 0, and counted.
            where: a filter.
            threads: 1 to 256; default: one a core.

        Returns:
            :class:`Rescored`: ids in order of insertion and float64 scores.

        Raises:
            ValueError, TypeError: an argument breaks its rule.

        Source: docs/systems/README.md, "Scoring without a query"; docs/systems/ciar.md A11.
        """
        from oneiros.rescored import Rescored  # noqa: PLC0415 - a search makes none of these

        chosen, count = self._profile(profile), checked_threads(threads)
        self._follow_others()
        moment = self._now(now)
        parts = self._parts

        def scored() -> Rescored:
            rows = self._matching(where)
            compiled = self._compiled(chosen)
            scores, future_count = self._scores(compiled, rows, moment, count)
            ids = parts.projections.lifecycle.ids
            return Rescored(
                ids=[ids[row] for row in rows],
                scores=scores,
                profile=chosen.name,
                profile_hash=chosen.hash,
                now=moment,
                future_count=future_count,
            )

        return parts.remember.writer.run(scored)  # where nothing else changes a column meanwhile

    def promote(
        self,
        profile: Profile | str = "ciar",
        threshold: float | None = None,
        now: Time | None = None,
        *,
        where: Where | None = None,
        dry_run: bool = False,
        threads: int | None = None,
    ) -> PromotionReport:
        """Consolidate the staged memories that score high enough, all in one transaction.

        Never counts as an access.

        Args:
            profile: by name or as a ``Profile``.
            threshold: in (0, 1]; default: the profile's.
            now: the clock, as in :meth:`add`; times after it are age 0.
            where: a filter: others stay as they are.
            dry_run: only tell what would be done.
            threads: 1 to 256; default: one a core.

        Returns:
            :class:`PromotionReport`: who was promoted, and the factors that earned it.

        Raises:
            ValueError, TypeError: an argument breaks its rule; the profile has no threshold, and
                none is given.
            StoreBusy: another process held the store's lock for too long.

        Source: docs/systems/ciar.md A4.
        """
        from oneiros.ranking.promotion import promoted, threshold_of  # noqa: PLC0415 - as above
        from oneiros.rescored import PromotionReport  # noqa: PLC0415

        dry_run = require_flag("dry_run", dry_run)
        chosen, count = self._profile(profile), checked_threads(threads)
        least = threshold_of(chosen, threshold)
        self._follow_others()
        moment = self._now(now)

        def judged() -> PromotionReport:
            """Judge the columns as they are. REQUIRES: the thread that writes."""
            rows = self._staged(self._matching(where))
            compiled = self._compiled(chosen)
            scores, future_count = self._scores(compiled, rows, moment, count)
            high = np.flatnonzero(promoted(scores, least))
            taken = np.array(rows.to_array(), np.uint32)[high]
            return PromotionReport(
                promoted=self._promoted(compiled, taken, scores[high], moment),
                considered=len(rows),
                profile=chosen.name,
                profile_hash=chosen.hash,
                threshold=least,
                now=moment,
                is_dry_run=dry_run,
                future_count=future_count,
            )

        remember = self._parts.remember
        if dry_run:
            return remember.writer.run(judged)
        reports: list[PromotionReport] = []

        def changes() -> list[tuple[str, dict[str, object]]]:
            reports.append(judged())
            return [(one.id, {"status": "consolidated"}) for one in reports[0].promoted]

        remember.set_columns(changes)
        return reports[0]

    def _compiled(self, profile: Profile) -> CompiledProfile:
        return profile.compile(self._parts.projections.lifecycle.kinds)

    def _staged(self, rows: BitMap) -> BitMap:
        status = self._parts.projections.lifecycle.column("status")
        return rows & set_of(np.flatnonzero(status == _STAGED).astype(np.uint32))

    def _scores(
        self, compiled: CompiledProfile, rows: BitMap, now: float, threads: int
    ) -> tuple[Scores, int]:
        """Score some rows: in place where they are most of all, else gathered."""
        from oneiros.ranking.row_scores import blocks, score_rows  # noqa: PLC0415 - as above

        columns = self._columns(compiled, now)
        size = len(self._parts.projections.lifecycle.ids)
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
            future_count += score_rows(
                compiled, held, now=now, out=scores[start:stop], threads=threads
            )
        return scores, future_count

    def _columns(self, compiled: CompiledProfile, now: float) -> dict[str, npt.NDArray[Any]]:
        """The columns that the profile reads, and what verdicts say of every row."""
        from oneiros.ranking.factors.thompson import verdict_tables  # noqa: PLC0415 - as above
        from oneiros.ranking.row_scores import columns_read  # noqa: PLC0415

        lifecycle = self._parts.projections.lifecycle
        names = columns_read(compiled)
        columns = {name: lifecycle.column(name) for name in names if name in lifecycle.names}
        verdicts = self._verdicts(compiled.profile)
        if verdicts:
            codes = lifecycle.column("kind")
            factors = compiled.profile.factors
            tables = verdict_tables(factors, verdicts, lifecycle.kinds, now)
            columns |= {name: np.array(values)[codes] for name, values, _ in tables}
        return columns

    def _promoted(
        self, compiled: CompiledProfile, rows: Rows, scores: Scores, now: float
    ) -> tuple[PromotedMemory, ...]:
        from oneiros.ranking.row_scores import values_of_registers  # noqa: PLC0415 - as above
        from oneiros.rescored import PromotedMemory  # noqa: PLC0415

        columns = {name: column[rows] for name, column in self._columns(compiled, now).items()}
        factors = [np.empty(len(rows)) for _ in compiled.names]
        if len(rows) and factors:
            values_of_registers(
                compiled, compiled.factors, columns, now=now, out=factors, threads=1
            )
        ids = self._parts.projections.lifecycle.ids
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
