"""Reports of dream cycles as tables, and ``oneiros drift``."""

from __future__ import annotations

import json as encoding
from math import isnan
from typing import TYPE_CHECKING, Annotated, Final

import typer

from oneiros.cli import terminal
from oneiros.cli.options import (
    DEFAULT_STORE,
    JsonOption,
    PlainOption,
    StoreOption,
    existing,
    opened,
)
from oneiros.cli.terminal import moment, output, show_plain, show_table, table, text
from oneiros.display.counts import count_of
from oneiros.display.escaping import snippet
from oneiros.display.tables import moment as to_the_second
from oneiros.dream.report import RULE_WORDS, held_words
from oneiros.model.fields import FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rich.table import Table

    from oneiros.dream.drift import CycleDrift, Drift
    from oneiros.dream.report import DreamReport, FieldChange

__all__ = [
    "CYCLE_HEADS",
    "MOST_NAMED",
    "change_lines",
    "cycle_row",
    "drift",
    "report_document",
    "show_removals",
    "show_report",
    "show_reports",
]


MOST_NAMED: Final = 50
"""Rows of a table for a terminal; --json has all that the report names."""

_VALUE: Final = 60  # characters of a field's value
_LEAST: Final = 80  # columns of a terminal for a table
_LEAST_OF_IDS: Final = 95  # that cuts no id, which people take over into --undo


def show_report(report: DreamReport, texts: Mapping[str, str] | None = None) -> None:
    """Write what a cycle removed, did by phase, left as it is, and changed otherwise.

    ``texts`` are those of the removed memories; None: they were shown before.
    """
    console = output()
    console.print(text(_headline(report)))
    if removed := report.removal_words():
        console.print(text(removed))
    if texts is not None:
        show_removals(report, texts)
    others = [change for change in report.named if not change.removal]
    tables = (
        ("", _phases(report)),
        ("left as they are", _left_alone(report)),
        ("other changes", _changes(others)),
        ("not restored, because changed again", _changes(report.not_restored)),
    )
    for title, shown in tables:
        if shown.row_count:
            console.print()
            if title:
                console.print(text(title, style="bold"))
            show_table(shown, _LEAST)
    hidden = report.change_count - min(len(others), MOST_NAMED) - sum(report.removed.values())
    if report.named and hidden > 0:
        console.print(text(f"... and {count_of(hidden, 'more change')}", style="dim"))
    if (hidden := len(report.not_restored) - MOST_NAMED) > 0:
        console.print(text(f"... and {hidden} more that are not restored", style="dim"))
    if report.is_undoable and report.change_count:
        console.print(text(f"\noneiros dream --undo {report.id} takes it back", style="dim"))
    if report.changed_since:
        ids = ", ".join(snippet(id, _VALUE) for id in report.changed_since[:MOST_NAMED])
        count = len(report.changed_since)
        console.print(
            text(f"\nleft as they are, because they changed after the plan ({count}): {ids}")
        )


def show_removals(report: DreamReport, texts: Mapping[str, str]) -> None:
    """Write which memories a cycle removes, with the first words and the reason of each.

    ``texts`` are by id, of the first :data:`MOST_NAMED`.
    """
    removals = [change for change in report.named if change.removal]
    if not removals:
        return
    console = output()
    verb = "would be removed" if report.is_dry_run else "removed"
    console.print()
    console.print(text(f"{verb}: {report.removals()}", style="bold"))
    rows = (
        (
            snippet(change.id, _VALUE),
            snippet(texts.get(change.id, ""), _VALUE),
            change.removal or "",
            snippet(_because(change), 4 * _VALUE),
        )
        for change in removals[:MOST_NAMED]
    )
    show_table(_folded("memory", "text", "how", "because", rows=rows), _LEAST)
    if (hidden := sum(report.removed.values()) - MOST_NAMED) > 0:
        console.print(text(f"... and {hidden} more", style="dim"))


def _because(change: FieldChange) -> str:
    """Why a memory is removed; of a report of before reasons were kept, all that it may be."""
    return change.because or RULE_WORDS.get(change.rule, change.rule)


CYCLE_HEADS: Final = ("cycle", "when", "by", "changes", "before", "after", "undo")


def show_reports(reports: Sequence[DreamReport]) -> None:
    """Write one row a cycle, in the order given."""
    if not reports:
        output().print(text("no dream cycle ran on this store"))
        return
    heads = (f">{head}" if head in ("changes", "before", "after") else head for head in CYCLE_HEADS)
    show_table(_folded(*heads, rows=map(cycle_row, reports)), _LEAST_OF_IDS)


def cycle_row(report: DreamReport) -> tuple[str, ...]:
    """Return the cells of a cycle under :data:`CYCLE_HEADS`."""
    when = "" if isnan(report.now) else to_the_second(report.now)
    return report.id, when, _made_by(report), *_counts(report), _undo_words(report)


def _undo_words(report: DreamReport) -> str:
    """Return whether a cycle can be undone, or was; "" for an undo."""
    if report.is_undoable:
        return "yes"
    if report.undone_by:
        return "done"
    return "" if report.undoes else "no"


def _made_by(report: DreamReport) -> str:
    if report.damage:
        return f"damaged: {report.damage}"
    return f"undoes {report.undoes}" if report.undoes else report.profile


def _counts(report: DreamReport) -> tuple[str, str, str]:
    """The counts of changes and of memories before and after; of a damaged report only the damage."""
    if report.damage:
        return "", "", ""
    if report.undoes:
        return str(report.change_count), "", ""
    return str(report.change_count), str(report.live_before), str(report.live_after)


