"""Times as tables and tools show them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from oneiros.display.tables import day, moment


@pytest.mark.parametrize(
    ("year", "shown"), [(1, "0001"), (79, "0079"), (999, "0999"), (2026, "2026"), (9999, "9999")]
)
def test_a_year_has_four_digits(year: int, shown: str) -> None:
    time = datetime(year, 8, 24, 13, 5, 9, 999_000, tzinfo=UTC)
    assert day(time.timestamp()) == f"{shown}-08-24"
    assert moment(time.timestamp()) == f"{shown}-08-24T13:05:09Z"
    assert datetime.fromisoformat(moment(time.timestamp())) == time.replace(microsecond=0)


def test_a_time_out_of_range_is_a_number() -> None:
    assert moment(None) == "-"
    assert day(-62_135_647_200.0) == moment(-62_135_647_200.0) == "-62135647200 s"
    assert moment(float("inf")) == "inf s"
