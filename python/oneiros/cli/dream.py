"""``oneiros dream``: run, plan, watch, undo and list dream cycles."""

from __future__ import annotations

import signal
import sys
from contextlib import nullcontext, suppress
from functools import partial
from itertools import islice
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Annotated, Final

import typer

from oneiros.cli import sources, terminal
from oneiros.cli.dream_tables import (
    CYCLE_HEADS,
    MOST_NAMED,
    change_lines,
    cycle_row,
    report_document,
    show_removals,
    show_report,
    show_reports,
)
from oneiros.cli.failures import CommandError, blamed_on, interrupt_held, say
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
    confirm,
    output,
    require_writable,
    seconds_of,
    show_plain,
    text,
)
from oneiros.display.counts import count_of
from oneiros.display.pages import require
from oneiros.display.tables import moment
from oneiros.dream.report import DreamReport
from oneiros.dream.schedule import DreamSchedule, duration_seconds
from oneiros.errors import DreamBusy
from oneiros.runtime.files import foreign_file, new_file
from oneiros.runtime.signals import first_end_signal_passed_to
from oneiros.scoring.phases.house import Budget

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from oneiros.dream.impact import Impact
    from oneiros.dream.plan import DreamPlan
    from oneiros.engine import Engine
    from oneiros.scoring.profile import Profile

__all__ = ["dream", "schedule_of"]


def _page_file(path: Path, store: Path, read: Path | None) -> Path:
    """Return the file of a page; that it cannot be written is to be known before anything is done.

    Raises:
        CommandError: matplotlib is not installed, or the file cannot be written.
        ValueError: it is a folder, a symbolic link, a device or one of the store's own files.
    """
    with blamed_on("--html", (ImportError,)):
        require()
    require_writable("--html", path, {"--impact": read})
    return foreign_file("--html", str(path), str(store))


def _write_page(
    path: Path, engine: Engine, done: DreamPlan | DreamReport, impact: Impact | None
) -> None:
    """Write the page of a plan or of what was done, whole or not at all."""
    earlier = engine.dreams()
    if isinstance(done, DreamReport):
        made = done.html(texts=_removed_texts(engine, done), earlier=earlier)
    else:
        made = done.html(impact=impact, earlier=earlier)
    with new_file(path) as file:
        file.write(made.encode())


def _removed_texts(engine: Engine, report: DreamReport, most: int | None = None) -> dict[str, str]:
    """Return by id the texts of the first ``most`` memories that a report names as removed."""
    ids = list(islice((change.id for change in report.named if change.removal), most))
    found = (*engine.get_deleted(ids), *engine.get_many(ids))
    return {memory.id: memory.text for memory in found if memory is not None}


if TYPE_CHECKING:
    Event = DreamReport | Exception | signal.Signals


_NEVER: Final = "never"
_BY_SIGNAL: Final = 128  # and its number: how shells tell it


def schedule_of(every: str | None, after_new: int | None) -> DreamSchedule:
    """Return the schedule of two options: a duration or "never", and new memories or 0 for never.

    Raises:
        ValueError: that is no duration.
        CommandError: nothing would be a reason to dream.
    """
    default = DreamSchedule()
    wanted = default.every if every is None else every
    wanted = None if wanted == _NEVER else wanted
    gap = duration_seconds("min_gap", default.min_gap)
    if wanted is not None:  # a shorter time than the gap is meant
        gap = min(gap, duration_seconds("--every", wanted, above_zero=True))
    new = default.after_new if after_new is None else after_new or None
    if wanted is None and new is None:
        msg = "--every, --after-new: one of them must be a reason to dream"
        raise CommandError(msg)
    return DreamSchedule(every=wanted, after_new=new, min_gap=gap)


def _watch_dreams(
    engine: Engine,
    schedule: DreamSchedule,
    profile: Profile | None,
    tell: Callable[[DreamReport], None],
    *,
    is_confirmed: bool,
) -> None:
    """Run the cycles that are due, a line each, until Ctrl-C or SIGTERM; a second one kills.

    A running cycle is let end, and reported. A cycle of another process is waited for. No cycle
    asks: the one question is at the start, unless ``is_confirmed``.

    Raises:
        CommandError: the question was not answered with yes; no cycle ran.
        KeyboardInterrupt: Ctrl-C ended it.
        typer.Exit: SIGTERM did.
    """
    if not is_confirmed:
        confirm("let every cycle remove memories without asking?", "no cycle ran")
    events: SimpleQueue[Event] = SimpleQueue()
    with (
        first_end_signal_passed_to(events.put),  # a cycle is a transaction: no half of it is left
        engine.keep_dreaming(schedule, profile=profile, on_cycle=events.put),
    ):
        typer.echo("watching; Ctrl-C ends it", err=True)
        while not isinstance(event := events.get(), signal.Signals):
            _tell(event, tell)
    with suppress(Empty):
        while True:
            _tell(events.get_nowait(), tell)
    if event == signal.SIGINT:
        raise KeyboardInterrupt
    raise typer.Exit(_BY_SIGNAL + event)


