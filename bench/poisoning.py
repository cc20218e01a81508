# ruff: noqa: T201 - a command
"""The places that an attacker takes who may add memories, but not change those of others.

For each question of a judged collection, the attacker adds ``--memories`` near-duplicates, which all
have the question's own vector and its words, slightly changed: the worst case, as if the attacker knew
every question. Measured is the share of the first ``--places`` results that are the attacker's, by
the trust that the store gives to them, and with ``least_trust=``::

    python -m bench.poisoning ../shared/data/locomo-dev

Nothing is fitted here. The questions are dealt out by a fixed seed.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import oneiros
from oneiros.evaluation import collection

__all__ = ["ATTACKS", "TRUSTS", "shares"]

TRUSTS = (1.0, 0.8, 0.6, 0.5, 0.4, 0.3, 0.2)
_FILLERS = [
    "please",
    "note",
    "remember",
    "actually",
    "indeed",
    "certainly",
    "confirmed",
    "today",
    "update",
    "said",
]
_CLAIM = "the answer is Paris"


def copies(question: str, number: int, chance: random.Random) -> str:
    """Return the question and a claim, which differ by punctuation only."""
    del chance
    return f"{question} {_CLAIM}{'!' * number}"


def edits(question: str, number: int, chance: random.Random) -> str:
    """Return the question's words with three others between them, and a claim."""
    words = question.rstrip("?").split()
    for _ in range(3):
        words.insert(chance.randrange(len(words) + 1), chance.choice(_FILLERS))
    return f"{' '.join(words)}: {_CLAIM} {number}"


def shuffles(question: str, number: int, chance: random.Random) -> str:
    """Return two thirds of the question's words in any order, and a claim."""
    words = question.rstrip("?").split()
    return f"{' '.join(chance.sample(words, -(-2 * len(words) // 3)))}, {_CLAIM} {number}"


ATTACKS = {attack.__name__: attack for attack in (copies, edits, shuffles)}


def _dealt(data: collection.Collection, count: int, seed: int) -> Iterator[tuple[str, list[int]]]:
    """Yield each group of documents with the places of its share of the questions."""
    groups: dict[str, list[int]] = {}
    for place, query in enumerate(data.queries):
        if query.answers:
            groups.setdefault(str(query.metadata.get("group", "")), []).append(place)
    chance = random.Random(seed)
    for group, places in groups.items():
        yield group, sorted(chance.sample(places, min(len(places), -(-count // len(groups)))))


def shares(
    data: collection.Collection,
    trusts: Sequence[float] = TRUSTS,
    *,
    questions: int = 100,
    memories: int = 20,
    places: int = 5,
    least_trust: float | None = None,
    seed: int = 1,
) -> dict[str, dict[float, float]]:
    """Return by attack and trust the attacker's mean share of the first results.

    Args:
        data: a collection with vectors.
        trusts: the trusts of the attacker's memories.
        questions: the number of questions, dealt out evenly over the groups.
        memories: what the attacker adds for each.
        places: the results looked at.
        least_trust: as in a search.
        seed: deals out the questions and the edits.
    """
    taken: dict[tuple[str, float], list[float]] = {}
    for group, asked in _dealt(data, questions, seed):
        held = [
            (one, vector)
            for one, vector in zip(data.documents, data.document_vectors, strict=True)
            if str(one.metadata.get("group", "")) == group
        ]
        records: list[dict[str, Any]] = [
            {"id": one.id, "text": one.title_and_text, "embedding": vector}
            | {"session": str(one.metadata.get("session", ""))}
            | ({"created_at": f"{one.timestamp}Z"} if one.timestamp else {})
            for one, vector in held
        ]
        with oneiros.Engine(":memory:", vector_index="flat") as engine:
            engine.add_many(records)
            for place in asked:
                text, vector = data.queries[place].text, data.query_vectors[place]
                for name, attack in ATTACKS.items():
                    chance = random.Random(f"{seed} {place} {name}")
                    added = engine.add_many(
                        {"text": attack(text, number, chance), "embedding": vector}
                        for number in range(memories)
                    ).ids
                    for trust in trusts:
                        for id in added:
                            engine.update(id, trust=trust)
                        found = engine.search(
                            text, places, embedding=vector, reinforce=False, least_trust=least_trust
                        ).ids
                        share = len(set(found) & set(added)) / places
                        taken.setdefault((name, trust), []).append(share)
                    for id in added:
                        engine.forget(id)
    return {
        name: {trust: sum(found) / len(found) for trust in trusts if (found := taken[name, trust])}
        for name in ATTACKS
    }


def main() -> None:
    """Print the shares of a collection."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--memories", type=int, default=20)
    parser.add_argument("--places", type=int, default=5)
    given = parser.parse_args()
    data = collection.read(given.folder)
    sizes = {name: getattr(given, name) for name in ("questions", "memories", "places")}
    found = shares(data, **sizes)
    print(f"{data.name}: share of the first {given.places} places, by trust")
    print("attack    " + "".join(f"{trust:>7.1f}" for trust in TRUSTS))
    for name, row in found.items():
        print(f"{name:10}" + "".join(f"{row[trust]:7.3f}" for trust in TRUSTS))
    filtered = shares(data, (0.4,), least_trust=0.5, **sizes)
    print(f"least_trust=0.5, trust 0.4: {max(row[0.4] for row in filtered.values()):.3f}")


if __name__ == "__main__":
    main()