def change_lines(report: DreamReport) -> tuple[tuple[str, ...], Iterator[tuple[object, ...]]]:
    """Return heads and rows of the changes that a report names, for other programs."""
    heads = ("memory", "field", "before", "after", "removal", "phase", "rule", "because")
    rows = (
        (
            change.id,
            change.field,
            _plain_value(change.field, change.before),
            _plain_value(change.field, change.after),
            change.removal,
            change.phase,
            change.rule,
            change.because,
        )
        for change in (*report.named, *report.not_restored)
    )
    return heads, rows


def _plain_value(field: str, value: object) -> object:
    dated = _dated_value(field, value)
    is_text = dated is None or isinstance(dated, str)
    return dated if is_text else encoding.dumps(terminal.plain(dated))


def report_document(report: DreamReport) -> dict[str, object]:
    """Return a report as JSON values, the times of changed fields in ISO 8601."""
    record = report.record()
    for name in ("named", "not_restored"):
        record[name] = [
            change
            | {end: _dated_value(change["field"], change[end]) for end in ("before", "after")}
            for change in record[name]
        ]
    return record


def _dated_value(field: str, value: object) -> object:
    is_time = field in FIELDS and FIELDS[field].kind == "time"
    return moment(value) if is_time and isinstance(value, float) else value


def _headline(report: DreamReport) -> str:
    if report.undoes is not None:
        return str(report)
    verb = "would change" if report.is_dry_run else "changed"
    return (
        f"dream {report.id} ({report.profile}) as of {moment(report.now)}: {verb} "
        f"{report.figures()}"
    )


def _phases(report: DreamReport) -> Table:
    rows = []
    for phase in report.phases:
        memories = phase.memory_counts()
        name, seconds = phase.name, f"{phase.seconds:.3f}"
        if not phase.changes:
            rows.append((name, "", "0", "", seconds))
        for rule, fields in phase.changes.items():
            counts = ", ".join(f"{field} {count}" for field, count in fields.items())
            rows.append((name, RULE_WORDS.get(rule, rule), str(memories[rule]), counts, seconds))
            name = seconds = ""
    return _folded("phase", "what it does", ">memories", "fields", ">seconds", rows=rows)


def _left_alone(report: DreamReport) -> Table:
    rows = ((each.phase, held_words(each.reason), str(each.memories)) for each in report.left_alone)
    return _folded("phase", "because", ">memories", rows=rows)


def _changes(changes: Sequence[FieldChange]) -> Table:
    rows = (
        (
            change.id,
            change.field,
            _value(change.field, change.before),
            _value(change.field, change.after),
            change.phase,
        )
        for change in changes[:MOST_NAMED]
    )
    return _folded("memory", "field", "before", "after", "phase", rows=rows)


def _value(field: str, value: object) -> str:
    dated = _dated_value(field, value)
    if isinstance(dated, float):
        return f"{dated:.4g}"
    return "-" if dated is None else snippet(str(dated), _VALUE)


def _folded(*heads: str, rows: Iterable[Iterable[str]]) -> Table:
    return table(*heads, rows=rows, folds=[head.removeprefix(">") for head in heads])


_KINDS: Final = 4  # half-lives on a terminal; --json has all
_KIND: Final = 24  # characters of a kind
_LEAST_DRIFT_WIDTH: Final = 100  # columns of a terminal for a table


def drift(
    store: StoreOption = DEFAULT_STORE,
    limit: Annotated[
        int,
        typer.Option(
            "-n", "--limit", min=1, max=10_000, help="Of the last so many cycles and undoings."
        ),
    ] = 20,
    plain: PlainOption = False,
    json: JsonOption = False,
) -> None:
    """Show how the store drifts: a line for each of the last dream cycles, the oldest first.

    Live memories; the share that is as stale as what is pruned; how concentrated accesses are (Gini,
    0 to 1); how much the 50 recalled most changed since the cycle before; the age at which half of a
    kind is gone, in days.
    """
    with opened(existing(store)) as engine:
        found = engine.drift(limit)
        has_dreamt = bool(found.cycles or engine.dreams(1))
    if json:
        terminal.write("drift", store, found.record() | {"count": len(found.cycles)})
    elif plain:
        show_plain(_DRIFT_HEADS, map(_drift_row, found.cycles))
    elif found.cycles:
        _show(found)
    else:
        typer.echo(
            f"no figures in the last {limit} reports, which are of undoings or damaged: see --limit"
            if has_dreamt
            else "no dream cycle ran on this store"
        )


_DRIFT_HEADS: Final = ("cycle", "when", "by", "live", "stale", "Gini", "churn", "half-life, days")


def _show(found: Drift) -> None:
    names = ("cycle", "when", "by", "half-life, days")
    heads = (head if head in names else f">{head}" for head in _DRIFT_HEADS)
    # The others are whole: people take ids over into "dream --undo".
    shown = table(*heads, rows=map(_drift_row, found.cycles), folds=("by", "half-life, days"))
    show_table(shown, _LEAST_DRIFT_WIDTH)


def _drift_row(cycle: CycleDrift) -> tuple[str, ...]:
    """Return the cells of a cycle under :data:`_DRIFT_HEADS`."""
    return (
        cycle.id,
        to_the_second(cycle.now),
        cycle.profile + (", undone" if cycle.is_undone else ""),
        str(cycle.live),
        f"{cycle.stale_share:.1%}",
        f"{cycle.access_gini:.3f}",
        "-" if cycle.churn is None else f"{cycle.churn:.1%}",
        _lives(cycle),
    )


def _lives(cycle: CycleDrift) -> str:
    known = [(kind, days) for kind, days in cycle.half_life_days.items() if days is not None]
    half_lives = ", ".join(f"{snippet(kind, _KIND)} {days:.4g}" for kind, days in known[:_KINDS])
    return half_lives + (", ..." if len(known) > _KINDS else "") or "-"
