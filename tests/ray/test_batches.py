"""Scores on a cluster: the bits of one process, in any split, after any kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import oneiros.ray
from tests.rescoring.files import PROFILES, memories
from tests.rescoring.forms import NOW
from tests.rescoring.test_folders import bytes_of, folder_of, score

ray = pytest.importorskip("ray", reason="needs Ray: nox -s ray")
data = pytest.importorskip("ray.data", reason="needs ray[data]: nox -s ray")
pytestmark = pytest.mark.usefixtures("cluster")

ROWS = 4_000
NAMES = [profile.name for profile in PROFILES]
BLOCKS = (1, 2, 3, 7) if os.environ.get("ONEIROS_LONG") else (1, 7)
"""Numbers of blocks of a dataset; for each, Ray starts actors, which takes seconds."""


def rescore(source: Any, target: Any = None, **options: Any) -> Any:
    given: dict[str, Any] = {"profile": PROFILES, "now": NOW, "missing": "default"} | options
    return oneiros.ray.rescore(source, target, **given)


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_a_folder_has_the_bytes_of_one_process(tmp_path: Path, count: int) -> None:
    source = folder_of(tmp_path / "in", memories(ROWS), count)
    expected = score(source, tmp_path / "here")
    report = rescore(source, tmp_path / "there")
    assert report == expected
    assert bytes_of(tmp_path / "there") == bytes_of(tmp_path / "here")


@pytest.mark.parametrize("count", BLOCKS)
def test_a_dataset_has_the_bits_of_one_table(tmp_path: Path, count: int) -> None:
    table = memories(ROWS)
    source = folder_of(tmp_path / "in", table, count)
    dataset = data.read_parquet(str(source), override_num_blocks=count)
    scored = (
        rescore(dataset, keep=["depth"]).to_pandas().set_index("id").loc[table["id"].to_pylist()]
    )
    expected = oneiros.rescore(table, PROFILES, now=NOW, missing="default")
    assert list(scored.columns) == ["depth", *NAMES]
    for name in NAMES:
        assert scored[name].to_numpy().tobytes() == expected[name].to_numpy().tobytes()
    assert scored["depth"].tolist() == table["depth"].to_pylist()


def test_one_profile_makes_the_column_score(tmp_path: Path) -> None:
    table = memories(100)
    scored = rescore(data.from_arrow(table), profile="reverie")
    assert scored.schema().names == ["id", "score"]
    expected = oneiros.rescore(table, "reverie", now=NOW, missing="default")["score"]
    assert scored.to_pandas()["score"].tolist() == expected.to_pylist()
    source = folder_of(tmp_path / "in", table, 1)
    rescore(source, tmp_path / "out", profile="reverie")
    assert pq.read_table(tmp_path / "out")["score"].equals(expected)


def test_blocks_of_other_precision_score_alike() -> None:
    """The dtype is that of the whole dataset: a float32 block alone would be scored in float32."""
    table = memories(1_000)
    wide = table.set_column(2, "strength", table["strength"].cast(pa.float64()))
    dataset = data.from_arrow([table.slice(0, 500), wide.slice(500)])
    scored = rescore(dataset).to_pandas().set_index("id").loc[table["id"].to_pylist()]
    expected = oneiros.rescore(wide, PROFILES, now=NOW, missing="default")
    assert expected.schema.field(NAMES[0]).type == pa.float64()
    assert scored[NAMES[0]].tolist() == expected[NAMES[0]].to_pylist()


def test_wrong_values_are_named(tmp_path: Path) -> None:
    table = memories(10).set_column(2, "strength", [[0.5] * 7 + [9.0] + [0.5] * 2])
    source = folder_of(tmp_path / "in", table, 2)
    with pytest.raises(ValueError, match=r"strength: .*row 2") as caught:
        rescore(source, tmp_path / "out")
    assert type(caught.value) is ValueError
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in"]
    assert rescore(source, tmp_path / "out", invalid="nan").unscored == {NAMES[0]: 1, NAMES[1]: 1}


def test_wrong_arguments_are_refused(tmp_path: Path) -> None:
    dataset = data.from_arrow(memories(10))
    with pytest.raises(TypeError, match=r"source: .*a path or a ray\.data\.Dataset"):
        rescore(5, tmp_path / "out")
    with pytest.raises(TypeError, match="target: "):
        rescore(tmp_path)
    with pytest.raises(ValueError, match="target: a dataset has none"):
        rescore(dataset, tmp_path / "out")
    with pytest.raises(ValueError, match="keep: the dataset has no column 'none'"):
        rescore(dataset, keep=["none"])
    with pytest.raises(ValueError, match="keep: 'id' is a column of the output already"):
        rescore(dataset, keep=["id"])
    scored = data.from_arrow(memories(10).append_column(NAMES[0], [[0.5] * 10]))
    with pytest.raises(ValueError, match=f"keep: '{NAMES[0]}' is a column of the output already"):
        rescore(scored, keep=[NAMES[0]])
    with pytest.raises(TypeError, match="keep: expected a list of names"):
        rescore(dataset, keep="text")
    with pytest.raises(ValueError, match="table: lacks"):
        rescore(dataset.select_columns(["id"]))
    with pytest.raises(ValueError, match="threads: "):
        rescore(dataset, threads=0)


def test_a_column_to_keep_is_kept_once() -> None:
    kept = rescore(data.from_arrow(memories(10)), now=NOW, keep=["text", "text"], missing="default")
    assert kept.to_pandas().columns.tolist() == ["id", "text", *NAMES]


def test_tasks_that_no_machine_can_take_are_warned_of() -> None:
    with pytest.warns(RuntimeWarning, match="takes 64 CPUs, and the largest machine .* has 2"):
        rescore(data.from_arrow(memories(10)), threads=64, missing="default")


SLOW_DRIVER = """
import logging, sys, time
from pathlib import Path
import ray
import oneiros.ray
from oneiros.rescoring.files import folder
from tests.rescoring.files import PROFILES

