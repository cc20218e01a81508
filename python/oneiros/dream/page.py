"""The report of a dream cycle as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from oneiros.display.commands import restore_command
from oneiros.display.pages import rendered, require
from oneiros.display.tables import day, moment
from oneiros.dream import plots
from oneiros.dream.drift import drift_over
from oneiros.dream.impact import Impact, named_rules
from oneiros.dream.report import RULE_WORDS, DreamReport, held_words, rule_name
from oneiros.model.validation import require_instance

if TYPE_CHECKING:
    from oneiros.dream.drift import CycleDrift, Drift

__all__ = ["page"]


_TITLES: Final = {
    "phases": "What changed, by phase",
    "gone": "Removed",
    "distributions": "Before and after",
    "decay": "How memories fade",
    "kept": "Left as they are",
    "changes": "Other changes",
    "not-restored": "Not restored, because changed again",
    "impact": "Saved questions",
    "drift": "Drift over cycles",
}
"""The sections by anchor, in order; a section without content is left out."""

_SHARES: Final = {
    "stale share": "stale_share",
    "Gini of accesses": "access_gini",
    "churn of the top 50": "churn",
}
_SHOWN: Final[dict[str, Any]] = {
    "plots": plots,
    "moment": moment,
    "rule_words": RULE_WORDS,
    "rule_name": rule_name,
    "named_rules": named_rules,
    "held_words": held_words,
    "words": plots.WORDS,
    "plotted": ("strength", "stability", "age_days", "kind"),
    "colours": plots.VARIABLES,
    "shares": tuple(_SHARES),
    "most_named": 1_000,
    "most_questions": 200,
}
"""Values of the template other than the report."""


def page(
    report: DreamReport,
    *,
    texts: Mapping[str, str] | None = None,
    impact: Impact | None = None,
    earlier: Sequence[DreamReport] = (),
) -> str:
    """Return a cycle's report as a self-contained HTML page.

    Args:
        report: of the cycle.
        texts: memory texts by id, shown next to the ids; None: ids only.
        impact: the impact of the cycle's plan, for its own section.
        earlier: reports of earlier cycles, the newest first, for the drift section.

    Raises:
        ImportError: matplotlib or Jinja2 is not installed.
        TypeError: an argument has another type.
    """
    require()
    _require_arguments(texts, impact, earlier)
    drift = drift_over([report, *(other for other in earlier if other.id != report.id)])
    has_drift = len(drift.cycles) > 1
    removals = [change for change in report.named if change.removal]
    rest = [change for change in report.named if not change.removal]
    contents = {
        "phases": report.phases,
        "distributions": report.distributions,
        "decay": report.decay,
        "gone": removals,
        "kept": report.left_alone or report.changed_since,
        "changes": rest,
        "not-restored": report.not_restored,
        "impact": impact is not None,
        "drift": has_drift,
    }
    return rendered(
        "dream.html",
        title=_title(report),
        sections=[(anchor, title) for anchor, title in _TITLES.items() if contents[anchor]],
        report=report,
        texts=texts or {},
        removals=removals,
        rest=rest,
        impact=impact,
        drift=drift,
        drift_kinds=drift.kinds()[: plots.COLOURS],
        drift_plots=_drift_plots(drift) if has_drift else {},
        half_lives=_half_lives,
        value=_value,
        restore_command=restore_command,
        **_SHOWN,
    )


def _require_arguments(texts: object, impact: object, earlier: object) -> None:
    if texts is not None:
        require_instance("texts", texts, (Mapping,), "a dict of id to text")
        for id, text in texts.items():  # type: ignore[attr-defined]
            require_instance(f"texts[{id!r}]", text, (str,), "str")
    if impact is not None:
        require_instance("impact", impact, (Impact,), "what plan.impact returned")
    require_instance("earlier", earlier, (Sequence,), "a sequence of DreamReport")
    for place, report in enumerate(earlier):  # type: ignore[arg-type, var-annotated]
        require_instance(f"earlier[{place}]", report, (DreamReport,), "a DreamReport")


def _title(report: DreamReport) -> str:
    if report.undoes is not None:
        return f"Dream cycle {report.undoes} undone"
    return f"Dream {'plan' if report.is_dry_run else 'cycle'} of {day(report.now)}"


def _value(field: str, value: Any) -> str:
    if isinstance(value, float):
        return moment(value) if field.endswith(("_at", "_since")) else f"{value:.4g}"
    return "-" if value is None else str(value)


def _drift_plots(drift: Drift) -> dict[str, str]:
    shares = [[getattr(cycle, field) for cycle in drift.cycles] for field in _SHARES.values()]
    lives = [
        [cycle.half_life_days.get(kind) for cycle in drift.cycles]
        for kind in drift.kinds()[: plots.COLOURS]
    ]
    live = [[float(cycle.live) for cycle in drift.cycles]]
    label = "stale share, Gini of accesses and churn of the top 50 after each cycle"
    return {
        "live": plots.lines("live", "live memories after each cycle", live, is_share=False),
        "shares": plots.lines("shares", label, shares, is_share=True),
        "lives": plots.lines("half-lives", "half-life by kind, days", lives, is_share=False)
        if lives
        else "",
    }


def _half_lives(cycle: CycleDrift) -> list[tuple[str, float]]:
    """Return the known half-lives of the kinds that are plotted."""
    known = [(kind, days) for kind, days in cycle.half_life_days.items() if days is not None]
    return known[: plots.COLOURS]
