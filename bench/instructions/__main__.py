"""Count the instructions of fixed searches and compare them with the ones on record.

Times differ from run to run, instructions hardly do: what a change costs or saves shows here to the
percent. Needs CMake, a C++ compiler and valgrind (with its headers), all in Debian's packages of
these names. Valgrind knows no AVX-512, so the AVX2 loops are counted::

    python -m bench.instructions             # compares with bench/instructions/baseline.json
    python -m bench.instructions --update    # puts the new counts on record
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
BASELINE: Final = FOLDER / "baseline.json"
TOLERANCE: Final = 0.02
"""The share by which counts may differ: about as much as between compilers and libraries."""


def built(folder: Path) -> Path:
    """Build the searches, with the core, in a folder; return the program."""
    configure = [
        "cmake",
        "-S",
        str(FOLDER.parents[1]),
        "-B",
        str(folder),
        "-DCMAKE_BUILD_TYPE=Release",
    ]
    subprocess.run(
        [*configure, "-DONEIROS_BUILD_PYTHON=OFF", "-DONEIROS_BUILD_BENCH=ON"], check=True
    )
    build = ["cmake", "--build", str(folder), "--target", "search_instructions", "--parallel", "2"]
    subprocess.run(build, check=True)
    return folder / "search_instructions"


def counted(program: Path) -> dict[str, int]:
    """Run the searches under callgrind: the instructions of each."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        subprocess.run(
            [
                "valgrind",
                "--tool=callgrind",
                "--instr-atstart=no",
                f"--callgrind-out-file={out}",
                program,
            ],
            check=True,
            env=os.environ | {"LC_ALL": "C"},
            stderr=subprocess.DEVNULL,
        )
        counts = {}
        for dump in sorted(Path(folder).glob("out.*"), key=lambda path: int(path.suffix[1:])):
            text = dump.read_text()
            name = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.MULTILINE)
            total = re.search(r"^(?:summary|totals): (\d+)", text, re.MULTILINE)
            if name and total:
                counts[name[1]] = int(total[1])
    return counts


def main() -> int:
    """Return 1 if the searches together cost more than on record, by over the tolerance."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--update", action="store_true", help="put the counts on record")
    parser.add_argument("--build", type=Path, help="folder to build in, kept for the next time")
    arguments = parser.parse_args()
    for tool in ("cmake", "valgrind"):
        if shutil.which(tool) is None:
            parser.error(f"{tool} is not installed")
    with tempfile.TemporaryDirectory() as temporary:
        counts = counted(built(arguments.build or Path(temporary)))
    if arguments.update:
        BASELINE.write_text(json.dumps(counts, indent=1) + "\n")
    recorded: dict[str, int] = json.loads(BASELINE.read_text())
    if counts.keys() != recorded.keys():
        parser.exit(2, "the searches are not the ones on record: run with --update\n")
    lines = [f"{n:>10,} {n / recorded[name]:6.3f}  {name}" for name, n in counts.items()]
    ratio = statistics.geometric_mean(count / recorded[name] for name, count in counts.items())
    lines.append(f"{ratio:.3f} of the instructions on record")
    sys.stdout.write("\n".join(lines) + "\n")
    return int(ratio > 1 + TOLERANCE)


if __name__ == "__main__":
    sys.exit(main())
