"""``oneiros demo``: a store filled, questions answered, and the search measured, in seconds."""

from __future__ import annotations

import shlex
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from oneiros.cli import terminal
from oneiros.cli.failures import CommandError
from oneiros.cli.options import (
    PROFILE_HELP,
    JsonOption,
    PlainOption,
    named_profile,
    opened,
)
from oneiros.cli.search import rich_tree
from oneiros.cli.terminal import grid, output, progress_bar, seconds_of, show_plain, text
from oneiros.demo import ASKED_IN, load
from oneiros.display.escaping import snippet
from oneiros.display.tables import Branch, day
from oneiros.evaluation.tasks import BASELINES, demo_task, measure, system_names
from oneiros.filters import Where
from oneiros.scoring import profiles
from oneiros.search.records import response_record

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from oneiros.demo import DemoData, DemoQuestion
    from oneiros.engine import Engine
    from oneiros.engine.memories import Memories
    from oneiros.evaluation.run import Report
    from oneiros.scoring.profile import Profile
    from oneiros.search.response import SearchResponse

    Answers = list[tuple[DemoQuestion, SearchResponse]]

__all__ = ["demo"]

BATCH = 50  # memories a transaction; small, so that the bar moves
SHOWN = 3  # results of each question
WIDTH = 80  # columns of everything that is shown
ALL = "all"
ALL_SYSTEMS = f"oneiros demo --profile {ALL}"
DEFAULT = "oneiros"
EXAMPLES = ("m0006", "m0008", "m0012")
"""Memories shown as what was stored."""
WHY = "q005"
"""The question whose first result is explained."""
COMMON = 3  # kinds that are named
HEADS = {  # of the types of questions, one line a part
    "exact_term": "exact\nterm",
    "paraphrase": "para-\nphrase",
    "superseded": "super-\nseded",
    "preference": "prefer-\nence",
    "time_bound": "time\nbound",
    "multilingual": "multi-\nlingual",
    "multi_hop": "multi-\nhop",
}
LEGEND = """\
oneiros: the default. bm25: words alone; dense: vectors alone; rrf: both, fused.
R@5: recall, the share of the judged answers among the first 5 results.
The columns on the right: R@5 by type of question."""


def demo(
    profile: Annotated[
        list[str] | None,
        typer.Option(help=f"Measure this, too. {ALL}: every published one. {PROFILE_HELP}"),
    ] = None,
    keep: Annotated[
        Path | None, typer.Option(help="Keep the store in this new file, to go on with.")
    ] = None,
    plain: PlainOption = False,
    json: JsonOption = False,
) -> None:
    """Fill a store, ask questions, measure.

    A year of a software team's memories. Shows what was stored, what some questions find, how one
    score came about, and nDCG and recall of the default profile over 143 judged questions, next to
    words alone, vectors alone and both by their ranks. Needs no model and leaves nothing behind.
    """
    measured = _measured_profiles(profile or [])
    started = time.perf_counter()
    data = load()
    with _place(keep) as path, opened(path) as engine:
        _fill(engine, data)
        loaded = time.perf_counter()
        answers = [(question, _answer(engine, data, question)) for question in data.shown()]
        abstained = _abstained(engine, data)
        asked = time.perf_counter()
        reports = _reports(measured)
        ended = time.perf_counter()
        seconds = {"load": loaded - started, "search": asked - loaded, "measure": ended - asked}
        # Still inside: results read their memories from the store when they are first touched.
        if json:
            terminal.write("demo", keep, _document(data, answers, abstained, reports, seconds))
        elif plain:
            _show_plain_reports(reports)
        else:
            _show(data, answers, abstained, reports, seconds, keep)


@contextmanager
def _place(keep: Path | None) -> Iterator[Path]:
    if keep is None:
        with TemporaryDirectory(prefix="oneiros-demo-") as folder:
            yield Path(folder) / "demo.db"
        return
    if keep.exists():
        msg = f"--keep: {keep} exists; name a new file"
        raise CommandError(msg)
    yield keep


