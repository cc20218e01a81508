"""Memories beside each other: what is like one of them, and what of a batch repeats another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from oneiros.argument_checks import count, require_utf8, texts
from oneiros.bounded import Bounded
from oneiros.errors import UnknownMemory
from oneiros.likeness import Likeness, NearDuplicate, Similar
from oneiros.numpy_on_use import np
from oneiros.ranking.finishing import Duplicates
from oneiros.remember import unknown
from oneiros.search.call import query_vector
from oneiros.search.response import readable

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.ranking.profile import Profile
    from oneiros.scopes import Where

    # The class that mixes this in has a method called list, which hides the type.
    Similars = list[Similar]
    NearDuplicates = list[NearDuplicate]

__all__ = ["Comparing"]

_MOST_OF_ONE: Final = 10


class Comparing(Bounded):
    """Memories that can be compared; comparing is no use of them."""

    def similar(
        self,
        id_or_text: str,
        k: int = 10,
        *,
        where: Where | None = None,
        embedding: npt.ArrayLike | None = None,
        profile: Profile | str | None = None,
    ) -> Similars:
        """Return what is most like a memory, or a text that is no memory yet; never an access.

        First those whose texts begin alike, as they were added, then the nearest by cosine. Which of
        them are near-duplicates, the ``duplicates`` of the profile says: by default the same first
        150 characters, whatever their markdown, white space and capitals, or a cosine of 0.92. All
        live memories within the scope are looked at, also those that a search would hide. Their
        texts are read when they are first asked for; after that a call costs one pass over the
        beginnings and one search by vector, which beyond 5,000 memories is approximate.

        Args:
            id_or_text: the id of a live memory within the scope; all else is taken for a text.
            k: most to return, >= 0.
            where: a filter.
            embedding: the vector to go by; default: the memory's own, of a text the engine's
                embedder's. Without any, only what begins alike is found.
            profile: whose ``duplicates`` is the rule; default: the engine's. One that has none
                goes by the published numbers.

        Raises:
            ValueError, TypeError: an argument breaks its rule.

        Source: docs/systems/omega.md O26.
        """
        require_utf8("id_or_text", id_or_text)
        k = count("k", k)
        likeness = self._likeness(where, profile)
        row = self._live_rows([id_or_text])[0]
        if row is None:
            text, vector = id_or_text, query_vector(self, id_or_text, embedding)[0]
        else:
            text = self._texts_of([id_or_text])[0]
            given = embedding is not None
            vector = query_vector(self, text, embedding)[0] if given else self._vectors_of([row])[0]
        (begun,) = likeness.beginning_alike([text])
        (near,) = likeness.by_vectors([vector], k + 1 if k else 0)
        return likeness.most_alike(vector, near, begun, k, row)

    def near_duplicates(
        self,
        ids: Sequence[str],
        *,
        where: Where | None = None,
        profile: Profile | str | None = None,
    ) -> NearDuplicates:
        """Return what the given memories are near-duplicates of; never an access.

        By the rule of :meth:`similar`, of each memory the 10 others that are most alike are looked
        at. Costs one pass over the beginnings of all texts, and a search by vector for each id:
        beyond 5,000 memories by the graph, once it is built.

        Args:
            ids: of live memories within the scope.
            where: a filter, which the others pass.
            profile: as for :meth:`similar`.

        Returns:
            In the order of the ids; a pair of which both are among them is told once, of the later.

        Raises:
            UnknownMemory: no live memory has the id.
            ValueError, TypeError: an argument breaks its rule.

        Source: docs/systems/omega.md O26.
        """
        asked = texts("ids", ids)
        for place, id in enumerate(asked):
            require_utf8(f"ids[{place}]", id)
        asked = [*dict.fromkeys(asked)]
        likeness = self._likeness(where, profile)
        rows = self._live_rows(asked)
        for id, row in zip(asked, rows, strict=True):
            if row is None:
                raise UnknownMemory(unknown(id))
        place_of = {id: place for place, id in enumerate(asked)}
        told: dict[tuple[str, str], NearDuplicate] = {}
        known = [row for row in rows if row is not None]
        vectors = self._vectors_of(known)
        for id, row, vector, near, begun in zip(
            asked,
            known,
            vectors,
            likeness.by_vectors(vectors, _MOST_OF_ONE + 1),
            likeness.beginning_alike(self._texts_of(asked)),
            strict=True,
        ):
            for one in likeness.most_alike(vector, near, begun, _MOST_OF_ONE, row):
                if one.is_duplicate:
                    is_earlier = place_of.get(one.id, -1) < place_of[id]
                    pair = (id, one.id) if is_earlier else (one.id, id)
                    told[pair] = NearDuplicate(*pair, one.cosine, one.begins_alike)
        return sorted(told.values(), key=lambda one: place_of[one.id])

    def _repeats_among(self, ids: Sequence[str]) -> NearDuplicates:
        """The near-duplicates of those that are still there."""
        rows = self._live_rows(ids)
        return self.near_duplicates(
            [id for id, row in zip(ids, rows, strict=True) if row is not None]
        )

    def _likeness(self, where: Where | None, profile: Profile | str | None) -> Likeness:
        rule = self._profile(profile).duplicates or Duplicates()
        self._follow_others()
        self._parts.remember.texts()
        return Likeness(rule, self._parts.projections, self._matching(where))

    def _live_rows(self, ids: Sequence[str]) -> Sequence[int | None]:
        """The rows of ids that are live and within the scope; None of the others."""
        row_of = self._parts.projections.lifecycle.row_of
        live = self._matching(None)
        found = [row_of.get(id) for id in ids]
        return [row if row is not None and row in live else None for row in found]

    def _texts_of(self, ids: Sequence[str]) -> Sequence[str]:
        """Their texts; of one that was forgotten meanwhile, or is damaged, an empty one.

        That is like no other.
        """
        found = readable(self._load_seen, ids)
        return ["" if memory is None else memory.text for memory in found]

    def _vectors_of(self, rows: Sequence[int]) -> Sequence[npt.NDArray[np.float32] | None]:
        vectors = self._parts.projections.indexes.vectors
        if not vectors:
            return [None] * len(rows)
        matrix = vectors.reconstruct(np.array(rows, np.uint32))
        return [vector if vector.any() else None for vector in matrix]
