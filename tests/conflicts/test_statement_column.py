"""Statements by row: what the reader reads, kept through changes and in a snapshot."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneiros import _core
from oneiros.conflicts.model import model, reader
from oneiros.errors import SnapshotDamaged
from oneiros.lexical.options import MadeWith

TEXTS = (
    "I work at Acme.",
    "I no longer work at Acme, I joined Bosch in May.",
    "Ada: my flat is number 12",
    "Ada: I moved, my flat is number 40 now",
    "Where do you work?",
    "",
    "word " * 60,
    "Der Zug nach Zürich fährt um 10:30",
)
ROWS = np.arange(len(TEXTS), dtype=np.uint32)


def column() -> _core.StatementColumn:
    made = _core.StatementColumn(reader=reader())
    made.write(rows=ROWS, texts=list(TEXTS))
    return made


def confidences(held: _core.StatementColumn, count: int = len(TEXTS)) -> npt.NDArray[np.float64]:
    older, newer = np.divmod(np.arange(count * count, dtype=np.uint32), np.uint32(count))
    return held.confidences(model=model(), older=older, newer=newer)


def wanted(texts: tuple[str, ...] = TEXTS) -> npt.NDArray[np.float64]:
    read = [reader().read(text) for text in texts]
    return np.array([model().confidence(older=a, newer=b) for a in read for b in read])


@given(st.lists(st.sampled_from(TEXTS) | st.text(), min_size=1, max_size=12))
def test_pairs_have_the_confidence_of_their_texts(texts: list[str]) -> None:
    held = _core.StatementColumn(reader=reader())
    rows = np.arange(len(texts), dtype=np.uint32)
    held.write(rows=rows, texts=texts)
    np.testing.assert_array_equal(confidences(held, len(texts)), wanted(tuple(texts)))
    features = model().features
    for row, text in enumerate(texts):
        for other, another in enumerate(texts):
            assert features(older=held.at(row), newer=held.at(other)) == features(
                older=reader().read(text), newer=reader().read(another)
            )


def test_some_pairs_conflict() -> None:
    found = confidences(column()).reshape(len(TEXTS), -1)
    assert found[0, 1] > 0.5
    assert found[2, 3] > 0.5
    assert not found[4:7].any()
    assert not found[:, 4:7].any()


def test_what_is_written_again_or_erased_counts_no_longer() -> None:
    held = column()
    held.write(rows=[0, 0], texts=["I like tea.", "Ada: my flat is number 7"])
    held.erase(rows=[1, 70_000])
    changed = ("Ada: my flat is number 7", "", *TEXTS[2:])
    np.testing.assert_array_equal(confidences(held), wanted(changed))
    held.write(rows=[0], texts=["Is it?"])  # of no use, in place of one that was
    np.testing.assert_array_equal(confidences(held), wanted(("", "", *TEXTS[2:])))


def saved(path: Path, held: _core.StatementColumn, count: int) -> None:
    index = MadeWith(analyzer="simple", variant="lucene", k1=1.2, b=0.75, delta=0.0).new_index()
    _core.save_store_snapshot(
        index=index,
        columns=_core.Columns(),
        ids=[str(n) for n in range(count)],
        statements=held,
        parts=[],
        vectors=None,
        vector_graph=b"",
        path=str(path),
        identity="it",
        revision=3,
    )


def opened(path: Path) -> _core.StatementColumn:
    snapshot = _core.StoreSnapshot(path=str(path), identity="it", own_stamp="")
    return snapshot.statements(reader=reader())


def test_a_snapshot_has_them_and_what_changes_later_leaves_it_alone(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    saved(first, column(), len(TEXTS))
    held = opened(first)
    np.testing.assert_array_equal(confidences(held), wanted())
    held.write(rows=[0, 9], texts=["I work at Initech.", "I left Initech and work at Umbrella."])
    held.erase(rows=[2])
    changed = (
        "I work at Initech.",
        TEXTS[1],
        "",
        *TEXTS[3:],
        "",
        "I left Initech and work at Umbrella.",
    )
    np.testing.assert_array_equal(confidences(held, 10), wanted(changed))
    saved(second, held, 10)
    np.testing.assert_array_equal(confidences(opened(second), 10), wanted(changed))
    np.testing.assert_array_equal(confidences(opened(first)), wanted())


def test_a_snapshot_of_any_bytes_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "snapshot"
    saved(path, column(), len(TEXTS))
    whole = path.read_bytes()
    refused = 0
    for place in range(0, len(whole), 37):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x5A]) + whole[place + 1 :])
        try:
            np.testing.assert_array_equal(confidences(opened(path)), wanted())  # in a gap
        except SnapshotDamaged:
            refused += 1
    assert refused > 10


def test_readers_beside_a_writer_find_the_former_or_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "snapshot"
    saved(path, column(), len(TEXTS))
    held = opened(path)
    former = float(wanted()[1])
    other = "I quit Acme, I work at Umbrella now."
    later = float(wanted((TEXTS[0], other))[1])
    assert later not in (0.0, former)
    found: set[float] = set()
    is_over = threading.Event()
    pair = {"older": ROWS[:1], "newer": ROWS[1:2]}

    def read() -> None:
        while not is_over.is_set():
            found.add(float(held.confidences(model=model(), **pair)[0]))

    readers = [threading.Thread(target=read) for _ in range(2)]
    for one in readers:
        one.start()
    for text in (other, TEXTS[1]) * 200:
        held.write(rows=[1], texts=[text])
    is_over.set()
    for one in readers:
        one.join()
    assert found <= {former, later}


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda held: held.write(rows=[0, 1], texts=["x"]), "texts: expected 2, one a row, got 1"),
        (lambda held: held.write(rows=[1 << 28], texts=["x y"]), "rows: must be below 268435456"),
        (
            lambda held: held.confidences(model=model(), older=ROWS[:2], newer=ROWS[:1]),
            "newer: expected 2, one for each of older, got 1",
        ),
    ],
)
def test_wrong_arguments(act: object, message: str) -> None:
    held = column()
    with pytest.raises(ValueError, match=message):
        act(held)  # type: ignore[operator]
    np.testing.assert_array_equal(confidences(held), wanted())
