"""``oneiros evaluate``: how well each profile finds what people judged relevant."""

from __future__ import annotations

import csv
import difflib
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from oneiros.cli import terminal
from oneiros.cli.failures import CommandError, blamed_on, require_each_once, require_only_one
from oneiros.cli.options import (
    PROFILE_HELP,
    JsonOption,
    PlainOption,
    embedder_of,
    existing,
    named_profile,
    opened,
    require_analyzer,
)
from oneiros.cli.terminal import output, progress_bar, require_writable, text
from oneiros.display.counts import count_of
from oneiros.display.escaping import one_line
from oneiros.dream.schedule import duration_seconds
from oneiros.evaluation import collection, tuning
from oneiros.evaluation.ablation import ablate, without_each_part
from oneiros.evaluation.forgetting import POLICIES, SHORTEST_DAYS, measure_forgetting
from oneiros.evaluation.tasks import BASELINES, demo_task, measure, system_names, task_of
from oneiros.evaluation.tuning import Parameter, value_at
from oneiros.evaluation.use import MODES, QUESTION_KINDS, Search, lives_of, measure_use
from oneiros.evaluation.worth import FITTED, fit_worth
from oneiros.model.validation import require_number
from oneiros.models.embedders import vectors_of
from oneiros.runtime.dataclasses import replace
from oneiros.runtime.files import foreign_file, new_file
from oneiros.scoring.phases.house import Budget
from oneiros.write.vectors import titled

if TYPE_CHECKING:
    from rich.table import Table

    from oneiros.evaluation.ablation import Ablation
    from oneiros.evaluation.forgetting import ForgettingFigures
    from oneiros.evaluation.metrics import Gain
    from oneiros.evaluation.run import Report, Scores
    from oneiros.evaluation.tasks import Task
    from oneiros.evaluation.tuning import Tuning
    from oneiros.evaluation.use import Life, QuestionKind, UseFigures
    from oneiros.models.embedders import Embedder
    from oneiros.scoring.profile import Profile

__all__ = [
    "evaluate",
    "tune",
]


Measured = dict[str, dict[str, "Report"]]
"""Profile -> task -> what was measured."""

Ablations = dict[tuple[str, str], "Ablation"]
"""Task and profile -> what was measured."""

Uses = dict[tuple[str, str], "dict[QuestionKind, UseFigures]"]
"""Collection and profile -> the effect of use."""

Losses = dict[tuple[str, str], "tuple[ForgettingFigures, ...]"]
"""Collection and profile -> what forgetting costs by each policy."""

Lives = dict[str, "tuple[Life, ...]"]
"""Collection -> the lives of its groups."""

Row = dict[str, object]

Found = TypeVar("Found")

ALL = "all"
"""Names the row over all questions."""

_UNNAMED = "(none)"
"""Names the row of the questions without a category, where others have one."""

LanguageOption = Annotated[
    str | None,
    typer.Option(
        "--analyzer",
        help="The collections' language in English (german, ...), or simple, code, cjk. "
        "Default: english.",
        show_default=False,
    ),
]


def _tables(tasks: list[Task], found: Measured, *, by_category: bool) -> Iterator[Table]:
    """Yield one table of all collections, or one a collection with a row a category."""
    if by_category:
        for task in tasks:
            yield _by_category(task, {name: held[task.name] for name, held in found.items()})
        return
    table = _table("profile", *(f">{one_line(task.name)}\nnDCG@10  R@5" for task in tasks))
    for profile, reports in found.items():
        scores = [reports[task.name].overall for task in tasks]
        table.add_row(profile, *(f"{one.ndcg:.3f}  {one.recall:.3f}" for one in scores))
    yield table


def _rows(found: Measured) -> Iterator[Row]:
    """Yield one row a collection, profile and category."""
    for profile, reports in found.items():
        for task, report in reports.items():
            for category, scores in _groups(report):
                named = {"collection": task, "profile": profile, "category": category}
                yield named | {"count": scores.count} | _figures(report, scores)


def _document(tasks: list[Task], found: Measured) -> dict[str, object]:
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


def _ablation_tables(found: Ablations) -> Iterator[Table]:
    """Yield one table a collection and profile: what leaving each part out changes."""
    for (task, profile), ablation in found.items():
        recall, change = f">R@{ablation.whole.recall_depths[-1]}", ">change, 95 %"
        heads = ("without", ">nDCG@10", change, recall, change, "")
        table = _table(*heads, title=f"{one_line(task)}, {profile}")
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


