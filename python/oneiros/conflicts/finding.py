"""Find conflicts among the memories of a scope, and settle them.

A row is compared with the older rows of its part that are nearest to it by words and by vector, so
that the cost is that of two searches for each row, and not of all pairs.

Source: docs/systems/house.md H12, H16.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from oneiros._lazy import np
from oneiros.conflicts.model import model
from oneiros.errors import QueryTooLarge
from oneiros.filters import allowed_bits, set_of
from oneiros.model.validation import (
    count,
    require_choice,
    require_number,
    require_utf8,
    time,
)
from oneiros.runtime.dataclasses import dataclass
from oneiros.search.response import readable
from oneiros.store import StoredLink
from oneiros.store.cycles import APART
from oneiros.store.links import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt
    from pyroaring import BitMap

    from oneiros import _core
    from oneiros.clock import Time
    from oneiros.engine.scope import Scope
    from oneiros.filters import Bits, Where
    from oneiros.graph import Associations
    from oneiros.index import ReadModel

    Pair = tuple[int, int]
    Rows = npt.NDArray[np.uint32]

__all__ = [
    "DISTINCT",
    "DISTINCT_WEIGHT",
    "VERDICTS",
    "Conflict",
    "conflicting",
    "distinct_link",
    "found",
    "resolve",
]

DISTINCT: Final = KINDS.index("distinct")
"""The kind of the link of two memories that a verdict found not to conflict."""
DISTINCT_WEIGHT: Final = 0.01
"""The weight of such a link between memories that had none: below what any search follows."""

_AT_ONCE: Final = 1_000


def conflicting(
    read_model: ReadModel,
    rows: Rows,
    part: Rows,
    texts: Callable[[Rows], Sequence[str | None]],
    associations: Associations | None,
    *,
    nearest: int,
    least_confidence: float,
    weighed_by: Bits | None = None,
) -> dict[Pair, float]:
    """Return pairs of an older and a newer row with the confidence that they conflict.

    Pairs that a verdict found distinct are left out.

    Args:
        read_model: has words, vectors, statements and times of creation.
        rows: the newer ones, some of ``part``.
        part: the rows to compare them with, of one project, user, agent and namespace.
        texts: returns the texts of rows.
        associations: the links, already read; None: no verdict is known.
        nearest: the number of rows to compare each with, by words and as many by vector.
        least_confidence: pairs below are left out.
        weighed_by: packed bits of the rows whose texts weigh words; None: all of the store.
    """
    created = read_model.lifecycle.column("created_at")
    found: dict[Pair, float] = {}
    for newer, older in _beside_nearest(read_model, rows, part, texts, nearest, weighed_by):
        confidences = read_model.statements.confidences(model=model(), older=older, newer=newer)
        is_pair = (confidences >= least_confidence) & (created[older] < created[newer])
        pairs = zip(older[is_pair].tolist(), newer[is_pair].tolist(), strict=True)
        found.update(zip(pairs, confidences[is_pair].tolist(), strict=True))
    if associations is not None and found:
        for pair, link in zip(list(found), associations.of_pairs(list(found)), strict=True):
            if link is not None and link.kind == DISTINCT:
                del found[pair]
    return found


def _beside_nearest(
    read_model: ReadModel,
    rows: Rows,
    part: Rows,
    texts: Callable[[Rows], Sequence[str | None]],
    nearest: int,
    weighed_by: Bits | None,
) -> Iterator[tuple[Rows, Rows]]:
    """Yield rows, many at once, each beside one of its part that is near by words or by vector."""
    indexes = read_model.indexes
    allowed = allowed_bits(set_of(part), len(read_model.lifecycle.ids))
    most = nearest + 1  # a row is nearest to itself
    for start in range(0, len(rows), _AT_ONCE):
        some = rows[start : start + _AT_ONCE]
        queries = [text or "" for text in texts(some)]
        search = partial(_nearest_by_words, indexes.lexical, most, allowed, weighed_by)
        try:
            found, counts = search(queries)
        except QueryTooLarge:
            found, counts = search(_within_limits(indexes.lexical, queries))
        pairs = [np.stack([np.repeat(some, counts), found])]
        vectors = indexes.vectors
        if vectors:
            matrix = vectors.reconstruct(some)
            places = np.flatnonzero(matrix.any(axis=1))
            if len(places):
                lists = vectors.search_many(matrix[places], most, allowed)
                near = [hits.rows for hits in lists]
                repeated = np.repeat(some[places], [len(each) for each in near])
                pairs.append(np.stack([repeated, np.concatenate(near)]))
        own, others = np.unique(np.concatenate(pairs, axis=1), axis=1)
        yield np.ascontiguousarray(own), np.ascontiguousarray(others)


def _nearest_by_words(
    lexical: _core.LexicalIndex,
    most: int,
    allowed: Bits,
    weighed_by: Bits | None,
    queries: list[str],
) -> tuple[Rows, npt.NDArray[np.int64]]:
    """Return the rows that are nearest to each query, and their number for each.

    Raises:
        QueryTooLarge: a query is too long.
    """
    search = partial(lexical.search_many, k=most, allowed=allowed, threads=1)
    if weighed_by is None:
        found, _, ends, _ = search(queries=queries)
        return found, np.diff(ends)
    lists = [
        search(queries=[query], statistics=lexical.statistics(query=query, rows=weighed_by))[0]
        for query in queries
    ]
    return np.concatenate(lists), np.array([len(rows) for rows in lists], np.int64)


def _within_limits(lexical: _core.LexicalIndex, texts: list[str]) -> list[str]:
    """Return the texts, those empty that are too long for a query: only vectors compare these."""
    queries = []
    for text in texts:
        try:
            lexical.search_many(queries=[text], k=0, allowed=None, threads=1)
        except QueryTooLarge:
            queries.append("")
        else:
            queries.append(text)
    return queries


VERDICTS: Final = ("update", "contradiction", "distinct")
"""The words by which a conflict is settled, as in docs/systems/cognitive.md C22."""

_CODES: Final = tuple(f"{field}_code" for field in APART)
_NEAREST: Final = 20
"""Memories that each is compared with: the nearest by words, and the nearest by vector."""
_REASONS: Final = {
    "restated": "the same statement with another value",
    "reworded": "the same statement in other words",
    "cue": "the newer announces a change",
    "named": "the newer names the value of the older",
    "number": "another number",
    "name": "another name",
    "denial": "one denies",
    "topic": "the same topic",
    "shared": "shared words",
}


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two memories that seem to state different values of one fact."""

    older: str
    """The id of the memory created first."""
    newer: str
    """The id of the memory that may replace it."""
    confidence: float
    """From 0 to 1, by the model of docs/systems/house.md H12."""
    reason: str
    """The features that support it, for people."""


