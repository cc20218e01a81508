"""Recall asked about one memory: why a search does not return it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from oneiros.argument_checks import require_utf8
from oneiros.dataclasses_on_use import replace
from oneiros.limiting import DeepLimits
from oneiros.query.asking import Asking, require_asking
from oneiros.searching import Searching

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.bounded import Time
    from oneiros.projections import Limits
    from oneiros.query.asking import TimePair
    from oneiros.query.context import Context
    from oneiros.ranking.profile import Profile
    from oneiros.rerank import Reranker
    from oneiros.scopes import Where
    from oneiros.search.request import SearchRequest
    from oneiros.why_not import WhyNot

__all__ = ["AskingWhy"]


class AskingWhy(Searching):
    """Memories that can be asked why a search does not return one of them."""

    def why_not(
        self,
        query: str,
        id: str,
        *,
        k: int = 10,
        where: Where | None = None,
        session: str | None = None,
        now: Time | None = None,
        embedding: npt.ArrayLike | None = None,
        profile: Profile | str | None = None,
        reinforce: bool | None = None,
        explain: bool = True,
        include_expired: bool = False,
        deep_recall: bool = False,
        include_expired_in_deep_recall: bool = False,
        valid_at: Time | None = None,
        status: str | Sequence[str] | None = None,
        syntax: str = "plain",
        hint: str | None = None,
        date_range: TimePair | None = None,
        soft_range: bool = False,
        context: Context | None = None,
        reranker: Reranker | None = None,
        deadline: float | None = None,
    ) -> WhyNot:
        """Tell why a search does not return a memory; never counts as an access.

        Args:
            query: the search's.
            id: of the memory that is missed.
            k: the search's, like all that follow, so that they can be given as they were.
            where: the search's filter.
            session: taken, and of no effect here.
            now: the search's clock.
            embedding: the search's.
            profile: the search's.
            reinforce: taken, and of no effect here.
            explain: taken, and of no effect here.
            include_expired: the search's.
            deep_recall: the search's.
            include_expired_in_deep_recall: the search's.
            valid_at: the search's.
            status: the search's.
            syntax: the search's.
            hint: the search's.
            date_range: the search's.
            soft_range: the search's.
            context: the search's.
            reranker: the search's; it is asked again.
            deadline: the search's.

        Returns:
            :class:`WhyNot`: what hides the memory, how each channel and factor sees it, its place
            and what it lacks of the last place returned. A scope says of a memory outside what it
            says of an id that does not exist.

        Raises:
            As :meth:`search`.
        """
        require_utf8("id", id)
        require_asking(session, reinforce, k, explain)
        self._follow_others()
        asking = Asking.checked(
            where, hint, date_range, context, reranker, deadline, soft_range=soft_range
        )
        chosen, moment = self._profile(profile), self._now(now)
        asking.require_read(chosen)
        deep = DeepLimits(deep_recall, include_expired_in_deep_recall)
        limits = self._limits(
            chosen.selection, moment, where, status, include_expired, valid_at, deep
        )
        question = self._question(query, embedding, k, moment, chosen, True, syntax, asking)
        return self._answer(id, self._in_depth(question, limits), limits)

    def _answer(self, id: str, question: SearchRequest, limits: Limits) -> WhyNot:
        from oneiros.hiding import hidings  # noqa: PLC0415
        from oneiros.placing import Placing  # noqa: PLC0415

        projections = self._parts.projections
        visible = self._visible(question, limits)
        placing = Placing(question, projections, visible, self._load_seen)
        answered = placing.answer(id)
        memory = self._load_seen([id])[0]
        row = projections.lifecycle.row_of.get(id)
        if memory is None or row is None:
            return answered
        hidden = hidings(memory, row, projections.row_sets, limits)
        answered = replace(answered, exists=True, hidden=hidden)
        if row not in projections.row_sets.live:
            return answered
        if hidden:
            let_in = visible.letting_in(row)
            placing = Placing(question, projections, let_in, self._load_seen)
        return placing.placed(answered, row)
