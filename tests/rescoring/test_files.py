"""A file scored part by part is the table scored whole, however often it is cut off."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oneiros import profiles
from oneiros.rescoring.files import FileReport, sources
from oneiros.rescoring.files import rescore as rescoring
from tests.rescoring.files import PROFILES, leftovers, memories, read, run, write
from tests.rescoring.forms import NOW, rescore

sizes_of_groups = st.lists(st.integers(0, 9), max_size=9)


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of seven rows: neighbours are joined, larger row groups come in several pieces."""
    monkeypatch.setattr(sources, "BLOCK", 7)
    monkeypatch.setattr(sources, "_PART_BYTES", 3_000)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".feather"])
@given(sizes=sizes_of_groups)
@settings(max_examples=25, deadline=None)
def test_streamed_is_whole(suffix: str, sizes: list[int]) -> None:
    table = memories(sum(sizes))
    with tempfile.TemporaryDirectory() as folder:
        source = write(Path(folder, f"in{suffix}"), table, sizes)
        target = Path(folder, f"out{suffix}")
        report = run(source, target)
        want = rescore(table, PROFILES, NOW)
        got = read(target)
        assert got.column_names == ["id", "reverie", "reverie-capped"]
        for name in got.column_names:
            assert got[name].to_pylist() == want[name].to_pylist()
        assert report.rows == len(table)
        assert report.parts == report.parts_total
        assert leftovers(Path(folder)) == []
        assert target.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_small_neighbours_are_scored_and_written_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, suffix: str
) -> None:
    monkeypatch.undo()
    source = write(tmp_path / f"in{suffix}", memories(600), [2] * 300)
    report = run(source, tmp_path / "out.parquet")
    assert (report.rows, report.parts_total) == (600, 1)
    assert pq.ParquetFile(tmp_path / "out.parquet").num_row_groups == 1
    want = rescore(memories(600), PROFILES, NOW)
    assert read(tmp_path / "out.parquet")["reverie"].to_pylist() == want["reverie"].to_pylist()


class Kill(KeyboardInterrupt):
    """Ctrl-C at a moment of the test's choice."""


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@given(sizes=sizes_of_groups, chance=st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_resumed_is_uninterrupted(suffix: str, sizes: list[int], chance: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = write(Path(folder, f"in{suffix}"), memories(sum(sizes)), sizes)
        straight, resumed = Path(folder, f"a{suffix}"), Path(folder, f"b{suffix}")
        run(source, straight)
        dice = random.Random(chance)

        def advance(_: int) -> None:
            if dice.random() < 0.3:
                raise Kill

        kept = 0
        for _ in range(100):
            report = FileReport()
            try:
                run(source, resumed, advance=advance, report=report)
                break
            except Kill:
                assert not resumed.exists()
                assert report.rows >= kept  # what was finished stays so
                kept = report.rows
        assert resumed.read_bytes() == straight.read_bytes()
        assert leftovers(Path(folder)) == []


def interrupted(source: Path, target: Path, after: int, **options: Any) -> None:
    """Begin a run and stop it when so many rows are scored."""
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        if done >= after:
            raise Kill

    with pytest.raises(Kill):
        run(source, target, advance=advance, **options)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write(tmp_path / "in.parquet", memories(50), [10] * 5)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "out.parquet"


def test_a_run_goes_on_with_the_clock_it_began_with(source: Path, target: Path) -> None:
    interrupted(source, target, 25, now=None)
    state = leftovers(target.parent)
    assert state == [".out.parquet.rescore"]
    report = run(source, target, now=None)
    assert report.restarted == ""
    assert report.rows_before == 20
    assert report.now is not None
    want = rescore(memories(50), PROFILES, report.now)
    assert read(target)["reverie"].to_pylist() == want["reverie"].to_pylist()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"now": NOW + 1}, "another --now"),
        ({"profiles": PROFILES[:1]}, "other profiles, or one was changed"),
        (
            {"profiles": [PROFILES[0], PROFILES[1].replace(factors=PROFILES[1].factors[:2])]},
            "other profiles, or one was changed",
        ),
        ({"invalid": "nan"}, "another --invalid"),
    ],
)
def test_another_task_starts_over_and_says_why(
    source: Path, target: Path, change: dict[str, Any], words: str
) -> None:
    interrupted(source, target, 25)
    report = run(source, target, **change)
    assert report.restarted == words
    assert report.rows_before == 0
    run(source, target.with_name("straight.parquet"), **change)
    assert target.read_bytes() == target.with_name("straight.parquet").read_bytes()


