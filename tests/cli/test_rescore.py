"""``oneiros rescore`` and ``oneiros promote``: files, figures, and everything that cuts them off."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import random
import resource
import signal
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

import oneiros
from oneiros.display.tables import columns_of
from oneiros.engine import Engine
from oneiros.rescoring.rescore import rescore
from tests.cli.conftest import Run
from tests.rescoring.files import leftovers, memories, read, write
from tests.rescoring.forms import DAY, NOW

CLOCK = "2025-06-15T15:06:40Z"  # NOW
ONEIROS = (sys.executable, "-m", "oneiros.cli")


def facts(size: int) -> pa.Table:
    drawn = np.random.default_rng(9)
    return pa.table(
        {
            "id": [f"f{row}" for row in range(size)],
            "certainty": drawn.random(size).astype(np.float32),
            "impact": drawn.random(size).astype(np.float32),
            "created_at": NOW - drawn.uniform(0, 60, size) * DAY,
            "access_count": drawn.integers(0, 9, size).astype(np.uint32),
            "old": drawn.random(size),
        }
    )


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write(tmp_path / "in.parquet", facts(100), [40, 40, 20])


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "out.parquet"


def test_scores_go_into_a_file(run: Run, source: Path, target: Path) -> None:
    outcome = run("rescore", source, target, "--profile", "ciar", "--now", CLOCK)
    assert outcome.exit_code == 0
    assert outcome.stdout.startswith("100 rows scored in ")
    assert f"as of 2025-06-15T15:06:40+00:00: {target}" in outcome.stdout
    assert outcome.stderr == ""
    assert read(target).equals(rescore(facts(100), "ciar", NOW).cast(read(target).schema))


def test_a_folder_in_which_nothing_can_be_written_is_named(
    run: Run, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = source.parent / "missing"
    outcome = run("rescore", source, missing / "out.csv")
    words = f"error: OUT: {missing}: no such folder\n"
    assert (outcome.exit_code, outcome.stdout, outcome.stderr) == (2, "", words)
    monkeypatch.setattr(os, "access", lambda _, mode: not mode & os.W_OK)
    outcome = run("rescore", source, source.parent / "out.csv")
    words = f"error: OUT: {source.parent}: nothing can be written in this folder\n"
    assert (outcome.exit_code, outcome.stdout, outcome.stderr) == (2, "", words)


def test_a_folder_becomes_a_folder(run: Run, tmp_path: Path) -> None:
    folder, target = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    for number in range(3):
        part = facts(100).slice(40 * number, 40)
        write(folder / f"{number}.parquet", part, [part.num_rows])
    options = ("--profile", "ciar", "--now", CLOCK, "--keep-columns", "old")
    outcome = run("rescore", folder, target, *options)
    assert outcome.exit_code == 0
    assert outcome.stdout.startswith("100 rows scored in ")
    assert outcome.stderr == ""
    scored = pq.read_table(target)
    assert scored.column_names == ["id", "old", "score"]
    expected = rescore(facts(100), "ciar", NOW)["score"].to_numpy()
    assert scored["score"].to_numpy().tobytes() == expected.tobytes()
    again = run("rescore", folder, target, *options)
    assert (again.exit_code, again.stdout) == (2, "")
    assert "out: exists; remove it" in again.stderr


def test_folders_and_ray_have_their_rules(
    run: Run, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in").mkdir()
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.chdir(tmp_path / "in")
    for arguments, code, words in (
        ((tmp_path / "in", tmp_path / "out"), 2, "in: has no .parquet file"),
        ((".", tmp_path / "out"), 2, "error: .: has no .parquet file"),
        ((tmp_path / "in", "--compare", "ciar", "reverie"), 2, "--compare: IN must be a file"),
        ((source, "--compare", "ciar", "reverie", "--ray"), 2, "--ray: needs OUT"),
        ((source, tmp_path / "out", "--ray"), 1, "pip install 'oneiros[ray]'"),
    ):
        outcome = run("rescore", *arguments, "--now", CLOCK)
        assert (outcome.exit_code, outcome.stdout) == (code, "")
        assert words in outcome.stderr
    assert not (tmp_path / "out").exists()


def test_several_profiles_presets_and_files(run: Run, source: Path, tmp_path: Path) -> None:
    toml = tmp_path / "own.toml"
    toml.write_text(oneiros.profiles.get("ciar").replace(name="own").to_toml())
    presets = tmp_path / "presets.yaml"
    presets.write_text("ciar:\n  presets:\n    slow:\n      lambda_decay: 0.001\n")
    wanted = ("ciar", "ciar:knowledge_base", "ciar-shipped", str(toml), f"{presets}:slow")
    options = [option for name in wanted for option in ("--profile", name)]
    outcome = run("rescore", source, tmp_path / "out.arrow", *options, "--now", CLOCK, "--json")
    assert outcome.exit_code == 0
    names = ["ciar", "ciar-knowledge_base", "ciar-shipped", "own", "ciar-slow"]
    assert list(outcome.document["profiles"]) == names
    got = read(tmp_path / "out.arrow")
    assert got.column_names == ["id", *names]
    assert got["own"].equals(got["ciar"])
    base = oneiros.profiles.get("ciar", preset="knowledge_base")
    np.testing.assert_array_equal(
        got["ciar-knowledge_base"].to_numpy(), rescore(facts(100), base, NOW)["score"].to_numpy()
    )


def test_the_document_tells_what_was_done(run: Run, source: Path, target: Path) -> None:
    table = facts(100).drop_columns(["impact"])
    write(source, table, [50, 50])
    found = run(
        "rescore",
        source,
        target,
        "--profile",
        "ciar-shipped",
        "--now",
        "2025-06-01T00:00:00Z",
        "--missing",
        "default",
        "--json",
    ).document
    assert found["rows"] == 100
    assert found["rows_before"] == 0
    assert found["parts"] == found["parts_total"] == 1
    assert found["missing"] == ["impact"]
    assert found["now"] == "2025-06-01T00:00:00+00:00"
    now = datetime.fromisoformat(found["now"]).timestamp()
    future = sum(when > now for when in table["created_at"].to_pylist())
    assert found["future_counts"] == {"ciar-shipped": future} != {"ciar-shipped": 0}
    assert found["unscored"] == {"ciar-shipped": 0}
    options = ("--profile", "ciar-shipped", "--now", "2025-06-01T00:00:00Z", "--missing", "default")
    people = run("rescore", source, target, *options)
    assert "not in the file, so at their defaults: impact" in people.stderr
    assert f"ciar-shipped: {future} rows with times after now, taken as age 0" in people.stderr


def test_a_column_that_is_missing_stops_it_unless_its_default_is_asked_for(
    run: Run, source: Path, target: Path
) -> None:
    table = facts(100).rename_columns(["id", "conf", "impact", "created_at", "access_count", "old"])
    write(source, table, [50, 50])
    for arguments in ((target,), ("--compare", "ciar", "column:old")):
        outcome = run("rescore", source, *arguments, "--now", CLOCK)
        assert outcome.exit_code == 2
        assert outcome.stdout == ""
        assert outcome.stderr == (
            f"error: {source}: table: lacks certainty, which ciar multiplies by; has id, conf, "
            "impact, created_at, access_count, old; with missing=default, their defaults count\n"
        )
        assert not target.exists()
        outcome = run("rescore", source, *arguments, "--now", CLOCK, "--missing", "default")
        assert outcome.exit_code == 0
        target.unlink(missing_ok=True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "give OUT, --compare A B, or both"),
        (["out.tsv"], "expected a file named .parquet, .arrow, .feather, .csv"),
        (["out.parquet", "--profile", "nobody"], "--profile: name: no profile is called 'nobody'"),
        (["out.parquet", "--profile", "ciar:x"], "--profile: preset: profile 'ciar' has none"),
        (["out.parquet", "--profile", "no.toml"], "no.toml: no such file"),
        (["out.parquet", "--profile", "ciar", "--profile", "ciar"], "each of another name"),
        (["out.parquet", "--now", "2025-01-01"], "--now: must be aware"),
        (["out.parquet", "--threads", "0"], "--threads: must be in 1 to 256, got 0"),
        (["out.parquet", "--threads", "257"], "--threads: must be in 1 to 256, got 257"),
        (
            ["--compare", "ciar", "column:new"],
            "in.parquet: column 'new': expected once in the file",
        ),
        (["--compare", "ciar", "nobody"], "--compare: name: no profile is called 'nobody'"),
        (["--compare", "ciar", "ciar", "--threshold", "2"], "threshold: must be"),
        (["out.parquet", "--threshold", "0.5"], "--threshold: needs --compare"),
        (["out.parquet", "--top", "5"], "--top: needs --compare"),
        (["--compare", "ciar", "ciar", "--profile", "ciar"], "--profile: needs OUT"),
        (["--compare", "ciar", "ciar", "--keep-columns", "old"], "--keep-columns: needs OUT"),
        (["out.parquet", "--keep-columns", "new"], "keep: in.parquet has no column 'new', only "),
        (["out.parquet", "--profile", "reverie"], "in.parquet: now: must be"),
    ][:-1],
)
def test_wrong_usage_is_told_in_one_line(
    run: Run, source: Path, arguments: list[str], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(source.parent)
    outcome = run("rescore", source.name, *arguments)
    assert outcome.exit_code in (1, 2)
    assert words in outcome.stderr.replace("\n", " ")
    assert outcome.stdout == ""
    assert leftovers(source.parent) == []


def test_a_broken_rule_names_file_field_row_and_rule(run: Run, source: Path, target: Path) -> None:
    table = facts(100)
    bad = table["certainty"].to_numpy().copy()
    bad[77] = 1.5
    write(source, table.set_column(1, "certainty", pa.array(bad)), [50, 50])
    outcome = run("rescore", source, target, "--now", CLOCK)
    assert outcome.exit_code == 2
    assert outcome.stderr == (
        f"error: {source}: certainty: must be a number in [0, 1], got 1.5 in row 77\n"
    )
    assert not target.exists()
    outcome = run("rescore", source, target, "--now", CLOCK, "--invalid", "nan", "--json")
    assert outcome.document["unscored"] == {"ciar": 1}
    outcome = run("rescore", source, target, "--now", CLOCK, "--invalid", "clamp", "--json")
    assert outcome.document["unscored"] == {"ciar": 0}


def test_a_comparison_is_shown_and_is_a_document(run: Run, source: Path) -> None:
    arguments = ("rescore", source, "--compare", "ciar", "ciar-shipped", "--now", CLOCK)
    outcome = run(*arguments)
    assert outcome.exit_code == 0
    for words in (
        "100 of 100 rows have both scores",
        "only by ciar >= 0.6",
        "Kendall's tau-b",
        "top 10 in common",
        "median",
        "0.6 to 0.7",
    ):
        assert words in outcome.stdout
    found = run(*arguments, "--json", "--top", "7").document["comparison"]
    scores = [
        rescore(facts(100), name, NOW)["score"].to_numpy() for name in ("ciar", "ciar-shipped")
    ]
    before, after = (each >= 0.6 for each in scores)
    decisions = found["decisions"]
    assert decisions["both"] == (before & after).sum()
    assert decisions["only_left"] == (before & ~after).sum()
    assert decisions["only_right"] == (after & ~before).sum()
    assert decisions["changed_rows"] == np.flatnonzero(before != after)[:10].tolist()
    assert list(found["top_overlap"]) == ["7"]
    assert -1 <= found["kendall_tau"] <= 1


@pytest.mark.parametrize("width", [80, 60, 34])
def test_a_comparison_of_many_rows_is_not_cut(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    count = 200_000
    scores = {"old": np.full(count, 0.05), "new": np.arange(count) / count}
    path = write(tmp_path / "in.parquet", pa.table(scores), [count])
    shown = run("rescore", path, "--compare", "column:old", "column:new", "--threshold", "0.5")
    assert shown.exit_code == 0
    assert max(map(columns_of, shown.stdout.splitlines())) <= width
    assert "…" not in shown.stdout
    for words in ("without (NaN)", "0.0 to 0.1", " 200000", " 20000", "changed, first rows:"):
        assert words in shown.stdout


def test_scores_of_the_past_compare_with_a_profile(run: Run, source: Path, target: Path) -> None:
    outcome = run(
        "rescore", source, target, "--compare", "column:old", "ciar", "--now", CLOCK, "--json"
    )
    found = outcome.document
    assert found["rows"] == 100
    assert found["comparison"]["left"]["name"] == "old"
    assert found["comparison"]["left"]["threshold"] == 0.6  # the other side's
    assert found["comparison"]["left"]["mean"] == pytest.approx(
        np.mean(facts(100)["old"].to_numpy())
    )
    assert target.exists()
    nobody = run("rescore", source, "--compare", "column:old", "column:old", "--json")
    assert nobody.document["comparison"]["decisions"] is None
    shown = run("rescore", source, "--compare", "column:old", "column:old")
    assert "no promotion: no threshold" in shown.stdout


# -- what cuts it off ------------------------------------------------------------------------------


PARTS, ROWS = 12, 600_000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of twelve row groups, each a part of its own: about a second of work."""
    path = tmp_path_factory.mktemp("large") / "large.parquet"
    table = memories(ROWS // 6).select(["updated_at", "strength", "depth"])
    table = pa.concat_tables([table] * 6)
    with pq.ParquetWriter(path, table.schema) as writer:
        for _ in range(PARTS):
            writer.write_table(table, row_group_size=ROWS)
    return path


def command(source: Path, target: Path) -> list[str]:
    options = ["--profile", "reverie", "--profile", "reverie-capped", "--now", CLOCK]
    options += ["--missing", "default"]
    return [*ONEIROS, "rescore", str(source), str(target), *options, "--json"]


def parts_done(target: Path) -> int:
    journal = target.with_name(f".{target.name}.rescore") / "journal"
    return journal.read_bytes().count(b"\n") - 1 if journal.exists() else -1


def begun(source: Path, target: Path, parts: int) -> subprocess.Popen[str]:
    """Start a run, and return when so many parts of it are done."""
    process = subprocess.Popen(
        command(source, target), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while parts_done(target) < parts and process.poll() is None:
        time.sleep(0.002)
    return process


def finished(source: Path, target: Path) -> dict[str, Any]:
    done = subprocess.run(command(source, target), check=True, capture_output=True, text=True)
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def test_ctrl_c_is_heard_at_once_and_the_same_command_goes_on(large: Path, target: Path) -> None:
    process = begun(large, target, 3)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert "interrupted: " in err
    assert "the same command goes on from there" in err
    assert not target.exists()
    assert leftovers(target.parent) == [".out.parquet.rescore"]
    kept = parts_done(target)
    found = finished(large, target)
    assert found["rows_before"] == kept * ROWS
    assert found["rows"] == PARTS * ROWS
    assert leftovers(target.parent) == []
    straight = target.with_name("straight.parquet")
    finished(large, straight)
    assert target.read_bytes() == straight.read_bytes()


def test_killed_at_any_moment_it_ends_with_the_same_bytes(large: Path, target: Path) -> None:
    straight = target.with_name("straight.parquet")
    finished(large, straight)
    dice = random.Random(11)
    for _ in range(4):
        process = begun(large, target, max(0, parts_done(target)) + dice.randrange(4))
        time.sleep(dice.random() / 20)
        process.kill()
        process.communicate()
        if target.exists():
            break
    finished(large, target)
    assert target.read_bytes() == straight.read_bytes()
    assert leftovers(target.parent) == []


def test_a_second_process_is_refused(large: Path, target: Path) -> None:
    process = begun(large, target, 1)
    process.send_signal(signal.SIGSTOP)  # or it may be done before the second begins
    second = subprocess.run(command(large, target), check=False, capture_output=True, text=True)
    process.send_signal(signal.SIGCONT)
    assert second.returncode == 1
    assert second.stderr == f"error: {target}: another process is writing this file\n"
    process.communicate(timeout=120)
    assert process.returncode == 0
    assert read(target).num_rows == PARTS * ROWS


def test_a_full_disk_is_told_and_costs_nothing_done(source: Path, target: Path) -> None:
    write(source, memories(60_000).drop_columns(["id"]), [20_000] * 3)

    def limited(bytes_allowed: int) -> subprocess.CompletedProcess[str]:
        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_allowed, bytes_allowed))

        return subprocess.run(
            command(source, target), check=False, capture_output=True, text=True, preexec_fn=limit
        )

    none = limited(100_000)  # not even the first part
    assert none.returncode == 1
    assert "File too large" in none.stderr
    assert none.stderr.count("\n") == 1
    assert not target.exists()
    some = limited(600_000)  # the scores, but not the output
    assert some.returncode == 1
    assert "60000 rows scored, 1 of 1 part; the same command goes on" in some.stderr
    assert not target.exists()
    assert finished(source, target)["rows_before"] == 60_000
    assert leftovers(target.parent) == []


