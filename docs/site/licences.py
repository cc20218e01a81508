"""The directive ``licences``: what the package installs, with the licences it had when the site was built.

Its argument names extras. The rows come from ``pyproject.toml`` and from the packages installed where the
site is built, so they cannot be of another time than the page.
"""

from __future__ import annotations

import importlib.metadata
import tomllib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from docutils import nodes
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from sphinx.util.docutils import SphinxDirective

from docs.site.outside_pages import ROOT

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["Package", "licence_of", "packages", "setup"]

_CLASSIFIER = "License :: OSI Approved :: "


class Package(NamedTuple):
    """A package that is installed with Oneiros."""

    name: str
    version: str
    licence: str
    needed_by: str


def licence_of(metadata: importlib.metadata.PackageMetadata) -> str:
    """Return the licence that a package declares: an SPDX expression, a classifier or a line."""
    if expression := metadata.get("License-Expression"):
        return str(expression)
    classifiers = metadata.get_all("Classifier") or ()
    found = [one.removeprefix(_CLASSIFIER) for one in classifiers if one.startswith(_CLASSIFIER)]
    return ", ".join(found) or (metadata.get("License") or "not declared").splitlines()[0]


def packages(extras: Iterable[str]) -> list[Package]:
    """Return what is installed with these extras, sorted by name.

    Raises:
        KeyError: no such extra.
        PackageNotFoundError: a package is not installed here.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    waiting = [("oneiros", one) for one in project["dependencies"]]
    for extra in extras:
        waiting += [(f"oneiros[{extra}]", one) for one in project["optional-dependencies"][extra]]
    found: dict[str, Package] = {}
    while waiting:
        owner, text = waiting.pop(0)
        wanted = Requirement(text)
        name = canonicalize_name(wanted.name)
        if name in found or not _applies(wanted):
            continue
        distribution = importlib.metadata.distribution(name)
        licence = licence_of(distribution.metadata)
        found[name] = Package(distribution.metadata["Name"], distribution.version, licence, owner)
        waiting += [(found[name].name, one) for one in distribution.requires or ()]
    return sorted(found.values(), key=lambda one: one.name.lower())


def _applies(wanted: Requirement) -> bool:
    return wanted.marker is None or wanted.marker.evaluate({"extra": ""})


class Licences(SphinxDirective):
    """A table of packages; the argument names extras, with commas between them."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        self.env.note_dependency(str(ROOT / "pyproject.toml"))
        rows = [("package", "version", "licence", "needed by"), *packages(self._extras())]
        lines = [f"| {' | '.join(row)} |" for row in rows]
        lines.insert(1, "| --- | --- | --- | --- |")
        return self.parse_text_to_nodes("\n".join(lines))

    def _extras(self) -> list[str]:
        return [one.strip() for one in self.arguments[0].split(",")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("licences", Licences)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
