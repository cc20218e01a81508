"""``oneiros import``: memories out of files and out of a repository's history."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from enum import StrEnum
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from oneiros._lazy import np
from oneiros.cli import git_history, sources, terminal
from oneiros.cli.failures import FAILED, INTERRUPTED, CommandError, exit_code_of, interrupt_held
from oneiros.cli.options import (
    DEFAULT_STORE,
    AnalyzerOption,
    EmbedderOption,
    JsonOption,
    ScopeOption,
    StoreOption,
    bounded,
    bounds_of,
    embedder_of,
    opened,
    without_vector,
)
from oneiros.cli.terminal import progress_bar
from oneiros.display.counts import count_of
from oneiros.display.escaping import one_line
from oneiros.errors import DuplicateId, OneirosError
from oneiros.models.embedders import name_of, vectors_of
from oneiros.runtime.dataclasses import asdict, dataclass, field

if TYPE_CHECKING:
    import numpy.typing as npt

    from oneiros.cli.sources import Row
    from oneiros.engine.memories import Memories
    from oneiros.models.embedders import Embedder
    from oneiros.write import AddReport

    Placed = tuple[str, dict[str, Any]]

__all__ = ["import_memories"]

BATCH = 1000  # rows a transaction


class OnError(StrEnum):
    """The effect of a row that cannot be stored."""

    RAISE = "raise"
    SKIP = "skip"
    COLLECT = "collect"


class OnConflict(StrEnum):
    """The effect of an id that exists."""

    RAISE = "raise"
    UPDATE = "update"


@dataclass(slots=True, kw_only=True)
class Tally:
    """The work of an import so far, true at every moment, so also when it is interrupted."""

    stored: int = 0
    unchanged: int = 0
    """Commits that were there already."""
    skipped: int = 0
    errors: list[dict[str, str]] = field(default_factory=list)
    """Place and problem of each skipped row, with ``--on-error collect``."""
    is_interrupted: bool = False
    without_vector: int = 0
    """Live memories of the store that lack a vector which their text could have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The treatment of rows."""

    on_error: OnError
    on_conflict: OnConflict
    project: str | None
    source: Path
    """The file or repository, for messages."""
    keeps_existing: bool
    """Whether a memory whose id is there already, soft-deleted or not, is left alone: a commit never
    changes."""


def import_memories(
    file: Annotated[
        Path | None, typer.Argument(help="A .jsonl, .csv or .parquet file.", show_default=False)
    ] = None,
    git: Annotated[
        Path | None, typer.Option(help="A repository: each commit becomes a memory.")
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    project: Annotated[
        str | None, typer.Option(help="Project of memories that name none (git: of all).")
    ] = None,
    extra_to_metadata: Annotated[
        bool,
        typer.Option("--extra-to-metadata", help="Keep columns that are no field in metadata."),
    ] = False,
    on_error: Annotated[
        OnError,
        typer.Option(help="A bad row stops the import, is skipped, or is skipped and reported."),
    ] = OnError.RAISE,
    on_conflict: Annotated[
        OnConflict, typer.Option(help="An id that exists is an error, or is updated.")
    ] = OnConflict.RAISE,
    analyzer: AnalyzerOption = None,
    scope: ScopeOption = None,
    embedder: EmbedderOption = None,
    json: JsonOption = False,
) -> None:
    """Store memories of a file or a repository.

    1,000 a transaction: a Ctrl-C leaves whole ones behind and says how many. A git history may be
    imported again: only new commits are added.
    """
    bounds = bounds_of(scope)
    tally = Tally()
    with _source(file, git, extra_to_metadata=extra_to_metadata) as (source, rows):
        vectors = None if embedder is None else _FirstBatchOnce(embedder_of(embedder))
        rules = Rules(
            on_error=on_error,
            on_conflict=OnConflict.UPDATE if git else on_conflict,
            project=project,
            source=source,
            keeps_existing=git is not None,
        )
        started = time.perf_counter()
        try:
            batches = _batches(rows)
            if not store.exists():
                batches = _rehearsed(batches, analyzer, vectors, rules, bounds)
            with (
                opened(store, analyzer, vectors) as engine,
                progress_bar("importing", _total(file, git)) as advance,
            ):
                memories = bounded(engine, bounds)
                try:
                    for batch in batches:
                        _store(memories, batch, rules, tally)
                        advance(len(batch))
                except KeyboardInterrupt:
                    tally.is_interrupted = True
                tally.without_vector = engine.stats()["without_vector"]
        except KeyboardInterrupt:
            tally.is_interrupted = True
        except (CommandError, OneirosError) as error:
            if not tally.stored:
                raise
            msg = f"{error} ({count_of(tally.stored, 'memory')} of earlier batches stored)"
            raise CommandError(msg, exit_code_of(error) or FAILED) from error
    _report(tally, rules.source, store, time.perf_counter() - started, json=json)


@contextmanager
def _source(
    file: Path | None, git: Path | None, *, extra_to_metadata: bool
) -> Iterator[tuple[Path, Iterator[Row]]]:
    """Open a file or a repository, and close it whatever happens in the block.

    The first row is read now: a source that cannot be read must not leave an empty store.
    """
    if (file is None) == (git is None):
        msg = "import: give either a file or --git PATH"
        raise CommandError(msg)
    if git is not None:
        source, opened_rows = git, git_history.rows(git)
    else:
        assert file is not None
        source, opened_rows = file, sources.open_file(file, extra_to_metadata=extra_to_metadata)
    with closing(opened_rows) as rows:
        first = list(islice(rows, 1))
        yield source, chain(first, rows)


def _total(file: Path | None, git: Path | None) -> int | None:
    """Return how many rows a source has, if a terminal shows it and it is quickly known."""
    if not sys.stderr.isatty():
        return None
    if git is not None:
        return git_history.commit_count(git)
    return None if file is None else sources.row_count(file)


def _rehearsed(
    batches: Iterator[list[Row]],
    analyzer: str | None,
    vectors: Embedder | None,
    rules: Rules,
    bounds: dict[str, str],
) -> Iterator[list[Row]]:
    """Store the first batch in memory: an import that fails at once must not leave an empty store."""
    first = list(islice(batches, 1))
    with opened(Path(":memory:"), analyzer, vectors) as engine:
        memories = bounded(engine, bounds)
        for batch in first:
            _store(memories, batch, rules, Tally())
    return chain(first, batches)


class _FirstBatchOnce:
    """An embedder that keeps the vectors of the first batch, which is rehearsed, then stored."""

    def __init__(self, embedder: Embedder) -> None:
        self.name = name_of(embedder)
        self._embedder = embedder
        self._known: dict[str, npt.NDArray[np.float32]] = {}

    def __call__(self, texts: list[str], /) -> npt.ArrayLike:
        """Return one vector a text."""
        if all(text in self._known for text in texts):
            return np.stack([self._known[text] for text in texts])
        vectors = vectors_of(self._embedder, texts)
        if len(self._known) < BATCH:
            self._known.update(zip(texts, vectors, strict=True))
        return vectors


def _batches(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while batch := list(islice(rows, BATCH)):
        yield batch


def _store(memories: Memories, batch: list[Row], rules: Rules, tally: Tally) -> None:
    """Store what is good of a batch, in one transaction, and count it; a Ctrl-C waits for that."""
    rows = _readable(batch, rules, tally)
    if rules.keeps_existing:
        ids = [record["id"] for _, record in rows]
        found = (*memories.get_many(ids), *memories.get_deleted(ids))  # a deleted one stays deleted
        known = {memory.id for memory in found if memory is not None}
        tally.unchanged += len(known)
        rows = [row for row in rows if row[1]["id"] not in known]
    with interrupt_held():
        report = _add(memories, rows, rules)
        tally.stored += len(report.ids)
        for position, broken in report.failures:
            _refuse(rows[position][0], _problem(broken), rules, tally)


def _add(memories: Memories, rows: list[Placed], rules: Rules) -> AddReport:
    try:
        return memories.add_many(
            [record for _, record in rows],
            on_conflict=rules.on_conflict.value,
            on_error="raise" if rules.on_error is OnError.RAISE else "collect",
        )
    except DuplicateId as error:
        msg = _placed(rows, error, _advised(str(error)))
        raise DuplicateId(sources.located(rules.source, msg)) from error
    except (TypeError, ValueError) as error:
        words = _placed(rows, error, str(error))
        raise CommandError(sources.located(rules.source, words)) from error


def _readable(batch: list[Row], rules: Rules, tally: Tally) -> list[Placed]:
    """Return place and record of the rows that have one; the engine judges the records."""
    rows = []
    for row in batch:
        if row.record is None:
            _refuse(row.place, row.problem, rules, tally)
            continue
        if rules.project is not None and (rules.keeps_existing or "project" not in row.record):
            row.record["project"] = rules.project
        rows.append((row.place, row.record))
    return rows


def _placed(rows: list[Placed], error: Exception, problem: str) -> str:
    """Return a problem with the place of the record that the error has a note of, or of all."""
    notes = (_NOTE.fullmatch(note) for note in getattr(error, "__notes__", ()))
    position = next((int(note[1]) for note in notes if note), None)
    place = _span(rows) if position is None else rows[position][0]
    return f"{place}: {problem}"


_NOTE: Final = re.compile(r"record (\d+) of the batch")
"""The note of ``add_many`` on an error of one record."""


def _problem(error: Exception) -> str:
    """Return an error's words without advice for callers in Python, and positions in a batch."""
    return _ADVICE.sub("", _POSITIONS.sub("", str(error)))


