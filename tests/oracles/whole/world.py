"""A store in plain Python: memories in order of insertion, links, and what is done to both."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.oracles import cognitive
from tests.oracles.associations import PlainGraph, PlainLink, Weights
from tests.oracles.finishing import cosine_of
from tests.oracles.ieee import as_float32
from tests.oracles.recent_answers import Recent
from tests.oracles.records import value
from tests.oracles.whole.doubt import none_near, reaches

__all__ = ["EXPLICIT", "INGEST", "VERDICTS", "World"]

EXPLICIT, INGEST = "explicit", "ingest"
CO_RETRIEVAL = "co_retrieval"
KINDS = (CO_RETRIEVAL, INGEST, EXPLICIT)
VERDICTS = {"helpful": 1, "unhelpful": -1, "outdated": -2}  # omega.md O12


@dataclass
class World:
    """Memories by id, as dicts after docs/systems/fields.md, and how they are linked."""

    starts_stable: bool = True
    """Whether a memory's stability is 1 where none is given; else C3."""
    links_on_ingest: bool = False
    """C17, C18."""
    records: dict[str, dict[str, Any]] = field(default_factory=dict)
    graph: PlainGraph = field(default_factory=PlainGraph)
    verdicts: dict[str, list[str]] = field(default_factory=dict)
    """By memory, all that was said of it."""

    recent: Recent = field(default_factory=Recent)
    """omega.md O30."""

    @property
    def place(self) -> dict[str, int]:
        """Every id's place in the order of insertion."""
        return {id: row for row, id in enumerate(self.records)}

    def live(self) -> list[str]:
        """Return the ids of what is not deleted."""
        return [id for id, record in self.records.items() if not record.get("is_deleted")]

    def add(self, batch: Sequence[dict[str, Any]], now: float) -> None:
        """Take in what one call adds."""
        self.recent.write()
        there = self.live()
        for given in batch:
            record = {"created_at": now, **given}
            session = record.get("session")
            record["sessions"] = set() if session is None else {session}
            if "stability" not in record and not self.starts_stable:
                record["stability"] = cognitive.initial_stability(value(record, "importance"))
            self.records[given["id"]] = record
        if self.links_on_ingest:
            self._associate([given["id"] for given in batch], there, now)

    def _associate(self, added: Sequence[str], there: Collection[str], now: float) -> None:
        """C17 between what came together in one session, C18 for what was there before."""
        for new in added:
            for old in there:
                near = self._cosine(new, old)
                record = self.records[old]
                if reaches(near, 0.75):
                    stability = value(record, "stability")
                    raised = cognitive.raised_by_neighbour(stability, near)
                    record["stability"] = max(stability, as_float32(raised))  # none falls
        for one, other in itertools.combinations(added, 2):
            same = self.records[one].get("session") == self.records[other].get("session")
            near = self._cosine(one, other)
            if same and reaches(near, 0.4):
                weight = cognitive.ingest_link(near)
                self._set(one, other, PlainLink(weight, KINDS.index(INGEST), now, math.nan))

    def _cosine(self, one: str, other: str) -> float:
        left, right = (self.records[id].get("embedding") for id in (one, other))
        return -1.0 if left is None or right is None else cosine_of(left, right)

    def _set(self, one: str, other: str, link: PlainLink) -> None:
        self.graph.set(self.place[one], self.place[other], link)

    def link(self, one: str, other: str, weight: float, now: float) -> None:
        """Link two; one that is there keeps when it was made."""
        self.recent.write()
        former = self.graph.links.get(frozenset((self.place[one], self.place[other])))
        link = PlainLink(weight, KINDS.index(EXPLICIT), now, math.nan)
        self._set(one, other, link if former is None else replace(link, created=former.created))

    def mark(self, id: str, name: str, held: Any) -> None:
        """Set a field of a memory; where it is so already, nothing is written."""
        if self.records[id].get(name) != held:
            self.recent.write()
            self.records[id][name] = held

    def unlink(self, one: str, other: str) -> None:
        """Take a link away; where there is none, nothing is written."""
        if self.graph.remove(self.place[one], self.place[other]):
            self.recent.write()

    def judge(self, id: str, verdict: str) -> None:
        """Keep what someone says of a memory; its feedback is the sum."""
        self.recent.write()
        self.verdicts.setdefault(id, []).append(verdict)
        record = self.records[id]
        record["feedback"] = value(record, "feedback") + VERDICTS[verdict]

    def weights(self, now: float, least: float) -> Weights:
        """Return what is left of each link, by both of its rows. C16.

        Doubt where fading alone decides whether one is at least ``least``.
        """
        found: Weights = {}
        for (a, b), link in self.graph.links.items():
            left = link.left(now, 90.0)
            if left != link.weight:
                none_near((left, least))
            found.setdefault(a, {})[b] = found.setdefault(b, {})[a] = left
        return found
