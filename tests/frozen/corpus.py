"""The stores of the recorded searches: a synthetic one, and the packaged demo."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

import oneiros
from oneiros import demo
from tests.frozen.vectors import (
    MEANT_WIDTH,
    SUBJECTS,
    along_axes,
    axis_of,
    exact,
    meaning_of,
    nudged,
)

__all__ = ["DAY", "HOUR", "NOW", "PEOPLE", "Meaning", "code_of", "demo_engine", "made_up", "opened"]

NOW = 1_750_000_000.0  # 15 June 2025, a Sunday
DAY = 86_400.0
HOUR = 3_600.0
COUNT = 3_000
NO_VECTOR = 11
"""Every eleventh memory has no vector."""

Record = dict[str, Any]
Vectors = Callable[[str], npt.NDArray[np.float32]]

PEOPLE = ("Ada", "Grace", "Linus", "Zoë", "Wen", "Ingrid", "Omar", "Renée")
PROJECTS = ("atlas", "src/net", "harbour", "Kitchen Table", "home")
TOPICS = ("onboarding", "incidents", "planning", "family", "health")
TAGS = ("errors", "net", "urgent", "later", "docs", "müde", "review", "pool.py", "food", "travel")
KINDS = (
    *("note", "fact", "decision", "lesson", "lesson_learned", "preference", "user_preference"),
    *("error_pattern", "bug", "issue", "constraint", "reminder", "plan", "transient_state"),
    *("session_summary", "code_chunk", "config", "skill", "entity", "checkpoint", "general"),
)
ACTIONS = ("rewrite", "postpone", "measure", "replace", "document", "paint", "sell", "rehearse")
REASONS = ("it was slow", "nobody used it", "the costs rose", "of the audit", "everyone asked")
SYMPTOMS = ("a timeout", "no answer", "a broken pipe", "double entries", "an empty page")
FOREIGN = (
    "東京の会議は火曜日に移りました。",
    "数据库连接池在高负载下耗尽。",
    "커피보다 차를 더 좋아합니다.",
    "Die Datenbank wird jede Nacht gesichert, Übergabe an Jürgen.",
    "La réunion du jeudi est annulée; Zoë préfère le café noir.",
    "ＡＢＣ full width letters and ﬁne ligatures for the printer",  # noqa: RUF001
    "İstanbul trip: pack the camera",
    "ΟΔΥΣΣΕΥΣ and the museum of Ithaca",
    "Миграция схемы прошла без ошибок",
    "🙂 the birthday party was fun 🎂",
)
_MARKDOWN = ("# {}", "**{}**", "  {}  ", "- {}", "`{}`", "{}!")


def made_up(count: int = COUNT) -> list[Record]:
    """Return the first records of the synthetic store, as ``add_many`` takes them."""
    return [dict(record) for record in _records()[:count]]


@lru_cache(maxsize=1)
def _records() -> Sequence[Record]:
    chance = random.Random(20_250_615)
    records: list[Record] = []
    session = 0
    while len(records) < COUNT:
        session += 1
        began = NOW - chance.choice((2, 9, 30, 90, 400, 900)) * DAY * chance.random()
        project = chance.choice((None, *PROJECTS))
        at_home = chance.randrange(len(SUBJECTS))
        for place in range(chance.randrange(3, 22)):
            number = len(records)
            if chance.random() < 0.5:
                at_home = chance.randrange(len(SUBJECTS))
            record: Record = {
                "id": f"s{number:04}",
                "text": _text(chance, at_home, number, records),
                "created_at": began + place * chance.choice((40.0, 300.0, 3_000.0)),
                "kind": chance.choice(KINDS),
            }
            if chance.random() < 0.9:
                record["session"] = f"session {session}"
            if project is not None:
                record["project"] = project
            record |= _state(chance, record["created_at"], number)
            records.append(record)
    return records[:COUNT]


def _text(chance: random.Random, subject: int, number: int, before: Sequence[Record]) -> str:
    name = chance.choice(SUBJECTS[subject])
    other = chance.choice(SUBJECTS[chance.randrange(len(SUBJECTS))])
    who = chance.choice(PEOPLE)
    what = chance.randrange(22)
    if what == 0 and before:  # almost what another says
        return chance.choice(_MARKDOWN).format(chance.choice(before[-200:])["text"])
    if what == 1:
        return f"{chance.choice(FOREIGN)} ({chance.randrange(40)})"
    if what == 2:
        return f"Should we {chance.choice(ACTIONS)} the {name}? {who} asked, and nobody knew."
    if what == 3:
        return f"What about the {name}? And the {other}?"
    if what == 4:
        function = f"retry_{code_of(subject).lower()}_{number % 9}"
        return f"def {function}(self): # {name} in src/net/{name.split()[0]}.py"
    if what == 5:
        return (
            f"ERR_{code_of(subject)}-{number % 17}: the {name} failed with {chance.choice(SYMPTOMS)}"
            f", see v{number % 4}.{number % 7}.1 and ConnectionPool{number % 5}"
        )
    if what == 6:
        return f"{who} prefers the {name} over the {other}, and always use it by default."
    if what == 7:
        return f"{who} likes the {name} better than the {other}."
    if what == 8 and number % 5 == 0:
        return ""
    if what == 9:
        rest = " ".join(f"{chance.choice(ACTIONS)} {chance.choice(REASONS)};" for _ in range(30))
        return f"Minutes of the {name} meeting. {rest} {who} writes them down."
    if what == 10:
        return (
            f"mem-{number * 7_919:08x} and commit {number * 104_729 % 2**32:08x} touch the {name}"
        )
    if what in (11, 12):
        return (
            f"We decided to {chance.choice(ACTIONS)} the {name} because {chance.choice(REASONS)}."
        )
    return (
        f"The {name} and the {other}: {who} will {chance.choice(ACTIONS)} it, "
        f"since {chance.choice(REASONS)} in week {number % 53}."
    )


def _state(chance: random.Random, created: float, number: int) -> Record:
    """Return about half of the lifecycle fields, at random values."""
    old = max(NOW - created, 1.0)
    later = created + old * chance.random()
    fields: Record = {
        "topic": chance.choice(TOPICS),
        "title": chance.choice(("", "Notes", "pool.py", "Plan of the week", "Zoë's list")),
        "tags": sorted(chance.sample(TAGS, chance.randrange(1, 4))),
        "metadata": {"source": chance.choice(("chat", "mail", 3, None)), "page": number % 5},
        "category": chance.choice(("episodic", "semantic", "procedural")),
        "updated_at": later,
        "last_accessed_at": later,
        "event_at": created - chance.choice((0, 1, 7, 40, 365)) * DAY,
        "importance": chance.choice((0.0, 0.1, 0.3, 0.5, 0.7, 0.8, 0.95, 1.0)),
        "certainty": chance.choice((0.2, 0.6, 0.9, 1.0)),
        "impact": chance.choice((0.0, 0.4, 0.9)),
        "priority": chance.randrange(1, 6),
        "veracity": chance.choice(("stated", "unknown", "inferred", "imported", "tool")),
        "access_count": chance.choice((1, 1, 2, 3, 5, 9, 14, 60, 4_000)),
        "revision_count": chance.randrange(4),
        "duplicate_count": chance.randrange(3),
        "strength": chance.choice((0.0, 0.01, 0.2, 0.5, 0.8, 1.0)),
        "depth": chance.randrange(1, 4),
        "stability": chance.choice((0.05, 0.3, 0.9, 1.4, 2.2, 9.0)),
        "consolidation_quality": chance.choice((0.3, 1.0, 2.7)),
        "importance_tag": chance.choice(("proximity", "explicit", "cross_session")),
        "status": chance.choice(("staged", "consolidated", "consolidated", "archived")),
    }
    chosen = {name: value for name, value in fields.items() if chance.random() < 0.5}
    if "access_count" in chosen and chance.random() < 0.7:
        chosen["session_spread"] = chance.choice((1, 2, 3, 4, 7))
    if chance.random() < 0.06:
        chosen["feedback"] = chance.choice((-6, -3, -2, -1, 1, 2, 4, 12))
    odd = chance.random()
    if odd < 0.05:
        chosen["valid_until"] = NOW + chance.choice((-40, -1, 0, 3, 90)) * DAY
    elif odd < 0.09:
        chosen["ttl"] = chance.choice((HOUR, 20 * DAY, 3_000 * DAY))
    elif odd < 0.12:
        chosen["valid_from"] = NOW + chance.choice((-300, -2, 5)) * DAY
    elif odd < 0.15:
        chosen |= {"tier": "cold", "cold_since": NOW - 3 * DAY, "at_floor_since": NOW - 20 * DAY}
    elif odd < 0.16:
        chosen |= {"tier": "stub", "cold_since": NOW - 300 * DAY}
    elif odd < 0.18:
        chosen |= {"core": True, "canonical_layer": "semantic"}
    elif odd < 0.20:
        chosen["pinned"] = True
    elif odd < 0.22:
        chosen["superseded_by"] = f"s{number * 31 % COUNT:04}" if odd < 0.215 else "never stored"
    elif odd < 0.23:
        chosen["created_at"] = NOW + 2 * DAY
        chosen.pop("updated_at", None)
    return chosen


def code_of(subject: int) -> str:
    """Return the error code of a subject."""
    return SUBJECTS[subject][-1][:4].upper()


class Meaning:
    """An embedder whose vectors are exact.

    Args:
        name: recorded in the store.
        vector_of: the vector of one text.
    """

    def __init__(self, name: str, vector_of: Vectors) -> None:
        self.name = name
        self._vector_of = vector_of

    def __call__(self, texts: list[str]) -> npt.NDArray[np.float32]:
        return np.stack([self._vector_of(text) for text in texts])


WHOLE = Meaning("whole", meaning_of)
AXES = Meaning("axes", along_axes)


def opened(
    profile: oneiros.Profile, *, count: int = COUNT, axes: bool = False, **options: Any
) -> oneiros.Engine:
    """Open a store in memory with synthetic records, linked, judged, superseded and deleted.

    Args:
        profile: the engine's.
        count: the number of records.
        axes: give each memory a vector with a single component. Its inner product with any vector
            is exact, which profiles need that compare memories with the centre of several.
        options: further arguments of the engine.
    """
    mind = oneiros.Engine(
        ":memory:",
        profile=profile,
        **({"clock": lambda: NOW, "embedder": AXES if axes else WHOLE} | options),
    )
    records = made_up(count)
    for number, record in enumerate(records):
        record["embedding"] = _embedding(number, record["text"] or record["id"], axes=axes)
    for start in range(0, len(records), 1_000):
        mind.add_many(records[start : start + 1_000], now=NOW - 5 * DAY)
    for record in records[::NO_VECTOR]:
        mind.update(record["id"], embedding=None, now=NOW - 4 * DAY)
    _live(mind, [record["id"] for record in records])
    return mind


def _embedding(number: int, text: str, *, axes: bool) -> npt.NDArray[np.float32]:
    if axes:
        return axis_of(text)
    if number % 13 == 0:
        return nudged(meaning_of(_records()[number - 1]["text"] or text), number % MEANT_WIDTH)
    return meaning_of(text)


def _live(mind: oneiros.Engine, ids: Sequence[str]) -> None:
    """Link, judge, supersede, pin and delete some of the memories."""
    chance = random.Random(7)
    weights = (0.1, 0.3, 0.45, 0.7, 0.9, 1.0)
    kinds = ("co_retrieval", "ingest", "explicit", "summary", "relation")
    for days, share in ((200, 0.2), (20, 0.3), (1, 0.4)):
        pairs = [chance.sample(range(len(ids)), 2) for _ in range(int(len(ids) * share))]
        near = [(one, (one + 1) % len(ids)) for one, _ in pairs[::2]]
        links = [
            (ids[one], ids[other], chance.choice(weights), chance.choice(kinds))
            for one, other in (*pairs, *near)
        ]
        mind.link_many(links, now=NOW - days * DAY)
    for id in chance.sample(ids, len(ids) // 20):
        verdict = chance.choice(("helpful", "helpful", "unhelpful", "outdated"))
        mind.feedback(id, verdict, now=NOW - chance.randrange(1, 90) * DAY)
    for one, other, last in (chance.sample(ids, 3) for _ in range(len(ids) // 120)):
        for old, new in ((one, other), (other, last)):
            try:
                mind.supersede(old, new, "newer", now=NOW - 3 * DAY)
            except ValueError:  # a circle
                continue
    for id in chance.sample(ids, len(ids) // 60):
        mind.pin(id)
    for id in chance.sample(ids, len(ids) // 40):
        mind.delete(id, now=NOW - 2 * DAY)
    for id in chance.sample(ids, len(ids) // 200):
        mind.restore(id, now=NOW - DAY)


def demo_engine(profile: oneiros.Profile, *, axes: bool = False) -> oneiros.Engine:
    """Open the packaged demo with its vectors rounded to exact ones; without vectors for axes."""
    data = demo.load()
    mind = oneiros.Engine(":memory:", profile=profile, clock=lambda: NOW)
    records = [dict(record) for record in data.memories]
    if not axes:
        for record, vector in zip(records, data.memory_vectors.tolist(), strict=True):
            record["embedding"] = exact(vector)
    mind.add_many(records, now="2025-12-22T09:00:00Z")
    return mind
