"""Reader of judged collections, for tests and benchmarks.

A collection is a folder:

- ``corpus.jsonl`` or ``corpus.jsonl.gz``: ``{"_id", "title"?, "text", "timestamp"?, "metadata"?}``
- ``queries.jsonl`` (or ``.gz``): ``{"_id", "text", "timestamp"?, "metadata"?}``
- ``qrels.tsv``: a header line, then query id, document id and grade; a pair not listed is not
  relevant
- ``NAME.corpus.f16.npy``, ``NAME.queries.f16.npy`` (optional): float16 unit vectors, row i for
  line i of the file of that name

In the metadata, ``group`` is the part of the corpus that a query searches, ``asof`` true restricts a
query to documents older than its timestamp, ``session`` is a document's session, and ``category`` a
query's type.
"""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from oneiros._lazy import np
from oneiros.model.fields import FIELDS
from oneiros.runtime.dataclasses import dataclass

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["FILES", "Collection", "Document", "Query", "read", "read_vectors"]

VECTORS = "all-MiniLM-L6-v2"

FILES: Final = (
    *("corpus.jsonl", "corpus.jsonl.gz", "queries.jsonl", "queries.jsonl.gz", "qrels.tsv"),
    *(f"{VECTORS}.{part}.f16.npy" for part in ("corpus", "queries")),
)
"""The names of all files that :func:`read` looks for in a folder."""

