"""Figures as tables: for the eye, and for bench/README.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from oneiros.benchmark.rivals import TASKS

__all__ = ["markdown", "show"]

Row = Mapping[str, Any]
OURS = "oneiros"


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table: a title, headings, and cells as text."""

    title: str
    headings: tuple[str, ...]
    cells: Sequence[tuple[str, ...]]


def show(result: Mapping[str, Any], console: Console) -> None:
    """Print every table of a result."""
    for line in _conditions(result):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    for sheet in _sheets(result):
        table = Table(title=sheet.title, title_justify="left")
        for place, heading in enumerate(sheet.headings):
            table.add_column(heading, justify="right" if place else "left")
        for cells in sheet.cells:
            table.add_row(*cells)
        console.print(table)
    for line in _missing(result):
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def markdown(result: Mapping[str, Any]) -> str:
    """Return every table of a result as Markdown."""
    parts = ["\n".join(f"- {line}" for line in _conditions(result))]
    for sheet in _sheets(result):
        rows = [
            sheet.headings,
            ("---", *("--:" for _ in sheet.headings[1:])),
            *sheet.cells,
        ]
        table = "\n".join(f"| {' | '.join(cells)} |" for cells in rows)
        parts.append(f"{sheet.title}\n\n{table}")
    missing = "\n".join(f"- {line}" for line in _missing(result))
    return "\n\n".join([*parts, *([missing] if missing else [])]) + "\n"


def _conditions(result: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"{name}: {value}" for name, value in result["conditions"].items())
    for name, figures in result["corpora"].items():
        yield (
            f"{name}: {figures['texts']:,} texts of {figures['words_a_text']:.1f} words, "
            f"{figures['postings']:,} postings; a query's words have "
            f"{figures['postings_a_query_p50']:,.0f} (p50) and "
            f"{figures['postings_a_query_p99']:,.0f} (p99)"
        )


def _missing(result: Mapping[str, Any]) -> Iterator[str]:
    for suite, reasons in result["missing"].items():
        yield from (f"left out of {suite}: {name}: {why}" for name, why in reasons.items())


def _sheets(result: Mapping[str, Any]) -> Iterator[Sheet]:
    for name, rows in result["searches"].items():
        if rows:
            yield _searches(name, rows)
            yield from _ratios(name, rows)
    if result["changes"]:
        yield _changes(result["changes"])
    if result["tail"]:
        yield _tail(result["tail"])
    if result["filters"]:
        yield _filters(result["filters"])
    if result["store"]:
        yield _store(result["store"])
    if result["memories"]:
        yield from _memories(result["memories"])


def _searches(name: str, rows: Sequence[Row]) -> Sheet:
    """Lay out what `measure.searches` measured."""
    headings = (
        "engine",
        "top 10, us, p50 / p99",
        "top 100, us, p50 / p99",
        "queries/s, 1 / 2 threads",
        "texts/s built",
        "index, MB",
        "resident, MB",
        "agreement",
        "queries",
        "cores of others",
    )
    cells = [
        (
            row["engine"],
            _pair(row, "top10"),
            _pair(row, "top100"),
            f"{row['rate_1_thread']:,.0f} / {row['rate_2_threads']:,.0f}",
            f"{row['build_rate']:,.0f}{'*' if row['build_is_kept'] else ''}",
            f"{row['index_bytes'] / 1e6:,.1f}",
            f"{row['resident_bytes'] / 1e6:,.1f}",
            "-" if row["agreement"] is None else f"{row['agreement']:.3f}",
            f"{row['queries']:,}",
            f"{row['other_cores']:.1f}",
        )
        for row in rows
    ]
    note = " (* built by an earlier run)" if any(row["build_is_kept"] for row in rows) else ""
    return Sheet(f"{name}: searches{note}", headings, cells)


