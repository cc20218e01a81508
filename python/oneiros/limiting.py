"""What a search may return and where links may lead it; and what it leaves behind."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from oneiros.argument_checks import require_flag, statuses
from oneiros.bounded import Bounded, require_where
from oneiros.dataclasses_on_use import replace
from oneiros.field_checks import moment as moment_check
from oneiros.projections import Limits
from oneiros.projections.row_sets import of_status
from oneiros.remember.write_behind import ReinforcementEvent

if TYPE_CHECKING:
    from oneiros.bounded import Time
    from oneiros.projections import Visible
    from oneiros.ranking.selection import Selection
    from oneiros.response import SearchResponse
    from oneiros.scopes import Where
    from oneiros.search.request import SearchRequest

__all__ = ["DeepLimits", "Limiting"]

_check_valid_at = moment_check("valid_at")


class DeepLimits(NamedTuple):
    """What deep recall was asked to bring back."""

    is_deep: bool
    includes_lapsed: bool


def names_kinds(condition: Where | None) -> bool:
    """Tell whether a filter asks for kinds, so that none of them is hidden. O23."""
    if condition is None:
        return False
    from oneiros.scopes.conditions import And, AnyOf, Or  # noqa: PLC0415 - filters load them

    if isinstance(condition, (And, Or)):
        return any(map(names_kinds, condition.parts))
    return isinstance(condition, AnyOf) and condition.name == "kind"


class Limiting(Bounded):
    """Memories of which a search may return some."""

    def _limits(
        self,
        selection: Selection,
        now: float,
        where: Where | None,
        status: str | Sequence[str] | None,
        include_expired: bool,
        valid_at: Time | None,
        deep: DeepLimits,
    ) -> Limits:
        require_where(where)
        require_flag("include_expired", include_expired)
        require_flag("deep_recall", deep.is_deep)
        require_flag("include_expired_in_deep_recall", deep.includes_lapsed)
        if deep.includes_lapsed and not deep.is_deep:
            msg = "include_expired_in_deep_recall: needs deep_recall, got True without it"
            raise ValueError(msg)
        asked = statuses(status)
        if asked is not None:
            of_status(asked)  # refuses what is no status
        if selection.hidden_kinds and any(map(names_kinds, (where, self._scope()))):
            selection = replace(selection, hidden_kinds=())
        return Limits(
            selection=selection,
            where=where,
            status=asked,
            now=now,
            valid_at=None if valid_at is None else _check_valid_at(valid_at),
            includes_expired=bool(include_expired),
            is_deep=bool(deep.is_deep),
            includes_lapsed=bool(deep.includes_lapsed),
        )

    def _in_depth(self, question: SearchRequest, limits: Limits) -> SearchRequest:
        """The question as deep recall asks it, where it is one."""
        back_again = self._parts.projections.row_sets.came_back(limits)
        return question if back_again is None else replace(question, back_again=back_again)

    def _visible(self, question: SearchRequest, limits: Limits) -> Visible:
        """What the search may return, and where links may lead it."""
        parts = self._parts
        row_sets, scope = parts.projections.row_sets, self._scope()
        visible = row_sets.visible(limits, scope)
        expansion = question.profile.expansion
        links = None if expansion is None else parts.remember.links_to_follow()
        if expansion is None or links is None:
            return visible
        linked = visible
        if limits.is_deep and not expansion.needs_scores:  # then nothing has a score to halve
            limits = replace(limits, is_deep=False)
            linked = row_sets.visible(limits, scope)
        if expansion.cold and limits.selection.hide_cold:
            limits = replace(limits, selection=replace(limits.selection, hide_cold=False))
        return visible._replace(reach=row_sets.reach(limits, scope, linked, links))

    def _reinforced(
        self,
        responses: list[SearchResponse],
        question: SearchRequest,
        session: str | None,
        reinforce: bool | None,
    ) -> list[SearchResponse]:
        """Strengthen what was found, if it is to be, and say so in the traces."""
        rule = question.profile.reinforcement
        is_asked = not question.is_explained if reinforce is None else reinforce
        if rule is None or not is_asked:
            return responses
        told = []
        for response in responses:
            started = perf_counter()
            if response.results:
                ids = tuple(response.ids)
                direct, linked = response.direct_ids, frozenset[str]()
                if direct is not None:
                    linked = frozenset(one.id for one in response if one.is_associative)
                self._parts.remember.reinforce(
                    ReinforcementEvent(
                        ids, question.now, session, rule, ids if direct is None else direct, linked
                    )
                )
            told.append(response.with_reinforcement((perf_counter() - started) * 1e3))
        return told
