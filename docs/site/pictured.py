"""Pages that the site shows as pictures: a dream cycle, simulated lives, notebooks, ``oneiros inspect``.

All are made of the demo's memories, on a clock that stands still, so that a picture changes only when a
page does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from oneiros import Engine, profiles
from oneiros.demo import DemoData, load
from oneiros.inspection import InspectionServer
from oneiros.simulation import figures, run
from oneiros.simulation.plots import page as lives_page
from oneiros.simulation.workload import Workload

__all__ = ["PICTURED", "Pictured"]

NOW = 1_767_225_600.0
"""2026-01-01: a little after the last memory of the demo."""

DAY = 86_400.0
QUESTION = "q005"
CELL = """<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<style>body{{margin:0;padding:16px;font-family:system-ui,sans-serif;background:Canvas;color:CanvasText}}
</style>{}"""
"""An output cell of a notebook: it gives the colours and the letters."""


@dataclass(frozen=True)
class Pictured:
    """A page: what makes its address, and what is done on it before it is pictured."""

    address: Callable[[Path], Any]
    """Takes an empty folder; returns a context of the address of the page."""

    prepare: str = "0"
    """JavaScript, which is run when the page is complete."""

    tallest: int = 1_100
    """Pixels of its height that are shown."""


@cache
def _data() -> DemoData:
    return load()


@contextmanager
def _store(path: str = ":memory:") -> Iterator[Engine]:
    """Yield an engine with the demo's memories, some of them used since."""
    data = _data()
    with Engine(path, clock=lambda: NOW) as engine:
        engine.add_many(data.records())
        for place, question in enumerate(data.questions[:60]):
            engine.search(
                question.text,
                5,
                embedding=data.vector_of(question),
                session=f"day {place}",
                now=NOW - (60 - place) * 3 * DAY,
                reinforce=True,
            )
        engine.flush()
        yield engine


def _dream_page() -> str:
    """Return the page of a planned cycle of the published profile that forgets most."""
    with _store() as engine:
        for days in (100, 50):
            engine.dream(NOW - days * DAY, profile="cognitive")
        earlier = tuple(engine.dreams())
        plan = engine.dream(NOW, profile="reverie", dry_run=True)
        return plan.html(earlier=earlier)


def _written(make: Callable[[], str]) -> Callable[[Path], Any]:
    @contextmanager
    def address(folder: Path) -> Iterator[str]:
        path = folder / "page.html"
        path.write_text(make(), encoding="utf-8")
        yield path.as_uri()

    return address


def _inspected(view: str) -> Callable[[Path], Any]:
    @contextmanager
    def address(folder: Path) -> Iterator[str]:
        with _store(str(folder / "agent.db")) as engine:
            engine.dream(NOW - 50 * DAY, profile="cognitive")
            with InspectionServer(engine) as server:
                yield server.url + view

    return address


def _lives_page() -> str:
    world = Workload(days=180.0, memories=400, seed=0).world()
    courses = [
        run.simulate(world, profiles.get(name), dream_every_days=every)
        for name, every in (("oneiros", None), ("oneiros", 10.0), ("reverie", 10.0))
    ]
    lives = figures.grouped(courses)
    tables = [figures.fared(lives, "400 memories in 180 days, seed 0")]
    forgotten = figures.forgot(lives)
    return lives_page(
        lives, [*tables, *([] if forgotten is None else [forgotten])], "Simulated lives"
    )


def _response_cell() -> str:
    data = _data()
    question = next(one for one in data.questions if one.id == QUESTION)
    with _store() as engine:
        response = engine.search(
            question.text, 4, embedding=data.vector_of(question), explain=True, now=question.now
        )
        return CELL.format(response._repr_html_())


def _dream_cell() -> str:
    with _store() as engine:
        plan = engine.dream(NOW, profile="reverie", dry_run=True)
        return CELL.format(plan._repr_html_())


PICTURED = {
    "dream": Pictured(_written(_dream_page), tallest=1_500),
    "lives": Pictured(_written(_lives_page), tallest=1_500),
    "notebook-response": Pictured(_written(_response_cell)),
    "notebook-plan": Pictured(_written(_dream_cell)),
    "inspect-search": Pictured(_inspected("#/search?q=coffee&k=10")),
    "inspect-memory": Pictured(_inspected("#/memory?id=m0440")),
    "inspect-dreams": Pictured(_inspected("#/dreams?profile=reverie")),
    "inspect-store": Pictured(_inspected("#/store")),
}
