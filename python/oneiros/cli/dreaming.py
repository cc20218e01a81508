"""``oneiros dream``: the store tidies itself, or tells what it would do, did, or takes back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oneiros.cli import documents
from oneiros.cli.failures import CommandError, interrupt_held
from oneiros.cli.moments import seconds_of
from oneiros.cli.profile_names import PROFILE_HELP, named_profile
from oneiros.cli.stores import DEFAULT_STORE, JsonOption, StoreOption, existing, opened

if TYPE_CHECKING:
    from oneiros.dream.impact import Impact
    from oneiros.dream.report import DreamReport

__all__ = ["dream"]


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
    undo: Annotated[str | None, typer.Option(help="Take the cycle of this id back.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="Tell the last 20 cycles.")] = False,
    json: JsonOption = False,
) -> None:
    """Run one dream cycle in one transaction, and tell what changed by which rule.

    With --undo, take a cycle back; with --list, tell which ran.
    """
    given = {"--dry-run": dry_run, "--undo": undo is not None, "--list": listed}
    wanted = [option for option, is_given in given.items() if is_given]
    if len(wanted) > 1:
        msg = f"{wanted[1]}: cannot go with {wanted[0]}"
        raise CommandError(msg)
    if impact is not None and not dry_run:
        msg = "--impact: needs --dry-run"
        raise CommandError(msg)
    if profile is not None and (undo is not None or listed):
        msg = f"--profile: cannot go with {wanted[0]}, which runs no phases"
        raise CommandError(msg)
    chosen = None if profile is None else named_profile("--profile", profile)
    clock = seconds_of("--now", now)
    questions = [] if impact is None else _questions(impact)
    with opened(existing(store)) as engine:
        if listed:
            _tell_all(engine.dreams(), json=json)
            return
        with interrupt_held():  # what was done must be told
            if undo is not None:
                report = engine.undo_dream(undo, now=clock)
            elif dry_run:
                plan = engine.dream(clock, profile=chosen, dry_run=True)
                report = plan.report
            else:
                report = engine.dream(clock, profile=chosen)
            found = None if impact is None else plan.impact(questions)
            _tell(report, found, json=json)


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
    return questions


def _tell(report: DreamReport, impact: Impact | None, *, json: bool) -> None:
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
