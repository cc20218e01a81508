"""``oneiros evaluate``: how well each profile finds what people judged relevant."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oneiros.cli import documents
from oneiros.cli.stores import JsonOption
from oneiros.cli.terminal import output, progress_bar
from oneiros.visible_text import one_line

if TYPE_CHECKING:
    from rich.table import Table

    from oneiros.evaluation.run import Report
    from oneiros.evaluation.tasks import Task

__all__ = ["evaluate"]

Measured = dict[str, dict[str, "Report"]]
"""Profile -> task -> what was measured."""


def evaluate(
    collections: Annotated[
        list[Path] | None,
        typer.Argument(help="Folders of judged collections, looked at after the demo's questions."),
    ] = None,
    profile: Annotated[
        list[str] | None, typer.Option(help="Only this; may be given again. Default: all.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Measure each profile: nDCG@10 and recall@5 (R@5).

    A collection is a folder with corpus.jsonl, queries.jsonl and qrels.tsv, and vectors of both as
    all-MiniLM-L6-v2.corpus.f16.npy and .queries.f16.npy; without them, words alone are searched.
    """
    from oneiros import profiles  # noqa: PLC0415
    from oneiros.evaluation import collection  # noqa: PLC0415
    from oneiros.evaluation.tasks import demo_task, measure, task_of  # noqa: PLC0415

    chosen = [profiles.get(name) for name in profile or profiles.names()]
    tasks = [demo_task(), *(task_of(collection.read(folder)) for folder in collections or ())]
    measured: Measured = {one.name: {} for one in chosen}
    for task in tasks:
        with progress_bar(task.name, len(chosen) * len(task.questions)) as advance:
            for one in chosen:
                measured[one.name][task.name] = measure(task, one, advance)
    if json:
        documents.write({"tasks": _sizes(tasks), "measured": _plain(measured)})
    else:
        output().print(_table(tasks, measured))


def _sizes(tasks: list[Task]) -> dict[str, object]:
    return {
        task.name: {"memories": len(task.records), "questions": len(task.questions)}
        for task in tasks
    }


def _plain(measured: Measured) -> dict[str, object]:
    return {
        profile: {task: report.to_document() for task, report in reports.items()}
        for profile, reports in measured.items()
    }


def _table(tasks: list[Task], measured: Measured) -> Table:
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("profile")
    for task in tasks:
        table.add_column(f"{one_line(task.name)}\nnDCG@10  R@5", justify="right", no_wrap=True)
    for profile, reports in measured.items():
        scores = [reports[task.name].overall for task in tasks]
        table.add_row(profile, *(f"{one.ndcg:.3f}  {one.recall:.3f}" for one in scores))
    return table
