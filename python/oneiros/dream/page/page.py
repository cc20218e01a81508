"""The page as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from oneiros.argument_checks import require_instance
from oneiros.display import moment
from oneiros.dream.page import plots, sections
from oneiros.dream.page.document import document
from oneiros.dream.page.drift_section import drift_section
from oneiros.dream.page.markup import Html, element

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oneiros.dream.impact import Impact
    from oneiros.dream.page.sections import Section
    from oneiros.dream.report import DreamReport

__all__ = ["page"]

_FEW: Final = 3  # sections that need no list of them


def page(
    report: DreamReport,
    *,
    texts: Mapping[str, str] | None = None,
    impact: Impact | None = None,
    earlier: Sequence[DreamReport] = (),
) -> str:
    """Return a cycle's report as an HTML page that needs nothing else.

    Args:
        report: of the cycle.
        texts: what memories say, by id, to stand beside their names; None: names alone.
        impact: of its plan, if it was asked for.
        earlier: reports of cycles before it, the newest first, for the drift over them.

    Raises:
        ImportError: matplotlib is not installed.
        TypeError: an argument is something else.
    """
    plots.require()
    _require_arguments(texts, impact, earlier)
    found = list(_sections(report, texts or {}, impact, earlier))
    title = _title(report)
    return document(
        title,
        element("header", element("h1", title), *_summary(report), _contents(found)),
        element("main", *map(_section, found)),
    )


def _require_arguments(texts: object, impact: object, earlier: object) -> None:
    from oneiros.dream.impact import Impact  # noqa: PLC0415 - whoever has one loaded it
    from oneiros.dream.report import DreamReport  # noqa: PLC0415 - imports this one

    if texts is not None:
        require_instance("texts", texts, (Mapping,), "a dict of id to text")
        for id, text in texts.items():  # type: ignore[attr-defined]
            require_instance(f"texts[{id!r}]", text, (str,), "str")
    if impact is not None:
        require_instance("impact", impact, (Impact,), "what plan.impact returned")
    require_instance("earlier", earlier, (Sequence,), "a sequence of DreamReport")
    for place, one in enumerate(earlier):  # type: ignore[arg-type, var-annotated]
        require_instance(f"earlier[{place}]", one, (DreamReport,), "a DreamReport")


def _sections(
    report: DreamReport,
    texts: Mapping[str, str],
    impact: Impact | None,
    earlier: Sequence[DreamReport],
) -> Iterator[Section]:
    yield from sections.of_report(report, texts)
    if impact is not None:
        yield sections.impact(impact)
    drift = drift_section(report, earlier)
    if drift is not None:
        yield drift


def _title(report: DreamReport) -> str:
    if report.undoes is not None:
        return f"Dream {report.undoes} undone"
    return f"Dream {report.id}" + (", a dry run" if report.is_dry_run else "")


def _summary(report: DreamReport) -> Iterator[Html]:
    when = f"as of {moment(report.now)}, profile {report.profile}"
    yield element("p", when, class_="faint")
    if report.damage:
        yield element("p", f"The report is damaged: {report.damage}")
        return
    if report.undoes is not None:
        figures = {"fields restored": str(report.change_count), "by": report.id}
    else:
        verb = "would change" if report.is_dry_run else "changed"
        figures = {
            "memories": f"{report.live_before} → {report.live_after}",
            f"fields that {verb}": str(report.change_count),
            "removed": ", ".join(f"{count} {how}" for how, count in report.removed.items())
            or "none",
            "left as they are": str(sum(one.memories for one in report.left_alone)),
        }
        if report.day_limit is not None:
            taken = report.taken_away + report.taken_before
            figures["removed within 24 hours"] = f"{taken} of at most {report.day_limit}"
    tiles = (
        element("div", element("dt", name), element("dd", value)) for name, value in figures.items()
    )
    yield element("dl", *tiles)


def _contents(found: Sequence[Section]) -> Html:
    if len(found) <= _FEW:
        return Html("")
    links = (element("a", one.title, href=f"#{one.anchor}") for one in found)
    return element("nav", *links, aria_label="contents")


def _section(one: Section) -> Html:
    return element("section", element("h2", one.title), one.body, id=one.anchor)