def test_a_changed_input_starts_over(source: Path, target: Path) -> None:
    interrupted(source, target, 25)
    write(source, memories(50, seed=4), [10] * 5)
    report = run(source, target)
    assert report.restarted == "the input changed"
    want = rescore(memories(50, seed=4), PROFILES, NOW)
    assert read(target)["reverie"].to_pylist() == want["reverie"].to_pylist()


def test_the_same_bytes_at_the_same_time_but_other_row_groups_start_over(
    source: Path, target: Path
) -> None:
    interrupted(source, target, 25)
    state = source.stat()
    write(source, memories(50), [5] * 10)
    with source.open("r+b") as file:
        file.truncate(source.stat().st_size)
    os.utime(source, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert run(source, target).restarted == "the input changed"


@pytest.mark.parametrize(
    "damage", ["torn line", "flipped bit", "lost scores", "no journal", "junk"]
)
def test_a_damaged_sidecar_costs_time_and_nothing_else(
    source: Path, target: Path, damage: str
) -> None:
    straight = target.with_name("straight.parquet")
    run(source, straight)
    interrupted(source, target, 35)
    folder = target.with_name(".out.parquet.rescore")
    journal, scores = folder / "journal", folder / "scores"
    if damage == "torn line":
        journal.write_bytes(journal.read_bytes()[:-3])
    elif damage == "flipped bit":
        held = bytearray(scores.read_bytes())
        held[len(held) // 2] ^= 1
        scores.write_bytes(held)
    elif damage == "lost scores":
        os.truncate(scores, 100)
    elif damage == "no journal":
        journal.unlink()
    else:
        journal.write_bytes(b'{"sizes": [-1]}\n\xff\xfe\x00')
        (folder / "draft").write_bytes(b"half an output")
    report = run(source, target)
    assert report.rows == 50
    assert target.read_bytes() == straight.read_bytes()
    assert leftovers(target.parent) == []


@pytest.mark.parametrize(
    "line",
    [
        b'{"sizes":[-5],"checksum":0,"future_counts":[0,0],"unscored":[0,0]}\n',
        b'{"sizes":[99999999999],"checksum":0,"future_counts":[0,0],"unscored":[0,0]}\n',
        b'{"sizes":["a"],"checksum":0,"future_counts":[0,0],"unscored":[0,0]}\n',
        b"[]\n",
    ],
)
def test_what_a_journal_says_is_not_believed(source: Path, target: Path, line: bytes) -> None:
    interrupted(source, target, 35)
    journal = target.with_name(".out.parquet.rescore") / "journal"
    journal.write_bytes(journal.read_bytes().splitlines(keepends=True)[0] + line)
    assert run(source, target).rows_before == 0


def test_two_runs_on_one_output_are_one_too_many(source: Path, target: Path) -> None:
    seen: list[str] = []

    def advance(count: int) -> None:
        if count and not seen:
            with pytest.raises(BlockingIOError, match="another process is writing this file"):
                run(source, target)
            seen.append("refused")

    run(source, target, advance=advance)
    assert seen == ["refused"]
    assert read(target).num_rows == 50


def test_an_output_stays_as_it_is_until_the_new_one_is_whole(source: Path, target: Path) -> None:
    target.write_bytes(b"before")
    interrupted(source, target, 25)
    assert target.read_bytes() == b"before"
    run(source, target)
    assert read(target).num_rows == 50


def test_a_broken_rule_leaves_nothing_behind(source: Path, target: Path) -> None:
    table = memories(50).set_column(3, "depth", pa.array([2] * 44 + [9] * 6, pa.uint8()))
    write(source, table, [10] * 5)
    with pytest.raises(ValueError, match=r"depth: must be an int in \[1, 3\], got 9 in row 44"):
        run(source, target)
    assert leftovers(target.parent) == []
    assert not target.exists()
    report = run(source, target, invalid="nan")
    assert report.unscored == {"reverie": 6, "reverie-capped": 6}
    assert np.isnan(read(target)["reverie"].to_numpy()[44:]).all()


def test_rows_are_counted_through_a_resumed_file(source: Path, target: Path) -> None:
    table = memories(50).set_column(3, "depth", pa.array([2] * 44 + [9] * 6, pa.uint8()))
    write(source, table, [10] * 5)
    interrupted(source, target, 25)
    with pytest.raises(ValueError, match="got 9 in row 44"):
        run(source, target)


def test_an_input_that_changes_meanwhile_gives_no_output(source: Path, target: Path) -> None:
    def advance(count: int) -> None:
        if count:
            os.utime(source, ns=(0, 0))

    with pytest.raises(ValueError, match=r"in.parquet: changed while it was read; run again"):
        run(source, target, advance=advance)
    assert not target.exists()


def test_ids_of_any_type_go_through(tmp_path: Path) -> None:
    table = memories(20)
    for place, ids in enumerate(
        (
            pa.array(range(20)),
            table["id"].combine_chunks().dictionary_encode(),
            pa.array([None, *range(19)]),
            pa.array([f"{row:016}".encode() for row in range(20)], pa.binary(16)),
        )
    ):
        source = write(tmp_path / f"{place}.parquet", table.set_column(0, "id", ids), [8, 8, 4])
        for suffix in (".parquet", ".arrow"):
            run(source, tmp_path / f"{place}-out{suffix}")
            assert read(tmp_path / f"{place}-out{suffix}")["id"].to_pylist() == ids.to_pylist()


def test_without_ids_there_are_scores_alone(tmp_path: Path, target: Path) -> None:
    source = write(tmp_path / "in.parquet", memories(20).drop_columns(["id"]), [20])
    run(source, target, profiles=PROFILES[:1])
    assert read(target).column_names == ["score"]


def test_what_came_about_stands_in_the_file(source: Path, target: Path) -> None:
    run(source, target)
    told = pq.read_schema(target).metadata
    assert told[b"oneiros.profile.reverie"].decode() == profiles.get("reverie").hash
    assert float(told[b"oneiros.now"]) == NOW


def test_a_file_that_is_none(tmp_path: Path, target: Path) -> None:
    for name in ("in.parquet", "in.arrow"):
        path = tmp_path / name
        for held in (b"", b"PAR1", b"PAR1" * 9, b"ARROW1" * 9, os.urandom(100)):
            path.write_bytes(held)
            with pytest.raises(ValueError, match=rf"{name}: not a .* file, or a damaged one"):
                run(path, target)
        with pytest.raises(FileNotFoundError):
            run(tmp_path / f"no-{name}", target)
    path = tmp_path / "in.txt"
    path.write_bytes(b"")
    with pytest.raises(ValueError, match=r"in.txt: expected a file named .parquet, .arrow"):
        run(path, target)
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_a_file_cut_off_anywhere_is_refused(tmp_path: Path, suffix: str) -> None:
    source = write(tmp_path / f"in{suffix}", memories(30), [10, 10, 10])
    held = source.read_bytes()
    for cut in range(0, len(held), max(1, len(held) // 97)):
        source.write_bytes(held[:cut])
        with pytest.raises(ValueError, match=f"in{suffix}: "):
            run(source, tmp_path / "out.parquet")
    assert leftovers(tmp_path) == []


def test_a_damaged_page_is_told_with_its_row_groups(tmp_path: Path, target: Path) -> None:
    source = write(tmp_path / "in.parquet", memories(30), [10, 10, 10])
    column = pq.ParquetFile(source).metadata.row_group(1).column(1)
    held = bytearray(source.read_bytes())
    start = column.dictionary_page_offset or column.data_page_offset
    held[start : start + 8] = b"\xff" * 8
    source.write_bytes(held)
    with pytest.raises(ValueError, match=r"in.parquet: damaged in row group 1: "):
        run(source, target)


@given(flips=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 7)), min_size=1, max_size=5))
@settings(max_examples=60, deadline=None)
def test_flipped_bits_never_crash(flips: list[tuple[int, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = write(Path(folder, "in.parquet"), memories(30), [10, 10, 10])
        held = bytearray(source.read_bytes())
        for place, bit in flips:
            held[place % len(held)] ^= 1 << bit
        source.write_bytes(held)
        try:
            report = run(source, Path(folder, "out.parquet"), invalid="nan")
        except (ValueError, TypeError):
            assert not Path(folder, "out.parquet").exists()
        else:
            assert report.rows == read(Path(folder, "out.parquet")).num_rows


def test_ten_thousand_row_groups_of_one_row(tmp_path: Path, target: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(sources, "BLOCK", 1000)
    source = write(tmp_path / "in.parquet", memories(3000), [1] * 3000)
    report = run(source, target)
    assert report.rows == 3000
    assert report.parts == 3


def test_columns_that_are_not_read_may_be_anything(tmp_path: Path, target: Path) -> None:
    table = memories(20).append_column("deep", pa.array([[{"a": [1, 2]}]] * 20))
    source = write(tmp_path / "in.parquet", table, [10, 10])
    assert run(source, target).rows == 20
    nested = table.set_column(2, "strength", pa.array([[0.5]] * 20))
    source = write(tmp_path / "nested.parquet", nested, [10, 10])
    with pytest.raises(TypeError, match="strength: expected a column of numbers, got list"):
        run(source, target)


def test_a_file_without_anything_to_score_by(tmp_path: Path, target: Path) -> None:
    source = write(tmp_path / "in.parquet", pa.table({"id": ["a"], "kraft": [0.5]}), [1])
    with pytest.raises(ValueError, match=r"lacks .*, which reverie, reverie-capped multiply by"):
        run(source, target)
    assert leftovers(tmp_path) == []


def test_outputs_that_cannot_be(source: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.parquet"
    link.symlink_to(tmp_path / "elsewhere.parquet")
    folder = tmp_path / "folder.parquet"
    folder.mkdir()
    for target, words in (
        (source, "input and output are the same file"),
        (link, "is a symbolic link"),
        (folder, "is a folder"),
        (tmp_path / "out.tsv", "expected a file named .parquet, .arrow, .feather"),
    ):
        with pytest.raises(ValueError, match=words):
            run(source, target)
    with pytest.raises(FileNotFoundError):
        run(source, tmp_path / "nowhere" / "out.parquet")
    hard = tmp_path / "hard.parquet"
    hard.hardlink_to(source)
    with pytest.raises(ValueError, match="the same file"):
        run(source, hard)


def test_something_else_may_have_the_name_of_the_sidecar(source: Path, target: Path) -> None:
    sidecar = target.with_name(".out.parquet.rescore")
    sidecar.write_text("mine")
    with pytest.raises(FileExistsError):
        run(source, target)
    sidecar.unlink()
    elsewhere = target.with_name("elsewhere")
    elsewhere.mkdir()
    sidecar.symlink_to(elsewhere)
    with pytest.raises(OSError, match=r"directory|symbolic"):
        run(source, target)
    assert list(elsewhere.iterdir()) == []


def test_an_error_while_writing_keeps_what_is_scored(
    source: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(rescoring, "open_target", full)
    with pytest.raises(OSError, match="No space left"):
        run(source, target)
    monkeypatch.undo()
    monkeypatch.setattr(sources, "BLOCK", 7)
    report = run(source, target)
    assert report.rows_before == 50
    want = rescore(memories(50), PROFILES, NOW)
    assert read(target)["reverie"].to_pylist() == want["reverie"].to_pylist()


def test_a_disk_that_is_full_at_once_is_named_and_nothing_is_left(
    source: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "ftruncate", full)
    with pytest.raises(OSError, match="No space left") as caught:
        run(source, target)
    assert caught.value.filename == str(target)
    assert [path.name for path in target.parent.iterdir()] == [source.name]


def test_no_memory_is_needed_for_a_large_file(
    tmp_path: Path, target: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(sources, "BLOCK", 2**14)
    size = 400_000
    table = memories(1000)
    source = tmp_path / "in.parquet"
    with pq.ParquetWriter(source, table.schema) as writer:
        for _ in range(4):  # row groups larger than a block, too
            writer.write_table(pa.concat_tables([table] * 100), row_group_size=10**6)
    pool = pa.default_memory_pool()
    before = pool.bytes_allocated()
    most = 0

    def advance(_: int) -> None:
        nonlocal most
        most = max(most, pool.bytes_allocated() - before)

    assert run(source, target, advance=advance).rows == size
    assert most < 12 * 2**20  # the columns read hold 23 bytes a row: 9 MB in all
    shutil.rmtree(tmp_path, ignore_errors=True)
