"""Self-contained HTML pages from the templates next to this module; needs ``oneiros[plots]``."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final

from oneiros._lazy import needed
from oneiros.display.escaping import shortened, visible

__all__ = ["environment", "markup", "rendered", "require"]

_EXTRA: Final = "plots"
_LONGEST: Final = 200  # characters of a stored text that are shown


def require() -> None:
    """Check that pages can be made, before long work instead of after it.

    Raises:
        ImportError: matplotlib or Jinja2 is not installed; the message says what to install.
    """
    needed("matplotlib", _EXTRA)
    needed("jinja2", _EXTRA)


@cache
def environment() -> Any:
    """Return the environment of the templates.

    Every value is escaped and its control characters become visible. The filter ``stored`` marks
    text of a store: at most 200 characters, isolated from the text direction around it.
    """
    jinja2 = needed("jinja2", _EXTRA)
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        finalize=_shown,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["stored"] = _stored
    return made


def rendered(template: str, **values: object) -> str:
    """Return the page of a template, one of the files in ``templates``."""
    page: str = environment().get_template(template).render(values)
    return page


def markup(html: str) -> str:
    """Mark HTML as safe, so that a template does not escape it."""
    safe: str = needed("markupsafe", _EXTRA).Markup(html)
    return safe


def _shown(value: object) -> object:
    return visible(value) if type(value) is str else value


def _stored(text: str) -> str:
    return markup("<bdi>{}</bdi>").format(shortened(text, _LONGEST))
