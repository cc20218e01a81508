"""Files of scores, written completely or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oneiros.rescoring.files.sources import SUFFIXES
from oneiros.rescoring.tables.arrow import require_pyarrow
from oneiros.runtime.files import new_file

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["open_target", "require_target"]


def require_target(path: Path) -> None:
    """Refuse a path that no file of scores can have.

    Raises:
        ValueError: another suffix, a symbolic link, or a folder.
    """
    if path.suffix not in SUFFIXES:
        msg = f"{path.name}: expected a file named {', '.join(SUFFIXES)}"
        raise ValueError(msg)
    if path.is_symlink():
        msg = f"{path.name}: is a symbolic link, which is not followed"
        raise ValueError(msg)
    if path.is_dir():
        msg = f"{path.name}: is a folder"
        raise ValueError(msg)


@contextmanager
def open_target(
    path: Path, schema: pa.Schema, *, draft: Path, check: Callable[[], None]
) -> Iterator[Callable[[pa.Table], None]]:
    """Open a file for writing, in the format of its suffix.

    Args:
        path: appears when the block ends without an error.
        schema: schema of every table written.
        draft: path of the file until then.
        check: called after all is written, before ``path`` appears; may raise.

    Yields:
        A function that writes a table.
    """
    with new_file(path, draft=draft) as file:
        with _writer(path, schema, file) as writer:
            yield writer.write_table
        check()


def _writer(path: Path, schema: pa.Schema, file: Any) -> Any:
    if path.suffix == ".parquet":
        from pyarrow import parquet  # noqa: PLC0415 - optional

        return parquet.ParquetWriter(file, schema)
    if path.suffix == ".csv":
        from pyarrow import csv  # noqa: PLC0415 - optional

        return csv.CSVWriter(file, schema)
    return require_pyarrow().ipc.new_file(file, schema)
