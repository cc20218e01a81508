"""``oneiros dream``: the store tidies itself, or tells what it would do, did, or takes back."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from oneiros.cli import documents
from oneiros.cli.dream_page import page_file, write_page
from oneiros.cli.failures import CommandError, interrupt_held
from oneiros.cli.moments import seconds_of
from oneiros.cli.profile_names import PROFILE_HELP, named_profile
from oneiros.cli.stores import DEFAULT_STORE, JsonOption, StoreOption, existing, opened
from oneiros.cli.watching_dreams import schedule_of, watch_dreams

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from oneiros.dream.impact import Impact
    from oneiros.dream.plan import DreamPlan
    from oneiros.dream.report import DreamReport
    from oneiros.engine import Engine
    from oneiros.ranking.profile import Profile

__all__ = ["dream"]

_NEEDS: Final = {"--impact": "--dry-run", "--every": "--watch", "--after-new": "--watch"}
_NOT_WITH: Final = {
    "--profile": ("--undo", "--list"),  # which run no phases
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
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell.")] = False,
    impact: Annotated[
        Path | None,
        typer.Option(
            help="With --dry-run: rank the questions of this file, before and after; JSON Lines, "
            'each with a "text".'
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            help="Write it to this file, too, as a page with plots; needs oneiros[plots]."
        ),
    ] = None,
    undo: Annotated[str | None, typer.Option(help="Take the cycle of this id back.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="Tell the last 20 cycles.")] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Dream again and again, until Ctrl-C or SIGTERM.")
    ] = False,
    every: Annotated[
        str | None,
        typer.Option(help="With --watch: after so long, such as 90s, 30min, 4h, 2d; never. [4h]"),
    ] = None,
    after_new: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=2**31 - 1,
            help="With --watch: after so many new memories; 0: never. [10]",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Run one dream cycle in one transaction, and tell what changed by which rule.

    With --undo, take a cycle back; with --list, tell which ran. With --watch, stay and run one
    whenever it is due, half an hour apart or as --every says, and tell each on a line.
    """
    modes = {"--dry-run": dry_run, "--undo": undo, "--list": listed, "--watch": watch}
    options = {"--impact": impact, "--every": every, "--after-new": after_new}
    options |= {"--profile": profile, "--html": html, "--now": now}
    _require_sense(_given(modes), _given(options))
    page = None if html is None else page_file(html, existing(store), impact)
    chosen = None if profile is None else named_profile("--profile", profile)
    clock = seconds_of("--now", now)
    questions = None if impact is None else _questions(impact)
    schedule = schedule_of(every, after_new)
    with opened(existing(store)) as engine:
        if watch:
            watch_dreams(engine, schedule, chosen, json=json)
        elif listed:
            _tell_all(engine.dreams(), json=json)
        else:
            # What was done must be told; of a dry run there is nothing.
            with nullcontext() if dry_run else interrupt_held():
                told, found = _done(engine, clock, chosen, undo, questions, dry_run=dry_run)
                _tell(told, found, json=json)
                if page is not None:
                    write_page(page, engine, told, found)


def _done(
    engine: Engine,
    now: float | None,
    profile: Profile | None,
    undo: str | None,
    questions: list[str] | None,
    *,
    dry_run: bool,
) -> tuple[DreamPlan | DreamReport, Impact | None]:
    """Dream, plan to, or take a cycle back; and what a plan changes for the questions."""
    if undo is not None:
        return engine.undo_dream(undo, now=now), None
    if not dry_run:
        return engine.dream(now, profile=profile), None
    plan = engine.dream(now, profile=profile, dry_run=True)
    return plan, None if questions is None else plan.impact(questions)


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


def _tell(done: DreamPlan | DreamReport, impact: Impact | None, *, json: bool) -> None:
    from oneiros.dream.report import DreamReport  # noqa: PLC0415  (--help must not pay for it)

    report = done if isinstance(done, DreamReport) else done.report
    if json:
        told = {} if impact is None else {"impact": impact.record()}
        documents.write(report.record() | told)
        return
    from oneiros.cli.dream_tables import show_report  # noqa: PLC0415  (--json needs no rich)

    show_report(report)
    if impact is not None:
        from oneiros.cli.terminal import output, text  # noqa: PLC0415

        for line in str(impact).splitlines():
            output().print(text(line))


def _tell_all(reports: list[DreamReport], *, json: bool) -> None:
    if json:
        documents.write({"dreams": [report.record() for report in reports]})
        return
    from oneiros.cli.dream_tables import show_reports  # noqa: PLC0415  (--json needs no rich)

    show_reports(reports)