def _ablation_rows(found: Ablations) -> Iterator[Row]:
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


def _use_tables(found: Uses) -> Iterator[Table]:
    """Yield one table a collection: what use changes for new and for repeated questions."""
    modes = MODES[1:]
    heads = ("profile", "questions", ">count", "figure", f">{MODES[0]}")
    for collection_name, by_profile in _by_collection(found):
        changes = (f">{mode}, 95 %" for mode in modes)
        table = _table(*heads, *changes, title=one_line(collection_name))
        for profile, by_kind in by_profile.items():
            for kind, use in by_kind.items():
                ndcg = (f"{use.ndcg:.3f}", *(str(use.ndcg_gains[mode]) for mode in modes))
                recall = (f"{use.recall:.3f}", *(str(use.recall_gains[mode]) for mode in modes))
                shown = profile if kind == QUESTION_KINDS[0] else ""
                table.add_row(shown, kind, str(use.count), "nDCG@10", *ndcg)
                table.add_row("", "", "", "R@10", *recall)
            table.add_section()
        yield table


def _by_collection(found: dict[tuple[str, str], Found]) -> Iterator[tuple[str, dict[str, Found]]]:
    """Yield each collection with what was measured in it, by profile."""
    for collection_name in dict.fromkeys(name for name, _ in found):
        yield (
            collection_name,
            {profile: held for (name, profile), held in found.items() if name == collection_name},
        )


def _use_rows(found: Uses) -> Iterator[Row]:
    """Yield one row a collection, profile and kind of question."""
    for (name, profile), by_kind in found.items():
        for kind, use in by_kind.items():
            row: Row = {"collection": name, "profile": profile, "questions": kind}
            row |= {"count": use.count, "ndcg_at_10": use.ndcg, "recall_at_10": use.recall}
            for mode in MODES[1:]:
                row |= _bounds(f"{mode}_ndcg", use.ndcg_gains[mode])
                row |= _bounds(f"{mode}_recall", use.recall_gains[mode])
            yield row


def _forgetting_tables(found: Losses) -> Iterator[Table]:
    """Yield one table a collection: what each policy costs new questions."""
    heads = ("profile", "policy", ">kept", ">nDCG@10", ">change, 95 %", ">R@10", ">change, 95 %")
    for collection_name, by_profile in _by_collection(found):
        table = _table(*heads, title=one_line(collection_name))
        for profile, figures in by_profile.items():
            for place, one in enumerate(figures):
                table.add_row(
                    "" if place else profile,
                    one.policy,
                    f"{one.kept:.1%}",
                    f"{one.ndcg:.3f}",
                    str(one.ndcg_gain),
                    f"{one.recall:.3f}",
                    str(one.recall_gain),
                )
            table.add_section()
        yield table


def _forgetting_rows(found: Losses) -> Iterator[Row]:
    """Yield one row a collection, profile and policy."""
    for (name, profile), figures in found.items():
        for one in figures:
            row: Row = {"collection": name, "profile": profile, "policy": one.policy}
            row |= {"count": one.count, "kept": one.kept}
            row |= {"ndcg_at_10": one.ndcg, "recall_at_10": one.recall}
            yield row | _bounds("ndcg", one.ndcg_gain) | _bounds("recall", one.recall_gain)