def test_progress_is_shown_on_a_terminal(source: Path, target: Path) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*ONEIROS, "rescore", str(source), str(target), "--json", "--now", CLOCK],
        stdout=subprocess.PIPE,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        shown = bytearray()
        while chunk := _read(ours):
            shown += chunk
        assert process.stdout is not None
        assert json.loads(process.stdout.read())["rows"] == 100
    os.close(ours)
    assert b"scoring" in shown


def test_rows_are_counted_for_a_terminal_alone(
    run: Run, source: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[Path] = []
    monkeypatch.setattr("oneiros.cli.rescore.open_source", counted.append)
    assert run("rescore", source, target, "--now", CLOCK).exit_code == 0
    assert not counted  # of JSON lines all are read


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # how Linux says that the other side of a terminal is gone
        return b""


def test_a_lock_that_nobody_holds_is_no_obstacle(run: Run, source: Path, target: Path) -> None:
    folder = target.with_name(".out.parquet.rescore")
    folder.mkdir()
    descriptor = os.open(folder, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    assert run("rescore", source, target, "--now", CLOCK).exit_code == 1
    os.close(descriptor)
    assert run("rescore", source, target, "--now", CLOCK).exit_code == 0


# -- promotion -------------------------------------------------------------------------------------


@pytest.fixture
def staged(tmp_path: Path) -> Path:
    path = tmp_path / "agent.db"
    with Engine(path) as engine:
        for id, certainty in (("sure", 1.0), ("vague", 0.3)):
            engine.add("x", id=id, certainty=certainty, impact=0.9, created_at=NOW - DAY)
    return path


def test_promotion_tells_who_and_why(run: Run, staged: Path) -> None:
    dry = run("promote", "--store", staged, "--now", CLOCK, "--dry-run")
    assert dry.stdout.splitlines() == [
        "1 of 2 staged would be promoted (ciar >= 0.6)",
        "sure: 0.879 (significance 0.900, decay 0.977, reinforcement 1.000)",
    ]
    found = run("promote", "--store", staged, "--now", CLOCK, "--json").document
    assert [one["id"] for one in found["promoted"]] == ["sure"]
    assert found["considered"] == 2
    assert found["is_dry_run"] is False
    with Engine(staged) as engine:
        assert [memory.status for memory in engine.list()] == ["consolidated", "staged"]
    again = run("promote", "--store", staged, "--profile", "ciar:knowledge_base", "--now", CLOCK)
    assert again.stdout.startswith("0 of 1 staged promoted (ciar-knowledge_base >= 0.4)")


def test_promotion_that_cannot_be(run: Run, staged: Path, tmp_path: Path) -> None:
    for arguments, words in (
        (("--threshold", "0"), "threshold: must be > 0"),
        (("--profile", "reverie"), "threshold: profile 'reverie' has none"),
        (("--profile", "nobody"), "no profile is called 'nobody'"),
    ):
        outcome = run("promote", "--store", staged, *arguments)
        assert outcome.exit_code == 2
        assert words in outcome.stderr
    assert run("promote", "--store", tmp_path / "no.db").exit_code == 2


def test_csv_goes_in_and_out(run: Run, source: Path, tmp_path: Path) -> None:
    csv.write_csv(read(source), tmp_path / "in.csv")
    outcome = run("rescore", tmp_path / "in.csv", tmp_path / "out.csv", "--now", CLOCK)
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    assert csv.read_csv(tmp_path / "out.csv")["id"].equals(read(source)["id"])
    told = run("rescore", tmp_path / "in.tsv", tmp_path / "out.csv")
    assert (told.exit_code, told.stderr) == (2, f"error: {tmp_path / 'in.tsv'}: no such file\n")
