"""The side-by-side runs of bench/peers, over corpora so small that they take seconds."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.peers import inside
from bench.peers.corpora import Corpus, corpus
from bench.peers.measure import Plan, changes, searches
from bench.peers.report import markdown
from bench.peers.whole import memories
from bench.peers.worker import Worker
from oneiros.benchmark.exact import Reference, share_found
from oneiros.benchmark.remote import EngineFailed, Remote
from oneiros.benchmark.rivals import ENTRANTS
from tests.oracles import bm25

ROOT = Path(__file__).parents[2]
EMBEDDER = """
import zlib

import numpy as np


class StaticEmbedder:
    def __init__(self, folder):
        assert folder

    def __call__(self, texts):
        seeds = [zlib.crc32(text.encode()) for text in texts]
        return np.array([np.random.default_rng(seed).standard_normal(256) for seed in seeds])
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("peers")


@pytest.fixture(scope="module")
def tiny(cache: Path) -> Corpus:
    return corpus("short@300", cache)


def test_the_command_measures_every_suite_and_writes_both_reports(cache: Path) -> None:
    tables, figures = cache / "tables.md", cache / "figures.json"
    arguments = {
        "--corpus": "short@300",
        "--base": "short@300",
        "--engines": "oneiros,sqlite-fts5",
        "--suites": "searches,changes,inside",
        "--rounds": "1",
        "--cache": str(cache),
        "--markdown": str(tables),
        "--json": str(figures),
    }
    told = [part for pair in arguments.items() for part in pair]
    command = [sys.executable, "-m", "bench.peers", *told]
    done = subprocess.run(
        command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(figures.read_text(encoding="utf-8"))
    engines = [row["engine"] for row in result["searches"]["short@300"]]
    assert engines == ["oneiros", "sqlite-fts5"]
    ours = result["searches"]["short@300"][0]
    assert ours["agreement"] == 1.0
    assert 0 < ours["top10_p50"] <= ours["top10_p99"]
    assert result["missing"] == {"searches in short@300": {}, "changes": {}}
    assert [row["engine"] for row in result["changes"]] == engines
    assert [row["share"] for row in result["filters"]] == [1.0, *inside.SELECTIVITIES]
    assert [row["durability"] for row in result["store"]] == ["full", "normal"]
    sealed, tailed = result["tail"]
    assert tailed["segments"] == sealed["segments"] + 1
    written = tables.read_text(encoding="utf-8")
    assert "| oneiros |" in written
    assert "| sqlite-fts5 |" in written
    assert "oneiros" in done.stdout


def test_a_kept_index_answers_as_the_one_just_built(tiny: Corpus, tmp_path: Path) -> None:
    answers = []
    for is_kept in (False, True):
        with Remote(Worker, engine="sqlite-fts5", corpus=tiny, cache=tmp_path) as remote:
            assert remote.ask("build")["is_kept"] is is_kept
            answers.append(remote.ask("answers", count=50))
    assert answers[0] == answers[1]
    assert any(answers[0])


def test_an_engine_that_cannot_run_is_left_out_and_the_reason_is_told(
    tiny: Corpus, tmp_path: Path
) -> None:
    plan = Plan(("no-such-engine", "oneiros"), rounds=1, cache=tmp_path)
    for measure in (searches, changes):
        rows, missing = measure(tiny, plan)
        assert [row["engine"] for row in rows] == ["oneiros"]
        assert "engine: must be one of" in missing["no-such-engine"]


def test_an_engine_whose_process_ends_fails_by_name(tiny: Corpus, tmp_path: Path) -> None:
    with Remote(Worker, engine="oneiros", corpus=tiny, cache=tmp_path) as remote:
        with pytest.raises(EngineFailed, match="no_such_method: AttributeError"):
            remote.ask("no_such_method")
        assert remote.ask("build")["texts"] == 300
        remote._process.terminate()
        remote._process.join()
        with pytest.raises(EngineFailed, match=r"has ended|ended with code -15"):
            remote.ask("build")
        scratch = Path(remote._scratch.name)
        assert scratch.exists()
    assert not scratch.exists()


def test_a_smaller_corpus_is_the_beginning_of_a_larger(tiny: Corpus, cache: Path) -> None:
    smaller = corpus("short@40", cache)
    assert smaller.texts() == tiny.texts()[:40]
    assert smaller.queries() == tiny.queries()
    assert {len(query.split()) for query in tiny.queries()} == {2, 3, 4, 5, 6}
    assert tiny.figures()["texts"] == 300
    assert tiny.figures()["words_a_text"] == pytest.approx(11, abs=1)
    assert corpus("long@300", cache).figures()["words_a_text"] == pytest.approx(126, abs=15)


def test_texts_of_a_file_are_normalised_and_joined_to_length(tmp_path: Path) -> None:
    source = tmp_path / "corpus.jsonl"
    texts = [f"The N{number}-th, of many: \u00e9tudes!" for number in range(40_000)]
    lines = (json.dumps({"text": text}) for text in texts)
    source.write_text("\n".join(lines), encoding="utf-8")
    cut = corpus("short@20", tmp_path, source).texts()
    assert len(cut) == 20
    words = {word for text in cut for word in text.split()}
    assert {"the", "th", "tudes"} < words  # a-z and 0-9 only
    assert all(3 <= len(text.split()) <= 40 for text in cut)
    assert corpus("short@20", tmp_path).texts() != cut


@pytest.mark.parametrize("name", ["middling", "short@", "short@-1", "short@0", "short@many"])
def test_a_corpus_that_is_none_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="corpus: must be one of short, long"):
        corpus(name, tmp_path)