def found(
    scope: Scope,
    where: Where | None = None,
    *,
    limit: int = 100,
    least_confidence: float = 0.7,
    since: Time | None = None,
) -> list[Conflict]:
    """Return the conflicts among the memories of a scope; see :meth:`oneiros.Engine.conflicts`."""
    most = count("limit", limit)
    least = require_number("least_confidence", least_confidence, low=0.0, high=1.0, above_low=True)
    start = None if since is None else time("since")(scope.zoned(since))
    scope.follow_others()
    scope = scope.at_once()
    read_model = scope.read_model
    scope.services.sync.associations(read_model)
    bounds = scope.condition()
    weighed_by = None if bounds is None else read_model.row_sets.bits_in(bounds)
    expired, not_yet_valid = read_model.row_sets.out_of_time(
        scope.now(None), scope.services.profile.selection
    )
    rows = _current(read_model, scope.consulted(where) - expired - not_yet_valid)
    created = read_model.lifecycle.column("created_at")
    pairs: dict[tuple[int, int], float] = {}
    for part in _parts(read_model, rows):
        newer = part if start is None else part[created[part] >= start]
        if len(part) == 1 or not len(newer):
            continue
        pairs |= conflicting(
            read_model,
            newer,
            part,
            partial(_texts, scope),
            read_model.associations,
            nearest=_NEAREST,
            least_confidence=least,
            weighed_by=weighed_by,
        )
    best = sorted(pairs, key=lambda pair: (-pairs[pair], pair))[:most]
    ids, reasons = read_model.lifecycle.ids, _reasons(read_model, best)
    return [
        Conflict(ids[older], ids[newer], pairs[older, newer], reason)
        for (older, newer), reason in zip(best, reasons, strict=True)
        if reason is not None and ids[older] and ids[newer]
    ]