ray.init(address=sys.argv[4], log_to_driver=False, logging_level=logging.ERROR)
finish = folder._Manifest.finish

def slow(self, place, part):
    finish(self, place, part)
    print("finished", place, flush=True)
    time.sleep(0.2)

folder._Manifest.finish = slow
report = oneiros.ray.rescore(sys.argv[1], sys.argv[2], profile=PROFILES, now=float(sys.argv[3]),
                             missing="default")
print("rows", report.rows, "before", report.rows_before, flush=True)
"""


def drive(source: Path, target: Path, *, kill_after: int | None = None) -> list[str]:
    """Run a driver in a process of its own, on the cluster of the tests; kill it after so many
    finished parts.
    """
    address = ray.get_runtime_context().gcs_address
    root = Path(__file__).parents[2]
    paths = os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])
    child = subprocess.Popen(
        [sys.executable, "-c", SLOW_DRIVER, str(source), str(target), repr(NOW), address],
        env=os.environ | {"PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert child.stdout is not None
    lines = []
    for line in child.stdout:
        lines.append(line.strip())
        if (
            kill_after is not None
            and sum(each.startswith("finished") for each in lines) == kill_after
        ):
            child.send_signal(signal.SIGKILL)
            break
    child.stdout.close()
    code = child.wait(60)
    assert code == (0 if kill_after is None else -signal.SIGKILL)
    return lines


def test_a_killed_driver_is_resumed_with_the_same_bytes(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "in", memories(ROWS), 12)
    score(source, tmp_path / "here")
    drive(source, tmp_path / "there", kill_after=6)
    assert not (tmp_path / "there").exists()
    *rest, last = drive(source, tmp_path / "there")
    assert 0 < len(rest) <= 6  # at least the six parts noted before the kill were kept
    before = int(last.split()[-1])
    assert last == f"rows {ROWS} before {before}"
    assert before >= ROWS // 2 - 6
    assert bytes_of(tmp_path / "there") == bytes_of(tmp_path / "here")
    assert not (tmp_path / ".there.rescore").exists()


def test_the_command_scores_on_ray(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "in", memories(ROWS), 3)
    score(source, tmp_path / "here")
    command = [sys.executable, "-m", "oneiros", "rescore", str(source), str(tmp_path / "there")]
    options = ["--now", str(NOW), "--missing", "default", "--ray", "--json"]
    names = [word for name in NAMES for word in ("--profile", name)]
    began = time.monotonic()
    done = subprocess.run([*command, *options, *names], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["rows"], document["parts"]) == (ROWS, 3)
    assert document["seconds"] < time.monotonic() - began
    assert bytes_of(tmp_path / "there") == bytes_of(tmp_path / "here")
    again = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    assert again.returncode == 2
    assert "there: exists; remove it" in again.stderr
