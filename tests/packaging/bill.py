"""Check a bill of materials: ``python bill.py oneiros.cdx.json``. Run by ``nox -s sbom``."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

PERMISSIVE = re.compile(
    r"0BSD|Apache-2\.0( WITH LLVM-exception)?|BSD-[234]-Clause|CC0-1\.0|ISC|MIT(-0)?|PSF-2\.0"
    r"|Python-2\.0(\.1)?|Unicode-3\.0|Unlicense|Zlib|any-OSI",
    re.IGNORECASE,
)
"""SPDX ids of licences that ask for no more than a notice."""
NAMES = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "MIT License": "MIT",
    "Python Software Foundation License": "PSF-2.0",
}
"""Classifiers, of packages that name no licence by SPDX."""


def licences_of(component: Mapping[str, Any]) -> list[str]:
    """Return the licences that a component declares: SPDX ids, expressions, or names."""
    found = []
    for one in component.get("licenses", ()):
        licence = one.get("license", {})
        name = one.get("expression") or licence.get("id") or licence.get("name", "")
        name = name.removeprefix("License :: OSI Approved :: ")
        found.append(NAMES.get(name, name))
    return found


def is_permissive(licence: str) -> bool:
    """Return whether an id or an expression allows any use that keeps its notice."""
    either = re.split(r" OR ", licence.strip("()"))
    return any(
        all(PERMISSIVE.fullmatch(one.strip("() ")) for one in re.split(r" AND ", part))
        for part in either
    )


def needed() -> set[str]:
    """Return the packages that pyproject.toml names for ``oneiros[cli,faiss]``."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["cli"], *extras["faiss"]]
    return {re.split(r"[<>=!~;\[ ]", one)[0].lower() for one in wanted}


def complaints(bill: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with a bill."""
    root = bill["metadata"]["component"]
    if (root["name"], root["type"], licences_of(root)) != ("oneiros", "library", ["Apache-2.0"]):
        yield f"the bill is of {root['name']}, {root['type']}, {licences_of(root)}"
    package = (ROOT / "python" / "oneiros" / "__init__.py").read_text("utf-8")
    if f'__version__ = "{root.get("version")}"' not in package:
        yield f"the bill is of version {root.get('version')}"
    names = {component["name"].lower() for component in bill["components"]}
    yield from (f"{name} is missing" for name in sorted(needed() - names))
    yield from (f"{name} is a tool" for name in sorted(names & {"pip", "setuptools", "pytest"}))
    if "file:" in json.dumps(bill):
        yield "a path of this machine is in it"
    for component in bill["components"]:
        licences = licences_of(component)
        if not component.get("version") or not component.get("purl"):
            yield f"{component['name']}: no version, or no address of the package"
        if not any(map(is_permissive, licences)):
            yield f"{component['name']}: licence {', '.join(licences) or 'not declared'}"


def main() -> int:
    """Print the components and what is wrong; exit 0 when nothing is."""
    bill = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    for component in sorted(bill["components"], key=lambda one: one["name"].lower()):
        licences = ", ".join(licences_of(component))
        sys.stdout.write(f"{component['name']:20} {component['version']:12} {licences}\n")
    found = list(complaints(bill))
    sys.stdout.writelines(f"{complaint}\n" for complaint in found)
    sys.stdout.write(f"components: {len(bill['components'])}; problems: {len(found)}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
