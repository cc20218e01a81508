"""The reader of judged collections: a small one of our own, and the real ones where they are."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from oneiros.evaluation.collection import read
from oneiros.evaluation.run import evaluate
from tests.collections_on_disk import folder_of

CORPUS = (
    '{"_id": "d1", "title": "Tea", "text": "green\\u2028leaves", "metadata": {"group": "g"}}\n'
    '{"_id": "d2", "text": "coffee", "timestamp": "2024-05-01T10:00:00"}\n'
)
QUERIES = (
    '{"_id": "q1", "text": "leaves", "metadata": {"category": 2}}\n{"_id": "q2", "text": "milk"}\n'
)
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "corpus.jsonl").write_text(CORPUS, encoding="utf-8")
    (tmp_path / "queries.jsonl").write_text(QUERIES, encoding="utf-8")
    (tmp_path / "qrels.tsv").write_text(QRELS, encoding="utf-8")
    return tmp_path


def test_a_collection_is_read_whole(folder: Path) -> None:
    collection = read(folder)
    first, second = collection.documents
    assert (first.id, first.title_and_text) == ("d1", "Tea green\u2028leaves")
    assert (second.title_and_text, second.timestamp) == ("coffee", "2024-05-01T10:00:00")
    assert first.metadata == {"group": "g"}
    asked, unjudged = collection.queries
    assert (asked.type, asked.answers) == ("2", {"d1": 2.0, "d2": 0.0})
    assert (unjudged.type, unjudged.answers) == ("all", {})
    assert collection.document_vectors is None
    assert evaluate(lambda _: ["d1"], collection.queries).overall.mrr == 1.0


def test_a_packed_corpus_is_the_same(folder: Path) -> None:
    plain = read(folder).documents
    (folder / "corpus.jsonl").unlink()
    (folder / "corpus.jsonl.gz").write_bytes(gzip.compress(CORPUS.encode()))
    assert read(folder).documents == plain


def test_vectors_come_as_float32_row_by_row(folder: Path) -> None:
    stored = np.eye(2, 8, dtype=np.float16)
    np.save(folder / "all-MiniLM-L6-v2.corpus.f16.npy", stored)
    vectors = read(folder).document_vectors
    assert vectors is not None
    assert vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors, stored)


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (np.zeros((3, 8), np.float16), r"expected float16 \(2, dim\), got float16 \(3, 8\)"),
        (np.zeros((2, 8), np.float32), r"expected float16 \(2, dim\), got float32"),
        (np.full((2, 8), np.nan, np.float16), "holds NaN or infinity"),
        (np.array([None, None]), "allow_pickle=False"),
    ],
    ids=["rows", "dtype", "nan", "pickle"],
)
def test_damaged_vectors_are_refused(folder: Path, vectors: np.ndarray, message: str) -> None:
    np.save(folder / "all-MiniLM-L6-v2.corpus.f16.npy", vectors)
    with pytest.raises(ValueError, match=message):
        read(folder)
    assert read(folder, vectors=None).document_vectors is None


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("corpus.jsonl", '{"_id": "d1", "text": "x"}\n[]\n', r"corpus.jsonl:2: expected an"),
        ("corpus.jsonl", '{"_id": 1, "text": "x"}\n', "corpus.jsonl:1"),
        (
            "corpus.jsonl",
            '{"_id": "", "text": "x"}\n',
            "corpus.jsonl:1: id: must be 1 to 256 bytes",
        ),
        (
            "corpus.jsonl",
            '{"_id": "d1", "text": "\\ud800"}\n',
            "corpus.jsonl:1: text: holds a lone",
        ),
        ("queries.jsonl", '{"_id": "q1", "text": "\\ud800"}\n', "queries.jsonl:1: text: holds a"),
        ("queries.jsonl", "{oops\n", "queries.jsonl:1"),
        ("qrels.tsv", "head\nq1 d1 1\n", "qrels.tsv:2: expected query id, document id"),
        ("qrels.tsv", "head\nq1\td1\tnan\n", "qrels.tsv:2"),
        ("qrels.tsv", "q1\td1\t1\n", "qrels.tsv:1: expected a header line, got a judgement"),
        ("corpus.jsonl", "[" * 100_000, "corpus.jsonl:1"),
        ("corpus.jsonl", "", "corpus.jsonl: has no lines"),
        ("queries.jsonl", "\n\n", "queries.jsonl: has no lines"),
        (
            "queries.jsonl",
            '{"_id": "q1", "text": "x"}\n{"_id": "q2", "text": "x"}\n{"_id": "q1", "text": "y"}\n',
            "queries.jsonl:3: _id: 'q1' stands in line 1, too",
        ),
        (
            "corpus.jsonl",
            '{"_id": "d1", "text": "x", "title": 5}\n',
            "corpus.jsonl:1: title: expected str",
        ),
        (
            "queries.jsonl",
            '{"_id": "q1", "text": "x", "metadata": [1]}\n',
            "metadata: expected dict",
        ),
        (
            "queries.jsonl",
            '{"_id": "q1", "text": "x", "timestamp": 5}\n',
            "timestamp: expected str",
        ),
    ],
)
def test_a_broken_line_is_named(folder: Path, name: str, content: str, message: str) -> None:
    (folder / name).write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read(folder)


def test_judgements_that_are_no_utf_8_are_named(folder: Path) -> None:
    (folder / "qrels.tsv").write_bytes((QRELS + "q\u00e9\td1\t1\n").encode("latin-1"))
    with pytest.raises(ValueError, match=r"qrels.tsv:4: expected query id.*in UTF-8"):
        read(folder)


def test_judgements_may_end_in_empty_lines(folder: Path) -> None:
    with (folder / "qrels.tsv").open("a") as file:
        file.write("\r\n\n")
    assert read(folder).queries[0].answers == {"d1": 2.0, "d2": 0.0}


def test_files_that_end_early_are_named(folder: Path) -> None:
    (folder / "all-MiniLM-L6-v2.queries.f16.npy").touch()
    with pytest.raises(ValueError, match=r"all-MiniLM-L6-v2.queries.f16.npy: "):
        read(folder)
    (folder / "corpus.jsonl.gz").write_bytes(gzip.compress(CORPUS.encode())[:-9])
    with pytest.raises(ValueError, match=r"corpus.jsonl.gz: "):
        read(folder)


def test_the_folder_one_stands_in_has_a_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "below").mkdir()
    for home, written in ((folder, "."), (folder / "below", "..")):
        monkeypatch.chdir(home)
        assert read(written).name == folder.name


@pytest.mark.parametrize(
    ("name", "documents", "queries"),
    [("cranfield", 1400, 225), ("cisi", 1460, 76), ("scifact-train", 5183, 809)],
)
def test_the_real_collections_have_their_published_sizes(
    name: str, documents: int, queries: int
) -> None:
    collection = read(folder_of(name))
    assert (len(collection.documents), len(collection.queries)) == (documents, queries)
    assert collection.document_vectors is not None
    assert collection.document_vectors.shape == (documents, 384)


def test_dense_search_of_cranfield_gives_the_reference_figure() -> None:
    collection = read(folder_of("cranfield"))
    assert collection.document_vectors is not None
    assert collection.query_vectors is not None
    scores = collection.query_vectors @ collection.document_vectors.T
    order = np.argsort(-scores, axis=1, kind="stable")[:, :100]
    rows = {query.id: row for row, query in enumerate(collection.queries)}
    report = evaluate(
        lambda query: [collection.documents[row].id for row in order[rows[query.id]]],
        collection.queries,
    )
    assert report.overall.ndcg == pytest.approx(0.3736, abs=5e-5)  # published with the collection