def _ratios(name: str, rows: Sequence[Row]) -> Iterator[Sheet]:
    """Divide our figures by each rival's."""
    ours = next((row for row in rows if row["engine"] == OURS), None)
    if ours is None or len(rows) == 1:
        return
    figures = {
        "top 10 p50": "top10_p50",
        "top 10 p99": "top10_p99",
        "top 100 p50": "top100_p50",
        "top 100 p99": "top100_p99",
        "queries/s, 1 thread": "rate_1_thread",
        "queries/s, 2 threads": "rate_2_threads",
        "texts/s built": "build_rate",
        "resident": "resident_bytes",
    }
    cells = [
        (row["engine"], *(_ratio(ours[key], row[key]) for key in figures.values()))
        for row in rows
        if row is not ours
    ]
    own = (
        ours["top100_p50"] / ours["top10_p50"],
        ours["rate_2_threads"] / ours["rate_1_thread"],
    )
    title = (
        f"{name}: {OURS} divided by the rival; its own top 100 takes {own[0]:.2f} times its top 10 "
        f"(p50), 2 threads answer {own[1]:.2f} times as many queries"
    )
    yield Sheet(title, ("rival", *figures), cells)


def _changes(rows: Sequence[Row]) -> Sheet:
    cells = [
        (
            row["corpus"],
            row["engine"],
            _pair(row, "add"),
            _pair(row, "delete"),
            f"{row['changes']:,}",
        )
        for row in rows
    ]
    headings = ("corpus", "engine", "add and find, us, p50 / p99", "delete", "changes")
    return Sheet("one text", headings, cells)


def _tail(rows: Sequence[Row]) -> Sheet:
    cells = [
        (row["corpus"], row["form"], _pair(row, "top10"), f"{row['segments']:,}") for row in rows
    ]
    return Sheet("unsealed tail", ("corpus", "form", "top 10, us, p50 / p99", "segments"), cells)


def _filters(rows: Sequence[Row]) -> Sheet:
    cells = [
        (
            row["corpus"],
            f"1/{1 / row['share']:,.0f}",
            _pair(row, "top10"),
            *([_pair(row, "new"), _pair(row, "written")] if "new_p50" in row else ["-", "-"]),
            f"{row['where_p50']:,.0f}" if "where_p50" in row else "-",
        )
        for row in rows
    ]
    headings = (
        "corpus",
        "allowed",
        "top 10 by rows, us, p50 / p99",
        "rows new each time",
        "rows just added to",
        "where= of ids, us, p50",
    )
    return Sheet("filters", headings, cells)


def _store(rows: Sequence[Row]) -> Sheet:
    cells = [
        (
            row["durability"],
            _pair(row, "add"),
            _pair(row, "commit"),
            _ratio(row["add_p50"], row["commit_p50"]),
            f"{row['import_rate']:,.0f}",
            f"{row['index_rate']:,.0f}",
            _ratio(row["import_rate"], row["index_rate"]),
        )
        for row in rows
    ]
    headings = (
        "durability",
        "add, us, p50 / p99",
        "bare commit, us, p50 / p99",
        "ratio, p50",
        "imported/s",
        "index alone/s",
        "ratio",
    )
    return Sheet("through the store", headings, cells)


def _memories(document: Mapping[str, Any]) -> Iterator[Sheet]:
    """Lay out what `oneiros bench` measures too."""
    headings = ("engine", "p50, ms", "p99, ms", "ratio", "share of the exact answer", "s built")
    for task, title in TASKS.items():
        cells = [
            (
                row["name"],
                f"{row['p50_ms']:.3f}",
                f"{row['p99_ms']:.3f}",
                "-" if row["ratio"] is None else f"{row['ratio']:.2f}",
                "-" if row["share_found"] is None else f"{row['share_found']:.2f}",
                f"{row['build_seconds']:.1f}",
            )
            for row in document["tasks"][task]
        ]
        if cells:
            yield Sheet(f"{document['size']:,} memories, {title}", headings, cells)


def _pair(row: Row, name: str) -> str:
    return f"{_number(row[f'{name}_p50'])} / {_number(row[f'{name}_p99'])}"


def _number(value: float) -> str:
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def _ratio(ours: float, theirs: float) -> str:
    return f"{ours / theirs:.3g}x" if theirs > 0 else "-"
