"""The outer wall of the expression language: what a text may be before Python's parser sees it.

Python's parser takes far more than the language has, and recurses. Here a text is cut into the
signs and words that the language knows; all else, and whatever is too long or too deep, is refused.
"""

from __future__ import annotations

import re
from keyword import iskeyword
from typing import Final

__all__ = ["LONGEST_TEXT", "MOST_NODES", "require_words", "wrong"]

LONGEST_TEXT: Final = 4096
"""Bytes in UTF-8."""

MOST_NODES: Final = 256
"""Values, operations and calls of one expression."""

_DEEPEST: Final = 64
_MOST_TOKENS: Final = 2 * MOST_NODES
"""Values and operators; an expression of 256 nodes has fewer."""

_TOKEN: Final = re.compile(
    r"""(?P<space>[ \t\r\n]+)
      | (?P<quoted>'[^'\\\x00-\x1f\x7f]*' | "[^"\\\x00-\x1f\x7f]*")
      | (?P<number>(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?(?![\w.]))
      | (?P<word>[A-Za-z_][A-Za-z0-9_]*(?![A-Za-z0-9_"']))
      | (?P<bracket>[()\[\]])
      | (?P<comma>,)
      | (?P<operator>\*\*|[<>=!]=|[-+*/<>](?![=/>]))""",
    re.VERBOSE,
)
_KEYWORDS: Final = frozenset(("and", "or", "not", "if", "else", "in", "True", "False"))
_WRONG: Final = (  # what stands at a place where no token does, and what is wrong with it
    (re.compile(r"""[A-Za-z_]\w*["']"""), "a quoted word takes no prefix"),
    (re.compile(r"[0-9.]*[0-9][\w.]*"), "this is no decimal number"),
    (re.compile(r"""["']"""), "a quoted word ends on its line and holds no backslash"),
    (re.compile(r"\."), "attributes are not part of the language"),
    (re.compile(r":=|[-+*/%@&|^<>]*="), "nothing is assigned here; equality is =="),
    (re.compile(r"//"), "write floor(a / b)"),
    (re.compile(r"[{}:]"), "lists stand in ( ) or [ ], nothing else is needed"),
    (re.compile(r"(?s)."), "this sign is not part of the language"),
)


def wrong(column: int, problem: str) -> ValueError:
    """Return the error of a mistake at ``column``, counted from 1."""
    return ValueError(f"text: column {column}: {problem}")


def require_words(text: str) -> None:
    """Refuse a text that cannot be an expression, or that is too large to be looked at.

    Raises:
        ValueError: empty, over 4 KiB, brackets deeper than 64, more values and operators than any
            expression has, or a sign or word that the language does not have; with its column.
    """
    _require_length(text)
    place = tokens = depth = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            raise _wrong_at(text, place)
        kind, token = found.lastgroup, found.group()
        if kind == "word" and iskeyword(token) and token not in _KEYWORDS:
            raise wrong(place + 1, f"{token} is not part of the language")
        if kind == "bracket":
            depth += 1 if token in "([" else -1
            if depth > _DEEPEST:
                raise wrong(place + 1, f"brackets are nested deeper than {_DEEPEST}")
        tokens += kind in ("quoted", "number", "word", "operator") and token != "else"
        if tokens > _MOST_TOKENS:
            raise wrong(place + 1, f"an expression has at most {MOST_NODES} nodes")
        place = found.end()


def _require_length(text: str) -> None:
    try:
        length = len(text.encode())
    except UnicodeEncodeError as error:
        raise wrong(error.start + 1, "a lone surrogate is no text") from error
    if length > LONGEST_TEXT:
        msg = f"text: at most {LONGEST_TEXT} bytes, got {length}"
        raise ValueError(msg)
    if not text.strip():
        msg = "text: an expression must not be empty"
        raise ValueError(msg)


def _wrong_at(text: str, place: int) -> ValueError:
    matches = ((pattern.match(text, place), problem) for pattern, problem in _WRONG)
    found, problem = next(pair for pair in matches if pair[0])  # the last pattern takes any sign
    assert found is not None
    return wrong(place + 1, f"{problem}, got {found.group()[:40]!r}")
