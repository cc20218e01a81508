"""What the benchmark of the whole search is given: refused before anything is made."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.recall.__main__ import parsed


@pytest.fixture
def needed(tmp_path: Path) -> list[str]:
    for name in ("corpus.jsonl", "queries.jsonl"):
        (tmp_path / name).touch()
    return ["--corpus", f"{tmp_path / 'corpus.jsonl'}", "--embedding", f"{tmp_path}"]


def test_names_and_sizes_are_lists(needed: list[str]) -> None:
    given = parsed([*needed, "--sizes", "10,20", "--profiles", "plain,omega", "--rivals", ""])
    assert (given.sizes, given.profiles, given.rivals) == ([10, 20], ["plain", "omega"], [])
    assert parsed(needed).sizes == [10_000, 100_000, 1_000_000]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sizes", "many"], "argument --sizes: invalid"),
        (["--sizes", "10,0"], "argument --sizes: invalid"),
        (["--queries", "0"], "argument --queries: invalid"),
        (["--rounds", "0"], "argument --rounds: invalid"),
        (["--profiles", "nothing"], "argument --profiles: must be of plain, bm25, ciar"),
        (["--profiles", ""], "argument --profiles: must name at least one"),
        (["--rivals", "nobody"], "argument --rivals: must be of tantivy, sqlite, got 'nobody'"),
        (["--embedding", "/nowhere"], "/nowhere does not exist"),
    ],
)
def test_what_cannot_be_is_refused(
    needed: list[str], arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parsed([*needed, *arguments])
    assert message in capsys.readouterr().err
