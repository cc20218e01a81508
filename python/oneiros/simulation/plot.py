"""Simulated lives as four panels over time; needs matplotlib, ``pip install 'oneiros[plots]'``."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from oneiros.optional import needed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from oneiros.simulation.figures import Checkpoint, Course

__all__ = ["FORMATS", "drawn"]

FORMATS: Final = ("svg", "png")

_COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito's, which people tell apart who do not see all colours."""

_MARKS: Final = "osD^vPX"

_PANELS: Final[tuple[tuple[str, Callable[[Checkpoint], float]], ...]] = (
    ("memories that recall looks at", lambda one: one.active),
    ("still relevant facts found, recall@10, %", lambda one: 100.0 * one.found),
    ("answers led by an untrue memory, %", lambda one: 100.0 * one.misled),
    ("median time of a search, ms", lambda one: one.p50_ms),
)


def drawn(courses: Sequence[Course], format: str = "svg") -> bytes:
    """Return the panels as a picture: a line a course, dashed where nobody dreamt.

    A profile has one colour and one mark in all panels. An SVG holds its letters as outlines, refers
    to nothing outside, and has the same bytes for the same courses.

    Args:
        courses: at least one.
        format: "svg" or "png".

    Raises:
        ImportError: matplotlib is not installed.
        ValueError: another format, or no course.
    """
    if format not in FORMATS:
        msg = f"format: must be one of {', '.join(FORMATS)}, got {format!r}"
        raise ValueError(msg)
    if not courses:
        msg = "courses: at least one, got none"
        raise ValueError(msg)
    matplotlib = needed("matplotlib", "plots")
    # Not pyplot: it keeps figures, and looks for a screen.
    figures = needed("matplotlib.figure", "plots")
    with matplotlib.rc_context({"svg.hashsalt": "oneiros", "svg.fonttype": "path"}):
        figure = figures.Figure(figsize=(10.0, 6.6), layout="constrained")
        axes = figure.subplots(2, 2, sharex=True).flat
        for axis, (title, value) in zip(axes, _PANELS, strict=True):
            _panel(axis, title, courses, value)
        handles, labels = axis.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
        out = BytesIO()
        metadata = {"Date": None} if format == "svg" else {}
        figure.savefig(out, format=format, dpi=150, metadata=metadata)
    return out.getvalue()


def _panel(
    axis: Any, title: str, courses: Sequence[Course], value: Callable[[Checkpoint], float]
) -> None:
    profiles = list(dict.fromkeys(course.profile for course in courses))
    for course in courses:
        place = profiles.index(course.profile)
        shown = course.checkpoints
        axis.plot(
            [one.day for one in shown],
            [value(one) for one in shown],
            color=_COLOURS[place % len(_COLOURS)],
            marker=_MARKS[place % len(_MARKS)],
            markersize=3.5,
            fillstyle="full" if course.is_dreaming else "none",
            linestyle="-" if course.is_dreaming else "--",
            label=course.profile if course.is_dreaming else f"{course.profile}, without dreams",
        )
    axis.set_title(title, loc="left", fontsize=10)
    axis.set_xlim(left=0.0)
    axis.set_ylim(bottom=0.0)
    axis.set_xlabel("day")
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)
