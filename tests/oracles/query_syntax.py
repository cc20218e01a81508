"""The query syntax once more, after docs/query_syntax.md, as regular expressions."""

from __future__ import annotations

import re
from typing import NamedTuple

FIELDS = {None: 7, "title:": 1, "text:": 2, "tags:": 4}
OCCURS = {None: "should", "+": "must", "-": "must_not"}

# str's own \s is Unicode's white space with U+001C to U+001F.
ITEM = re.compile(
    r"""
    (?P<sign>[+-](?![\s+-]|\Z))?
    (?P<field>(?:title|text|tags):(?!\s|\Z))?
    (?:"(?P<phrase>[^"]*)" | (?P<run>\S+))
    """,
    re.VERBOSE,
)
PREFIX = re.compile(r"[^*]+\*")


class Clause(NamedTuple):
    occur: str
    kind: str
    fields: int
    text: str


def parse(text: str) -> list[Clause]:
    """Return the clauses of a query."""
    clauses = []
    at = 0
    while item := ITEM.search(text, at):
        at = item.end()
        occur, fields = OCCURS[item["sign"]], FIELDS[item["field"]]
        run = item["run"]
        if run is None:
            clauses.append(Clause(occur, "phrase", fields, item["phrase"]))
        elif PREFIX.fullmatch(run):
            clauses.append(Clause(occur, "prefix", fields, run[:-1]))
        else:
            clauses.append(Clause(occur, "word", fields, run))
    return [clause for clause in clauses if clause.text]
