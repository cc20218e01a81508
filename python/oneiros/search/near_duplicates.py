"""Memories that resemble a memory or a text: the same beginning, or a near vector.

Source: docs/systems/omega.md O26.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from oneiros._lazy import np
from oneiros.errors import UnknownMemory
from oneiros.filters import allowed_bits
from oneiros.index.texts import canonical
from oneiros.model.validation import count, require_utf8, texts
from oneiros.runtime.dataclasses import dataclass
from oneiros.scoring.stages import Duplicates
from oneiros.search.call import query_vector
from oneiros.search.response import readable
from oneiros.write import unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    from pyroaring import BitMap

    from oneiros.engine.scope import Scope
    from oneiros.filters import Where
    from oneiros.index import Projections
    from oneiros.scoring.profile import Profile

    Vector = npt.NDArray[np.float32]

__all__ = ["NearDuplicate", "Similar", "among", "repeats_among", "similar"]

_MOST_OF_ONE: Final = 10


@dataclass(frozen=True, slots=True)
class Similar:
    """A memory beside another, or beside a text. Source: docs/systems/omega.md O26."""

    id: str
    cosine: float | None
    """Of the embeddings; None where one of the two has none."""
    begins_alike: bool
    """Whether the canonical forms of the texts begin with the same characters."""
    is_duplicate: bool
    """Whether the two are alike by the rule: they begin alike, or the cosine is high enough."""


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """A memory that is like another. Source: docs/systems/omega.md O26."""

    id: str
    of: str
    """The id of the other; of two that were asked about, the one that came before."""
    cosine: float | None
    """Of the embeddings; None where one of the two has none."""
    begins_alike: bool
    """Whether the canonical forms of the texts begin with the same characters."""


class Likeness:
    """What is like given texts and vectors, among some rows.

    Args:
        rule: what makes two alike.
        projections: hold texts and embeddings; REQUIRES: the texts were read.
        rows: those to look among.
    """

    def __init__(self, rule: Duplicates, projections: Projections, rows: BitMap) -> None:
        self._rule = rule
        self._ids = projections.lifecycle.ids
        self._column = projections.texts.column
        self._vectors = projections.indexes.vectors
        self._rows = rows
        self._allowed = allowed_bits(rows, len(projections.lifecycle.ids))

    def beginning_alike(self, texts: Sequence[str]) -> list[list[int]]:
        """Return for each text the rows that begin as it does, in order of insertion: one pass."""
        starts = [canonical(text)[: self._rule.characters] for text in texts]
        rows = np.array(self._rows.to_array(), np.uint32)
        characters = self._rule.characters
        which = self._column.which_alike(rows=rows, texts=starts, characters=characters)
        found = np.flatnonzero(which < len(starts))
        held: dict[int, list[int]] = {}
        for row, place in zip(rows[found].tolist(), which[found].tolist(), strict=True):
            held.setdefault(place, []).append(row)
        first = {start: place for place, start in reversed(list(enumerate(starts)))}
        return [held.get(first[start], []) for start in starts]

    def by_vectors(self, vectors: Sequence[Vector | None], k: int) -> list[Mapping[int, float]]:
        """Return for each vector row and cosine of the ``k`` nearest; none where there is no vector.

        One search each by a graph, else all in one pass.
        """
        index = self._vectors
        found: list[Mapping[int, float]] = [{} for _ in vectors]
        held = [(place, vector) for place, vector in enumerate(vectors) if vector is not None]
        if not index or not held or not k:
            return found
        if index.has_graph:
            lists = [index.search(vector, k, self._allowed) for _, vector in held]
        else:
            matrix = np.stack([vector for _, vector in held])
            lists = index.search_many(matrix, k, self._allowed)
        for (place, _), hits in zip(held, lists, strict=True):
            found[place] = dict(zip(hits.rows.tolist(), hits.scores.tolist(), strict=True))
        return found

    def most_alike(
        self,
        vector: Vector | None,
        near: Mapping[int, float],
        begun: Sequence[int],
        k: int,
        own: int | None,
    ) -> list[Similar]:
        """Return the ``k`` that are most alike: those that begin alike, then the nearest.

        Args:
            vector: unit length; None: what begins alike has no cosine.
            near: cosine by row, the k + 1 nearest.
            begun: rows that begin alike, in order of insertion.
            k: most to return.
            own: a row to leave out.
        """
        begun = [row for row in begun if row != own][:k]
        cosines: dict[int, float | None] = dict.fromkeys(begun)
        if self._vectors and vector is not None and begun:
            exact = self._vectors.cosines(vector, np.array(begun, np.uint32))
            is_there = np.isfinite(exact).tolist()
            cosines = {
                row: cosine if is_held else None
                for row, cosine, is_held in zip(begun, exact.tolist(), is_there, strict=True)
            }
        for row, cosine in near.items():
            if row != own:
                cosines.setdefault(row, cosine)
        alike = frozenset(begun)
        return [
            self._similar(row, cosine, begins_alike=row in alike)
            for row, cosine in list(cosines.items())[:k]
            if self._ids[row]  # "": forgotten meanwhile
        ]

    def _similar(self, row: int, cosine: float | None, *, begins_alike: bool) -> Similar:
        is_near = cosine is not None and cosine >= self._rule.cosine
        return Similar(self._ids[row], cosine, begins_alike, begins_alike or is_near)


def similar(
    scope: Scope,
    id_or_text: str,
    k: int = 10,
    *,
    where: Where | None = None,
    embedding: npt.ArrayLike | None = None,
    profile: Profile | str | None = None,
) -> list[Similar]:
    """Return what is most like a memory or a text; see :meth:`oneiros.Engine.similar`."""
    require_utf8("id_or_text", id_or_text)
    k = count("k", k)
    likeness = _likeness(scope, where, profile)
    row = scope.live_rows([id_or_text])[0]
    if row is None:
        text, vector = id_or_text, query_vector(scope, id_or_text, embedding)[0]
    else:
        text = _texts_of(scope, [id_or_text])[0]
        given = embedding is not None
        vector = query_vector(scope, text, embedding)[0] if given else _vectors_of(scope, [row])[0]
    (begun,) = likeness.beginning_alike([text])
    (near,) = likeness.by_vectors([vector], k + 1 if k else 0)
    return likeness.most_alike(vector, near, begun, k, row)


def among(
    scope: Scope,
    ids: Sequence[str],
    *,
    where: Where | None = None,
    profile: Profile | str | None = None,
) -> list[NearDuplicate]:
    """Return the near-duplicates of memories; see :meth:`oneiros.Engine.near_duplicates`."""
    asked = texts("ids", ids)
    for place, id in enumerate(asked):
        require_utf8(f"ids[{place}]", id)
    asked = [*dict.fromkeys(asked)]
    likeness = _likeness(scope, where, profile)
    rows = scope.live_rows(asked)
    for id, row in zip(asked, rows, strict=True):
        if row is None:
            raise UnknownMemory(unknown(id))
    place_of = {id: place for place, id in enumerate(asked)}
    told: dict[tuple[str, str], NearDuplicate] = {}
    known = [row for row in rows if row is not None]
    vectors = _vectors_of(scope, known)
    for id, row, vector, near, begun in zip(
        asked,
        known,
        vectors,
        likeness.by_vectors(vectors, _MOST_OF_ONE + 1),
        likeness.beginning_alike(_texts_of(scope, asked)),
        strict=True,
    ):
        for one in likeness.most_alike(vector, near, begun, _MOST_OF_ONE, row):
            if one.is_duplicate:
                is_earlier = place_of.get(one.id, -1) < place_of[id]
                pair = (id, one.id) if is_earlier else (one.id, id)
                told[pair] = NearDuplicate(*pair, one.cosine, one.begins_alike)
    return sorted(told.values(), key=lambda one: place_of[one.id])


def repeats_among(scope: Scope, ids: Sequence[str]) -> list[NearDuplicate]:
    """The near-duplicates of those that are still there."""
    rows = scope.live_rows(ids)
    return among(scope, [id for id, row in zip(ids, rows, strict=True) if row is not None])


def _likeness(scope: Scope, where: Where | None, profile: Profile | str | None) -> Likeness:
    rule = scope.profile(profile).duplicates or Duplicates()
    scope.follow_others()
    scope.services.sync.texts()
    return Likeness(rule, scope.services.projections, scope.matching(where))


def _texts_of(scope: Scope, ids: Sequence[str]) -> Sequence[str]:
    """Their texts; of one that was forgotten meanwhile, or is damaged, an empty one.

    That is like no other.
    """
    found = readable(scope.loader, ids)
    return ["" if memory is None else memory.text for memory in found]


def _vectors_of(scope: Scope, rows: Sequence[int]) -> Sequence[npt.NDArray[np.float32] | None]:
    vectors = scope.services.projections.indexes.vectors
    if not vectors:
        return [None] * len(rows)
    matrix = vectors.reconstruct(np.array(rows, np.uint32))
    return [vector if vector.any() else None for vector in matrix]
