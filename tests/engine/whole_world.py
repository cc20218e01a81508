"""Random small worlds and what happens in them: records, links, questions and writes.

Every record and every step follows from a number of its own, so that an example stays what it was
as hypothesis leaves out what it does not need.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tests.oracles.finishing import cosine_of
from tests.oracles.records import DAY
from tests.oracles.whole.asking import Question, Surroundings
from tests.oracles.whole.world import VERDICTS

__all__ = ["NOW", "Step", "random_link", "random_record", "random_step"]

NOW = 1_750_000_000.0
WORDS = ("ant", "ants", "bee", "cat", "dog", "elk", "running")
SAYING = "the elk was running past a silent dog"
"""What some memories say, and some questions quote."""
Step = tuple[str, Any]
_EDGES = (0.25, 0.4, 0.45, 0.5, 0.65, 0.75, 0.92)  # what rules ask of a cosine
_ASKED = 4


def _apart(found: list[float]) -> bool:
    """Tell whether float32 can tell all these cosines apart, and from the edges; 0 is far from all."""
    marks = sorted([*found, *_EDGES])
    distinct = all(high - low > 2e-3 for low, high in itertools.pairwise(marks))
    return distinct and min(map(abs, found), default=1.0) > 0.05


def _vectors(count: int) -> tuple[list[tuple[float, ...]], list[tuple[float, ...]]]:
    """Return questions, and vectors that lie at cosines well apart from each of them."""
    random = np.random.default_rng(7)
    asked = [tuple(row) for row in random.normal(size=(_ASKED, 5)).tolist()]
    held: list[tuple[float, ...]] = []
    while len(held) < count:
        near = asked[len(held) % _ASKED] if len(held) % 2 else [0.0] * 5
        if len(held) % 5 == 4:
            near = [7.0 * number for number in held[-1]]  # alike
        new = tuple((np.array(near) + random.normal(size=5)).astype(np.float32).tolist())
        everyone = [*held, new]
        if all(_apart([cosine_of(one, other) for other in everyone]) for one in asked) and _apart(
            [cosine_of(new, other) for other in held]
        ):
            held.append(new)
    return asked, held


QUESTIONS, VECTORS = _vectors(24)

Random = np.random.Generator


def _one(random: Random, *choices: Any) -> Any:
    return choices[int(random.integers(len(choices)))]


def _words(random: Random, most: int) -> str:
    return " ".join(_one(random, *WORDS) for _ in range(int(random.integers(most + 1))))


def _moment(random: Random) -> float:
    return NOW - DAY * float(_one(random, 0.0, 0.5, 3.0, 10.0, 40.0, 200.0, -2.0))


def _tags(random: Random) -> list[str]:
    return [str(one) for one in random.choice(["ant", "elk", "net", "slow"], 2, replace=False)]


def _unit(random: Random) -> float:
    return float(_one(random, 0.0, 0.25, 0.5, 0.85, 1.0, random.random()))


def random_record(seed: int, number: int) -> dict[str, Any]:
    """Return the fields of one memory, as given to ``add``; about half are left at their defaults."""
    random = np.random.default_rng([seed, number])
    often: dict[str, Any] = {
        "embedding": VECTORS[int(random.integers(len(VECTORS)))],
        "kind": _one(random, "note", "fact", "decision", "user_preference", "lesson_learned",
                     "constraint", "plan", "code_chunk", "session_summary"),
        "project": _one(random, "red", "red", "blue"),
        "session": _one(random, "s1", "s2"),
        "tags": _tags(random),
        "updated_at": _moment(random),
        "last_accessed_at": _moment(random),
        "importance": _unit(random),
        "certainty": _unit(random),
        "impact": _unit(random),
        "priority": int(random.integers(1, 6)),
        "access_count": _one(random, 1, 3, 9, 10, 1000, 2**32 - 1),
        "strength": _unit(random),
        "depth": int(random.integers(1, 4)),
        "stability": _one(random, 0.0, 0.1, 0.5, 0.85, 1.0, 4.0),
        "category": _one(random, "episodic", "semantic", "procedural"),
    }  # fmt: skip
    seldom: dict[str, Any] = {
        "title": _one(random, "bee", "cat dog"),
        "event_at": _bound(random),
        "valid_from": _bound(random),
        "valid_until": _bound(random),
        "ttl": DAY * _one(random, 1.0, 30.0, 1000.0),
        "veracity": _one(random, "stated", "inferred", "tool"),
        "pinned": True,
        "core": True,
        "feedback": int(random.integers(-4, 12)),
        "session_spread": _one(random, 2, 3, 100),
        "consolidation_quality": _one(random, 0.5, 2.0, 4.0),
        "status": _one(random, "consolidated", "consolidated", "archived"),
        "tier": "cold",
    }
    given = {name: held for name, held in often.items() if random.random() < 0.65}
    given |= {name: held for name, held in seldom.items() if random.random() < 0.15}
    marks = _one(random, "", "", "?", "? ")
    text = f"{_words(random, 3)}{marks}{_words(random, 2)}"
    if (
        random.random() < 0.15
    ):  # longer than a text with its whole share of H4 (and what asks in H9)
        text = f"{_one(random, *WORDS)} {'elk ' * int(random.integers(20, 50))}{text}"
    if random.random() < 0.1:
        text = SAYING[: int(random.integers(24, len(SAYING) + 1))]
    if number % 3 == 2:
        text = f"> {text.replace(' ', '  **')}\n"
    return {"text": text, "created_at": _moment(random), **given}


def _bound(random: Random) -> float:
    return NOW + DAY * float(_one(random, -400, -30, -5, -1, 1, 5, 60))


def random_link(seed: int, number: int, size: int) -> tuple[int, int, float]:
    """Return two places and a weight."""
    random = np.random.default_rng([seed, number, 1])
    return (
        int(random.integers(size)),
        int(random.integers(size)),
        float(_one(random, 1.0, 0.9, 0.6, 0.5, 0.3, 0.1, random.uniform(0.05, 1.0))),
    )


def random_question(random: Random) -> Question:
    """Return a question, often with nothing but words, a vector and k."""
    words = _words(random, 3)
    long = (f"{words} unheard running", f"{_words(random, 3)} silent ants")
    if random.random() < 0.15:
        words = _one(random, " and also ", ", which ", ", and ", " as well as ").join(long)
    framed: tuple[str, ...] = (
        words,
        words,
        f"explain {words}",
        f"which {words}",
        f"prefer {words}",
        f'"{words}"',
    )
    if random.random() < 0.06:
        framed = (f'"{SAYING}"',)
    start = _bound(random)
    around = {
        "tags": tuple(_tags(random)),
        "project": _one(random, "red", "blue"),
        "file": "/red/Ants.running",
        "situation": _one(random, "file_edit", "error_debug", "planning"),
    }
    seldom: dict[str, Any] = {
        "wanted": (
            _one(random, ("project", "red"), ("kind", "decision"), ("session", "s1"),
                 ("kind", "code_chunk")),
        ),
        "hint": _one(random, "error_pattern", "decision", "unlisted"),
        "around": Surroundings(
            **{name: held for name, held in around.items() if random.random() < 0.6}
        ),
        "date_range": (start, start + DAY * _one(random, 0.5, 3.0, 40.0, 400.0)),
        "deep_recall": True,
        "include_expired": True,
        "include_expired_in_deep_recall": True,
        "valid_at": _bound(random),
        "status": ("archived", "staged"),
        "is_judged": True,
    }  # fmt: skip
    vector = QUESTIONS[int(random.integers(len(QUESTIONS)))]
    chosen = {name: held for name, held in seldom.items() if random.random() < 0.15}
    chosen["is_soft"] = "date_range" in chosen and start < NOW
    return Question(
        words=_one(random, *framed),
        vector=vector if random.random() < 0.75 else None,
        k=_one(random, 10, 5, 3, 2, 1, 0) if random.random() < 0.9 else 40,
        session=_one(random, None, "s1", "s2", "s3"),
        **chosen,
    )


def random_step(seed: int) -> Step:
    """Return a question, three times in four, or a write."""
    random = np.random.default_rng([seed, 2])
    if random.random() < 0.75:
        return "ask", random_question(random)
    one, other = (int(number) for number in random.integers(40, size=2))
    writes: tuple[Step, ...] = (
        ("link", random_link(seed, 3, 40)),
        ("unlink", (one, other)),
        ("supersede", (one, other)),
        ("judge", (one, _one(random, *VERDICTS), _one(random, 1, 6))),
        ("delete", one),
        ("restore", one),
        ("pin", one),
        ("wait", float(_one(random, 0.01, 1.0, 7.0, 60.0))),
        ("add", [random_record(seed, 4)]),
    )
    return writes[int(random.integers(len(writes)))]
