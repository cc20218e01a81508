"""Lives told in tables, by hand."""

from __future__ import annotations

from oneiros.simulation.figures import Forgotten, fared, forgot, grouped
from tests.simulation.courses import course


def test_how_lives_fared() -> None:
    lives = grouped(
        [
            course(
                "omega", is_dreaming=False, months=({"active": 10, "archived": 0, "deleted": 0},)
            ),
            course("omega", seed=0, months=({"found": 0.9},)),
            course("omega", seed=1, months=({"found": 0.8, "archived": 5},)),
            course("ciar", is_dreaming=False, months=({"questions": 0},)),
        ]
    )
    told = fared(lives, "ten memories")
    assert (told.title, told.names) == ("ten memories", 1)
    rows = [dict(zip(told.heads, row, strict=True)) for row in told.rows]
    assert [(row["profile"], row["dreams"], row["removed"]) for row in rows] == [
        ("omega", "-", "0.0%"),
        ("omega", "30", "50.0%"),
        ("ciar", "-", "40.0%"),
    ]
    assert (rows[1]["archived"], rows[1]["deleted"], rows[1]["recall@10"]) == ("4", "1", "0.850")
    assert rows[2]["recall@10"] == "-"  # nobody asked


def test_what_each_profile_forgot() -> None:
    bugs = Forgotten("bug", 10, {"R13 stale": 4, "R14": 1})
    notes = Forgotten("note", 30, {"R13 stale": 2})
    rare = tuple(Forgotten(f"kind {place}", 1, {"R14": 1}) for place in range(8))
    told = forgot(
        grouped(
            [
                course("omega", is_dreaming=False),
                course("reverie", seed=0, forgotten=(notes, bugs, *rare)),
                course("reverie", seed=1, forgotten=(Forgotten("bug", 10, {}),)),
                course("omega", forgotten=(notes, bugs, *rare)),
            ]
        )
    )
    assert told is not None
    assert told.heads[:5] == ("profile", "rule", "all", "note", "bug")
    assert told.heads[5:] == (*(f"kind {place}" for place in range(5)), "other")
    rows = {(row[0], row[1]): row[2:] for row in told.rows}
    assert rows["reverie", "all"] == ("26%", "7%", "25%", *["100%"] * 6)  # of 58 memories, 20 bugs
    assert told.rows[1][1:5] == (
        "placing (R14)",
        "16%",
        "-",
        "5%",
    )  # 9 of 58: took more than R13 stale
    assert told.rows[2][1:5] == ("stale (R13)", "10%", "7%", "20%")


def test_without_dreams_nothing_is_told_of_forgetting() -> None:
    assert forgot(grouped([course(is_dreaming=False)])) is None
