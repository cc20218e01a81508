"""Callables of the user's that write or judge texts, asked one thing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oneiros.argument_checks import require_utf8

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["answer_of"]


def answer_of(name: str, function: Callable[..., str], *asked: object) -> str:
    """Return what a callable says.

    Args:
        name: the argument that it was given as, for the errors.
        function: the callable.
        *asked: its arguments.

    Raises:
        TypeError: it gave something that is no str.
        TextEncodingError: it gave lone surrogates.
        Exception: whatever it raised, with a note that names it.
    """
    try:
        answer = function(*asked)
    except Exception as error:
        error.add_note(f"raised by {name}, which the dream cycle asked")
        raise
    require_utf8(name, answer)
    return answer
