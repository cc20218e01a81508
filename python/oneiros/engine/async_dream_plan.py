"""A planned dream cycle for ``asyncio``: what reads or writes the store is awaited."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from oneiros.dream.draft import Draft
    from oneiros.dream.impact import Impact
    from oneiros.dream.plan import DreamPlan
    from oneiros.dream.report import DreamReport, FieldChange
    from oneiros.engine.async_workers import Workers

__all__ = ["AsyncDreamPlan"]


class AsyncDreamPlan:
    """A planned cycle: :class:`oneiros.dream.plan.DreamPlan` for ``asyncio``.

    Made by ``AsyncEngine.dream(dry_run=True)``. Attributes and ``changes`` need no await; ``apply``,
    ``impact`` and ``html`` run on a thread of the engine's. An await that is cancelled before its
    call began leaves no trace; a running call is completed.
    """

    def __init__(self, plan: DreamPlan, workers: Workers) -> None:
        self._plan = plan
        self._workers = workers

    @property
    def report(self) -> DreamReport:
        """What the cycle would do."""
        return self._plan.report

    @property
    def revision(self) -> int:
        """Of the store, that it was planned on."""
        return self._plan.revision

    @property
    def draft(self) -> Draft:
        """The store as the cycle would leave it."""
        return self._plan.draft

    @property
    def id(self) -> str:
        """By which the cycle can be undone, once it is applied."""
        return self._plan.id

    @property
    def now(self) -> float:
        """The cycle's clock, seconds UTC."""
        return self._plan.now

    def __len__(self) -> int:
        """Return how many changes of single fields it holds."""
        return len(self._plan)

    def __repr__(self) -> str:
        return repr(self._plan)

    def __str__(self) -> str:
        return str(self._plan)

    def changes(self, fields: Collection[str] | None = None) -> Iterator[FieldChange]:
        """Yield every change of a field, as :meth:`oneiros.dream.plan.DreamPlan.changes` does.

        Each is made when it is asked for; the store is not read.

        Args:
            fields: only of these; default: of all.

        Raises:
            TypeError, ValueError: no collection of str, or no such field.
        """
        return self._plan.changes(fields)

    def named(self, most: int) -> tuple[FieldChange, ...]:
        """Return the first changes to tell by name: those that take away or move a memory first.

        Args:
            most: how many.
        """
        return self._plan.named(most)

    async def apply(self) -> DreamReport:
        """Apply it, as :meth:`oneiros.dream.plan.DreamPlan.apply` does, and with its errors."""
        return await self._workers.run(self._plan.apply)

    async def impact(self, queries: Sequence[str], k: int = 10) -> Impact:
        """Rank questions before and after, as :meth:`oneiros.dream.plan.DreamPlan.impact` does.

        Args:
            queries: the questions.
            k: how many results count as answers, at least 1.

        Raises:
            As there.
        """
        return await self._workers.run(partial(self._plan.impact, queries, k))

    async def html(
        self, *, impact: Impact | None = None, earlier: Sequence[DreamReport] = ()
    ) -> str:
        """Return it as a page, as :meth:`oneiros.dream.plan.DreamPlan.html` does.

        Args:
            impact: what :meth:`impact` returned, for a section of its own.
            earlier: reports of cycles before it, the newest first.

        Raises:
            As there.
        """
        return await self._workers.run(partial(self._plan.html, impact=impact, earlier=earlier))
