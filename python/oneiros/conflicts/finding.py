"""Find conflicts among the memories of a scope, and settle them. Source: docs/systems/house.md H12."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from oneiros._lazy import np
from oneiros.conflicts.candidates import DISTINCT, DISTINCT_WEIGHT, conflicting
from oneiros.conflicts.model import model
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

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt
    from pyroaring import BitMap

    from oneiros.clock import Time
    from oneiros.engine.scope import Scope
    from oneiros.filters import Where
    from oneiros.index import ReadModel

    Rows = npt.NDArray[np.uint32]

__all__ = ["VERDICTS", "Conflict", "found", "resolve"]

VERDICTS: Final = ("update", "contradiction", "distinct")
"""The words by which a conflict is settled, as in docs/systems/cognitive.md C22."""

_CODES: Final = tuple(f"{field}_code" for field in APART)
_NEAREST: Final = 20
"""Memories that each is compared with: the nearest by words, and the nearest by vector."""
_REASONS: Final = {
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
    scope.services.sync.associations()
    read_model = scope.services.projections
    rows = _current(read_model, scope.consulted(where))
    created = read_model.lifecycle.column("created_at")
    pairs: dict[tuple[int, int], float] = {}
    for part in _parts(read_model, rows):
        pairs |= conflicting(
            read_model,
            part if start is None else part[created[part] >= start],
            part,
            partial(_texts, scope),
            read_model.associations,
            nearest=_NEAREST,
            least_confidence=least,
        )
    best = sorted(pairs, key=lambda pair: (-pairs[pair], pair))[:most]
    ids = read_model.lifecycle.ids
    return [
        Conflict(ids[older], ids[newer], pairs[older, newer], _reason(read_model, older, newer))
        for older, newer in best
        if ids[older] and ids[newer]
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
        weight = _weight_of_link(scope, older, newer)
        link = StoredLink(older, newer, DISTINCT, weight, when, None)
        remember.link([link], seen=scope.contains)
        scope.publish("link", "resolve_conflict", (older, newer), now)
    else:
        remember.supersede(older, newer, reason or verdict, now=when, seen=scope.contains)
        scope.publish("update", "resolve_conflict", (older,), now)


def _weight_of_link(scope: Scope, older: str, newer: str) -> float:
    """Return the weight of the two's link, which a verdict leaves; else one that none follows."""
    associations = scope.services.sync.associations()
    row_of = scope.services.projections.lifecycle.row_of
    ends = row_of.get(older), row_of.get(newer)
    if ends[0] is None or ends[1] is None:
        return DISTINCT_WEIGHT
    (existing,) = associations.of_pairs([(ends[0], ends[1])])
    return DISTINCT_WEIGHT if existing is None else existing.weight


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
    _, part = np.unique(codes, axis=0, return_inverse=True)
    for number in range(int(part.max()) + 1):
        yield rows[part.reshape(-1) == number]


def _texts(scope: Scope, rows: Rows) -> Sequence[str | None]:
    ids = scope.services.projections.lifecycle.ids
    loader = scope.loader
    own = readable(loader.own_rows, [ids[row] for row in rows.tolist()])
    return [None if row is None else row.text for row in own]


def _reason(read_model: ReadModel, older: int, newer: int) -> str:
    at = read_model.statements.at
    values = model().features(older=at(older), newer=at(newer))
    return ", ".join(words for name, words in _REASONS.items() if values[name] > 0)
