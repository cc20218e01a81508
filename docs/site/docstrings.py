"""Docstrings in Google's style as reStructuredText.

As ``sphinx.ext.napoleon`` does, but for attributes: it takes the words before a colon of an attribute's
docstring for a type. Names of pages, such as ``docs/kinds.md``, become links. What only the core
reads of a part of a profile is left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from sphinx.ext.napoleon import Config
from sphinx.ext.napoleon.docstring import GoogleDocstring

from docs.site.outside_pages import DOCS

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["setup"]

_MADE_BY_THE_PACKAGE = frozenset(
    (
        *(
            "oneiros.SearchResponse",
            "oneiros.SearchResult",
            "oneiros.SearchTrace",
            "oneiros.WhyNot",
        ),
        *(
            "oneiros.Explanation",
            "oneiros.Erasure",
            "oneiros.ChangeFeed",
            "oneiros.QueryStatistics",
        ),
        *("oneiros.write.batch.AddReport", "oneiros.engine.observers.Observation"),
        *("oneiros.engine.async_engine.AsyncDreamPlan", "oneiros.engine.listing.Page"),
        *("oneiros.dream.plan.DreamPlan", "oneiros.dream.report.DreamReport"),
        *("oneiros.dream.schedule.Dreamer", "oneiros.search.trace.StageTrace"),
        *("oneiros.evaluation.run.Report", "oneiros.simulation.world.World"),
        *("oneiros.scoring.program.ProgramBuilder", "oneiros.rescoring.store.Rescored"),
        *("oneiros.simulation.figures.Course", "oneiros.scoring.tables.Table"),
        *("oneiros.evaluation.use.Life", "oneiros.filters.conditions.Where"),
        *("oneiros.rescoring.store.PromotionReport", "oneiros.dream.impact.Impact"),
    )
)
_OF_PROTOCOLS = "(*args, **kwargs)"
_SHORTER = (
    (re.compile(r"<[^<>=]*>"), "..."),  # a default that is no code
    (re.compile(r"TypeAliasForwardRef\('numpy\.typing\.(\w+)'\)"), r"\1"),
    (re.compile(r"(numpy\.)?ndarray\[tuple\[Any, \.\.\.\], (numpy\.)?dtype\[Any\]\]"), "ndarray"),
)
_FOR_THE_CORE = frozenset(
    ("emit", "kernel", "ranges", "for_core", "depth_for", "with_least", "discriminator", "needs")
)
_PAGE = re.compile(r"(?<![\w/`])docs/(?P<page>[\w/]+)\.md(?!`)")
_CONFIG = Config(napoleon_use_rtype=False, napoleon_use_ivar=True)


def _convert(
    app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    if what not in ("attribute", "property", "data"):
        lines[:] = GoogleDocstring(lines, _CONFIG, app, what, name, obj, options).lines()
    lines[:] = [_PAGE.sub(_linked, line) for line in lines]


def _linked(match: re.Match[str]) -> str:
    is_page = (DOCS / f"{match['page']}.md").is_file()
    return f":doc:`{match[0]} </{match['page']}>`" if is_page else match[0]


def _skip(
    app: Sphinx, what: str, name: str, obj: object, skip: bool, options: object
) -> bool | None:
    """Leave out what the core reads of parts; ``Factor`` has it, for factors of your own."""
    is_declared = getattr(obj, "__qualname__", "").startswith(("Factor.", "ProgramBuilder."))
    return True if name in _FOR_THE_CORE and not is_declared else None


def _shorten(
    app: Sphinx,
    what: str,
    name: str,
    obj: object,
    options: object,
    arguments: str | None,
    result: str,
) -> tuple[str, str] | None:
    """Leave out the arguments of classes that only the package makes, and shorten the rest."""
    if what == "class" and (name in _MADE_BY_THE_PACKAGE or arguments == _OF_PROTOCOLS):
        return "", ""
    if not arguments:
        return None
    for pattern, words in _SHORTER:
        arguments = pattern.sub(words, arguments)
    return arguments, result


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to the event of a docstring that was read."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", _convert)
    app.connect("autodoc-process-signature", _shorten)
    app.connect("autodoc-skip-member", _skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
