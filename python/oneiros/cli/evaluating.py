"""``oneiros evaluate``: how well each profile finds what people judged relevant."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oneiros.cli import documents, measured
from oneiros.cli.failures import CommandError
from oneiros.cli.profile_names import PROFILE_HELP, named_profile
from oneiros.cli.stores import JsonOption
from oneiros.cli.terminal import output, progress_bar

if TYPE_CHECKING:
    from oneiros.cli.measured import Ablations, Measured
    from oneiros.evaluation.tasks import Task
    from oneiros.ranking.profile import Profile

__all__ = ["evaluate"]


def evaluate(
    collections: Annotated[
        list[Path] | None,
        typer.Argument(help="Folders of judged collections, looked at after the demo's questions."),
    ] = None,
    profile: Annotated[
        list[str] | None,
        typer.Option(help=f"Only this; may be given again. bm25, dense, rrf, or: {PROFILE_HELP}"),
    ] = None,
    categories: Annotated[
        bool, typer.Option("--categories", help="One table a collection, by category of question.")
    ] = False,
    without: Annotated[
        bool, typer.Option("--without", help="Measure also without each part, one at a time.")
    ] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Rows of figures on stdout, as CSV.")] = False,
    json: JsonOption = False,
) -> None:
    """Measure each profile, and plain BM25, vectors and reciprocal ranks: nDCG@10 and recall (R).

    A collection is a folder with corpus.jsonl, queries.jsonl and qrels.tsv, and vectors of both as
    all-MiniLM-L6-v2.corpus.f16.npy and .queries.f16.npy; without them, words alone are searched.
    Every question is asked for 20 results; none strengthens a memory. --without measures oneiros
    where no profile is named.
    """
    from oneiros.evaluation import collection  # noqa: PLC0415
    from oneiros.evaluation.tasks import demo_task, task_of  # noqa: PLC0415

    if csv and json:
        msg = "--csv, --json: only one of them"
        raise CommandError(msg)
    if categories and without:
        msg = "--categories, --without: only one of them"
        raise CommandError(msg)
    chosen = _chosen(profile, without)
    tasks = [demo_task(), *(task_of(collection.read(folder)) for folder in collections or ())]
    names = [task.name for task in tasks]
    if len(set(names)) < len(names):
        msg = f"collections: each name once, got {', '.join(names)}"
        raise CommandError(msg)
    if without:
        ablations = _ablated(tasks, chosen)
        if json:
            documents.write(measured.ablation_document(ablations))
        elif csv:
            measured.write_csv(measured.ablation_rows(ablations))
        else:
            for table in measured.ablation_tables(ablations):
                output().print(table)
        return
    found = _measured(tasks, chosen)
    if json:
        documents.write(measured.document(tasks, found))
    elif csv:
        measured.write_csv(measured.rows(found))
    else:
        for table in measured.tables(tasks, found, by_category=categories):
            output().print(table)


def _chosen(names: list[str] | None, is_ablated: bool) -> list[Profile]:
    from oneiros import profiles  # noqa: PLC0415
    from oneiros.evaluation.baselines import BASELINES  # noqa: PLC0415

    if not names:
        names = ["oneiros"] if is_ablated else [*BASELINES, *profiles.names()]
    found = [BASELINES.get(name) or named_profile("--profile", name) for name in names]
    if len({one.name for one in found}) < len(found):
        msg = f"--profile: each once, got {', '.join(one.name for one in found)}"
        raise CommandError(msg)
    return found


def _measured(tasks: list[Task], chosen: list[Profile]) -> Measured:
    from oneiros.evaluation.tasks import measure  # noqa: PLC0415

    found: Measured = {one.name: {} for one in chosen}
    for task in tasks:
        with progress_bar(task.name, len(chosen) * len(task.questions)) as advance:
            for one in chosen:
                found[one.name][task.name] = measure(task, one, advance)
    return found


def _ablated(tasks: list[Task], chosen: list[Profile]) -> Ablations:
    from oneiros.evaluation.ablation import ablate, without_each_part  # noqa: PLC0415

    found: Ablations = {}
    for task in tasks:
        for one in chosen:
            runs = 1 + len(list(without_each_part(one)))
            with progress_bar(f"{task.name}, {one.name}", runs * len(task.questions)) as advance:
                found[task.name, one.name] = ablate(task, one, advance)
    return found
