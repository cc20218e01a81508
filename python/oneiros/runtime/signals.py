"""Ctrl-C and SIGTERM as events, for what runs until one of them comes."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["end_signals_passed_to", "first_end_signal_passed_to"]

_ENDS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def end_signals_passed_to(call: Callable[[signal.Signals], object]) -> Iterator[None]:
    """Call a function at each Ctrl-C and SIGTERM in the block, in place of what they do otherwise.

    REQUIRES: this is the main thread.
    """

    def handle(number: int, _frame: FrameType | None) -> None:
        call(signal.Signals(number))

    former = {end: signal.signal(end, handle) for end in _ENDS}
    try:
        yield
    finally:
        for end, handler in former.items():
            signal.signal(end, handler)


@contextmanager
def first_end_signal_passed_to(call: Callable[[signal.Signals], object]) -> Iterator[None]:
    """Call a function at the first Ctrl-C or SIGTERM; another one ends the process at once.

    REQUIRES: this is the main thread.
    """

    def first(number: signal.Signals) -> None:
        for end in _ENDS:
            signal.signal(end, signal.SIG_DFL)
        call(number)

    with end_signals_passed_to(first):
        yield
