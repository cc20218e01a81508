"""The picture in the README: recall@10 of the default profile on LoCoMo, beside the others.

::

    python -m bench.gain ../shared/data/locomo-dev -o docs/images/locomo_recall.svg

Every profile is measured as ``oneiros evaluate`` does it, with the collection's MiniLM vectors. "hashing" is the
default profile with the embedder in the box. Of the presets of one published system, the best is drawn. The
picture has no background, and colours that are readable on a light page and on a dark one.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from bench.embedding import embedded
from oneiros import profiles
from oneiros.evaluation.collection import read
from oneiros.evaluation.tasks import BASELINES, Task, measure, system_names, task_of
from oneiros.models import HashingEmbedder

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Bar", "bars", "picture"]

_OURS: Final = "oneiros"
_LABELS: Final = {
    "oneiros": "Oneiros, default profile",
    "hashing": "Oneiros, without a model",
    "bm25": "words alone (BM25)",
    "dense": "vectors alone",
    "rrf": "words and vectors (RRF)",
    "mnemosyne": "Mnemosyne",
    "reverie": "Reverie",
    "omega": "OMEGA",
    "cognitive": "cognitive-memory v6",
    "ciar": "CIAR",
}

_WIDTH: Final = 720
_LEFT: Final = 190  # where bars begin
_RIGHT: Final = 60  # room for the figure at a bar's end
_TOP: Final = 46
_STEP: Final = 26
_THICKNESS: Final = 16
# One set of colours for light and dark pages: which one it stands on, a picture cannot know.
_STYLE: Final = """\
text { font: 13px system-ui, sans-serif; fill: #737d88 }
.head { font-weight: 600; font-size: 14px }
.note { font-size: 12px }
.ours { fill: #3b82f6 }
.other { fill: #8c96a0 }"""


class Bar(NamedTuple):
    """One bar of the picture."""

    name: str
    """Name of the profile; "hashing" for the default one with the embedder in the box."""
    recall: float


def bars(folder: Path) -> list[Bar]:
    """Measure the default profile, the baselines and the published systems; the best first.

    Args:
        folder: a judged collection with vectors.
    """
    collection = read(folder)
    task = task_of(collection)
    found = {_OURS: _recall(task, _OURS)}
    hashed = embedded(read(folder, vectors=None), HashingEmbedder())
    found["hashing"] = _recall(hashed, _OURS)
    for name in (*BASELINES, *system_names()):
        system = name.partition("-")[0]
        if name != _OURS:
            found[system] = max(found.get(system, 0.0), _recall(task, name))
    return sorted(
        (Bar(name, recall) for name, recall in found.items()), key=lambda bar: -bar.recall
    )


def _recall(task: Task, name: str) -> float:
    profile = BASELINES.get(name) or profiles.get(name)
    return measure(task, profile).overall.recalls[1]


def picture(measured: Sequence[Bar], question_count: int) -> str:
    """Return an SVG of horizontal bars, the best first.

    Args:
        measured: the bars.
        question_count: for the line below the heading.
    """
    height = _TOP + _STEP * len(measured) + 8
    scale = _WIDTH - _LEFT - _RIGHT
    shown = ", ".join(f"{_LABELS[bar.name]} {_figure(bar.recall)}" for bar in measured)
    lines = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
            f'width="{_WIDTH}" height="{height}" role="img">'
        ),
        "<title>Recall@10 on LoCoMo</title>",
        f"<desc>{shown}</desc>",
        f"<style>{_STYLE}</style>",
        '<text class="head" x="0" y="15">Share of the answers among the first 10 results</text>',
        (
            f'<text class="note" x="0" y="33">LoCoMo, five long conversations, {question_count:,} '
            "questions, recall@10</text>"
        ),
    ]
    for place, bar in enumerate(measured):
        top = _TOP + _STEP * place
        kind = "ours" if bar.name in (_OURS, "hashing") else "other"
        length = round(bar.recall * scale)
        middle = top + _THICKNESS - 3
        lines += [
            f'<text x="{_LEFT - 10}" y="{middle}" text-anchor="end">{_LABELS[bar.name]}</text>',
            (
                f'<rect class="{kind}" x="{_LEFT}" y="{top}" width="{length}" '
                f'height="{_THICKNESS}" rx="2"/>'
            ),
            (
                f'<text id="{bar.name}" x="{_LEFT + length + 8}" y="{middle}">'
                f"{_figure(bar.recall)}</text>"
            ),
        ]
    return "\n".join([*lines, "</svg>", ""])


def _figure(recall: float) -> str:
    return f"{recall:.3f}".removeprefix("0")


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("collection", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    asked = sum(bool(query.answers) for query in read(arguments.collection, vectors=None).queries)
    arguments.output.write_text(picture(bars(arguments.collection), asked), encoding="utf-8")


if __name__ == "__main__":
    _main()
