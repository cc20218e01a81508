"""A comparison of two scores as tables for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table

from oneiros.cli.terminal import text

if TYPE_CHECKING:
    from rich.text import Text

    from oneiros.batch.comparison import Comparison, Distribution

__all__ = ["comparison_tables"]

BAR = 30  # columns of the longest bar


def comparison_tables(found: Comparison) -> Iterator[Table | Text]:
    """Yield what changes: decisions, order, and how the scores lie."""
    yield text(f"{found.compared} of {found.rows} rows have both scores", style="dim")
    yield _decisions(found)
    yield _order(found)
    yield _distributions(found)


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for place, column in enumerate(columns):
        table.add_column(text(column), justify="right" if place else "left", no_wrap=True)
    return table


def _decisions(found: Comparison) -> Table | Text:
    decisions, left, right = found.decisions, found.left, found.right
    if decisions is None:
        return text("no promotion: no threshold (--threshold gives one)", style="dim")
    table = _table("promoted", "rows")
    table.add_row("by both", str(decisions.both))
    table.add_row(text(f"only by {_rule(left)}"), str(decisions.only_left))
    table.add_row(text(f"only by {_rule(right)}"), str(decisions.only_right))
    table.add_row("by neither", str(decisions.neither))
    if decisions.changed_rows:
        rows = ", ".join(map(str, decisions.changed_rows))
        table.add_row(text(f"changed, first rows: {rows}", style="dim"), "")
    return table


def _rule(side: Distribution) -> str:
    return f"{side.name} >= {side.threshold:g}"


def _order(found: Comparison) -> Table:
    table = _table("order", "")
    tau = found.kendall_tau
    table.add_row("Kendall's tau-b", "-" if tau is None else f"{tau:.4f}")
    for k, share in found.top_overlap.items():
        table.add_row(f"top {k} in common", f"{share:.1%}")
    return table


def _distributions(found: Comparison) -> Table:
    sides = (found.left, found.right)
    table = _table("scores", *(side.name for side in sides))
    table.add_row("rows", *(str(side.scored) for side in sides))
    table.add_row("without (NaN)", *(str(side.unscored) for side in sides))
    table.add_row("mean", *(_number(side.mean) for side in sides))
    for share in sorted({*found.left.quantiles, *found.right.quantiles}, key=float):
        label = {"0": "least", "0.5": "median", "1": "greatest"}.get(share, f"{float(share):.0%}")
        table.add_row(label, *(_number(side.quantiles.get(share)) for side in sides))
    counts = [(side.below_zero, *side.tenths, side.above_one) for side in sides]
    most = max(1, *(max(each) for each in counts))
    labels = ["below 0", *(f"{tenth / 10:.1f} to {(tenth + 1) / 10:.1f}" for tenth in range(10))]
    for label, *pair in zip([*labels, "above 1"], *counts, strict=True):
        table.add_row(label, *(_bar(count, most) for count in pair))
    return table


def _bar(count: int, most: int) -> str:
    return f"{'▇' * round(BAR * count / most)} {count}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
