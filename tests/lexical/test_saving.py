"""An index in a file: what was saved is what is opened, or the file is refused."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros import _core
from oneiros.errors import SnapshotDamaged
from oneiros.lexical.rows import IdRows

QUERIES = ["red", "red fox", "running foxes", "blue dog red", "nobody"]
WORDS = ["red", "fox", "blue", "dog", "runs", "foxes", "running", "der", "the"]


def filled(index: oneiros.LexicalIndex, seed: int = 3) -> oneiros.LexicalIndex:
    chosen = random.Random(seed)
    ids: list[int | str] = [*range(-20, 60), *map(str, range(30)), "ünïcode", ""]
    index.add_many(ids, [" ".join(chosen.choices(WORDS, k=chosen.randrange(9))) for _ in ids])
    for id in chosen.sample(ids, 25):
        index.delete(id)
    return index


def same(a: oneiros.LexicalIndex, b: oneiros.LexicalIndex) -> bool:
    def found(index: oneiros.LexicalIndex) -> list[list[tuple[object, float]]]:
        hits = [index.search(query, k=200) for query in QUERIES]
        return [list(zip(hit.ids.tolist(), hit.scores.tolist(), strict=True)) for hit in hits]

    return found(a) == found(b) and len(a) == len(b)


@pytest.mark.parametrize(
    "made",
    [
        {},
        {"analyzer": "german", "variant": "bm25plus", "k1": 0.9, "delta": 0.25},
        {"analyzer": "simple", "variant": "atire", "b": 0.1},
        {"analyzer": "simple", "b": 1.0, "half_length": 3.5},
    ],
    ids=["default", "german", "simple", "half length"],
)
def test_what_is_opened_is_what_was_saved(tmp_path: Path, made: dict[str, object]) -> None:
    index = filled(oneiros.LexicalIndex(**made))  # type: ignore[arg-type]
    index.save(tmp_path / "index")
    opened = oneiros.LexicalIndex.open(tmp_path / "index")
    assert repr(opened) == repr(index)
    assert same(opened, index)
    for one in (opened, index):
        filled(one, seed=9)
        one.add("later", "a red giraffe")
        one.seal()
    assert same(opened, index)
    assert opened.search("giraffe").ids.tolist() == ["later"]
    opened.save(tmp_path / "index")  # over the very file that is mapped
    assert same(oneiros.LexicalIndex.open(tmp_path / "index"), index)


@pytest.mark.parametrize("title_length", [0.0, 0.25, 1.0])
def test_titles_that_outweigh_their_texts_come_back(tmp_path: Path, title_length: float) -> None:
    index = oneiros.LexicalIndex(fields=True, title_weight=3.0, title_length=title_length)
    chosen = random.Random(5)
    for id in range(80):
        text, title = (" ".join(chosen.choices(WORDS, k=chosen.randrange(most))) for most in (4, 9))
        index.add(id, text, title=title)
    for _ in range(2):  # of a mutable segment, and of a sealed one
        index.save(tmp_path / "index")
        opened = oneiros.LexicalIndex.open(tmp_path / "index")
        assert repr(opened) == repr(index)
        assert same(opened, index)
        index.seal()


def test_a_file_without_a_half_length_opens_and_has_none(tmp_path: Path) -> None:
    path = tmp_path / "index"
    index = filled(oneiros.LexicalIndex())
    index.save(path)
    assert b"half_length" not in path.read_bytes()  # as files of 0.1.0
    opened = oneiros.LexicalIndex.open(path)
    assert "half_length" not in repr(opened)
    assert same(opened, index)
    filled(oneiros.LexicalIndex(half_length=3.5)).save(path)
    assert b'"half_length": 3.5' in path.read_bytes()
    assert "half_length=3.5" in repr(oneiros.LexicalIndex.open(path))
    assert not same(oneiros.LexicalIndex.open(path), index)


def test_ids_that_are_all_numbers_stay_numbers(tmp_path: Path) -> None:
    index = oneiros.LexicalIndex()
    index.add_many([2**63 - 1, -(2**63), 0], ["red"] * 3)
    index.save(tmp_path / "index")
    hits = oneiros.LexicalIndex.open(tmp_path / "index").search("red")
    assert hits.ids.dtype == np.int64
    assert hits.ids.tolist() == [2**63 - 1, -(2**63), 0]


def test_a_file_that_does_not_hold_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "index"
    filled(oneiros.LexicalIndex()).save(path)
    sound = path.read_bytes()
    path.write_bytes(sound[:-1])
    with pytest.raises(SnapshotDamaged):
        oneiros.LexicalIndex.open(path)
    path.write_bytes(b"a text of somebody")
    with pytest.raises(SnapshotDamaged, match="shorter than a header"):
        oneiros.LexicalIndex.open(path)
    with pytest.raises(FileNotFoundError):
        oneiros.LexicalIndex.open(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        oneiros.LexicalIndex().save(tmp_path)


def test_errors_of_the_system_name_the_file(tmp_path: Path) -> None:
    missing = tmp_path / "nowhere" / "words"
    for call in (oneiros.LexicalIndex().save, oneiros.LexicalIndex.open):
        with pytest.raises(FileNotFoundError) as raised:
            call(missing)
        assert raised.value.filename == str(missing)
    with pytest.raises(IsADirectoryError, match=str(tmp_path)):
        oneiros.LexicalIndex().save(tmp_path)


def test_a_file_of_another_stemmer_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "index"
    filled(oneiros.LexicalIndex()).save(path)
    monkeypatch.setattr("Stemmer.version", lambda: "0.0.1")
    with pytest.raises(
        SnapshotDamaged, match=r"made with 'stems [\d.]+', expected 'stems 0\.0\.1'$"
    ):
        oneiros.LexicalIndex.open(path)


@pytest.mark.parametrize("identity", ["", "{}", "[" * 100_000, '{"analyzer": "english"}', "null"])
def test_an_identity_that_says_nothing_is_refused(tmp_path: Path, identity: str) -> None:
    path = str(tmp_path / "index")
    core = oneiros.LexicalIndex()._core
    _core.save_lexical_index(index=core, path=path, identity=identity, attachment=b"", revision=0)
    with pytest.raises(SnapshotDamaged):
        oneiros.LexicalIndex.open(path)


@settings(max_examples=400)
@given(st.data())
def test_ids_come_back_or_are_refused(data: st.DataObject) -> None:
    ids = data.draw(
        st.lists(
            st.integers(-(2**63), 2**63 - 1) | st.text(st.characters(codec="utf-8")), unique=True
        )
    )
    rows = IdRows()
    rows.assigned(ids)
    packed = rows.packed()
    again = IdRows.unpacked(packed)
    assert [again.row_of(id) for id in ids] == list(range(len(ids)))
    assert again.packed() == packed
    damaged = bytearray(packed)
    for _ in range(data.draw(st.integers(1, 3))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    del damaged[len(damaged) - data.draw(st.integers(0, min(9, len(damaged)))) :]
    try:
        other = IdRows.unpacked(bytes(damaged))
    except SnapshotDamaged:
        return
    other.ids_of(np.arange(len(other), dtype=np.uint32)[:0])
