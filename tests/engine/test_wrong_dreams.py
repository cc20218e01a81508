"""Dream cycles asked for wrongly: named by the argument and its rule, and nothing is done."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import oneiros
from oneiros.engine import Engine

NOW = 1_750_000_000.0
DAY = 86_400.0
NO_TEXT = "\ud800"
NAN = math.nan


async def awaited(*_: object) -> str:
    return "distinct"


def planned(mind: Engine) -> Any:
    return mind.dream(dry_run=True)


CALLS: list[tuple[str, Callable[[Engine, Any], object], list[Any]]] = [
    ("now", lambda mind, it: mind.dream(it), ["soon", NAN, 1e300, [], True, "2025-06-01"]),
    ("dry_run", lambda mind, it: mind.dream(dry_run=it), [None, 1, "yes"]),
    ("profile", lambda mind, it: mind.dream(profile=it), [5, b"x", "nobody's"]),
    ("summarise", lambda mind, it: mind.dream(summarise=it), [5, "x", awaited]),
    ("judge", lambda mind, it: mind.dream(judge=it), [5, "x", awaited]),
    ("id", lambda mind, it: mind.undo_dream(it), [None, 5, "", "x", NO_TEXT]),
    ("limit", lambda mind, it: mind.dreams(it), [None, -1, 1.5, "5", True, 2**31]),
    ("limit", lambda mind, it: mind.drift(it), [None, -1, 1.5, "5", True, 2**31]),
    ("older_than_days", lambda mind, it: mind.purge(it), [None, -1, "5", NAN, math.inf, 10**400]),
    ("older_than_days", lambda mind, it: mind.purgeable(it), [None, -1, "5", NAN, math.inf]),
    ("now", lambda mind, it: mind.purge(now=it), ["soon", NAN]),
    ("ids", lambda mind, it: mind.get_deleted(it), [None, 5, "a", [5], [NO_TEXT]]),
    ("fields", lambda mind, it: planned(mind).changes(it), [5, "strength", [5], ["deletd_at"]]),
    ("queries", lambda mind, it: planned(mind).impact(it), [None, 5, "ant", b"x", [5], [NO_TEXT]]),
    ("k", lambda mind, it: planned(mind).impact(["ant"], it), [None, 0, 1.5, "5", True, 2**31]),
    ("schedule", lambda mind, it: mind.keep_dreaming(it), [5, "4h", oneiros.DreamSchedule]),
    ("profile", lambda mind, it: mind.keep_dreaming(profile=it), [5, "nobody's"]),
    ("on_cycle", lambda mind, it: mind.keep_dreaming(on_cycle=it), [5, "x", awaited]),
    ("reports", lambda _, it: oneiros.drift_over(it), [None, 5, "abc", [5]]),
]

PAGES: list[tuple[str, Callable[[Engine, Any], object], list[Any]]] = [
    ("impact", lambda mind, it: planned(mind).html(impact=it), [5, "x"]),
    ("earlier", lambda mind, it: planned(mind).html(earlier=it), [None, 5, "abc", [5]]),
    ("texts", lambda mind, it: planned(mind).report.html(texts=it), [5, "abc", {"a": 5}]),
]


def cases(calls: list[tuple[str, Callable[[Engine, Any], object], list[Any]]]) -> list[Any]:
    return [
        pytest.param(name, call, value, id=f"{place}: {name}={value!r:.12}")
        for place, (name, call, values) in enumerate(calls)
        for value in values
    ]


def refused(name: str, call: Callable[[Engine, Any], object], value: object) -> None:
    with Engine(":memory:", clock=lambda: NOW, profile="reverie") as mind:
        mind.add("ant", id="a", created_at=NOW - 900 * DAY)
        revision = mind.stats()["revision"]
        # An unknown profile is told in the words of who looks it up.
        with pytest.raises((TypeError, ValueError), match=rf"^({name}(\[.+\])?|name): "):
            call(mind, value)
        assert (mind.dreams(), mind.stats()["revision"]) == ([], revision)
        assert len(mind) == 1


@pytest.mark.parametrize(("name", "call", "value"), cases(CALLS))
def test_a_call_says_what_is_wrong_and_changes_nothing(
    name: str, call: Callable[[Engine, Any], object], value: object
) -> None:
    refused(name, call, value)


@pytest.mark.parametrize(("name", "call", "value"), cases(PAGES))
def test_a_page_says_what_is_wrong(
    name: str, call: Callable[[Engine, Any], object], value: object
) -> None:
    pytest.importorskip("matplotlib", reason="pages have plots: pip install 'oneiros[plots]'")
    refused(name, call, value)


@pytest.mark.parametrize(("name", "phase"), [("judge", "Conflicts"), ("summarise", "Summarising")])
@pytest.mark.parametrize("profile", ["oneiros", "reverie", "omega", "ciar", "mnemosyne"])
@pytest.mark.parametrize("dry_run", [False, True])
def test_a_callable_that_no_phase_calls_is_refused(
    name: str, phase: str, profile: str, dry_run: bool
) -> None:
    arguments: dict[str, Any] = {name: lambda *_: "distinct"}
    with Engine(":memory:", clock=lambda: NOW) as mind:
        words = rf"^{name}: .* no phase of the profile '{profile}' calls it; {phase}\(\) does"
        with pytest.raises(ValueError, match=words):
            mind.dream(profile=profile, dry_run=dry_run, **arguments)
        assert mind.dreams() == []
        mind.dream(profile="cognitive", dry_run=dry_run, **arguments)


@pytest.mark.parametrize("timeout", ["x", -1, NAN, math.inf, True])
def test_a_dreamer_that_is_stopped_wrongly_goes_on(timeout: Any) -> None:
    with Engine(":memory:", clock=lambda: NOW) as mind:
        dreamer = mind.keep_dreaming()
        with pytest.raises((TypeError, ValueError), match=r"^timeout: "):
            dreamer.stop(timeout)
        assert dreamer.is_running
        assert dreamer.stop(30)


def test_a_closed_engine_neither_plans_nor_applies() -> None:
    with Engine(":memory:", clock=lambda: NOW, profile="reverie") as mind:
        mind.add("ant", id="a", created_at=NOW - 900 * DAY)
        plan = mind.dream(dry_run=True)
    for call in (
        mind.dream,
        plan.apply,
        lambda: plan.impact(["ant"]),
        lambda: mind.undo_dream("x"),
        mind.dreams,
        mind.drift,
        mind.purge,
        mind.keep_dreaming,
        mind.interrupted_dream,
    ):
        with pytest.raises(oneiros.EngineClosed):
            call()
