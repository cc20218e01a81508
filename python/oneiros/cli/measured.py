"""What was measured, as tables for people, as rows, and as JSON values."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from oneiros.visible_text import one_line

if TYPE_CHECKING:
    from rich.table import Table

    from oneiros.evaluation.ablation import Ablation
    from oneiros.evaluation.run import Report, Scores
    from oneiros.evaluation.significance import Gain
    from oneiros.evaluation.tasks import Task

__all__ = [
    "Ablations",
    "Measured",
    "ablation_document",
    "ablation_rows",
    "ablation_tables",
    "document",
    "rows",
    "tables",
    "write_csv",
]

Measured = dict[str, dict[str, "Report"]]
"""Profile -> task -> what was measured."""

Ablations = dict[tuple[str, str], "Ablation"]
"""Task and profile -> what was measured."""

Row = dict[str, object]

ALL = "all"
"""Names the row over all questions."""


def tables(tasks: list[Task], found: Measured, *, by_category: bool) -> Iterator[Table]:
    """Yield one table of all collections, or one a collection with a row a category."""
    if by_category:
        for task in tasks:
            yield _by_category(task, {name: held[task.name] for name, held in found.items()})
        return
    table = _table("profile", "")
    for task in tasks:
        table.add_column(f"{one_line(task.name)}\nnDCG@10  R@5", justify="right", no_wrap=True)
    for profile, reports in found.items():
        scores = [reports[task.name].overall for task in tasks]
        table.add_row(profile, *(f"{one.ndcg:.3f}  {one.recall:.3f}" for one in scores))
    yield table


def rows(found: Measured) -> Iterator[Row]:
    """Yield one row a collection, profile and category."""
    for profile, reports in found.items():
        for task, report in reports.items():
            for category, scores in _groups(report):
                named = {"collection": task, "profile": profile, "category": category}
                yield named | {"count": scores.count} | _figures(report, scores)


def document(tasks: list[Task], found: Measured) -> dict[str, object]:
    """Return all of it as JSON values."""
    return {
        "tasks": {
            task.name: {"memories": len(task.records), "questions": len(task.questions)}
            for task in tasks
        },
        "measured": {
            profile: {task: report.to_document() for task, report in reports.items()}
            for profile, reports in found.items()
        },
    }


def ablation_tables(found: Ablations) -> Iterator[Table]:
    """Yield one table a collection and profile: what leaving each part out changes."""
    for (task, profile), ablation in found.items():
        table = _table("without", f"{one_line(task)}, {profile}")
        deepest = ablation.whole.recall_depths[-1]
        for head in ("nDCG@10", "change, 95 %", f"R@{deepest}", "change, 95 %", ""):
            table.add_column(head, justify="right" if head else "left", no_wrap=True)
        whole = ablation.whole.overall
        table.add_row("(nothing)", f"{whole.ndcg:.3f}", "", f"{whole.recalls[-1]:.3f}", "", "")
        for one in ablation.without:
            scores = one.report.overall
            table.add_row(
                one.part,
                f"{scores.ndcg:.3f}",
                str(one.ndcg),
                f"{scores.recalls[-1]:.3f}",
                str(one.recall),
                "costs" if one.ndcg.is_significant or one.recall.is_significant else "",
            )
        yield table


def ablation_rows(found: Ablations) -> Iterator[Row]:
    """Yield one row a part that was left out, and one for the whole, whose part is empty."""
    for (task, profile), ablation in found.items():
        named = {"collection": task, "profile": profile}
        whole = _figures(ablation.whole, ablation.whole.overall)
        bounds = _bounds("ndcg", None) | _bounds("recall", None)
        yield named | {"without": ""} | whole | bounds
        for one in ablation.without:
            figures = _figures(one.report, one.report.overall)
            bounds = _bounds("ndcg", one.ndcg) | _bounds("recall", one.recall)
            yield named | {"without": one.part} | figures | bounds


def ablation_document(found: Ablations) -> dict[str, object]:
    """Return what leaving each part out changes as JSON values."""
    return {"without": list(ablation_rows(found))}


def write_csv(lines: Iterator[Row]) -> None:
    """Write rows to stdout, the names of their columns first; names from files as visible text."""
    writer: csv.DictWriter[str] | None = None
    for line in lines:
        if writer is None:
            writer = csv.DictWriter(sys.stdout, list(line), lineterminator="\n")
            writer.writeheader()
        writer.writerow(
            {
                name: one_line(value) if isinstance(value, str) else value
                for name, value in line.items()
            }
        )


def _by_category(task: Task, reports: dict[str, Report]) -> Table:
    table = _table("profile", one_line(task.name))
    table.add_column("category")
    table.add_column("count", justify="right")
    first = next(iter(reports.values()))
    for head in ("nDCG@10", *(f"R@{depth}" for depth in first.recall_depths), "MRR"):
        table.add_column(head, justify="right", no_wrap=True)
    for profile, report in reports.items():
        for category, scores in _groups(report):
            figures = (scores.ndcg, *scores.recalls, scores.mrr)
            is_first = category == ALL
            table.add_row(
                profile if is_first else "",
                one_line(category),
                str(scores.count),
                *(f"{figure:.3f}" for figure in figures),
            )
        table.add_section()
    return table


def _groups(report: Report) -> Iterator[tuple[str, Scores]]:
    """Yield the figures over all questions, then those by category, where there are several."""
    yield ALL, report.overall
    if set(report.by_type) != {ALL}:
        yield from sorted(report.by_type.items())


def _figures(report: Report, scores: Scores) -> Row:
    depths = zip(report.recall_depths, scores.recalls, strict=True)
    recalls: Row = {f"recall_at_{depth}": recall for depth, recall in depths}
    return {f"ndcg_at_{report.ndcg_depth}": scores.ndcg} | recalls | {"mrr": scores.mrr}


def _bounds(figure: str, gain: Gain | None) -> Row:
    return {
        f"{figure}_change": None if gain is None else gain.mean,
        f"{figure}_low": None if gain is None else gain.low,
        f"{figure}_high": None if gain is None else gain.high,
    }


def _table(head: str, title: str) -> Table:
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, title=title, title_justify="left"
    )
    table.add_column(head)
    return table
