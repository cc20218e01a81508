"""The report of a dream cycle as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from oneiros.display.escaping import shortened
from oneiros.display.html import Html, cells, document, element, stored
from oneiros.display.tables import moment
from oneiros.dream import plots
from oneiros.dream.drift import drift_over
from oneiros.dream.impact import Impact, named_rules
from oneiros.dream.plots import require as require_plots
from oneiros.dream.report import RULE_WORDS, DreamReport, held_words, rule_name
from oneiros.model.validation import require_instance

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from oneiros.dream.drift import CycleDrift, Drift
    from oneiros.dream.report import FieldChange

__all__ = ["page", "require_plots"]


_TEXT: Final = 200  # characters of a stored text in a cell
_MOST_QUESTIONS: Final = 200
_MOST_NAMED: Final = 1_000  # ids listed of memories left unchanged
_PLOTTED: Final = ("strength", "stability", "age_days", "kind")
_FEW: Final = 3  # up to this many sections, the page has no table of contents
_SHARES: Final = (
    ("stale share", "stale_share", 0),
    ("Gini of accesses", "access_gini", 1),
    ("churn of the top 50", "churn", 2),
)


class Section(NamedTuple):
    """A section of the page."""

    anchor: str
    title: str
    body: Html


def of_report(report: DreamReport, texts: Mapping[str, str]) -> Iterator[Section]:
    """Yield the non-empty sections of a report.

    Args:
        report: the report.
        texts: memory texts by id, as far as known.
    """
    if report.phases:
        yield Section("phases", "What changed, by phase", _phases(report))
    if report.distributions:
        yield Section("distributions", "Before and after", _distributions(report))
    if report.decay:
        yield Section("decay", "How memories fade", _decay(report))
    gone = [change for change in report.named if change.removal]
    if gone:
        yield Section("gone", "Removed", _gone(report, gone, texts))
    if report.left_alone or report.changed_since:
        yield Section("kept", "Left as they are", _left_alone(report))
    rest = [change for change in report.named if not change.removal]
    if rest:
        yield Section("changes", "Other changes", _changes(report, rest, len(gone)))
    if report.not_restored:
        table = _change_table(report.not_restored[:_MOST_NAMED])
        body = Html(table + _more(len(report.not_restored)))
        yield Section("not-restored", "Not restored, because changed again", body)


def key(names: Iterable[str], variables: Iterable[str]) -> Html:
    """Return the legend of a plot.

    Args:
        names: the entries; may be stored text.
        variables: CSS variables of the colours, such as "--before".
    """
    return element(
        "ul",
        *(
            element("li", element("span", style=f"background: var({variable})"), stored(name))
            for name, variable in zip(names, variables, strict=False)
        ),
        class_="key",
    )


def _phases(report: DreamReport) -> Html:
    rows = []
    for phase in report.phases:
        counted = ", ".join(f"{name} {value:.4g}" for name, value in phase.figures.items())
        first = (phase.name, counted, f"{phase.seconds:.3f}")
        memories = phase.memory_counts()
        for rule, fields in phase.changes.items() or [("", {})]:
            counts = ", ".join(f"{field} {count}" for field, count in fields.items())
            most = str(memories.get(rule, 0))
            rows.append((first[0], RULE_WORDS.get(rule, rule), most, counts, *first[1:]))
            first = ("", "", "")
    heads = ("phase", "what it does", "memories", "fields", "counted", "seconds")
    return cells(heads, rows, numbers=("memories", "seconds"))


def _distributions(report: DreamReport) -> Html:
    figures = [
        element("figure", element("figcaption", _name(counts.name)), plots.before_and_after(counts))
        for counts in report.distributions
        if counts.name in _PLOTTED and counts.places
    ]
    rows = [
        (_name(counts.name), stored(place), str(before), str(after))
        for counts in report.distributions
        for place, before, after in zip(counts.places, counts.before, counts.after, strict=True)
    ]
    heads = ("of", "from, or which", "before", "after")
    table = cells(heads, rows, numbers=("before", "after"))
    return Html(
        key(("before the cycle", "after it"), ("--before", "--after"))
        + element("div", *figures, class_="plots")
        + element("details", element("summary", "all of it in numbers"), table)
    )


def _decay(report: DreamReport) -> Html:
    legend_text = element(
        "p",
        "A line is a memory that is never recalled, from the day it was added: the value that the ",
        f"factors of {report.profile} give to a relevance of 1. A mark is the mean of the store's ",
        "memories of about one age, larger where they are many. Use raises them above the line, "
        "weakening and verdicts lower them.",
    )
    legend = _kinds_key([curve.kind for curve in report.decay])
    rows = [
        (stored(curve.kind), f"{group.days:.1f}", f"{group.value:.4f}", str(group.memories))
        for curve in report.decay
        for group in curve.standing
    ]
    heads = ("kind", "days since the last use", "mean value", "memories")
    table = cells(heads, rows, numbers=heads[1:])
    numbers = element("details", element("summary", "where memories stand, in numbers"), table)
    return Html(legend_text + element("figure", legend, plots.decay(report.decay)) + numbers)


def _gone(report: DreamReport, gone: Sequence[FieldChange], texts: Mapping[str, str]) -> Html:
    heads = ["memory", "text", "how", "because"]
    rows = [
        [
            stored(shortened(change.id, _TEXT)),
            stored(shortened(texts.get(change.id, ""), _TEXT)),
            change.removal or "",
            stored(change.because or change.reason or RULE_WORDS.get(change.rule, change.rule)),
        ]
        for change in gone
    ]
    if not texts:
        for line in (heads, *rows):
            del line[1]
    note = f"These memories can be restored until they are purged; this is cycle {report.id}."
    return Html(element("p", note) + cells(heads, rows))


def _left_alone(report: DreamReport) -> Html:
    rows = [
        (group.phase, held_words(group.reason), str(group.memories)) for group in report.left_alone
    ]
    table = cells(("phase", "because", "memories"), rows, numbers=("memories",))
    if not report.changed_since:
        return table
    count = len(report.changed_since)
    names = [stored(shortened(id, _TEXT)) for id in report.changed_since[:_MOST_NAMED]]
    items = element("ul", *(element("li", name) for name in names))
    summary = element("summary", f"{count} that changed after the cycle was planned")
    since = element("details", summary, items, _more(count))
    return Html((table if rows else "") + since)


def _more(count: int) -> Html:
    """Return a note with the number of entries that are not listed; empty if all are."""
    hidden = count - _MOST_NAMED
    return element("p", f"... and {hidden} more", class_="faint") if hidden > 0 else Html("")


def _changes(report: DreamReport, rest: Sequence[FieldChange], gone: int) -> Html:
    more = report.change_count - len(rest) - gone
    summary = f"{len(rest)} changes" + (
        f", and {more} more that are not listed" if more > 0 else ""
    )
    return element("details", element("summary", summary), _change_table(rest))


def _change_table(changes: Iterable[FieldChange]) -> Html:
    rows = (
        (
            stored(shortened(change.id, _TEXT)),
            change.field,
            _value(change.field, change.before),
            _value(change.field, change.after),
            change.phase,
        )
        for change in changes
    )
    return cells(("memory", "field", "before", "after", "phase"), rows)


def of_impact(found: Impact) -> Section:
    """Return the section on saved queries before and after a cycle."""
    counts = found.lost_by_rule().items()
    lost = ", ".join(f"{rule_name(rule)} {count}" for rule, count in counts) or "none"
    changed = [query for query in found.queries if query.shifts]
    count = len(found.queries)
    head = (
        f"{count} question{'' if count == 1 else 's'}: of the best {found.k} answers, {found.mean_overlap:.1%} "
        f"stay. Lost answers: {lost}. Questions with other answers or another order: "
        f"{len(changed)}. A rule is named where leaving it out undoes the change."
    )
    rows = []
    for query in islice(changed, _MOST_QUESTIONS):
        gone = {shift.id for shift in query.lost}
        rows.append(
            (
                stored(shortened(query.query, _TEXT)),
                f"{query.overlap:.0%}",
                named_rules(query.rules),
                _listed((shift.id, named_rules(shift.rules)) for shift in query.lost),
                _listed(
                    (
                        shift.id,
                        f"{shift.before or '-'} → {shift.after or '-'}, {named_rules(shift.rules)}",
                    )
                    for shift in query.shifts
                    if shift.id not in gone
                ),
            )
        )
    heads = ("question", "stay", "undone without", "lost", "at another rank")
    table = cells(heads, rows, numbers=("stay",))
    hidden = len(changed) - len(rows)
    more = element("p", f"... and {hidden} more questions", class_="faint") if hidden else ""
    return Section("impact", "Saved questions", Html(element("p", head) + table + more))


def _listed(pairs: Iterable[tuple[str, str]]) -> Html:
    items = (element("div", stored(shortened(id, _TEXT)), f" ({words})") for id, words in pairs)
    return Html("".join(items))


def _name(distribution: str) -> str:
    return "age in days" if distribution == "age_days" else distribution


def _value(field: str, value: Any) -> Html:
    if isinstance(value, float) and not isinstance(value, bool):
        shown = moment(value) if field.endswith(("_at", "_since")) else f"{value:.4g}"
        return element("span", shown)
    return stored("-" if value is None else shortened(str(value), _TEXT))


def drift_section(report: DreamReport, earlier: Sequence[DreamReport]) -> Section | None:
    """Return the section on drift; None if fewer than two cycles have drift figures.

    Args:
        report: of the last cycle.
        earlier: of earlier cycles, the newest first; may include ``report``.
    """
    found = drift_over([report, *(other for other in earlier if other.id != report.id)])
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
        {place: [getattr(cycle, field) for cycle in found.cycles] for _, field, place in _SHARES},
        is_share=True,
    )
    figures = [
        element("figure", element("figcaption", "live memories"), live),
        element("figure", _kinds_key([name for name, *_ in _SHARES]), shares),
    ]
    kinds = found.kinds()[: plots.COLOURS]
    if kinds:
        lives = {
            place: [cycle.half_life_days.get(kind) for cycle in found.cycles]
            for place, kind in enumerate(kinds)
        }
        drawn = plots.lines("half-lives", "half-life by kind, days", lives, is_share=False)
        caption = element("figcaption", "half-life in days, by kind")
        figures.append(element("figure", caption, _kinds_key(kinds), drawn))
    return element("div", *figures, class_="plots")


def _kinds_key(names: Sequence[str]) -> Html:
    return key(names, [f"--kind-{place % plots.COLOURS}" for place in range(len(names))])


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
        ImportError: matplotlib is not installed.
        TypeError: an argument has another type.
    """
    plots.require()
    _require_arguments(texts, impact, earlier)
    found = list(_sections(report, texts or {}, impact, earlier))
    title = _title(report)
    return document(
        title,
        element("header", element("h1", title), *_summary(report), _contents(found)),
        element("main", *map(_section, found)),
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


def _sections(
    report: DreamReport,
    texts: Mapping[str, str],
    impact: Impact | None,
    earlier: Sequence[DreamReport],
) -> Iterator[Section]:
    yield from of_report(report, texts)
    if impact is not None:
        yield of_impact(impact)
    drift = drift_section(report, earlier)
    if drift is not None:
        yield drift


def _title(report: DreamReport) -> str:
    if report.undoes is not None:
        return f"Dream {report.undoes} undone"
    return f"Dream {report.id}" + (", a dry run" if report.is_dry_run else "")


def _summary(report: DreamReport) -> Iterator[Html]:
    when = f"as of {moment(report.now)}, profile {report.profile}"
    yield element("p", when, class_="faint")
    if report.damage:
        yield element("p", f"The report is damaged: {report.damage}")
        return
    if report.undoes is not None:
        figures = {"fields restored": str(report.change_count), "by": report.id}
    else:
        verb = "would change" if report.is_dry_run else "changed"
        figures = {
            "memories": f"{report.live_before} → {report.live_after}",
            f"fields that {verb}": str(report.change_count),
            "removed": report.removals(),
            "left as they are": str(sum(group.memories for group in report.left_alone)),
        }
        if report.day_limit is not None:
            taken = report.taken_away + report.taken_before
            figures["removed within 24 hours"] = f"{taken} of at most {report.day_limit}"
    tiles = (
        element("div", element("dt", name), element("dd", value)) for name, value in figures.items()
    )
    yield element("dl", *tiles)


def _contents(found: Sequence[Section]) -> Html:
    if len(found) <= _FEW:
        return Html("")
    links = (element("a", section.title, href=f"#{section.anchor}") for section in found)
    return element("nav", *links, aria_label="contents")


def _section(section: Section) -> Html:
    return element("section", element("h2", section.title), section.body, id=section.anchor)
