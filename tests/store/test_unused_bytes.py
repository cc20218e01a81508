"""The gaps of pages in which SQLite leaves copies of rows, on files that SQLite wrote."""

from __future__ import annotations

import random
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oneiros import _core
from oneiros.store.unused_bytes import zero_unused

HEADERS = {2: 12, 5: 12, 10: 8, 13: 8}


def used_gaps(content: bytes, page_size: int) -> list[tuple[int, int]]:
    """A plain scan: begin and end of each gap of a sound file that is not all zero."""
    found = []
    for page in range(0, len(content), page_size):
        place = page or 100
        if (header := HEADERS.get(content[place])) is None:
            continue
        cells = int.from_bytes(content[place + 3 : place + 5])
        end = page + (int.from_bytes(content[place + 5 : place + 7]) or 65_536)
        begin = place + header + 2 * cells
        if any(content[begin:end]):
            found.append((begin, end))
    return found


def gaps(content: bytes, page_size: int) -> list[tuple[int, int]]:
    return _core.unused_bytes(pages=content, page_size=page_size, begins_file=True)


def written(path: Path, page_size: int, seed: int) -> apsw.Connection:
    """Write a file whose rows grew, shrank and went, so that pages were split and joined."""
    choice = random.Random(seed)
    connection = apsw.Connection(str(path))
    connection.execute(f"PRAGMA page_size = {page_size}; PRAGMA secure_delete = ON")
    connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF")
    connection.execute("CREATE TABLE one (number INTEGER PRIMARY KEY, text, bytes)")
    connection.execute("CREATE INDEX texts ON one (text)")
    connection.execute("CREATE TABLE two (name PRIMARY KEY, text) WITHOUT ROWID")
    write = connection.execute
    for step in range(600):
        number = choice.randrange(1, 120)
        text = f"word{step} " * choice.choice((1, 3, 20, 90, 400))
        if choice.random() < 0.3:
            write("DELETE FROM one WHERE number = ?", (number,))
            write("DELETE FROM two WHERE name = ?", (f"n{number}",))
        else:
            values = (number, text, choice.randbytes(choice.choice((0, 9, 200))))
            write("INSERT OR REPLACE INTO one VALUES (?, ?, ?)", values)
            write("INSERT OR REPLACE INTO two VALUES (?, ?)", (f"n{number}", text[:700]))
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    return connection


@pytest.mark.parametrize("page_size", [512, 1024, 4096, 32_768, 65_536])
def test_every_used_gap_of_a_sound_file_is_found(tmp_path: Path, page_size: int) -> None:
    total = 0
    for seed in range(4):
        path = tmp_path / f"{seed}.db"
        connection = written(path, page_size, seed)
        content = path.read_bytes()
        expected = used_gaps(content, page_size)
        assert gaps(content, page_size) == expected
        total += len(expected)
        rows = [list(connection.execute(f"SELECT * FROM {name}")) for name in ("one", "two")]
        connection.execute("BEGIN IMMEDIATE")
        assert zero_unused(connection) == len(expected)
        assert zero_unused(connection) == 0
        connection.execute("COMMIT")
        content = bytearray(content)
        for begin, end in expected:
            content[begin:end] = bytes(end - begin)
        assert path.read_bytes() == bytes(content)
        assert used_gaps(bytes(content), page_size) == []
        assert connection.execute("PRAGMA integrity_check").get == "ok"
        assert rows == [
            list(connection.execute(f"SELECT * FROM {name}")) for name in ("one", "two")
        ]
        connection.close()
    assert total > 0


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("pages") / "sound.db"
    written(path, 1024, 7).close()
    return path.read_bytes()


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_a_damaged_page_is_left_alone_or_keeps_its_cells(sound: bytes, data: st.DataObject) -> None:
    """Whatever bytes of headers and pointers change, no gap reaches a cell that has a pointer."""
    content = bytearray(sound)
    for _ in range(data.draw(st.integers(1, 4))):
        page = 1024 * data.draw(st.integers(0, len(content) // 1024 - 1))
        place = page + data.draw(st.integers(0, 40)) + (0 if page else 100)
        content[place] = data.draw(st.integers(0, 255))
    for begin, end in gaps(bytes(content), 1024):
        page = begin // 1024 * 1024
        place = page or 100
        assert page < begin < end <= page + 1024
        for pointer in range(place + HEADERS[content[place]], begin, 2):
            cell = page + int.from_bytes(content[pointer : pointer + 2])
            assert end <= cell < page + 1024


def test_a_page_whose_content_begins_too_late_stays_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "damaged.db"
    connection = written(path, 4096, 3)
    content = bytearray(path.read_bytes())
    damaged = next(page for page in range(4096, len(content), 4096) if content[page] == 13)
    content[damaged + 5 : damaged + 7] = (4096).to_bytes(2)
    path.write_bytes(content)
    expected = [gap for gap in used_gaps(bytes(content), 4096) if gap[0] // 4096 != damaged // 4096]
    connection.execute("BEGIN IMMEDIATE")
    assert zero_unused(connection) == len(expected) > 0
    connection.execute("COMMIT")
    connection.close()
    assert path.read_bytes()[damaged : damaged + 4096] == content[damaged : damaged + 4096]


@pytest.mark.parametrize("page_size", [0, 1, 511, 1000, 131_072])
def test_sizes_that_no_page_has_are_refused(page_size: int) -> None:
    with pytest.raises(ValueError, match="page_size: must be a power of two from 512 to 65536"):
        _core.unused_bytes(pages=bytes(4096), page_size=page_size, begins_file=False)


def test_a_part_of_a_page_has_no_gap() -> None:
    assert gaps(b"", 512) == []
    assert gaps(bytes(511), 512) == []
    page = bytes([13, 0, 0, 0, 0, 2, 0, 0]) + bytes([1]) * 504
    find = _core.unused_bytes
    assert find(pages=page, page_size=512, begins_file=False) == [(8, 512)]
    assert find(pages=page[:-1], page_size=512, begins_file=False) == []
