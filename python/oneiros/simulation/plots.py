"""Plots of simulations, and an HTML page with them. Needs ``oneiros[plots]``."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from oneiros._lazy import needed
from oneiros.display.pages import markup, rendered
from oneiros.runtime.dataclasses import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oneiros.simulation.figures import FigureTable, Lives

__all__ = ["FORMATS", "drawn", "page"]


FORMATS: Final = ("svg", "png")

_COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito's palette, which is distinguishable with colour blindness."""

_MARKS: Final = "osD^vPX"


class _Panel(NamedTuple):
    title: str
    figure: str
    """A figure of a checkpoint."""
    scale: float
    from_zero: bool


_PANELS: Final = (
    _Panel("memories that recall looks at", "active", 1.0, True),
    _Panel("still relevant facts found (recall@10), %", "found", 100.0, False),
    _Panel("answers with a value that no longer holds, %", "stale_in_top_k", 100.0, False),
    _Panel("processor time of a search, median, ms", "p50_ms", 1.0, True),
)


def drawn(lives: Sequence[Lives], format: str = "svg") -> bytes:
    """Draw the panels as one picture, with a line per entry, dashed without dreams.

    A profile has the same colour and mark in all panels. The background is white, so that the
    picture is readable on a dark page. An SVG has its letters as outlines, refers to nothing
    external, and is byte-identical for identical input.

    Args:
        lives: at least one.
        format: "svg" or "png".

    Raises:
        ImportError: matplotlib is not installed.
        ValueError: another format, or no lives.
    """
    if format not in FORMATS:
        msg = f"format: must be one of {', '.join(FORMATS)}, got {format!r}"
        raise ValueError(msg)
    if not lives:
        msg = "lives: at least one, got none"
        raise ValueError(msg)
    matplotlib = needed("matplotlib", "plots")
    # Not pyplot: it keeps figures, and looks for a screen.
    figures = needed("matplotlib.figure", "plots")
    with matplotlib.rc_context({"svg.hashsalt": "oneiros", "svg.fonttype": "path"}):
        figure = figures.Figure(figsize=(10.0, 6.6), layout="constrained", facecolor="white")
        axes = figure.subplots(2, 2, sharex=True)
        for axis, panel in zip(axes.flat, _PANELS, strict=True):
            _draw(axis, panel, lives)
        for axis in axes[-1]:
            axis.set_xlabel("day")
        handles, labels = axis.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
        out = BytesIO()
        metadata = {"Date": None} if format == "svg" else {}
        figure.savefig(out, format=format, dpi=150, metadata=metadata)
    return out.getvalue()


def _draw(axis: Any, panel: _Panel, lives: Sequence[Lives]) -> None:
    profiles = list(dict.fromkeys(life.profile for life in lives))
    for life in lives:
        place = profiles.index(life.profile)
        days, values = zip(*life.by_day(panel.figure), strict=True)
        axis.plot(
            days,
            [panel.scale * value for value in values],
            color=_COLOURS[place % len(_COLOURS)],
            marker=_MARKS[place % len(_MARKS)],
            markersize=4.0,
            fillstyle="full" if life.is_dreaming else "none",
            linestyle="-" if life.is_dreaming else "--",
            linewidth=1.6 if life.is_dreaming else 0.9,
            zorder=3.0 - place / len(profiles),
            label=life.profile if life.is_dreaming else f"{life.profile}, without dreams",
        )
    axis.set_title(panel.title, loc="left", fontsize=10)
    axis.set_xlim(left=0.0)
    if panel.from_zero:
        axis.set_ylim(bottom=0.0)
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)


def page(lives: Sequence[Lives], tables: Sequence[FigureTable], title: str) -> str:
    """Return a self-contained HTML page with the picture and tables.

    Args:
        lives: at least one; plotted.
        tables: shown below the picture, in this order.
        title: title of the page.

    Raises:
        ImportError: matplotlib or Jinja2 is not installed.
    """
    picture = drawn(lives).decode()
    picture = picture[picture.index("<svg") :]
    return rendered("lives.html", title=title, picture=markup(picture), tables=tables)
