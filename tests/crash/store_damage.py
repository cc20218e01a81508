"""Damage a store's file and ask it for answers: ``python -m tests.campaigns store_damage``.

A mutation is harmless (all answers are those of the sound file), or noticed: an answer is a typed
error, or ``check(deep=True)`` tells of damage. A memory that comes back is always what was stored.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

import oneiros
from oneiros.errors import OneirosError
from oneiros.index import snapshot

__all__ = ["Report", "run"]

NOW: Final = 1_750_000_000.0
DAY: Final = 86_400.0
COUNT: Final = 250
"""Memories of a large store, whose tables have pages above their leaves."""
FEW: Final = 40
"""Memories of a small store, which has all tables and overflow pages, and is asked in less time."""
QUERIES: Final = ("topic3 harbour", "letter about topic7", "quay", "zebra")
PROFILES: Final = ("oneiros", "reverie", "cognitive", "omega")
PIECE: Final = 64

Answers: TypeAlias = dict[str, Any]
"""By what was asked; an error by its class."""


@dataclass
class Report:
    """What came of the mutations."""

    mutations: int = 0
    harmless: int = 0
    noticed: int = 0
    refused: int = 0
    """Of those noticed: the store could not be opened."""
    wrong: list[str] = field(default_factory=list)
    """Answers that were others, and nothing told of it; memories that are not what was stored."""

    def __str__(self) -> str:
        return (
            f"{self.mutations} mutations: {self.harmless} harmless, {self.noticed} noticed "
            f"({self.refused} not opened), {len(self.wrong)} silently wrong"
        )


def filled(path: Path, count: int = COUNT) -> None:
    """Make a store of everything that a store holds."""
    with oneiros.Engine(path, clock=lambda: NOW) as mind:
        mind.add_many([_record(number) for number in range(count)], now=NOW)
        for number in range(0, count - 9, 9):
            mind.link(f"m{number}", f"m{number + 3}", weight=(number + 1) / 300, now=NOW)
        for number in range(5, count, 17):
            mind.feedback(f"m{number}", "helpful" if number % 2 else "outdated", now=NOW)
        mind.supersede("m20", "m21", "newer", now=NOW)
        mind.dream(NOW + DAY)
        mind.delete("m30", now=NOW + DAY)
        mind.forget("m31")
        mind.search("topic3", session="s1", now=NOW + DAY)


def _record(number: int) -> dict[str, Any]:
    words = f"letter {number} about topic{number % 11} from the harbour, pier {number * 7 % 13}"
    long = " quay" * 900 if number % 50 == 0 else ""  # beyond one page
    return {
        "id": f"m{number}",
        "text": words + long,
        "title": f"title {number}" if number % 3 else "",
        "tags": [f"tag{number % 4}"] if number % 2 else [],
        "metadata": {"number": number, "word": f"w{number}"} if number % 5 == 0 else {},
        "kind": ("note", "fact", "decision")[number % 3],
        "project": "pq"[number % 2],
        "session": f"s{number % 6}",
        "created_at": NOW - (number * 37 % 200) * DAY - 1 / 3,
        "importance": (number % 7) / 7,
        "strength": (number % 9 + 1) / 9,
        "embedding": (math.cos(number), math.sin(number), 0.5),
    }


def answers(path: Path, count: int = COUNT) -> Answers:
    """Return what an engine says of a store, and what is wrong with it."""
    found: Answers = {}
    with oneiros.Engine(path, clock=lambda: NOW + DAY, busy_timeout_seconds=0.0) as mind:
        for place, profile in enumerate(PROFILES):
            # Of a small store, each profile is asked two queries and each query by two profiles.
            for query in QUERIES if count > FEW else (QUERIES * 2)[place : place + 2]:
                found[f"search {profile} {query}"] = _said(
                    lambda q=query, p=profile: _hits(mind, q, p)
                )
        vector = (0.6, 0.8, 0.5)
        found["vector"] = _said(lambda: _hits(mind, "topic3", "oneiros", embedding=vector))
        for number in range(count):
            found[f"get m{number}"] = _said(lambda n=number: mind.get(f"m{n}").to_record())
        found["list"] = _said(lambda: [memory.to_record() for memory in mind.list(limit=count)])
        found["count"] = _said(mind.count)
        for number in range(0, 60, 9):
            found[f"links m{number}"] = _said(lambda n=number: mind.neighbours(f"m{n}", now=NOW))
        found["dreams"] = _said(lambda: [report.record() for report in mind.dreams()])
        found["check"] = _said(lambda: mind.check(deep=True))
        found["damaged"] = _said(lambda: mind.stats()["damaged"])
    return found


def _hits(mind: oneiros.Engine, query: str, profile: str, **given: Any) -> list[tuple[Any, ...]]:
    response = mind.search(query, k=10, profile=profile, reinforce=False, now=NOW + DAY, **given)
    found = []
    for result in response.results:
        memory = _said(lambda one=result: one.memory.to_record())
        found.append((result.id, result.combined_score, memory))
    return found


def _said(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except OneirosError as error:
        return type(error)


def _is_error(answer: Any) -> bool:
    return isinstance(answer, type)


def verdict(sound: Answers, found: Answers) -> tuple[bool, list[str]]:
    """Return whether the answers are the sound ones or damage was noticed, and what is wrong.

    Args:
        sound: of the store as it was.
        found: of the damaged one.
    """
    records = {key[4:]: answer for key, answer in sound.items() if key.startswith("get ")}
    wrong = [
        f"another memory: {one['id']}" for one in _records(found) if one != records.get(one["id"])
    ]
    differs = {key for key in sound if key not in {"check", "damaged"} and found[key] != sound[key]}
    is_told = bool(found["check"] or found["damaged"])
    is_told = is_told or any(_is_error(found[key]) for key in differs)
    wrong += [] if is_told else [f"silently another answer: {key}" for key in sorted(differs)]
    return not (differs or is_told), wrong


def _records(found: Answers) -> Iterator[dict[str, Any]]:
    for key, answer in found.items():
        if _is_error(answer):
            continue
        if key.startswith("get "):
            yield answer
        elif key == "list":
            yield from answer
        elif key.startswith(("search ", "vector")):
            yield from (memory for _, _, memory in answer if not _is_error(memory))


def _mutated(whole: bytes, rng: random.Random) -> tuple[bytes, str]:
    """Return the bytes with some changed, and words for it."""
    held = bytearray(whole)
    page = rng.randrange(len(whole) // 4096) * 4096
    place = rng.choice(
        [rng.randrange(len(whole)), rng.randrange(len(whole)), page + rng.randrange(100)]
    )
    kind = rng.random()
    if kind < 0.7:
        held[place] ^= 1 << rng.randrange(8)
        words = f"a bit at {place}"
    elif kind < 0.85:
        held[place] = rng.randrange(256)
        words = f"a byte at {place}"
    else:
        size = min(rng.randrange(2, PIECE), len(whole) - place)
        held[place : place + size] = rng.choice([bytes(size), rng.randbytes(size)])
        words = f"{size} bytes at {place}"
    return bytes(held), words


@contextmanager
def _small_snapshots() -> Iterator[None]:
    fewest = snapshot.FEWEST_ROWS
    snapshot.FEWEST_ROWS = 1  # type: ignore[misc]
    try:
        yield
    finally:
        snapshot.FEWEST_ROWS = fewest  # type: ignore[misc]


def run(
    folder: Path,
    *,
    mutations: int,
    seed: int,
    with_snapshot: bool,
    report: Report,
    count: int = COUNT,
) -> None:
    """Damage copies of a store and ask them.

    Args:
        folder: an empty one.
        mutations: how many.
        seed: of their choice.
        with_snapshot: beside the store lies the snapshot of its read model, which is sound.
        report: is filled.
        count: the number of memories.
    """
    rng = random.Random(seed)
    path = folder / "sound.db"
    filled(path, count)
    with _small_snapshots(), oneiros.Engine(path):
        pass  # what is closed after something was forgotten leaves no snapshot
    kept = Path(f"{path}-snapshot")
    beside = kept.read_bytes() if with_snapshot else None
    whole = path.read_bytes()
    sound = _asked(folder, whole, beside, count)
    assert sound["check"] == []
    errors = {key: said for key, said in sound.items() if _is_error(said)}
    assert {"get m30", "get m31"} <= errors.keys()
    assert set(errors.values()) == {oneiros.UnknownMemory}
    for number in range(mutations):
        held, words = _mutated(whole, rng)
        report.mutations += 1
        words = f"seed {seed}, {number}: {words}"
        try:
            _judge(sound, _outcome(folder, held, beside, count), words, report)
        except Exception as error:  # noqa: BLE001 - no error may be of another kind
            report.wrong.append(f"{words}: {type(error).__name__}: {error}")


def _outcome(folder: Path, held: bytes, beside: bytes | None, count: int) -> Answers | OneirosError:
    try:
        return _asked(folder, held, beside, count)
    except OneirosError as error:
        return error


def _judge(
    sound: Answers, found: Mapping[str, Any] | OneirosError, words: str, report: Report
) -> None:
    if isinstance(found, OneirosError):
        report.noticed += 1
        report.refused += 1
        return
    is_harmless, wrong = verdict(sound, dict(found))
    report.harmless += is_harmless and not wrong
    report.noticed += not is_harmless and not wrong
    if wrong:
        report.wrong.append(f"{words}: {'; '.join(wrong[:3])}")


def _asked(folder: Path, held: bytes, beside: bytes | None, count: int) -> Answers:
    path = folder / "damaged.db"
    for left in folder.glob("damaged.db*"):
        left.unlink()
    path.write_bytes(held)
    if beside is not None:
        Path(f"{path}-snapshot").write_bytes(beside)
    return answers(path, count)
