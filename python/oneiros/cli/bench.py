"""``oneiros bench``: searches beside those of other libraries, on the machine at hand."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from oneiros.benchmark.comparison import EngineComparison
from oneiros.benchmark.rivals import ENTRANTS, TASKS
from oneiros.cli import terminal
from oneiros.cli.failures import CommandError, blamed_on, require_each_once
from oneiros.cli.options import JsonOption, PlainOption
from oneiros.cli.terminal import output, progress_bar, show_rows, show_table, table, text
from oneiros.display.counts import count_of

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["bench"]

_ENOUGH: Final = 0.9
"""An engine that finds a smaller share of the exact answer does other work."""

_HEADS: Final = ("engine", ">p50, ms", ">p99, ms", ">ratio", ">found")
_BUSY: Final = 0.25  # cores of other processes beside which figures say little


def bench(
    size: Annotated[
        int, typer.Option(help="Memories, 100 or more. The README's table has 100000.")
    ] = 10_000,
    rounds: Annotated[int, typer.Option(help="Turns of each engine; times are medians.")] = 5,
    task: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TASK", help="memories, words or vectors; may be given again. All by default."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed draws the same memories.")] = 0,
    json: JsonOption = False,
    plain: PlainOption = False,
) -> None:
    """Measure searches beside other libraries, on this machine and in one run.

    Three tasks: whole searches by words and vector in one project, with the texts of ten results;
    words alone; vectors alone. The first has the default profile with reinforcement, and reciprocal
    ranks alone, which is what the other engines compute. Memories are drawn from a seed: words by a
    law like Zipf's, vectors in clusters. Each engine has a process of its own, and they take turns.
    The column "found" is the share of the exact ten best. Engines that are not installed are named
    with the command that installs them, those that fail with the reason. Ctrl-C shows what is
    measured so far.
    """
    chosen = _tasks(task)
    entrants = [one for one in ENTRANTS if one.task in chosen]
    with blamed_on("--", sign=""):
        comparison = EngineComparison(size=size, rounds=rounds, seed=seed, entrants=entrants)
    _announce(comparison)
    try:
        with progress_bar("measuring", comparison.step_count()) as advance:
            comparison.run(advance)
    finally:  # Ctrl-C, too: what is measured is shown
        if json:
            terminal.write("bench", None, comparison.document())
        elif plain:
            _show_plain(comparison)
        else:
            _show(comparison)


def _tasks(written: list[str] | None) -> list[str]:
    chosen = written or list(TASKS)
    require_each_once("--task", chosen)
    for name in chosen:
        if name not in TASKS:
            msg = f"--task: must be one of {', '.join(TASKS)}, got {name!r}"
            raise CommandError(msg)
    return chosen


def _announce(comparison: EngineComparison) -> None:
    """Say on stderr what is about to happen, and how long it takes."""
    seconds = comparison.expected_seconds()
    about = f"{seconds / 60:.0f} minutes" if seconds >= 150 else f"{10 * round(seconds / 10)} s"
    sys.stderr.write(
        f"{count_of(comparison.engine_count, 'engine')} over {count_of(comparison.size, 'memory', grouped=True)},"
        f" {count_of(comparison.rounds, 'round')}: about {about}. Ctrl-C shows what is measured so far.\n"
    )
    sys.stderr.flush()


def _show(comparison: EngineComparison) -> None:
    console = output()
    for name, value in comparison.conditions().items():
        console.print(text(f"{name}: {value}", style="dim"))
    for task, title in TASKS.items():
        rows = comparison.rows(task)
        if rows:
            console.print()
            console.print(text(title[0].upper() + title[1:], style="bold"))
            show_table(table(*_HEADS, rows=map(_cells, rows)))
            _show_remarks(console, rows)
    if comparison.left_out:
        console.print()
        console.print(text("Left out", style="bold"))
        for name, reason in comparison.left_out.items():
            console.print(text(f"{name}: {reason}"))
    console.print()
    console.print(text("\n".join(_reading(comparison)), style="dim"))


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    return (row["name"], _ms(row["p50_ms"]), _ms(row["p99_ms"]), _ratio(row), _found(row))


def _show_remarks(console: Console, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        share = row["share_found"]
        if share is not None and share < _ENOUGH:
            console.print(
                text(
                    f"{row['name']} finds {_found(row)} of the exact answer: its time is not that"
                    " of the same work"
                )
            )
        if row["judged_by"] == "vectors" and row["note"]:
            console.print(
                text(f"{row['name']} {row['note']}: found is of the nearest vectors", style="dim"),
            )


def _reading(comparison: EngineComparison) -> list[str]:
    """Return lines that say how to read the tables."""
    lines = [
        "ratio: the p50 divided by that of Oneiros, in whole searches of its default profile.",
        "found: the share of the exact ten best. The default profile ranks by rules of its own.",
    ]
    busy = comparison.other_cores
    if busy is not None and busy > _BUSY:
        lines.append(
            f"Other processes kept {busy:.1f} cores busy: run it again when they are done."
        )
    if comparison.rounds_done < comparison.rounds:
        lines.append(f"Interrupted after {comparison.rounds_done} of {comparison.rounds} rounds.")
    return lines


def _show_plain(comparison: EngineComparison) -> None:
    for name, value in comparison.conditions().items():
        sys.stderr.write(f"{name}: {value}\n")
    for name, reason in comparison.left_out.items():
        sys.stderr.write(f"left out: {name}: {reason}\n")
    rows = [(task, *_cells(row)) for task in TASKS for row in comparison.rows(task)]
    show_rows(("task", *_HEADS), rows, plain=True)


def _ms(value: float) -> str:
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def _ratio(row: dict[str, Any]) -> str:
    ratio = row["ratio"]
    return "-" if ratio is None else f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


def _found(row: dict[str, Any]) -> str:
    return "-" if row["share_found"] is None else f"{row['share_found']:.3f}"