def _fill(engine: Engine, data: DemoData) -> None:
    records = data.records()
    with progress_bar("loading memories", len(records)) as advance:
        for first in range(0, len(records), BATCH):
            batch = records[first : first + BATCH]
            engine.add_many(batch)
            advance(len(batch))


def _answer(engine: Engine, data: DemoData, question: DemoQuestion) -> SearchResponse:
    """Ask a question, of its project if it has one."""
    project = ASKED_IN.get(question.id)
    return _found(engine if project is None else engine.scope(project=project), data, question)


def _found(memories: Memories, data: DemoData, question: DemoQuestion) -> SearchResponse:
    """Ask a question; the search leaves no trace in the memories."""
    return memories.search(
        question.text,
        SHOWN,
        where=None if question.where is None else Where.from_json(question.where),
        now=seconds_of("now", question.now),
        embedding=data.vector_of(question),
        reinforce=False,
        explain=question.id == WHY,
    )


def _abstained(engine: Engine, data: DemoData) -> tuple[int, int]:
    """Return on how many unanswerable questions the default abstains, and how many there are."""
    unanswerable = [question for question in data.questions if not question.answers]
    abstained = [_found(engine, data, question).abstained for question in unanswerable]
    return sum(abstained), len(abstained)


def _measured_profiles(written: list[str]) -> list[Profile]:
    """Return the default, what it is compared with, and what was named, each once."""
    names = [one for name in written for one in (system_names() if name == ALL else [name])]
    named = [BASELINES.get(name) or named_profile("--profile", name) for name in names]
    chosen = [profiles.get(DEFAULT), *BASELINES.values(), *named]
    return list({one.name: one for one in chosen}.values())


def _reports(chosen: list[Profile]) -> dict[str, Report]:
    task = demo_task()
    count = sum(1 for question in task.questions if question.answers)
    with progress_bar("measuring", len(chosen) * count) as advance:
        return {one.name: measure(task, one, advance) for one in chosen}


def _document(
    data: DemoData,
    answers: Answers,
    abstained: tuple[int, int],
    reports: dict[str, Report],
    seconds: dict[str, float],
) -> dict[str, object]:
    return {
        "memory_count": len(data.memories),
        "question_count": len(data.questions),
        "questions": [
            {
                "id": question.id,
                "type": question.type,
                "answers": question.answers,
                "project": ASKED_IN.get(question.id),
                "abstained": response.abstained,
                "reason": response.reason,
                "response": response_record(response),
            }
            for question, response in answers
        ],
        "unanswerable": {"count": abstained[1], "abstained": abstained[0]},
        "measured": {name: report.to_document() for name, report in reports.items()},
        "seconds": seconds,
    }


def _show(
    data: DemoData,
    answers: Answers,
    abstained: tuple[int, int],
    reports: dict[str, Report],
    seconds: dict[str, float],
    keep: Path | None,
) -> None:
    console = output()
    console.width = min(console.width, WIDTH)
    _show_memories(console, data)
    for question, response in answers:
        console.print()
        _show_answer(console, question, response)
        if question.id == WHY:
            _show_why(console, response)
    console.print(text("\n✓: judged an answer", style="dim"))
    console.print()
    console.print(_measured(reports))
    console.print(text(LEGEND, style="dim"))
    silent, unanswerable = abstained
    note = (
        f"{unanswerable} more questions have no answer: over all projects, "
        f"{DEFAULT} abstains on {silent}.\n"
        f"{ALL_SYSTEMS} also measures the published systems."
    )
    console.print(text(note, style="dim"))
    times = ", ".join(f"{name} {spent:.1f} s" for name, spent in seconds.items())
    console.print(text(f"times: {times}", style="dim"))
    console.print()
    console.print(text("What to type next", style="bold"))
    for command, why in _next(keep):
        console.print(text(f"  {command}"), soft_wrap=True)
        console.print(text(f"      {why}", style="dim"))


