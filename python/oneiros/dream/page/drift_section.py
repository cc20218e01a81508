"""The section of the page that follows figures over cycles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oneiros.display import moment
from oneiros.dream.drift_over import drift_over
from oneiros.dream.page import plots
from oneiros.dream.page.markup import Html, cells, element, stored
from oneiros.dream.page.sections import Section, key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oneiros.dream.drift_over import CycleDrift, Drift
    from oneiros.dream.report import DreamReport

__all__ = ["drift_section"]

_SHARES: Final = (
    ("stale share", "stale_share", 0),
    ("Gini of accesses", "access_gini", 1),
    ("churn of the top 50", "churn", 2),
)


def drift_section(report: DreamReport, earlier: Sequence[DreamReport]) -> Section | None:
    """Return the drift up to a cycle; None where it is the only one with figures.

    Args:
        report: of the last cycle.
        earlier: of those before, the newest first; the last one may be among them.
    """
    others = [one for one in earlier if one.id != report.id]
    found = drift_over([report, *others])
    if len(found.cycles) < 2:
        return None
    return Section("drift", "Drift over cycles", Html(_figures(found) + _table(found)))


def _figures(found: Drift) -> Html:
    live = plots.lines(
        "live",
        "live memories after each cycle",
        {0: [float(cycle.live) for cycle in found.cycles]},
        is_share=False,
    )
    shares = plots.lines(
        "shares",
        "stale share, Gini of accesses and churn of the top 50 after each cycle",
        {place: [getattr(one, field) for one in found.cycles] for _, field, place in _SHARES},
        is_share=True,
    )
    figures = [
        element("figure", element("figcaption", "live memories"), live),
        element("figure", _key([name for name, *_ in _SHARES]), shares),
    ]
    kinds = found.kinds()[: plots.COLOURS]
    if kinds:
        lives = {
            place: [one.half_life_days.get(kind) for one in found.cycles]
            for place, kind in enumerate(kinds)
        }
        drawn = plots.lines("half-lives", "half-life by kind, days", lives, is_share=False)
        caption = element("figcaption", "half-life in days, by kind")
        figures.append(element("figure", caption, _key(kinds), drawn))
    return element("div", *figures, class_="plots")


def _key(names: Sequence[str]) -> Html:
    return key(names, [f"--kind-{place}" for place in range(len(names))])


def _table(found: Drift) -> Html:
    heads = ("cycle", "when", "profile", "live", "stale", "Gini", "churn", "half-life, days")
    rows = [_row(cycle) for cycle in reversed(found.cycles)]
    return cells(heads, rows, numbers=("live", "stale", "Gini", "churn"))


def _row(cycle: CycleDrift) -> tuple[str, ...]:
    known = [(kind, days) for kind, days in cycle.half_life_days.items() if days is not None]
    lives = (element("div", stored(kind), f" {days:.4g}") for kind, days in known[: plots.COLOURS])
    return (
        cycle.id,
        moment(cycle.now),
        cycle.profile + (", undone" if cycle.is_undone else ""),
        str(cycle.live),
        f"{cycle.stale_share:.1%}",
        f"{cycle.access_gini:.3f}",
        "-" if cycle.churn is None else f"{cycle.churn:.1%}",
        Html("".join(lives)) or "-",
    )