def _write_csv(rows: list[Row]) -> None:
    """Write rows to stdout, the names of their columns first; names from files as visible text."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerows(rows[:1])  # a row is iterated by the names of its columns
    for row in rows:
        writer.writerow(
            [one_line(value) if isinstance(value, str) else value for value in row.values()]
        )


def _by_category(task: Task, reports: dict[str, Report]) -> Table:
    first = next(iter(reports.values()))
    heads = (">count", ">nDCG@10", *(f">R@{depth}" for depth in first.recall_depths), ">MRR")
    table = _table("profile", "category", *heads, title=one_line(task.name))
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
        for category, scores in sorted(report.by_type.items()):
            yield _UNNAMED if category == ALL else category, scores


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


def _table(*heads: str, title: str = "") -> Table:
    return terminal.table(*heads, folds=heads[:1], title=title, title_justify="left")


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
    with_use: Annotated[
        bool,
        typer.Option(
            "--with-use", help="Measure what use changes, as collections with dates are lived."
        ),
    ] = False,
    with_forgetting: Annotated[
        bool,
        typer.Option(
            "--with-forgetting",
            help="Measure what forgetting costs, as dated collections are lived.",
        ),
    ] = False,
    keep: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="Share of the memories kept by --with-forgetting; default 0.5."
        ),
    ] = None,
    every: Annotated[
        str | None,
        typer.Option(help="Time between two cycles of --with-forgetting, as 7d; default 7d."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, help="Of moments and bounds of --with-use and --with-forgetting; default 0."
        ),
    ] = None,
    embedder: Annotated[
        str | None,
        typer.Option(
            metavar="EMBEDDER",
            help="Vectors by this, as hashing or static:MODEL, in place of those of the files.",
            show_default=False,
        ),
    ] = None,
    analyzer: LanguageOption = None,
    csv: Annotated[bool, typer.Option("--csv", help="Rows of figures on stdout, as CSV.")] = False,
    plain: PlainOption = False,
    json: JsonOption = False,
) -> None:
    """Measure each profile, and plain BM25, vectors and reciprocal ranks: nDCG@10 and recall (R).

    A collection is a folder with corpus.jsonl, queries.jsonl and qrels.tsv, and vectors of both as
    all-MiniLM-L6-v2.corpus.f16.npy and .queries.f16.npy; without them, words alone are searched.
    Every question is asked for 20 results; none strengthens a memory. --without measures oneiros
    where no profile is named. --with-use asks half of the questions of each collection while its
    documents arrive, and prints what that changes for new and for repeated questions; the demo is
    left out. --with-forgetting lives the same, keeps a share of the memories, by their worth and by
    the rules of caches, and prints what new questions lose.
    """
    for name, is_given in {"--plain": plain, "--json": json}.items():
        require_only_one({"--csv": csv, name: is_given})
    options = {
        "--categories": categories,
        "--without": without,
        "--with-use": with_use,
        "--with-forgetting": with_forgetting,
    }
    for first, second in itertools.combinations(options, 2):
        require_only_one({first: options[first], second: options[second]})
    if seed is not None and not (with_use or with_forgetting):
        msg = f"--seed: only with --with-use or --with-forgetting, got {seed}"
        raise CommandError(msg)
    for name, given in {"--keep": keep, "--every": every}.items():
        if given is not None and not with_forgetting:
            msg = f"{name}: only with --with-forgetting, got {given}"
            raise CommandError(msg)
    for name, is_given in {"--with-use": with_use, "--with-forgetting": with_forgetting}.items():
        require_only_one({"--embedder": embedder, name: is_given})
    model = None if embedder is None else embedder_of(embedder)
    require_analyzer(analyzer)
    chosen = _chosen(profile, without or with_forgetting)
    own_seed, language = seed or 0, analyzer or "english"
    tasks: list[Task] = []
    if not (with_forgetting or with_use):
        tasks = [demo_task(), *_read_tasks(collections, language)]
        _require_distinct([task.name for task in tasks])
    if model is not None:
        tasks = [_embedded(task, model) for task in tasks]
    if with_forgetting:
        lives = _lives("--with-forgetting", collections, own_seed, language)
        share = 0.5 if keep is None else keep
        days = duration_seconds("--every", every or "7d", above_zero=True) / 86_400.0
        kept = _forgotten(lives, chosen, share, days, own_seed)
        rows, tables = list(_forgetting_rows(kept)), _forgetting_tables(kept)
        document = {"seed": own_seed, "keep": share, "every_days": days, "with_forgetting": rows}
    elif with_use:
        uses = _used(_lives("--with-use", collections, own_seed, language), chosen, own_seed)
        rows, tables = list(_use_rows(uses)), _use_tables(uses)
        document = {"seed": own_seed, "with_use": rows}
    elif without:
        ablations = _ablated(tasks, chosen)
        rows, tables = list(_ablation_rows(ablations)), _ablation_tables(ablations)
        document = {"without": rows}
    else:
        found = _measured(tasks, chosen)
        rows, tables = list(_rows(found)), _tables(tasks, found, by_category=categories)
        document = _document(tasks, found)
    if json:
        terminal.write("evaluate", None, document)
    elif csv:
        _write_csv(rows)
    elif plain:
        terminal.show_plain(rows[0] if rows else (), (row.values() for row in rows))
    else:
        for table in tables:
            terminal.show_table(table)


def _read_tasks(folders: list[Path] | None, analyzer: str) -> list[Task]:
    return [_read_task(folder, analyzer) for folder in folders or ()]


def _read_task(folder: Path, analyzer: str) -> Task:
    read = collection.read(folder)
    with blamed_on(read.name):
        task = task_of(read, analyzer)
    documents = {record["id"] for record in task.records}
    answers = (one.answers.items() for one in task.questions)
    wanted = [id for pairs in answers for id, grade in pairs if grade > 0]
    lacking = [id for id in wanted if id not in documents]
    if not wanted:
        msg = f"{read.name}: none of its questions has a relevant document"
        raise CommandError(msg)
    if len(lacking) == len(wanted):
        msg = f"{read.name}: the corpus has none of the relevant documents, such as {lacking[0]!r}"
        raise CommandError(msg)
    if lacking:
        count = count_of(len(lacking), "relevant document")
        sys.stderr.write(
            f"{one_line(read.name)}: the corpus lacks {count}, not found in any search, "
            f"such as {lacking[0]!r}\n"
        )
    return task


def _embedded(task: Task, embedder: Embedder) -> Task:
    """Return a task with an embedder's vectors in place of its own; a blank text has none."""
    texts = [titled(record.get("title") or "", record["text"]) for record in task.records]
    asked = [question.text for question in task.questions]
    wanted = list(dict.fromkeys(text for text in (*texts, *asked) if text.strip()))
    with blamed_on("--embedder"):
        vectors = dict(zip(wanted, vectors_of(embedder, wanted), strict=True))
    records = zip(task.records, texts, strict=True)
    return replace(
        task,
        records=[{**record, "embedding": vectors.get(text)} for record, text in records],
        questions=[replace(one, embedding=vectors.get(one.text)) for one in task.questions],
        embedder=embedder,
    )


