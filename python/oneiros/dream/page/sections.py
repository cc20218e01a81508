"""The sections of the page: what a report says, as tables and plots."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from oneiros.display import moment
from oneiros.dream.impact import named_rules
from oneiros.dream.page import plots
from oneiros.dream.page.markup import Html, cells, element, stored
from oneiros.dream.rule_words import RULE_WORDS, held_words, rule_name
from oneiros.visible_text import shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from oneiros.dream.impact import Impact
    from oneiros.dream.report import DreamReport, FieldChange

__all__ = ["Section", "impact", "key", "of_report"]

_TEXT: Final = 200  # characters of a stored text in a cell
_MOST_QUESTIONS: Final = 200
_MOST_NAMED: Final = 1_000  # of what stays because it changed
_PLOTTED: Final = ("strength", "stability", "age_days", "kind")


class Section(NamedTuple):
    """One part of the page."""

    anchor: str
    title: str
    body: Html


def of_report(report: DreamReport, texts: Mapping[str, str]) -> Iterator[Section]:
    """Yield the sections that a report has something to say in.

    Args:
        report: which.
        texts: what memories say, by id, as far as it is known.
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
    """Return what the colours of a plot stand for.

    Args:
        names: texts of the store, or ours.
        variables: of the page's style, such as "--before".
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
        element("figure", element("figcaption", _name(one.name)), plots.before_and_after(one))
        for one in report.distributions
        if one.name in _PLOTTED and one.places
    ]
    rows = [
        (_name(one.name), stored(place), str(before), str(after))
        for one in report.distributions
        for place, before, after in zip(one.places, one.before, one.after, strict=True)
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
    names = [curve.kind for curve in report.decay]
    legend = key(names, [f"--kind-{place % plots.COLOURS}" for place in range(len(names))])
    rows = [
        (stored(curve.kind), f"{one.days:.1f}", f"{one.value:.4f}", str(one.memories))
        for curve in report.decay
        for one in curve.standing
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
    rows = [(one.phase, held_words(one.reason), str(one.memories)) for one in report.left_alone]
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
    """Return how many there are besides those that are named; nothing where there are none."""
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


def impact(found: Impact) -> Section:
    """Return what a cycle would change for saved questions."""
    counts = found.lost_by_rule().items()
    lost = ", ".join(f"{rule_name(rule)} {count}" for rule, count in counts) or "none"
    changed = [one for one in found.queries if one.shifts]
    count = len(found.queries)
    head = (
        f"{count} question{'' if count == 1 else 's'}: of the best {found.k} answers, {found.mean_overlap:.1%} "
        f"stay. Lost answers: {lost}. Questions with other answers or another order: "
        f"{len(changed)}. A rule is named where leaving it out undoes the change."
    )
    rows = []
    for one in islice(changed, _MOST_QUESTIONS):
        gone = {shift.id for shift in one.lost}
        rows.append(
            (
                stored(shortened(one.query, _TEXT)),
                f"{one.overlap:.0%}",
                named_rules(one.rules),
                _listed((shift.id, named_rules(shift.rules)) for shift in one.lost),
                _listed(
                    (
                        shift.id,
                        f"{shift.before or '-'} → {shift.after or '-'}, {named_rules(shift.rules)}",
                    )
                    for shift in one.shifts
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