def resolve(
    scope: Scope, older: str, newer: str, verdict: str, *, reason: str = "", now: Time | None = None
) -> None:
    """Settle one conflict; see :meth:`oneiros.Engine.resolve_conflict`."""
    require_utf8("older", older)
    require_utf8("newer", newer)
    require_utf8("reason", reason)
    require_choice("verdict", verdict, VERDICTS)
    if older == newer:
        msg = f"newer: must be another memory than older, got {newer!r} twice"
        raise ValueError(msg)
    when = scope.now(now)
    remember = scope.services.remember
    if verdict == "distinct":
        link = distinct_link(older, newer, _link_of(scope, older, newer), when)
        ended = remember.settle_distinct(link, seen=scope.contains)
        revision = scope.shared.sync.writer.committed  # an observer may write
        scope.publish("link", "resolve_conflict", (older, newer), now, revision=revision)
        scope.publish("update", "resolve_conflict", ended, now, revision=revision)
    else:
        remember.supersede(older, newer, reason or verdict, now=when, seen=scope.contains)
        scope.publish("update", "resolve_conflict", (older,), now)


def distinct_link(one: str, other: str, existing: StoredLink | None, now: float) -> StoredLink:
    """Return the link that records that two memories do not conflict.

    A link that they have keeps its weight and its times, so that it goes on fading.
    """
    if existing is None:
        return StoredLink(one, other, DISTINCT, DISTINCT_WEIGHT, now, None)
    return existing._replace(kind=DISTINCT)


def _link_of(scope: Scope, older: str, newer: str) -> StoredLink | None:
    """Return the link of two memories; None without one."""
    scope = scope.at_once()
    associations = scope.services.sync.associations(scope.read_model)
    row_of = scope.read_model.lifecycle.row_of
    ends = row_of.get(older), row_of.get(newer)
    if ends[0] is None or ends[1] is None:
        return None
    (existing,) = associations.of_pairs([(ends[0], ends[1])])
    return existing


def _current(read_model: ReadModel, rows: BitMap) -> Rows:
    """Return the rows that are not superseded, in order."""
    all_rows = np.array(rows.to_array(), np.uint32)
    current: Rows = all_rows[read_model.lifecycle.column("superseded")[all_rows] == 0]
    return current


def _parts(read_model: ReadModel, rows: Rows) -> Iterator[Rows]:
    """Yield the rows of each project, user, agent and namespace; only those are compared."""
    if not len(rows):
        return
    columns = read_model.lifecycle.column
    codes = np.stack([columns(name)[rows] for name in _CODES], axis=1)
    _, part, sizes = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    in_parts = rows[np.argsort(part.reshape(-1), kind="stable")]
    yield from np.split(in_parts, np.cumsum(sizes)[:-1])


def _texts(scope: Scope, rows: Rows) -> Sequence[str | None]:
    ids = scope.read_model.lifecycle.ids
    loader = scope.loader
    own = readable(loader.own_rows, [ids[row] for row in rows.tolist()])
    return [None if row is None else row.text for row in own]


def _reasons(read_model: ReadModel, pairs: Sequence[Pair]) -> Iterator[str | None]:
    """Yield the reason of each pair; None if one of the two was changed or erased meanwhile."""
    at = read_model.statements.at
    for older, newer in pairs:
        values = model().features(older=at(older), newer=at(newer))
        reasons = [words for name, words in _REASONS.items() if values and values[name] > 0]
        yield ", ".join(reasons) if values else None
