"""``oneiros dream --html``: the report of a cycle as a page in a file."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from oneiros.cli.failures import CommandError
from oneiros.cli.new_files import require_writable

if TYPE_CHECKING:
    from oneiros.dream.impact import Impact
    from oneiros.dream.plan import DreamPlan
    from oneiros.dream.report import DreamReport
    from oneiros.engine import Engine

__all__ = ["page_file", "removed_texts", "write_page"]


def page_file(path: Path, store: Path, read: Path | None) -> Path:
    """Return the file of a page; that it cannot be written is to be known before anything is done.

    Args:
        path: of the page.
        store: the store's file.
        read: that of the questions; None: none are asked.

    Raises:
        CommandError: matplotlib is not installed, or the file cannot be written.
        ValueError: it is a folder, a symbolic link, a device or one of the store's own files.
    """
    from oneiros.dream.page import require_plots  # noqa: PLC0415  (few draw)
    from oneiros.exporting import foreign_file  # noqa: PLC0415

    try:
        require_plots()
    except ImportError as error:
        msg = f"--html: {error}"
        raise CommandError(msg) from error
    require_writable("--html", path, {"--impact": read})
    return foreign_file("--html", str(path), str(store))


def write_page(
    path: Path, engine: Engine, done: DreamPlan | DreamReport, impact: Impact | None
) -> None:
    """Write the page, whole or not at all.

    Args:
        path: replaced.
        engine: holds the texts, and the cycles before it.
        done: a plan, or what was done.
        impact: of the plan.
    """
    from oneiros.dream.report import DreamReport  # noqa: PLC0415  (few draw)
    from oneiros.exporting import new_file  # noqa: PLC0415

    earlier = engine.dreams()
    if isinstance(done, DreamReport):
        made = done.html(texts=removed_texts(engine, done), earlier=earlier)
    else:
        made = done.html(impact=impact, earlier=earlier)
    with new_file(path) as file:
        file.write(made.encode())


def removed_texts(engine: Engine, report: DreamReport, most: int | None = None) -> dict[str, str]:
    """Return the texts of the memories that a report names as removed, by id.

    Args:
        engine: holds them.
        report: of a plan or of a cycle.
        most: of the first so many; None: of all that are named.
    """
    ids = list(islice((change.id for change in report.named if change.removal), most))
    found = (*engine.get_deleted(ids), *engine.get_many(ids))
    return {memory.id: memory.text for memory in found if memory is not None}
