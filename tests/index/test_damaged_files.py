"""Files with damage at random places: what opens them raises the package's own errors, or nothing.

``ONEIROS_LONG=1`` tries a hundred times as many.
"""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import oneiros
from oneiros import _core
from oneiros.errors import OneirosError, SnapshotDamaged
from oneiros.index import snapshot
from oneiros.lexical.index import LexicalIndex

TIMES = 100 if os.environ.get("ONEIROS_LONG") else 1
WORDS = [
    "harbour",
    "tea",
    "deploy",
    "error",
    "pool",
    "lesson",
    "tuesday",
    "coffee",
    "größe",
    "会議",
]


def mutated(data: bytes, choice: random.Random) -> bytes:
    """Return bytes with one kind of damage: flipped bits, a cut, a moved, zeroed or random part."""
    damaged = bytearray(data)
    place = choice.randrange(len(damaged))
    length = min(choice.choice((1, 2, 4, 8, 64, 600)), len(damaged) - place)
    kind = choice.randrange(7)
    if kind == 0:
        for _ in range(choice.choice((1, 1, 2, 16))):
            damaged[choice.randrange(len(damaged))] ^= 1 << choice.randrange(8)
    elif kind == 1:
        del damaged[place:]
    elif kind == 2:
        damaged[place : place + length] = bytes(length)
    elif kind == 3:
        damaged[place : place + length] = choice.randbytes(length)
    elif kind == 4:
        damaged[place : place + length] = b"\xff" * length
    elif kind == 5:
        start = choice.randrange(len(damaged))
        damaged[place : place + length] = damaged[start : start + length]
    else:
        del damaged[place : place + length]
    return bytes(damaged)


@pytest.fixture(autouse=True)
def _small_snapshots(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "FEWEST_ROWS", 1)


def texts(choice: random.Random, count: int) -> list[str]:
    return [" ".join(choice.choices(WORDS, k=6)) for _ in range(count)]


def test_a_damaged_lexical_index_is_told_by_its_type(tmp_path: Path) -> None:
    choice = random.Random(11)
    path = tmp_path / "index"
    own = LexicalIndex()
    own.add_many([f"id{number}" for number in range(60)], texts(choice, 60))
    own.save(path)
    whole = path.read_bytes()
    refused = 0
    for number in range(400 * TIMES):
        path.write_bytes(mutated(whole, choice))
        try:
            index = LexicalIndex.open(path)
            index.search("harbour tea")
        except SnapshotDamaged:
            refused += 1
        except OneirosError as error:
            pytest.fail(f"{number}: {error!r}")
    assert refused > 200 * TIMES


def test_settings_of_an_index_that_are_no_text_are_told_by_their_type(tmp_path: Path) -> None:
    path = tmp_path / "index"
    LexicalIndex().save(path)
    whole = path.read_bytes()
    settings = _core.snapshot_identity(path=str(path)).encode()
    start = whole.index(settings)
    for place in range(start, start + len(settings), 3):
        for byte in (0xFF, 0x00, whole[place] ^ 1):
            path.write_bytes(whole[:place] + bytes([byte]) + whole[place + 1 :])
            with pytest.raises(SnapshotDamaged):
                LexicalIndex.open(path)


def test_a_lexical_index_with_hostile_parts_is_told_by_its_type(tmp_path: Path) -> None:
    """The checksums are right, and what they cover is not."""
    choice = random.Random(12)
    path = tmp_path / "index"
    own = LexicalIndex()
    own.add_many([f"id{number}" for number in range(20)], texts(choice, 20))
    own.save(path)
    identity = _core.snapshot_identity(path=str(path))
    _, attachment, _ = _core.open_lexical_index(
        path=str(path), identity=identity, **own._made_with._core_arguments()
    )
    settings = json.loads(identity)
    values = [None, -1, 1e308, "nan", [], {}, "x" * 300, float("inf"), 2**70, "", True, "\ud800"]
    refused = 0
    for number in range(300 * TIMES):
        if number % 2:
            name = choice.choice(sorted(settings))
            wrong = json.dumps({**settings, name: choice.choice(values)})
            parts = wrong, attachment
        else:
            parts = identity, mutated(attachment, choice)
        _core.save_lexical_index(
            index=own._core, path=str(path), identity=parts[0], attachment=parts[1], revision=0
        )
        try:
            index = LexicalIndex.open(path)
            index.search("harbour")
        except SnapshotDamaged:
            refused += 1
    assert refused > 100 * TIMES


@pytest.fixture
def store(tmp_path: Path) -> Path:
    folder = tmp_path / "whole"
    folder.mkdir()
    choice = random.Random(13)
    path = folder / "mind.db"
    with oneiros.Engine(path, embedder="hashing", profile="reverie") as engine:
        engine.add_many(
            [
                {"id": f"m{number}", "text": text, "tags": ["t"], "metadata": {"n": number}}
                for number, text in enumerate(texts(choice, 60))
            ],
            links=False,
        )
        engine.link("m1", "m2")
        engine.feedback("m3", "helpful")
        engine.update("m4", text="another text")
        engine.dream()
        engine.forget("m5")
    with oneiros.Engine(path, embedder="hashing", profile="reverie") as engine:
        engine.search("harbour", reinforce=False)
    assert (folder / "mind.db-snapshot").exists()
    return path


def used(path: Path) -> None:
    """Call what reads a store."""
    with oneiros.Engine(path, embedder="hashing", profile="reverie") as engine:
        engine.search("harbour tea", k=5, now=2_000_000_000.0)
        for read in reading(engine):
            try:
                read()
            except OneirosError:
                continue


def reading(engine: oneiros.Engine) -> Iterator[Callable[[], object]]:
    yield lambda: engine.get_many([f"m{number}" for number in range(8)])
    yield engine.list
    yield engine.stats
    yield engine.changes
    yield engine.dreams
    yield lambda: engine.check(deep=True)
    yield lambda: engine.add("a new memory", id="new")
    yield lambda: engine.forget("m6")
    yield engine.dream


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("file", ["mind.db", "mind.db-snapshot"])
def test_a_damaged_store_or_snapshot_is_told_by_its_type(store: Path, file: str) -> None:
    choice = random.Random(14)
    folder = store.parent.parent / "damaged"
    whole = (store.parent / file).read_bytes()
    opened = refused = 0
    for number in range(50 * TIMES):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(store.parent, folder)
        (folder / file).write_bytes(mutated(whole, choice))
        try:
            used(folder / "mind.db")
            opened += 1
        except OneirosError:
            refused += 1
        except Exception as error:  # noqa: BLE001 - named with its number
            pytest.fail(f"{number}: {error!r}")
    assert opened
    assert refused or file != "mind.db"