def test_a_source_with_too_few_texts_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "few.jsonl"
    source.write_text('{"text": "a few words and no more"}\n', encoding="utf-8")
    with pytest.raises(ValueError, match="source: must hold more than"):
        corpus("short@10", tmp_path, source)


def test_the_reference_agrees_with_the_oracle(tiny: Corpus) -> None:
    texts, queries = tiny.texts(), tiny.queries()[:30]
    reference = Reference(texts, queries)
    documents = {id: text.split() for id, text in enumerate(texts)}
    for query in queries:
        want = np.zeros(len(texts))
        for id, score in bm25.rank(documents, query.split(), len(texts)):
            want[id] = score
        np.testing.assert_allclose(reference.scores(query), want, rtol=1e-12)


def test_agreement_is_the_share_of_the_best_ten_found(tiny: Corpus) -> None:
    texts = tiny.texts()
    queries = ["w0 w1 w2", "nosuchword"]  # the three most common words
    reference = Reference(texts, queries)
    ranked = np.argsort(-reference.scores(queries[0]), kind="stable")
    assert np.count_nonzero(reference.scores(queries[0])) > 20
    best, worst = ranked[:10].tolist(), ranked[-10:].tolist()
    answers = {"all": [best, []], "half": [best[:5] + worst[:5], []], "none": [worst, []]}
    answers["one five times"] = [best[:1] * 5, []]
    shares = {name: share_found(found, reference.best()) for name, found in answers.items()}
    assert shares == {"all": 1.0, "half": 0.5, "none": 0.0, "one five times": 0.1}


def test_whole_searches_run_over_the_texts_of_a_corpus(tiny: Corpus, tmp_path: Path) -> None:
    (tmp_path / "static_embed.py").write_text(EMBEDDER, encoding="utf-8")
    entrants = [one for one in ENTRANTS if one.name in ("Oneiros, vector index", "NumPy")]
    document = memories(tiny, 1, tmp_path, entrants)
    assert document["size"] == 300
    rows = {row["name"]: row for row in document["tasks"]["vectors"]}
    assert {name: row["share_found"] for name, row in rows.items()} == {
        "Oneiros, vector index": 1.0,
        "NumPy": 1.0,
    }
    result: dict[str, Any] = {
        "conditions": {},
        "corpora": {},
        "missing": {},
        **{name: {} for name in ("searches", "changes", "tail", "filters", "store")},
        "memories": document,
    }
    assert "\n| NumPy | " in markdown(result)


def test_the_report_divides_our_figures_by_the_rivals() -> None:
    def row(engine: str, scale: float) -> dict[str, Any]:
        timed = ("top10_p50", "top10_p99", "top100_p50", "top100_p99")
        rated = ("rate_1_thread", "rate_2_threads", "build_rate", "index_bytes", "resident_bytes")
        figures = dict.fromkeys((*timed, *rated), 50.0 * scale)
        kept = {
            "build_is_kept": engine != "oneiros",
            "agreement": 1.0,
            "queries": 1000,
            "other_cores": 0.1,
        }
        return {"engine": engine, **figures, **kept}

    result = {
        "conditions": {"cpu": "some"},
        "corpora": {},
        "searches": {"short": [row("oneiros", 1), row("rival", 4)]},
        "missing": {"changes": {"absent": "not installed"}},
        **{name: [] for name in ("changes", "tail", "filters", "store", "memories")},
    }
    lines = markdown(result).splitlines()
    assert "- cpu: some" in lines
    assert "| rival | 0.25x | 0.25x | 0.25x | 0.25x | 0.25x | 0.25x | 0.25x | 0.25x |" in lines
    assert any(
        line.startswith("| oneiros | 50.0 / 50.0 | 50.0 / 50.0 | 50 / 50 |") for line in lines
    )
    assert any("| 200* |" in line for line in lines)  # what an earlier run built is marked
    assert "- left out of changes: absent: not installed" in lines
