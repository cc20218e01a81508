"""``oneiros demo``: a store filled, questions asked, and the search measured, in seconds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from oneiros.cli import documents
from oneiros.cli.failures import CommandError
from oneiros.cli.moments import seconds_of
from oneiros.cli.stores import JsonOption, opened
from oneiros.cli.terminal import progress_bar

if TYPE_CHECKING:
    from rich.table import Table

    from oneiros.demo import DemoData, Question
    from oneiros.engine import Engine
    from oneiros.evaluation.run import Report, Scores
    from oneiros.response import SearchResponse

__all__ = ["demo"]

BATCH = 50  # memories a transaction; small, so that the bar moves
SHOWN = 3  # results of each question
DEPTH = 10  # results looked at for recall and MRR
WAYS = ("lexical", "vector", "hybrid", "lifecycle")
"""Words alone, meaning alone, both; and both, weighed by how alive each memory is."""
LEGEND = """\
lexical: words alone (BM25); vector: meaning alone; hybrid: both, fused, fresher ones first;
lifecycle: hybrid, times strength, depth, spread and stability as Reverie publishes them"""


def demo(
    keep: Annotated[
        Path | None, typer.Option(help="Keep the store in this new file, to go on with.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Fill a store, ask questions, measure.

    A year of a software team's memories; results come with the factors behind them, then recall
    and MRR of lexical, vector and hybrid search. Needs no model and leaves nothing behind.
    """
    from oneiros.demo import load  # noqa: PLC0415

    started = time.perf_counter()
    data = load()
    with _place(keep) as path, opened(path) as engine:
        _fill(engine, data)
        loaded = time.perf_counter()
        asker = _Asker(engine, data)
        answers = asker.shown()
        reports = {way: asker.measure(way) for way in WAYS}
        ended = time.perf_counter()
        seconds = {"load": loaded - started, "search": ended - loaded, "total": ended - started}
        # Still inside: results read their memories from the store when they are first touched.
        if json:
            documents.write(_document(data, answers, reports, seconds))
        else:
            _show(data, answers, reports, seconds, keep)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One question of those shown, asked in one way."""

    question: Question
    way: str
    response: SearchResponse


class _Asker:
    """Asks the demo's questions in each of the :data:`WAYS`, leaving no trace in the memories."""

    def __init__(self, engine: Engine, data: DemoData) -> None:
        from oneiros import profiles  # noqa: PLC0415
        from oneiros.ranking.channels import VectorChannel  # noqa: PLC0415

        self._engine = engine
        self._data = data
        pairs = zip(data.questions, data.question_vectors, strict=True)
        self._vectors = {question.id: vector for question, vector in pairs}
        hybrid = profiles.get("reverie", lifecycle=False)
        self._profiles = {
            "lexical": hybrid,  # asked without a vector
            "vector": hybrid.replace(channels=(VectorChannel(),)),
            "hybrid": hybrid,
            "lifecycle": profiles.get("reverie"),
        }

    def shown(self) -> list[Answer]:
        """Ask the questions worth looking at, and the first once more in full."""
        questions = self._data.shown()
        answers = [(question, "hybrid") for question in questions] + [(questions[0], "lifecycle")]
        return [
            Answer(question=question, way=way, response=self.answer(question, way, SHOWN))
            for question, way in answers
        ]

    def answer(self, question: Question, way: str, k: int) -> SearchResponse:
        from oneiros.scopes import Where  # noqa: PLC0415

        return self._engine.search(
            question.text,
            k,
            where=None if question.where is None else Where.from_json(question.where),
            now=seconds_of("now", question.now),
            embedding=None if way == "lexical" else self._vectors[question.id],
            profile=self._profiles[way],
            explain=True,
            reinforce=False,
        )

    def measure(self, way: str) -> Report:
        from oneiros.evaluation.run import evaluate  # noqa: PLC0415

        with progress_bar(f"measuring {way} search", len(self._data.questions)) as advance:

            def ids(question: Question) -> list[str]:
                advance(1)
                return self.answer(question, way, DEPTH).ids

            return evaluate(ids, self._data.questions)


def _document(
    data: DemoData,
    answers: list[Answer],
    reports: dict[str, Report],
    seconds: dict[str, float],
) -> dict[str, object]:
    from oneiros.cli.rendering import response_document  # noqa: PLC0415

    return {
        "memory_count": len(data.memories),
        "question_count": len(data.questions),
        "questions": [
            {
                "id": one.question.id,
                "type": one.question.type,
                "answers": one.question.answers,
                "way": one.way,
                "response": response_document(one.response),
            }
            for one in answers
        ],
        "measured": {way: report.to_document() for way, report in reports.items()},
        "seconds": seconds,
    }


def _show(
    data: DemoData,
    answers: list[Answer],
    reports: dict[str, Report],
    seconds: dict[str, float],
    keep: Path | None,
) -> None:
    from oneiros.cli.rendering import results_table, summary  # noqa: PLC0415
    from oneiros.cli.terminal import output, text  # noqa: PLC0415

    console = output()
    console.print(
        text(
            f"{len(data.memories)} memories of a software team, asked by words and meaning (✓: judged an answer)"
        )
    )
    for one in answers:
        console.print()
        console.print(
            text(one.question.text, style="bold cyan"), text(f"({_kind(one)})", style="dim")
        )
        table = results_table(one.response, console.width, right=one.question.answers.keys())
        console.print(table)
        console.print(text(summary(one.response), style="dim"))
    console.print()
    console.print(_measured(reports))
    console.print(text(LEGEND, style="dim"))
    times = ", ".join(f"{name} {spent:.2f} s" for name, spent in seconds.items())
    console.print(text(f"times: {times}", style="dim"))
    if keep is not None:
        console.print(text(f'kept: try  oneiros search "ferry" --store {keep} --explain'))


def _kind(answer: Answer) -> str:
    kind = answer.question.type.replace("_", " ")
    if answer.way == "lifecycle":
        return f"{kind}, and weighed by how alive each memory is"
    return kind if answer.question.answers else f"{kind}: nothing here answers it"


def _measured(reports: dict[str, Report]) -> Table:
    """Return recall and MRR of each way, by type of question and over all."""
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, title_justify="left")
    table.add_column("questions")
    table.add_column("count", justify="right")
    for way, report in reports.items():
        table.add_column(f"{way}\nrecall@{report.recall_depth}", justify="right")
        table.add_column(f"\nMRR@{DEPTH}", justify="right")
    first = next(iter(reports.values()))
    for type in first.by_type:
        rows = [report.by_type[type] for report in reports.values()]
        table.add_row(type.replace("_", " "), str(first.by_type[type].count), *_figures(rows))
    table.add_section()
    overall = [report.overall for report in reports.values()]
    table.add_row("all answerable", str(first.overall.count), *_figures(overall), style="bold")
    return table


def _figures(scores: list[Scores]) -> list[str]:
    return [f"{value:.3f}" for one in scores for value in (one.recall, one.mrr)]