def _show_memories(console: Console, data: DemoData) -> None:
    kinds = Counter(record["kind"] for record in data.memories).most_common(COMMON)
    named = ", ".join(f"{kind} {count}" for kind, count in kinds)
    head = f"Stored: {len(data.memories)} memories of a software team"
    console.print(text(head, style="bold"), text(f"({named} ...)", style="dim"))
    by_id = {record["id"]: record for record in data.memories}
    table = _memory_lines()
    for record in (by_id[id] for id in EXAMPLES):
        table.add_row("", record["created_at"][:10], record["kind"], text(record["text"]))
    console.print(table)


def _show_answer(console: Console, question: DemoQuestion, response: SearchResponse) -> None:
    kind, project = question.type.replace("_", " "), ASKED_IN.get(question.id)
    asked = kind if project is None else f"{kind}, asked of the project {project}"
    console.print(text(question.text, style="bold cyan"), text(f"({asked})", style="dim"))
    if response.abstained:
        console.print(text("  nothing is returned:"))
        console.print(grid([("  ", response.reason)], padding=0))
        return
    table = _memory_lines()
    for result in response.results:
        memory = result.memory
        mark = "✓" if result.id in question.answers else ""
        occurred = memory.created_at if memory.event_at is None else memory.event_at
        shown = f"{memory.title}: {memory.text}" if memory.title else memory.text
        score, line = f"{result.score:.3f}", text(snippet(shown, WIDTH))
        table.add_row(mark, day(occurred), score, line)
    console.print(table)
    for note in response.trace.notes:
        console.print(grid([("  ", text(note, style="dim"))], padding=0))


def _show_why(console: Console, response: SearchResponse) -> None:
    """Print how the first score came about, without the parts that did not change it."""
    explanation = response.results[0].explanation
    assert explanation is not None
    root = _changing(explanation.tree())
    console.print(rich_tree(root, text(f"Why is the first one first? It has the {root.label}")))


def _changing(branch: Branch) -> Branch:
    """Return a tree of a score without branches that add nothing, and factors of one."""
    kept = [
        _changing(one)
        for one in branch.branches
        if not (
            one.label.endswith((" gives 0.0000", ": not found"))
            or one.label.startswith("× 1.0000 ")
        )
    ]
    return Branch(branch.label, kept)


def _memory_lines() -> Table:
    """Return a table of one line a memory: a mark, its day, a word or a figure, its text cut."""
    table = grid(padding=(0, 1, 0, 0), expand=True)
    table.add_column(width=1)
    table.add_column(no_wrap=True, style="dim")
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    return table


def _show_plain_reports(reports: dict[str, Report]) -> None:
    """Write nDCG@10 and recall@5 of each profile, over all and by type of question."""
    rows = (
        (name, type, scores.count, scores.ndcg, scores.recall)
        for name, report in reports.items()
        for type, scores in (("all", report.overall), *report.by_type.items())
    )
    show_plain(("profile", "questions", "count", "nDCG@10", "R@5"), rows)


def _measured(reports: dict[str, Report]) -> Table:
    """Return nDCG@10 and recall@5 of each profile, over all and by type of question."""
    first = next(iter(reports.values()))
    heads = (">nDCG\n@10", ">R@5\nall", *(f">{HEADS[type]}" for type in first.by_type))
    table = terminal.table(f"{first.overall.count} questions", *heads, padding=0)
    for name, report in reports.items():
        recalls = (report.overall.recall, *(one.recall for one in report.by_type.values()))
        figures = (f"{value:.3f}" for value in (report.overall.ndcg, *recalls))
        table.add_row(name, *figures, style="bold" if name == DEFAULT else "")
    return table


def _next(keep: Path | None) -> list[tuple[str, str]]:
    """Return commands, to be typed one after the other, and what each does."""
    store = "demo.db" if keep is None else shlex.quote(str(keep))
    kept = [] if keep else [("oneiros demo --keep demo.db", "the same, and the store stays")]
    return [
        *kept,
        (f"oneiros search ferry --store {store} --explain", "how each score came about"),
        (
            'oneiros add "Ada takes her coffee black" --embedder hashing',
            "a store of your own, oneiros.db; then: oneiros search cofee",
        ),
    ]
