"""``oneiros dream``: run a dream cycle once it is confirmed; plan, undo and list cycles."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from oneiros.cli import documents
from oneiros.cli.dream_page import page_file, removed_texts, write_page
from oneiros.cli.failures import CommandError, interrupt_held
from oneiros.cli.moments import seconds_of
from oneiros.cli.profile_names import PROFILE_HELP, named_profile
from oneiros.cli.stores import DEFAULT_STORE, JsonOption, StoreOption, existing, opened
from oneiros.cli.terminal import confirm
from oneiros.cli.watching_dreams import schedule_of, watch_dreams

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from oneiros.dream.impact import Impact
    from oneiros.dream.plan import DreamPlan
    from oneiros.dream.report import DreamReport
    from oneiros.engine import Engine
    from oneiros.ranking.profile import Profile

__all__ = ["dream"]

_NEEDS: Final = {"--impact": "--dry-run", "--every": "--watch", "--after-new": "--watch"}
_NOT_WITH: Final = {
    "--profile": ("--undo", "--list"),  # which run no phases
    "--yes": ("--dry-run", "--undo", "--list"),  # which never ask
    "--html": ("--list", "--watch"),
    "--now": ("--list", "--watch"),
}


def dream(
    store: StoreOption = DEFAULT_STORE,
    profile: Annotated[
        str | None, typer.Option(help=f"Whose phases run; default: oneiros. {PROFILE_HELP}")
    ] = None,
    now: Annotated[
        str | None, typer.Option(help="The clock: ISO 8601 with an offset, or seconds.")
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
    json: JsonOption = False,
) -> None:
    """Run one dream cycle in one transaction.

    A cycle that would delete, archive or cut memories shows them first, each with the reason, and
    asks; without a terminal it needs --yes. What was shown is what is applied: a memory that changed
    meanwhile is left as it is, and named. With --undo, undo a cycle; with --list, list the last
    ones. With --watch, ask once, then stay and run a cycle whenever one is due, half an hour apart
    or as --every says, and write a line for each.
    """
    modes = {"--dry-run": dry_run, "--undo": undo, "--list": listed, "--watch": watch}
    options = {"--impact": impact, "--every": every, "--after-new": after_new}
    options |= {"--profile": profile, "--html": html, "--now": now, "--yes": yes}
    _require_sense(_given(modes), _given(options))
    page = None if html is None else page_file(html, existing(store), impact)
    chosen = None if profile is None else named_profile("--profile", profile)
    clock = seconds_of("--now", now)
    questions = None if impact is None else _questions(impact)
    schedule = schedule_of(every, after_new)
    with opened(existing(store)) as engine:
        if watch:
            watch_dreams(engine, schedule, chosen, json=json, is_confirmed=yes)
        elif listed:
            _list(engine.dreams(), json=json)
        elif dry_run:
            plan = engine.dream(clock, profile=chosen, dry_run=True)
            found = None if questions is None else plan.impact(questions)
            _show(engine, plan.report, found, json=json)
            if page is not None:
                write_page(page, engine, plan, found)
        else:
            run: Callable[[], DreamReport] = partial(engine.dream, clock, profile=chosen)
            if undo is not None:
                run = partial(engine.undo_dream, undo, now=clock)
            elif not yes:
                run = _confirmed(engine, clock, chosen, json=json).apply
            with interrupt_held():  # what was done must be reported
                report = run()
                _show(engine, report, None, json=json, is_confirmed=not yes)
                if page is not None:
                    write_page(page, engine, report, None)


def _confirmed(
    engine: Engine, now: float | None, profile: Profile | None, *, json: bool
) -> DreamPlan:
    """Plan a cycle, show what it removes, and return it once that is confirmed.

    Raises:
        CommandError: it is not; nothing was changed.
    """
    plan = engine.dream(now, profile=profile, dry_run=True)
    count = sum(plan.report.removed.values())
    if count:
        if not json:
            from oneiros.cli.dream_tables import MOST_NAMED, show_removals  # noqa: PLC0415

            show_removals(plan.report, removed_texts(engine, plan.report, MOST_NAMED))
            typer.echo()
        memories = "1 memory" if count == 1 else f"{count} memories"
        question = f"run this cycle, which removes {memories} ({plan.report.removals()})?"
        confirm(question, "nothing was changed")
    return plan


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
    from oneiros.cli.sources import json_lines  # noqa: PLC0415  (few ask)

    if not path.is_file():
        msg = f"{path}: no such file"
        raise CommandError(msg)
    questions = []
    for row in json_lines.rows(path, extra_to_metadata=True):
        text = None if row.record is None else row.record.get("text")
        if not isinstance(text, str):
            msg = f"{path}, {row.place}: {row.problem or 'a question needs a text'}"
            raise CommandError(msg)
        questions.append(text)
    if not questions:
        msg = f"{path}: no question in it"
        raise CommandError(msg)
    return questions


def _show(
    engine: Engine,
    report: DreamReport,
    impact: Impact | None,
    *,
    json: bool,
    is_confirmed: bool = False,
) -> None:
    """Write a report; ``is_confirmed``: what it removes was shown before."""
    if json:
        more = {} if impact is None else {"impact": impact.record()}
        documents.write(report.record() | more)
        return
    from oneiros.cli.dream_tables import MOST_NAMED, show_report  # noqa: PLC0415

    texts = None if is_confirmed else removed_texts(engine, report, MOST_NAMED)
    show_report(report, texts)
    if impact is not None:
        from oneiros.cli.terminal import output, text  # noqa: PLC0415

        output().print()
        for line in str(impact).splitlines():
            output().print(text(line))


def _list(reports: list[DreamReport], *, json: bool) -> None:
    if json:
        documents.write({"dreams": [report.record() for report in reports]})
        return
    from oneiros.cli.dream_tables import show_reports  # noqa: PLC0415  (--json needs no rich)

    show_reports(reports)