_CELLS = 3  # of a line of qrels.tsv
_OPTIONAL: Mapping[str, type] = {"title": str, "timestamp": str, "metadata": dict}
_CHECKED: Mapping[str, Mapping[str, str]] = {
    "corpus.jsonl": {"_id": "id", "title": "title", "text": "text"},
    "queries.jsonl": {"text": "text"},
}
"""By file, the field of a memory whose rules a field of its lines has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One document of a collection."""

    id: str
    title: str
    text: str
    timestamp: str | None
    """As in the file: ISO 8601, UTC if it has no offset."""
    metadata: Mapping[str, Any]

    @property
    def title_and_text(self) -> str:
        """Title and text as one field, as the reference figures index it."""
        return f"{self.title} {self.text}" if self.title else self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One query with its judgements; fits :func:`oneiros.evaluation.run.evaluate`."""

    id: str
    text: str
    timestamp: str | None
    metadata: Mapping[str, Any]
    answers: Mapping[str, float]
    """Document id -> grade; empty for a query without judgements."""

    @property
    def type(self) -> str:
        """The metadata's category, or "all"."""
        return str(self.metadata.get("category", "all"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """A collection in memory."""

    name: str
    documents: Sequence[Document]
    queries: Sequence[Query]
    document_vectors: npt.NDArray[np.float32] | None
    """Shape (documents, dimension); None if the folder has none."""
    query_vectors: npt.NDArray[np.float32] | None
    """Shape (queries, dimension); None if the folder has none."""


def read(folder: str | Path, *, vectors: str | None = VECTORS) -> Collection:
    """Read a collection.

    Args:
        folder: with the files listed in the module's docstring.
        vectors: name of the vector files; None skips them (and the import of NumPy).

    Returns:
        The collection, in the order of the files.

    Raises:
        FileNotFoundError: a file other than the vectors is missing.
        ValueError: a line or a vector file is invalid; the message names file and line.
    """
    home = Path(folder)
    answers = _read_judgements(home / "qrels.tsv")
    documents = [_document(line) for line in _lines(home, "corpus.jsonl")]
    queries = [_query(line, answers) for line in _lines(home, "queries.jsonl")]
    return Collection(
        name=home.name if home.name not in ("", "..") else home.resolve().name,
        documents=documents,
        queries=queries,
        document_vectors=_optional(home, vectors, "corpus", len(documents)),
        query_vectors=_optional(home, vectors, "queries", len(queries)),
    )


def read_vectors(path: Path, *, rows: int) -> npt.NDArray[np.float32]:
    """Read float16 vectors as float32, without pickle.

    Args:
        path: a ``.npy`` file, float16 of shape (``rows``, dimension).
        rows: the required number of rows.

    Raises:
        ValueError: another dtype or shape, or a value that is not finite.
    """
    try:
        stored = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        msg = f"{path}: {error}"
        raise ValueError(msg) from error
    if stored.dtype != np.float16 or stored.ndim != 2 or len(stored) != rows:
        msg = f"{path}: expected float16 ({rows}, dim), got {stored.dtype} {stored.shape}"
        raise ValueError(msg)
    vectors: npt.NDArray[np.float32] = stored.astype(np.float32)
    if not np.isfinite(vectors).all():
        msg = f"{path}: holds NaN or infinity"
        raise ValueError(msg)
    return vectors


def _optional(
    home: Path, vectors: str | None, part: str, rows: int
) -> npt.NDArray[np.float32] | None:
    path = home / f"{vectors}.{part}.f16.npy"
    return read_vectors(path, rows=rows) if vectors is not None and path.exists() else None


def _lines(home: Path, name: str) -> Iterator[dict[str, Any]]:
    path, packed = home / name, home / f"{name}.gz"
    content = _unpacked(packed) if packed.exists() else path.read_bytes()
    if not content.strip():
        msg = f"{path}: has no lines"
        raise ValueError(msg)
    first_lines: dict[str, int] = {}
    for number, line in enumerate(content.rstrip(b"\n").split(b"\n"), start=1):
        try:
            record = json.loads(line)
            if not (isinstance(record["_id"], str) and isinstance(record["text"], str)):
                raise TypeError
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            msg = f"{path}:{number}: expected an object with strings _id and text"
            raise ValueError(msg) from error
        for field, kind in _OPTIONAL.items():
            value = record.get(field)
            if not (value is None or isinstance(value, kind)):
                msg = f"{path}:{number}: {field}: expected {kind.__name__}, got {value!r:.40}"
                raise ValueError(msg)
        for field, rule in _CHECKED[name].items():
            try:
                FIELDS[rule].check(record.get(field) or "")
            except ValueError as error:
                msg = f"{path}:{number}: {error}"
                raise ValueError(msg) from error
        id = record["_id"]
        if (first := first_lines.setdefault(id, number)) != number:
            msg = f"{path}:{number}: _id: {id!r:.40} stands in line {first}, too"
            raise ValueError(msg)
        yield record


def _unpacked(packed: Path) -> bytes:
    try:
        return gzip.decompress(packed.read_bytes())
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        msg = f"{packed}: {error}"
        raise ValueError(msg) from error


def _document(line: Mapping[str, Any]) -> Document:
    return Document(
        id=line["_id"],
        title=line.get("title") or "",
        text=line["text"],
        timestamp=line.get("timestamp"),
        metadata=line.get("metadata") or {},
    )


def _query(line: Mapping[str, Any], answers: Mapping[str, Mapping[str, float]]) -> Query:
    return Query(
        id=line["_id"],
        text=line["text"],
        timestamp=line.get("timestamp"),
        metadata=line.get("metadata") or {},
        answers=answers.get(line["_id"], {}),
    )


def _read_judgements(path: Path) -> dict[str, dict[str, float]]:
    answers: dict[str, dict[str, float]] = {}
    lines = path.read_bytes().rstrip(b"\r\n").splitlines()
    for number, line in enumerate(lines, start=1):
        cells = line.split(b"\t")
        if number == 1:
            if len(cells) == _CELLS and _is_number(cells[-1]):  # its judgement would be lost
                msg = f"{path}:1: expected a header line, got a judgement"
                raise ValueError(msg)
            continue
        try:
            query_id, document_id, written = (cell.decode() for cell in cells)
            grade = float(written)
            if not math.isfinite(grade):
                raise ValueError
            answers.setdefault(query_id, {})[document_id] = grade
        except ValueError as error:
            msg = f"{path}:{number}: expected query id, document id, grade by tabs, in UTF-8"
            raise ValueError(msg) from error
    return answers


def _is_number(cell: bytes) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
