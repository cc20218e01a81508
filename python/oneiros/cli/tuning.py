"""``oneiros tune``: better numbers for a profile, from judged questions."""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oneiros.cli import documents
from oneiros.cli.failures import CommandError
from oneiros.cli.profile_names import PROFILE_HELP, named_profile
from oneiros.cli.stores import JsonOption
from oneiros.cli.terminal import output, progress_bar, text

if TYPE_CHECKING:
    from rich.table import Table

    from oneiros.evaluation.parameters import Parameter
    from oneiros.evaluation.tuning import Tuning

__all__ = ["tune"]


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
    folds: Annotated[int, typer.Option(min=2, max=20, help="Parts of the questions.")] = 2,
    seed: Annotated[int, typer.Option(min=0, help="Of the parts, and of the bounds.")] = 0,
    write: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the better profile as TOML, if there is one."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Find better numbers on some of the judged questions, and measure them on the others.

    What is found is told as changes to the profile's TOML, and only where the gain in nDCG@10 is
    beyond chance. A collection is a folder as for oneiros evaluate; k1 and b hold for a store that
    is made with the profile.
    """
    from oneiros.evaluation import collection, tuning  # noqa: PLC0415
    from oneiros.evaluation.tasks import demo_task, task_of  # noqa: PLC0415

    if write is not None:
        _require_file("--output", write)
    chosen = named_profile("--profile", profile)
    parameters = None if over is None else [_parameter(one) for one in over]
    tasks = [task_of(collection.read(folder)) for folder in collections or ()] or [demo_task()]
    with progress_bar("profiles measured", None) as advance:
        try:
            found = tuning.tune(
                tasks,
                chosen,
                parameters,
                method="grid" if grid else "ascent",
                folds=folds,
                seed=seed,
                advance=advance,
            )
        except (TypeError, ValueError) as error:
            msg = f"--over: {error}" if parameters else str(error)
            raise CommandError(msg) from error
    if write is not None and found.is_better:
        from oneiros.exporting import new_file  # noqa: PLC0415

        with new_file(write) as file:
            file.write(found.tuned.to_toml().encode())
    if json:
        documents.write(_document(found))
        return
    console = output()
    console.print(_table(found))
    for line in _told(found, write):
        console.print(text(line))


def _require_file(option: str, path: Path) -> None:
    """Refuse what no file can be written to, before minutes of measuring."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        msg = f"{option}: must be a file or a new one, got {path}"
        raise CommandError(msg)
    if not os.access(path.parent, os.W_OK | os.X_OK):
        msg = f"{option}: nothing can be written in {path.parent}"
        raise CommandError(msg)


def _parameter(written: str) -> Parameter:
    from oneiros.evaluation.parameters import Parameter  # noqa: PLC0415

    path, _, values = written.partition("=")
    try:
        return Parameter(path.strip(), tuple(float(value) for value in values.split(",")))
    except (TypeError, ValueError) as error:
        msg = f"--over: expected PATH=NUMBER,NUMBER..., got {written!r}"
        raise CommandError(msg) from error


def _table(found: Tuning) -> Table:
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    from oneiros.evaluation.parameters import value_at  # noqa: PLC0415

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("number")
    heads = ("now", *(f"fold {n}" for n in range(1, len(found.folds) + 1)), "all")
    for head in heads:
        table.add_column(head, justify="right")
    profiles = (found.profile, *(fold.profile for fold in found.folds), found.found)
    for one in found.parameters:
        values = (value_at(profile, one.path) for profile in profiles)
        table.add_row(one.path, *(f"{value:g}" for value in values))
    table.add_section()
    for name in ("before", "after"):
        figures = (f"{getattr(fold, name):.4f}" for fold in found.folds)
        table.add_row(f"nDCG@10 {name}, where not tuned", "", *figures, "")
    return table


def _told(found: Tuning, write: Path | None) -> list[str]:
    """Return what came of it, in lines."""
    measured = f"{found.trial_count} profiles measured; on questions not tuned on, nDCG@10 gains"
    told = [f"{measured} {found.gain} (95 %)"]
    if not found.is_better:
        return [*told, "nothing is better beyond chance: the profile stays as it is"]
    told += _difference(found)
    return told if write is None else [*told, f"written: {write}"]


def _difference(found: Tuning) -> list[str]:
    """Return the changes to the profile's TOML."""
    before, after = (one.to_toml().splitlines() for one in (found.profile, found.tuned))
    name = found.profile.name
    return list(difflib.unified_diff(before, after, name, f"{name}, tuned", lineterm="", n=2))


def _document(found: Tuning) -> dict[str, object]:
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