def _tell(event: Event, tell: Callable[[DreamReport], None]) -> None:
    if isinstance(event, signal.Signals):
        return
    if isinstance(event, DreamBusy):
        typer.echo("another dream cycle runs on this store; waiting for its end", err=True)
    elif isinstance(event, Exception):
        say(f"a cycle failed, the next reason tries again: {event}")
    else:
        tell(event)
        sys.stdout.flush()


def _teller(store: Path, *, plain: bool, json: bool) -> Callable[[DreamReport], None]:
    """Return what writes a line for each cycle of a schedule."""
    if json:
        return lambda report: terminal.write("dream", store, report_document(report), is_line=True)
    if plain:
        show_plain(CYCLE_HEADS, ())
        return lambda report: show_plain(cycle_row(report), ())
    return lambda report: typer.echo(
        f"{moment(report.now)} dream {report.id} ({report.profile}): changed "
        f"{report.figures()}; removed: {report.removals()}"
    )


_NEEDS: Final = {"--impact": "--dry-run", "--every": "--watch", "--after-new": "--watch"}
_NOT_WITH: Final = {
    "--profile": ("--undo", "--list"),  # which run no phases
    "--yes": ("--dry-run", "--undo", "--list"),  # which never ask
    "--keep": ("--undo", "--list", "--watch"),  # a schedule's budget is its profile's
    "--html": ("--list", "--watch"),
    "--now": ("--list", "--watch"),
}


def dream(
    store: StoreOption = DEFAULT_STORE,
    profile: Annotated[
        str | None, typer.Option(help=f"Whose phases run; default: oneiros. {PROFILE_HELP}")
    ] = None,
    now: NowOption = None,
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="AMOUNT",
            help="Archive what is worth least beyond this: a share as 0.5, a number as 10000, or a"
            " size of texts and vectors as 200MB.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what a cycle would do.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Remove memories without asking.")
    ] = False,
    impact: Annotated[
        Path | None,
        typer.Option(
            help="With --dry-run: rank the questions of this file before and after; JSON Lines, "
            'each with a "text".'
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            help="Also write the report to this file, as a page with plots; needs oneiros[plots]."
        ),
    ] = None,
    undo: Annotated[str | None, typer.Option(help="Undo the cycle of this id.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the last 20 cycles.")] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Run cycles by a schedule until Ctrl-C or SIGTERM.")
    ] = False,
    every: Annotated[
        str | None,
        typer.Option(help="With --watch: the interval, such as 90s, 30min, 4h, 2d; never. [4h]"),
    ] = None,
    after_new: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=2**31 - 1,
            help="With --watch: also after this many new memories; 0: never. [10]",
        ),
    ] = None,
    plain: PlainOption = False,
    json: JsonOption = False,
) -> None:
    """Run one dream cycle in one transaction.

    A cycle that would delete, archive or cut memories shows them first, each with the reason, and
    asks; without a terminal it needs --yes. What was shown is what is applied: a memory that changed
    meanwhile is left as it is, and named. With --undo, undo a cycle; with --list, list the last
    ones. With --watch, ask once, then stay and run a cycle whenever one is due, half an hour apart
    or as --every says, and write a line for each. With --keep, what is worth least is archived,
    down to that share, number or size, and comes back when it fits in again.
    """
    modes = {"--dry-run": dry_run, "--undo": undo, "--list": listed, "--watch": watch}
    options = {"--impact": impact, "--every": every, "--after-new": after_new}
    options |= {"--profile": profile, "--html": html, "--now": now, "--yes": yes, "--keep": keep}
    _require_sense(_given(modes), _given(options))
    page = None if html is None else _page_file(html, existing(store), impact)
    chosen = None if profile is None else named_profile("--profile", profile)
    budget = None if keep is None else _budget(keep)
    clock = seconds_of("--now", now)
    questions = None if impact is None else _questions(impact)
    schedule = schedule_of(every, after_new)
    with opened(existing(store)) as engine:
        if watch:
            tell = _teller(store, plain=plain, json=json)
            _watch_dreams(engine, schedule, chosen, tell, is_confirmed=yes)
        elif listed:
            _list(store, engine.dreams(), plain=plain, json=json)
        elif dry_run:
            plan = _planned(engine, clock, chosen, budget)
            found = None if questions is None else plan.impact(questions)
            _show(store, engine, plan.report, found, plain=plain, json=json)
            if page is not None:
                _write_page(page, engine, plan, found)
        else:
            run: Callable[[], DreamReport]
            if undo is not None:
                run = partial(_undone, engine, undo, clock)
            elif yes:
                run = partial(_dreamt, engine, clock, chosen, budget)
            else:
                run = _confirmed(engine, clock, chosen, budget, is_shown=not (plain or json)).apply
            with interrupt_held():  # what was done must be reported
                report = run()
                _show(store, engine, report, None, plain=plain, json=json, is_confirmed=not yes)
                if page is not None:
                    _write_page(page, engine, report, None)


