"""Check what a built wheel and sdist hold: ``python archives.py oneiros.whl oneiros.tar.gz``.

Run by ``nox -s packages``; standard library only.
"""

from __future__ import annotations

import re
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]

WHEEL = (
    r"oneiros/__init__\.py",
    r"oneiros/py\.typed",
    r"oneiros/_core\.pyi",
    r"oneiros/_core\.[\w.-]+\.so",
    r"oneiros/demo/memories\.jsonl",
    r"oneiros/demo/memories\.f16\.npy",
    r"oneiros/demo/questions\.jsonl",
    r"oneiros/demo/questions\.f16\.npy",
    r"oneiros-[\d.]+\.dist-info/licenses/LICENSE",
    r"oneiros-[\d.]+\.dist-info/entry_points\.txt",
)
SDIST = (
    *("LICENSE", "README.md", r"CHANGELOG\.md", r"pyproject\.toml", r"CMakeLists\.txt"),
    *(r"CMakePresets\.json", r"noxfile\.py", r"PKG-INFO"),
    *(r"cpp/bindings/module\.cpp", r"cpp/bindings/exports\.map", r"cpp/tests/main\.cpp"),
    r"cpp/analysis/generate_character_tables\.py",
    *(r"docs/systems/fields\.md", r"tests/conftest\.py", r"bench/README\.md"),
)
FOREIGN = re.compile(r"(^|/)(build|dist|\.venv|\.ci|__pycache__|\.git|\.hypothesis)/")


def sources() -> set[str]:
    """Return the package's files of this tree, as a wheel names them."""
    home = ROOT / "python"
    return {
        file.relative_to(home).as_posix()
        for file in (home / "oneiros").rglob("*")
        if file.is_file() and file.suffix != ".so" and "__pycache__" not in file.parts
    }


def complaints(label: str, names: list[str], wanted: tuple[str, ...]) -> list[str]:
    """Return what is missing among the names, and what must not be there."""
    found = [
        f"{label} lacks {pattern}"
        for pattern in wanted
        if not any(re.fullmatch(pattern, name) for name in names)
    ]
    found += [f"{label} holds {name}" for name in names if FOREIGN.search(name)]
    if len(set(names)) != len(names):
        found.append(f"{label} names a file twice")
    return found


def main() -> int:
    """Print what is wrong; exit 0 when nothing is."""
    wheel, sdist = sys.argv[1:]
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = [name for name in archive.namelist() if not name.endswith("/")]
    with tarfile.open(sdist) as tar:
        files = [member.name for member in tar.getmembers() if member.isfile()]
    in_sdist = [name.split("/", 1)[1] for name in files]
    problems = complaints("wheel", in_wheel, WHEEL) + complaints("sdist", in_sdist, SDIST)
    problems += [f"wheel lacks {name}" for name in sorted(sources() - set(in_wheel))]
    size = Path(wheel).stat().st_size, Path(sdist).stat().st_size
    for problem in problems:
        sys.stdout.write(f"{problem}\n")
    sys.stdout.write(
        f"wheel: {len(in_wheel)} files, {size[0]:,} bytes; "
        f"sdist: {len(in_sdist)} files, {size[1]:,} bytes; problems: {len(problems)}\n"
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
