"""``oneiros dream --watch``: cycles by a schedule, in the foreground, until it is ended."""

from __future__ import annotations

import json
import signal
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Final

import typer

from oneiros.cli import documents
from oneiros.cli.failures import CommandError, say
from oneiros.cli.terminal import confirm

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from oneiros.dream.report import DreamReport
    from oneiros.dream.schedule import DreamSchedule
    from oneiros.engine import Engine
    from oneiros.ranking.profile import Profile

    Event = DreamReport | Exception | signal.Signals

__all__ = ["schedule_of", "watch_dreams"]

_NEVER: Final = "never"
_BY_SIGNAL: Final = 128  # and its number: how shells tell it


def schedule_of(every: str | None, after_new: int | None) -> DreamSchedule:
    """Return the schedule that was asked for.

    Args:
        every: a duration, or "never"; None: as by default.
        after_new: new memories, 0 for never; None: as by default.

    Raises:
        ValueError: that is no duration.
        CommandError: nothing would be a reason to dream.
    """
    from oneiros.dream.schedule import DreamSchedule, duration_seconds  # noqa: PLC0415

    default = DreamSchedule()
    wanted = default.every if every is None else every
    wanted = None if wanted == _NEVER else wanted
    gap = duration_seconds("min_gap", default.min_gap)
    if wanted is not None:  # who asks for less than the gap means it
        gap = min(gap, duration_seconds("--every", wanted, above_zero=True))
    new = default.after_new if after_new is None else after_new or None
    if wanted is None and new is None:
        msg = "--every, --after-new: one of them must be a reason to dream"
        raise CommandError(msg)
    return DreamSchedule(every=wanted, after_new=new, min_gap=gap)


def watch_dreams(
    engine: Engine,
    schedule: DreamSchedule,
    profile: Profile | None,
    *,
    json: bool,
    is_confirmed: bool,
) -> None:
    """Run the cycles that are due, a line each, until Ctrl-C or SIGTERM; a second one kills.

    A running cycle is let end, and reported. A cycle of another process is waited for. No cycle
    asks: the one question is at the start.

    Args:
        engine: opened for this.
        schedule: when.
        profile: whose phases; None: the engine's.
        json: a JSON document a line instead of text.
        is_confirmed: whether the cycles may remove memories without a question at the start.

    Raises:
        CommandError: the question was not answered with yes; no cycle ran.
        KeyboardInterrupt: Ctrl-C ended it.
        typer.Exit: SIGTERM did.
    """
    if not is_confirmed:
        confirm("let every cycle remove memories without asking?", "no cycle ran")
    events: SimpleQueue[Event] = SimpleQueue()
    with (
        _signals_to(events),
        engine.keep_dreaming(schedule, profile=profile, told=events.put),
    ):
        typer.echo("watching; Ctrl-C ends it", err=True)
        while not isinstance(event := events.get(), signal.Signals):
            _tell(event, as_json=json)
    for late in _left(events):
        _tell(late, as_json=json)
    if event == signal.SIGINT:
        raise KeyboardInterrupt
    raise typer.Exit(_BY_SIGNAL + event)


@contextmanager
def _signals_to(events: SimpleQueue[Event]) -> Iterator[None]:
    """Turn the first Ctrl-C or SIGTERM into an event; another one ends the process at once.

    REQUIRES: this is the main thread.
    """
    ends = (signal.SIGINT, signal.SIGTERM)

    def remember(number: int, _frame: FrameType | None) -> None:
        for end in ends:
            signal.signal(end, signal.SIG_DFL)  # a cycle is a transaction: no half of it is left
        events.put(signal.Signals(number))

    former = {end: signal.signal(end, remember) for end in ends}
    try:
        yield
    finally:
        for end, handler in former.items():
            signal.signal(end, handler)


def _left(events: SimpleQueue[Event]) -> Iterator[Event]:
    while True:
        try:
            yield events.get_nowait()
        except Empty:
            return


def _tell(event: Event, *, as_json: bool) -> None:
    from oneiros.display import moment  # noqa: PLC0415  (--help must not pay for it)
    from oneiros.errors import DreamBusy  # noqa: PLC0415

    if isinstance(event, signal.Signals):
        return
    if isinstance(event, DreamBusy):
        typer.echo("another dream cycle runs on this store; waiting for its end", err=True)
    elif isinstance(event, Exception):
        say(f"a cycle failed, the next reason tries again: {event}")
    elif as_json:
        typer.echo(json.dumps(documents.plain(event.record()), allow_nan=False))
    else:
        typer.echo(
            f"{moment(event.now)} dream {event.id} ({event.profile}): changed {event.change_count} "
            f"fields, {event.live_before} -> {event.live_after} memories; "
            f"removed: {event.removals()}"
        )