_SIZES: Final = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


def _budget(keep: str) -> float | Budget:
    """Return what ``--keep`` names: a share, a number of memories, or a size."""
    written = keep.strip()
    number, unit = written[:-2], written[-2:].upper()
    try:
        if unit in _SIZES:
            with blamed_on("--keep"):
                return Budget(size=int(float(number) * _SIZES[unit]))
        return int(written) if written.isdecimal() else float(written)
    except (OverflowError, ValueError) as error:
        msg = f"--keep: expected a share as 0.5, a number as 10000 or a size as 200MB, got {keep!r}"
        raise CommandError(msg) from error


def _dreamt(
    engine: Engine, now: float | None, profile: Profile | None, keep: float | Budget | None
) -> DreamReport:
    with nullcontext() if keep is None else blamed_on("--", sign=""):
        return engine.dream(now, profile=profile, keep=keep)


def _planned(
    engine: Engine, now: float | None, profile: Profile | None, keep: float | Budget | None
) -> DreamPlan:
    with nullcontext() if keep is None else blamed_on("--", sign=""):
        return engine.dream(now, profile=profile, dry_run=True, keep=keep)


def _confirmed(
    engine: Engine,
    now: float | None,
    profile: Profile | None,
    keep: float | Budget | None,
    *,
    is_shown: bool,
) -> DreamPlan:
    """Plan a cycle, show what it removes, and return it once that is confirmed.

    Raises:
        CommandError: it is not; nothing was changed.
    """
    plan = _planned(engine, now, profile, keep)
    count = sum(plan.report.removed.values())
    if count:
        if is_shown:
            show_removals(plan.report, _removed_texts(engine, plan.report, MOST_NAMED))
            typer.echo()
        removals = f"{count_of(count, 'memory')} ({plan.report.removals()})"
        question = f"run this cycle, which removes {removals}?"
        confirm(question, "nothing was changed")
    return plan


def _undone(engine: Engine, id: str, now: float | None) -> DreamReport:
    """Undo a cycle.

    Raises:
        CommandError: it cannot be undone.
    """
    try:
        return engine.undo_dream(id, now=now)
    except ValueError as error:
        words = str(error).removeprefix("id: ")
        msg = f"--undo: {words} (oneiros dream --list shows which can be undone)"
        raise CommandError(msg) from error


def _given(options: Mapping[str, object]) -> list[str]:
    return [name for name, value in options.items() if value is not None and value is not False]


def _require_sense(modes: list[str], options: Collection[str]) -> None:
    """Refuse options that do not go together."""
    if len(modes) > 1:
        msg = f"{modes[1]}: cannot go with {modes[0]}"
        raise CommandError(msg)
    for option in options:
        if option in _NEEDS and _NEEDS[option] not in modes:
            msg = f"{option}: needs {_NEEDS[option]}"
            raise CommandError(msg)
        for mode in modes:
            if mode in _NOT_WITH.get(option, ()):
                msg = f"{option}: cannot go with {mode}"
                raise CommandError(msg)


def _questions(path: Path) -> list[str]:
    if not path.is_file():
        msg = f"--impact: {path}: no such file"
        raise CommandError(msg)
    questions = []
    for row in sources.json_lines(path, extra_to_metadata=True):
        text = None if row.record is None else row.record.get("text")
        if not isinstance(text, str):
            words = f"{row.place}: {row.problem or 'a question needs a text'}"
            msg = f"--impact: {sources.located(path, words)}"
            raise CommandError(msg)
        questions.append(text)
    if not questions:
        msg = f"--impact: {path}: no question in it"
        raise CommandError(msg)
    return questions


def _show(
    store: Path,
    engine: Engine,
    report: DreamReport,
    impact: Impact | None,
    *,
    plain: bool,
    json: bool,
    is_confirmed: bool = False,
) -> None:
    """Write a report; ``is_confirmed``: what it removes was shown before."""
    if json:
        more = {} if impact is None else {"impact": impact.record()}
        terminal.write("dream", store, report_document(report) | more)
        return
    if plain:
        show_plain(*change_lines(report))
        return
    texts = None if is_confirmed else _removed_texts(engine, report, MOST_NAMED)
    show_report(report, texts)
    if impact is not None:
        output().print()
        for line in str(impact).splitlines():
            output().print(text(line))


def _list(store: Path, reports: list[DreamReport], *, plain: bool, json: bool) -> None:
    if json:
        found = [report_document(report) for report in reports]
        terminal.write("dream", store, {"dreams": found, "count": len(found)})
    elif plain:
        show_plain(CYCLE_HEADS, map(cycle_row, reports))
    else:
        show_reports(reports)