def _require_distinct(names: list[str]) -> None:
    if len(set(names)) < len(names):
        msg = f"collections: each name once, got {', '.join(names)}"
        raise CommandError(msg)


def _chosen(names: list[str] | None, is_ablated: bool) -> list[Profile]:
    if not names:
        names = ["oneiros"] if is_ablated else [*BASELINES, *system_names()]
    found = [BASELINES.get(name) or named_profile("--profile", name) for name in names]
    require_each_once("--profile", [one.name for one in found])
    return found


def _measured(tasks: list[Task], chosen: list[Profile]) -> Measured:
    found: Measured = {one.name: {} for one in chosen}
    for task in tasks:
        with progress_bar(task.name, len(chosen) * len(task.questions)) as advance:
            for one in chosen:
                found[one.name][task.name] = measure(task, one, advance)
    return found


def _ablated(tasks: list[Task], chosen: list[Profile]) -> Ablations:
    found: Ablations = {}
    for task in tasks:
        for one in chosen:
            runs = 1 + len(list(without_each_part(one)))
            with progress_bar(f"{task.name}, {one.name}", runs * len(task.questions)) as advance:
                found[task.name, one.name] = ablate(task, one, advance)
    return found


def _forgotten(lives: Lives, chosen: list[Profile], share: float, days: float, seed: int) -> Losses:
    with blamed_on("--keep"):
        require_number("share", share, low=0.0, high=1.0, above_low=True)
    with blamed_on("--every"):
        require_number("every_days", days, low=SHORTEST_DAYS)
    found: Losses = {}
    for name, lived in lives.items():
        runs = len(chosen) * len(lived) * (1 + len(POLICIES))
        with progress_bar(name, runs) as advance:
            for one in chosen:
                found[name, one.name] = measure_forgetting(
                    lived, one, share=share, every_days=days, seed=seed, advance=advance
                )
    return found


def _lives(option: str, folders: list[Path] | None, seed: int, analyzer: str) -> Lives:
    if not folders:
        msg = f"{option}: needs the folder of at least one collection, got none"
        raise CommandError(msg)
    read = [collection.read(folder) for folder in folders]
    _require_distinct([one.name for one in read])
    with blamed_on(option):
        return {one.name: lives_of(one, seed, analyzer) for one in read}