def _advised(words: str) -> str:
    """Return words with advice for callers in Python as that for users of the command."""
    words = _POSITIONS.sub(f"; {_UPDATE} to change it", words)
    return re.sub(f"{_UPDATE} to (change|replace) it", r"--on-conflict update \1s it", words)


_UPDATE: Final = "pass on_conflict='update'"
_ADVICE: Final = re.compile(f"; (restore it, or )?{_UPDATE} to .*$")
_POSITIONS: Final = re.compile(r" in the batch \(records \d+ and \d+\)$")


def _span(rows: list[Placed]) -> str:
    return rows[0][0] if len(rows) == 1 else f"{rows[0][0]} to {rows[-1][0]}"


def _refuse(place: str, problem: str, rules: Rules, tally: Tally) -> None:
    if rules.on_error is OnError.RAISE:
        raise CommandError(sources.located(rules.source, f"{place}: {problem}"))
    tally.skipped += 1
    if rules.on_error is OnError.COLLECT:
        tally.errors.append({"place": place, "problem": problem})


def _report(tally: Tally, source: Path, store: Path, seconds: float, *, json: bool) -> None:
    if json:
        terminal.write("import", store, asdict(tally) | {"seconds": seconds})
    else:
        for error in tally.errors:
            words = sources.located(source, f"{error['place']}: {error['problem']}")
            sys.stderr.write(f"{one_line(words)}\n")
        counts = [f"{tally.stored} stored"]
        counts += [f"{tally.unchanged} unchanged"] if tally.unchanged else []
        counts += [f"{tally.skipped} skipped"] if tally.skipped else []
        sys.stdout.write(f"{', '.join(counts)} in {seconds:.1f} s: {one_line(str(store))}\n")
        if tally.without_vector:
            sys.stdout.write(f"{without_vector(tally.without_vector)}\n")
    if tally.is_interrupted:
        msg = f"interrupted: {count_of(tally.stored, 'memory')} stored, the rest is not"
        raise CommandError(msg, INTERRUPTED)
