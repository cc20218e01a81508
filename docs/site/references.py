"""Names in docstrings and signatures, which lead to what the site documents.

Signatures name types as their modules do: ``DreamReport``, without its module. Where one documented
object has that name, the reference leads to it. What the package defines, but the reference leaves out,
stays a word, and so do types of other packages. A name that nothing has is a warning.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sphinx.util.nodes import find_pending_xref_condition

import oneiros

if TYPE_CHECKING:
    from docutils.nodes import Element
    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

__all__ = ["setup"]

_ELSEWHERE = re.compile(
    r"(numpy|np|npt|collections|typing|os|datetime|pathlib|pyarrow|pa|pandas|pd|polars|networkx|rustworkx)\."
    r"|(timedelta|datetime|date|tzinfo|Path|PathLike|Self|Any|ndarray|ArrayLike|DTypeLike)$"
)
_DEFINED = re.compile(r"^ *(?:(?:class|def) (\w+)|(\w+)(?:: [^=\n]+)? = )", re.MULTILINE)
_MEMBERS = ("method", "attribute", "property")


@cache
def _names() -> frozenset[str]:
    """Return every name that the package's sources define."""
    folder = Path(oneiros.__file__).parent
    return frozenset(
        name
        for path in (*folder.rglob("*.py"), *folder.glob("*.pyi"))
        for names in _DEFINED.findall(path.read_text(encoding="utf-8"))
        for name in names
    )


def _resolve(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: Element
) -> Element | None:
    if node.get("refdomain") != "py":
        return None
    target = str(node["reftarget"])
    short = find_pending_xref_condition(node, "resolved")
    content = content if short is None else cast("Element", short.children[0])
    if _ELSEWHERE.match(target):
        return content
    domain = env.domains.python_domain
    last = target.rsplit(".", 1)[-1]
    entries = {
        name: entry.objtype
        for name, entry in domain.objects.items()
        if name.endswith(f".{last}") and not entry.aliased
    }
    if len(entries) > 1:  # a class or a function before a method of that name
        entries = {name: kind for name, kind in entries.items() if kind not in _MEMBERS}
    if len(entries) == 1:
        (found,) = entries
        return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", found, node, content)
    return content if last in _names() else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to the event of a reference without a target."""
    app.connect("missing-reference", _resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
