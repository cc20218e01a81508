"""Reports, engines and scopes are one short line each; printed tables keep their columns."""

from __future__ import annotations

import asyncio

import pytest

import oneiros
from oneiros.display.tables import DisplayTable, columns_of, fitted, padded

NOW = 1_750_000_000.0


@pytest.fixture
def mind() -> oneiros.Engine:
    return oneiros.Engine(":memory:", clock=lambda: NOW)


def test_a_report_of_a_batch_is_one_line(mind: oneiros.Engine) -> None:
    records = [{"text": f"ant {n}", "id": f"a{n}"} for n in range(300)]
    assert repr(mind.add_many(records)) == "<AddReport: 300 ids>"
    again = [*records[:2], records[0], {"text": 5}]
    report = mind.add_many(again, on_conflict="update", on_error="skip")
    assert repr(report) == "<AddReport: 2 ids, 2 updated, 1 repeated, 1 skipped>"


def test_a_report_of_a_promotion_is_one_line(mind: oneiros.Engine) -> None:
    mind.add_many({"text": f"ant {n}", "importance": 1.0} for n in range(300))
    report = mind.promote(profile="ciar", threshold=0.01)
    assert len(report.promoted) == 300
    assert repr(report) == "<PromotionReport: 300 of 300 staged promoted (ciar >= 0.01)>"
    assert len(str(report).splitlines()) == 301
    assert str(report).splitlines()[0] in repr(report)


def test_an_engine_and_its_scopes_are_one_line(mind: oneiros.Engine) -> None:
    mind.add("ant", project="atlas\n", session="s")
    mind.add("bee")
    scope = mind.scope(project="atlas\n").scope(session="s")
    assert repr(mind) == "<Engine ':memory:', 2 memories>"
    assert repr(scope) == "<Scope project='atlas␊' session='s' of ':memory:', 1 memory>"
    long = repr(mind.scope(topic="x" * 200))
    assert len(long) < 120
    mind.close()
    assert repr(mind) == "<Engine ':memory:', closed>"
    assert repr(scope) == "<Scope project='atlas␊' session='s' of ':memory:', closed>"


def test_an_awaited_engine_is_one_line() -> None:
    async def shown() -> list[str]:
        mind = oneiros.AsyncEngine(":memory:")
        found = [repr(mind)]
        async with mind:
            found.append(repr(mind))
        never_opened = oneiros.AsyncEngine(":memory:")
        await never_opened.close()
        return [*found, repr(mind), repr(never_opened)]

    assert asyncio.run(shown()) == [
        "<AsyncEngine: not open yet>",
        "<AsyncEngine: <Engine ':memory:', 0 memories>>",
        "<AsyncEngine: <Engine ':memory:', closed>>",
        "<AsyncEngine: closed>",
    ]


def test_an_awaited_scope_is_one_line() -> None:
    async def shown() -> list[str]:
        async with oneiros.AsyncEngine(":memory:") as mind:
            scope = await mind.scope(project="atlas")
            found = [repr(scope)]
            await scope.add("tea")
            found.append(repr(scope))
        return [*found, repr(scope)]

    assert asyncio.run(shown()) == [
        "<AsyncScope: <Scope project='atlas' of ':memory:', 0 memories>>",
        "<AsyncScope: <Scope project='atlas' of ':memory:', 1 memory>>",
        "<AsyncScope: <Scope project='atlas' of ':memory:', closed>>",
    ]


@pytest.mark.parametrize(
    ("text", "columns", "shown"),
    [
        ("ant", 3, "ant"),
        ("ants", 3, "an…"),
        ("東京", 4, "東京"),
        ("東京都", 4, "東…"),
        ("東京都", 5, "東京…"),
        ("a\u0301b", 2, "a\u0301b"),
        ("東", 1, "…"),
    ],
)
def test_a_text_is_cut_by_the_columns_it_takes(text: str, columns: int, shown: str) -> None:
    assert fitted(text, columns) == shown
    assert columns_of(shown) <= columns
    assert columns_of(padded(shown, 9)) == columns_of(padded(shown, 9, True)) == 9


def test_columns_stand_below_each_other_whatever_the_width_of_letters() -> None:
    table = DisplayTable(("name", "x"), (("東京", 1), ("ant", 22), ("é", 3)))
    assert str(table).splitlines() == ["name   x", "東京   1", "ant   22", "é      3"]


def test_a_printed_response_cuts_by_columns(mind: oneiros.Engine) -> None:
    mind.add("ant " + "東京の猫" * 20, id="wide", now=NOW)
    mind.add("ant " + "x" * 100, id="plain", now=NOW)
    _, head, *rows = str(mind.search("ant", reinforce=False)).splitlines()
    place = columns_of(head[: head.index("date")])
    assert {columns_of(row[: row.index("2025-06-15")]) for row in rows} == {place}
    assert max(map(columns_of, rows)) < 48 + 48
