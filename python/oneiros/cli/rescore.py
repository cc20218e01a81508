"""``oneiros rescore`` and ``oneiros promote``."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

from oneiros.cli import terminal
from oneiros.cli.failures import FAILED, INTERRUPTED, CommandError, blamed_on
from oneiros.cli.options import (
    DEFAULT_STORE,
    PROFILE_HELP,
    JsonOption,
    NowOption,
    PlainOption,
    StoreOption,
    existing,
    named_profile,
    opened,
)
from oneiros.cli.terminal import (
    moment,
    output,
    progress_bar,
    require_folder,
    seconds_of,
    show_plain,
    show_plain_figures,
    show_table,
    table,
    text,
)
from oneiros.clock import system_clock
from oneiros.display.counts import count_of
from oneiros.display.escaping import one_line
from oneiros.model.validation import checked_threads
from oneiros.ray import batches, cluster
from oneiros.rescoring.files import (
    FileReport,
    ScoreColumn,
    compare_file,
    open_source,
    require_new_folder,
    require_target,
    rescore_file,
    rescore_folder,
    row_count,
    score_parts,
)
from oneiros.rescoring.rescore import chosen_profiles
from oneiros.runtime.dataclasses import asdict
from oneiros.scoring.promotion import Promotion

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from oneiros.rescoring.comparison import Comparison, ScoreDistribution
    from oneiros.rescoring.files import RunParts
    from oneiros.rescoring.store import PromotionReport
    from oneiros.scoring.profile import Profile

__all__ = ["promote", "rescore"]


BAR = 30  # columns of the longest bar, where there is room
BESIDES = 19  # columns of the longest label of scores, and between it and both sides


def _decisions(found: Comparison) -> Table | Text:
    decisions, left, right = found.decisions, found.left, found.right
    if decisions is None:
        return text("no promotion: no threshold (--threshold gives one)", style="dim")
    rows: list[tuple[str | Text, str]] = [
        ("by both", str(decisions.both)),
        (f"only by {_rule(left)}", str(decisions.only_left)),
        (f"only by {_rule(right)}", str(decisions.only_right)),
        ("by neither", str(decisions.neither)),
    ]
    if decisions.changed_rows:
        changed = ", ".join(map(str, decisions.changed_rows))
        rows.append((text(f"changed, first rows: {changed}", style="dim"), ""))
    return table("promoted", ">rows", rows=rows, folds=("promoted",))


def _rule(side: ScoreDistribution) -> str:
    return f"{side.name} >= {side.threshold:g}"


def _order(found: Comparison) -> Table:
    shares = ((f"top {k} in common", f"{share:.1%}") for k, share in found.top_overlap.items())
    return table("order", ">", rows=[("Kendall's tau-b", _number(found.kendall_tau)), *shares])


def _distributions(found: Comparison, width: int) -> Table:
    """Return figures and bars of both sides' scores, no wider than the terminal where that can be.

    Args:
        found: the comparison.
        width: columns of the terminal.
    """
    sides = (found.left, found.right)
    rows = [
        ("rows", *(str(side.scored) for side in sides)),
        ("without (NaN)", *(str(side.unscored) for side in sides)),
        ("mean", *(_number(side.mean) for side in sides)),
    ]
    for share in sorted({*found.left.quantiles, *found.right.quantiles}, key=float):
        label = {"0": "least", "0.5": "median", "1": "greatest"}.get(share, f"{float(share):.0%}")
        rows.append((label, *(_number(side.quantiles.get(share)) for side in sides)))
    counts = [(side.below_zero, *side.tenths, side.above_one) for side in sides]
    most = max(1, *(max(each) for each in counts))
    bar = max(0, min(BAR, (width - BESIDES) // len(sides) - len(f" {most}")))
    labels = ["below 0", *(f"{tenth / 10:.1f} to {(tenth + 1) / 10:.1f}" for tenth in range(10))]
    for label, *pair in zip([*labels, "above 1"], *counts, strict=True):
        rows.append((label, *(f"{'▇' * round(bar * count / most)} {count}" for count in pair)))
    return table("scores", *(f">{side.name}" for side in sides), rows=rows)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def promote(
    store: StoreOption = DEFAULT_STORE,
    profile: Annotated[str, typer.Option(help=f"Score by this. {PROFILE_HELP}")] = "ciar",
    threshold: Annotated[
        float | None, typer.Option(help="The least score, above 0 and up to 1; default: its own.")
    ] = None,
    now: NowOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show which would be promoted.")
    ] = False,
    plain: PlainOption = False,
    json: JsonOption = False,
) -> None:
    """Consolidate staged memories that score high enough, in one transaction. Shows which and why."""
    chosen = named_profile("--profile", profile)
    clock = seconds_of("--now", now)
    with opened(existing(store)) as engine:
        report = engine.promote(chosen, threshold, clock, dry_run=dry_run)
    if json:
        found = asdict(report)
        terminal.write("promote", store, found | {"count": len(report.promoted)})
        return
    if plain:
        show_plain(*_promoted(report))
        return
    console = output()
    for line in str(report).splitlines():
        console.print(text(line))


def _promoted(report: PromotionReport) -> tuple[list[str], Iterator[list[object]]]:
    """Return the heads and rows of the promoted memories, a column for each factor."""
    names = list(dict.fromkeys(name for one in report.promoted for name in one.factors))
    rows: Iterator[list[object]] = (
        [one.id, f"{one.score:.5f}", *(one.factors.get(name) for name in names)]
        for one in report.promoted
    )
    return ["memory", "score", *names], rows


COLUMN = "column:"


class Invalid(StrEnum):
    """The effect of a value out of its range."""

    RAISE = "raise"
    NAN = "nan"
    CLAMP = "clamp"


class Missing(StrEnum):
    """Answers to a column that the file lacks."""

    RAISE = "raise"
    DEFAULT = "default"


class _Rules(TypedDict):
    """Answers to odd values and to absent columns."""

    invalid: str
    missing: str


def rescore(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="IN",
            help="A .parquet, .arrow, .feather, .csv or .jsonl file, or a folder of .parquet files.",
        ),
    ],
    target: Annotated[
        Path | None,
        typer.Argument(
            metavar="OUT",
            help="Ids and scores go here: a file, or a new folder if IN is one.",
            show_default=False,
        ),
    ] = None,
    profile: Annotated[
        list[str] | None, typer.Option(help=f"Score by this. {PROFILE_HELP} May be given again.")
    ] = None,
    now: NowOption = None,
    threads: Annotated[int | None, typer.Option(help="1 to 256; default: one a core.")] = None,
    invalid: Annotated[
        Invalid,
        typer.Option(help="A value out of its range stops, scores NaN, or is brought into it."),
    ] = Invalid.RAISE,
    missing: Annotated[
        Missing,
        typer.Option(help="A column that a profile multiplies by and IN lacks stops, or defaults."),
    ] = Missing.RAISE,
    keep_columns: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Write this column of IN, too. May be given again."),
    ] = None,
    compare: Annotated[
        tuple[str, str] | None,
        typer.Option(
            help=f"Two of: profiles as above, {COLUMN}NAME for scores in IN. Large files take up "
            "to 80 bytes a row of TMPDIR."
        ),
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(help="--compare: promotion from here on; default: each one's.")
    ] = None,
    top: Annotated[
        list[int] | None, typer.Option(min=1, help="--compare: overlap of so many best rows.")
    ] = None,
    on_ray: Annotated[
        bool,
        typer.Option(
            "--ray",
            help="Score the parts of IN on Ray, on the cluster of RAY_ADDRESS or on this machine. "
            "IN is Parquet, OUT a new folder.",
        ),
    ] = False,
    plain: PlainOption = False,
    json: JsonOption = False,
) -> None:
    """Score memories in files without a query, or compare two scores of a file.

    OUT appears whole or not at all. After a Ctrl-C or a failure the same command goes on where it
    stopped.
    """
    if target is None and compare is None:
        msg = "rescore: give OUT, --compare A B, or both"
        raise CommandError(msg)
    for option, is_given in (
        ("--profile", bool(profile)),
        ("--keep-columns", bool(keep_columns)),
        ("--ray", on_ray),
    ):
        if is_given and target is None:
            msg = f"{option}: needs OUT"
            raise CommandError(msg)
    for option, is_given in (("--threshold", threshold is not None), ("--top", bool(top))):
        if is_given and compare is None:
            msg = f"{option}: needs --compare"
            raise CommandError(msg)
    if compare is not None and source.is_dir():
        msg = "--compare: IN must be a file, not a folder"
        raise CommandError(msg)
    clock = seconds_of("--now", now)
    with blamed_on("--", (ValueError,), sign=""):  # these messages begin with the option's name
        least = None if threshold is None else Promotion(threshold=threshold).threshold
        thread_count = checked_threads(1 if threads is None and on_ray else threads)
    writes_folder = on_ray or source.is_dir()
    _require_files(source, target, is_folder=writes_folder)
    if on_ray:
        _start_ray()
    rules: _Rules = {"invalid": invalid.value, "missing": missing.value}
    document: dict[str, object] = {}
    with _naming(source):
        if target is not None:
            named = [named_profile("--profile", one) for one in profile or ["ciar"]]
            chosen = chosen_profiles(named)
            document |= _write(
                source,
                target,
                chosen,
                clock,
                thread_count,
                rules,
                keep=keep_columns or (),
                run=batches.run_parts if on_ray else score_parts,
                writes_folder=writes_folder,
                is_shown=not (json or plain),
            )
            clock = clock if compare is None else float(str(document["now"]))
        if compare is not None:
            sides = [_side(written) for written in compare]
            found = _compare(source, sides, clock, thread_count, rules, least, top)
            document |= {"comparison": asdict(found)}
            if not (json or plain):
                _show(found)
    if json:
        terminal.write("rescore", None, document)
    elif plain:
        show_plain_figures(document)


def _write(
    source: Path,
    target: Path,
    profiles: list[Profile],
    now: float | None,
    threads: int,
    rules: _Rules,
    *,
    keep: Sequence[str],
    run: RunParts,
    writes_folder: bool,
    is_shown: bool,
) -> dict[str, object]:
    report = FileReport()
    started = time.perf_counter()
    write: Callable[..., None] = rescore_file
    if writes_folder:
        write = partial(rescore_folder, run=run)
    total = row_count(source) if writes_folder else _row_count(source)
    try:
        with progress_bar("scoring", total) as advance:
            write(
                source,
                target,
                profiles,
                now=now,
                threads=threads,
                **rules,
                keep=keep,
                report=report,
                advance=advance,
            )
    except KeyboardInterrupt:
        raise CommandError(_stopped("interrupted", report), INTERRUPTED) from None
    except OSError as error:
        if isinstance(error, BlockingIOError) or not report.parts:
            raise
        reason = f"{error.filename or target}: {error.strerror or error}"
        raise CommandError(_stopped(reason, report), FAILED) from error
    seconds = time.perf_counter() - started
    if is_shown:
        _report(report, target, seconds)
    return asdict(report) | {
        "profiles": {profile.name: profile.hash for profile in profiles},
        "output": str(target),
        "seconds": seconds,
    }


def _compare(
    source: Path,
    sides: list[Profile | ScoreColumn],
    now: float | None,
    threads: int,
    rules: _Rules,
    threshold: float | None,
    top: list[int] | None,
) -> Comparison:
    with progress_bar("comparing", _row_count(source)) as advance:
        return compare_file(
            source,
            *sides,
            now=system_clock() if now is None else now,
            threads=threads,
            **rules,
            threshold=threshold,
            top=tuple(top or (10, 100)),
            advance=advance,
        )


def _row_count(source: Path) -> int | None:
    """Return how many rows a file has, if a terminal shows it: JSON lines are all read for that."""
    if not sys.stderr.isatty():
        return None
    with open_source(source) as opened:
        return opened.row_count


def _start_ray() -> None:
    """Connect to a cluster, or start one on this machine that ends with this process."""
    try:
        cluster.start()
    except ImportError as error:
        raise CommandError(str(error), FAILED) from error


def _require_files(source: Path, target: Path | None, *, is_folder: bool) -> None:
    """Refuse what is no file to read, and a name that no file or folder of scores can have."""
    if not source.exists():
        msg = f"{source}: no such file"
        raise CommandError(msg)
    if target is None:
        return
    require_folder("OUT", target)
    try:
        require_new_folder(target) if is_folder else require_target(target)
    except ImportError:
        return  # reported when the source is opened
    except ValueError as error:
        raise CommandError(str(error)) from error


def _side(written: str) -> Profile | ScoreColumn:
    if written.startswith(COLUMN):
        return ScoreColumn(written.removeprefix(COLUMN))
    return named_profile("--compare", written)


@contextmanager
def _naming(source: Path) -> Iterator[None]:
    """Say of which file a broken rule is, and what is missing to read it."""
    try:
        yield
    except CommandError:
        raise
    except (TypeError, ValueError) as error:
        words = str(error)
        is_named = words.startswith((f"{source}:", f"{source.name}:"))
        named = words if is_named else f"{source}: {words}"
        raise CommandError(named) from error
    except ImportError as error:
        msg = "reading tables needs pyarrow: pip install 'oneiros[arrow]'"
        raise CommandError(msg, FAILED) from error


def _stopped(reason: str, report: FileReport) -> str:
    done = f"{count_of(report.rows, 'row')} scored, {report.parts} of {count_of(report.parts_total, 'part')}"
    advice = "the same command goes on from there" if report.parts else "nothing is kept"
    return f"{reason}: {done}; {advice}"


def _report(report: FileReport, target: Path, seconds: float) -> None:
    assert report.now is not None
    if report.restarted:
        sys.stderr.write(f"started over: {one_line(report.restarted)}\n")
    if report.missing:
        sys.stderr.write(f"not in the file, so at their defaults: {', '.join(report.missing)}\n")
    for counts, words in (
        (report.future_counts, "with times after now, taken as age 0"),
        (report.unscored, "without a score (NaN)"),
    ):
        for name, count in counts.items():
            if count:
                sys.stderr.write(f"{name}: {count_of(count, 'row')} {words}\n")
    before = f", {report.rows_before} of them before" if report.rows_before else ""
    head = f"{count_of(report.rows, 'row')} scored{before} in {seconds:.1f} s"
    sys.stdout.write(f"{head} as of {moment(report.now)}: {one_line(str(target))}\n")


def _show(found: Comparison) -> None:
    """Print what changes: decisions, order, and how the scores lie."""
    console = output()
    count = text(f"{found.compared} of {found.rows} rows have both scores", style="dim")
    for shown in (count, _decisions(found), _order(found)):
        console.print(shown)
        console.print()
    show_table(_distributions(found, console.width))
    console.print()