def _used(lives: Lives, chosen: list[Profile], seed: int) -> Uses:
    found: Uses = {}
    for name, lived in lives.items():
        with progress_bar(name, len(chosen) * _measured_count(lived)) as advance:
            for one in chosen:
                found[name, one.name] = measure_use(lived, one, seed=seed, advance=advance)
    return found


def _measured_count(lives: tuple[Life, ...]) -> int:
    """Return the number of measured searches of all modes under one profile."""
    searches = (event for life in lives for event in life.events if isinstance(event, Search))
    return len(MODES) * sum(search.measured_as is not None for search in searches)


def tune(
    collections: Annotated[
        list[Path] | None,
        typer.Argument(help="Folders of judged collections; without any, the demo's questions."),
    ] = None,
    profile: Annotated[str, typer.Option(help=f"Begin with this. {PROFILE_HELP}")] = "oneiros",
    over: Annotated[
        list[str] | None,
        typer.Option(
            help="A number and the values to try, as fusion.weight=0.3,0.4,0.5; may be given again."
            " Default: the usual ones that the profile has."
        ),
    ] = None,
    grid: Annotated[
        bool, typer.Option("--grid", help="Try every combination, not one number after the other.")
    ] = False,
    forgetting: Annotated[
        Path | None,
        typer.Option(
            help="Fit what memories are worth keeping to the recorded use of this store, instead."
        ),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(min=2, max=20, help="Parts of the questions, 2; with --forgetting, 5."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the parts, and of the bounds.")] = 0,
    analyzer: LanguageOption = None,
    write: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the better profile as TOML, if there is one."),
    ] = None,
    plain: PlainOption = False,
    json: JsonOption = False,
) -> None:
    """Find better numbers on some of the judged questions, and measure them on the others.

    The result is printed as changes to the profile's TOML, and only if the gain in nDCG@10 is
    beyond chance. A collection is a folder as for oneiros evaluate; k1, b and
    half_length hold for a store that is made with the profile. With --forgetting, the weights of the
    profile's budget are fitted to what got helpful feedback or was found in several sessions.
    """
    if write is not None:
        _require_output(write, forgetting, collections)
    require_analyzer(analyzer)
    chosen = named_profile("--profile", profile)
    if forgetting is not None:
        require_only_one({"--forgetting": forgetting, "--over": over})
        require_only_one({"--forgetting": forgetting, "--grid": grid})
        require_only_one({"--forgetting": forgetting, "collections": collections or None})
        require_only_one({"--forgetting": forgetting, "--analyzer": analyzer})
        store = existing(forgetting)
        _tune_worth(store, chosen, folds or 5, seed, write, plain=plain, json=json)
        return
    parameters = tuning.fitting(chosen) if over is None else [_parameter(one) for one in over]
    method: tuning.Method = "grid" if grid else "ascent"
    require_each_once("--over", [one.path for one in parameters])
    with blamed_on("--over"):
        tuning.require_tunable(chosen, parameters, method)
    require_each_once("collections", [folder.resolve() for folder in collections or ()])
    tasks = _read_tasks(collections, analyzer or "english") or [demo_task()]
    with progress_bar("profiles measured", None) as advance:
        found = tuning.tune(
            tasks,
            chosen,
            parameters,
            method=method,
            folds=folds or 2,
            seed=seed,
            advance=advance,
        )
    if write is not None and found.is_better:
        with new_file(write) as file:
            file.write(found.tuned.to_toml().encode())
    if json:
        terminal.write("tune", None, _tuning_document(found))
        return
    if plain:
        terminal.show_plain_figures(_tuning_document(found))
        return
    console = output()
    console.print(_changes_table(found))
    for line in _conclusions(found, write):
        console.print(text(line))


def _tune_worth(
    store: Path,
    profile: Profile,
    folds: int,
    seed: int,
    write: Path | None,
    *,
    plain: bool,
    json: bool,
) -> None:
    """Fit the weights of a profile's budget to the use of a store, and show them."""
    budget = next((phase for phase in profile.phases if isinstance(phase, Budget)), None)
    if budget is None:
        msg = f"--profile: must have the phase budget to be fitted, got {profile.name}"
        raise CommandError(msg)
    with opened(store) as engine, blamed_on("--forgetting"):
        found = fit_worth(engine, budget, folds=folds, seed=seed)
    phases = tuple(found.fitted if one == found.before else one for one in profile.phases)
    tuned = profile.replace(phases=phases)
    if write is not None and found.is_better:
        with new_file(write) as file:
            file.write(tuned.to_toml().encode())
    if json or plain:
        document = {
            "profile": profile.name,
            "is_better": found.is_better,
            "wanted": found.wanted,
            "others": found.others,
            "auc_before": found.auc_before,
            "auc": found.auc,
            **_bounds("auc", found.gain),
            "before": {name: getattr(found.before, name) for name in FITTED},
            "fitted": {name: getattr(found.fitted, name) for name in FITTED},
        }
        if json:
            terminal.write("tune", store, document)
        else:
            terminal.show_plain_figures(document)
        return
    table = _table("weight", ">now", ">fitted")
    for name in FITTED:
        table.add_row(name, *(f"{getattr(one, name):g}" for one in (found.before, found.fitted)))
    output().print(table)
    typer.echo(
        f"wanted: {count_of(found.wanted, 'memory')}, not: {found.others}; pairs of both in the right order, "
        f"on memories not fitted to: {found.auc_before:.3f} now, {found.auc:.3f} fitted, "
        f"{found.gain} (95 %)"
    )
    if not found.is_better:
        typer.echo("nothing is better beyond chance: the profile stays as it is")
    elif write is not None:
        typer.echo(f"written: {write}")


def _require_output(path: Path, store: Path | None, folders: list[Path] | None) -> None:
    """Refuse a file that cannot be written, or that is read, before minutes of measuring."""
    require_writable("--output", path, {})
    if store is not None:
        foreign_file("--output", str(path), str(store))
    for folder in folders or ():
        for name in collection.FILES:
            require_writable("--output", path, {"collections": folder / name})


def _parameter(written: str) -> Parameter:
    path, _, values = written.partition("=")
    try:
        return Parameter(path.strip(), tuple(float(value) for value in values.split(",")))
    except (TypeError, ValueError) as error:
        msg = f"--over: expected PATH=NUMBER,NUMBER..., got {written!r}"
        raise CommandError(msg) from error


def _changes_table(found: Tuning) -> Table:
    folds = (f">fold {n}" for n in range(1, len(found.folds) + 1))
    table = terminal.table("number", ">now", *folds, ">all", folds=("number",))
    profiles = (found.profile, *(fold.profile for fold in found.folds), found.found)
    for one in found.parameters:
        values = (value_at(profile, one.path) for profile in profiles)
        table.add_row(one.path, *(f"{value:g}" for value in values))
    table.add_section()
    for name in ("before", "after"):
        figures = (f"{getattr(fold, name):.4f}" for fold in found.folds)
        table.add_row(f"nDCG@10 {name}, where not tuned", "", *figures, "")
    return table


def _conclusions(found: Tuning, write: Path | None) -> list[str]:
    """Return what came of it, in lines."""
    measured = f"{found.trial_count} profiles measured; on questions not tuned on, nDCG@10 gains"
    lines = [f"{measured} {found.gain} (95 %)"]
    if not found.is_better:
        return [*lines, "nothing is better beyond chance: the profile stays as it is"]
    lines += _difference(found)
    return lines if write is None else [*lines, f"written: {write}"]


def _difference(found: Tuning) -> list[str]:
    """Return the changes to the profile's TOML."""
    before, after = (one.to_toml().splitlines() for one in (found.profile, found.tuned))
    name = found.profile.name
    return list(difflib.unified_diff(before, after, name, f"{name}, tuned", lineterm="", n=2))


def _tuning_document(found: Tuning) -> dict[str, object]:
    gain = found.gain
    return {
        "profile": found.profile.name,
        "is_better": found.is_better,
        "gain": {"mean": gain.mean, "low": gain.low, "high": gain.high},
        "confidence": gain.confidence,
        "changes": [
            {"path": one.path, "before": one.before, "after": one.after} for one in found.changes
        ],
        "folds": [
            {"questions": fold.question_count, "before": fold.before, "after": fold.after}
            for fold in found.folds
        ],
        "profiles_measured": found.trial_count,
        "tuned": found.tuned.to_toml(),
    }
