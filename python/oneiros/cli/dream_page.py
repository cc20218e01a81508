"""``oneiros dream --html``: the report of a cycle as a page in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from oneiros.cli.failures import CommandError
from oneiros.cli.new_files import require_writable

if TYPE_CHECKING:
    from oneiros.dream.impact import Impact
    from oneiros.dream.plan import DreamPlan
    from oneiros.dream.report import DreamReport
    from oneiros.engine import Engine

__all__ = ["page_file", "write_page"]


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
    path: Path, engine: Engine, told: DreamPlan | DreamReport, impact: Impact | None
) -> None:
    """Write the page, whole or not at all.

    Args:
        path: replaced.
        engine: knows what the memories say, and which cycles there were before.
        told: a plan, or what was done.
        impact: of the plan.
    """
    from oneiros.dream.report import DreamReport  # noqa: PLC0415  (few draw)
    from oneiros.exporting import new_file  # noqa: PLC0415

    earlier = engine.dreams()
    if isinstance(told, DreamReport):
        made = told.html(texts=_texts(engine, told), earlier=earlier)
    else:
        made = told.html(impact=impact, earlier=earlier)
    with new_file(path) as file:
        file.write(made.encode())


def _texts(engine: Engine, report: DreamReport) -> dict[str, str]:
    """What those say that were taken away."""
    from oneiros.dream.page import taken_away  # noqa: PLC0415  (few draw)

    gone = [change.id for change in report.named if taken_away(change)]
    found = (*engine.get_deleted(gone), *engine.get_many(gone))
    return {memory.id: memory.text for memory in found if memory is not None}
