"""The soak in small: it goes on where it ended, and what must not grow does not."""

from __future__ import annotations

from pathlib import Path

from bench.soak import Soak, summary


def test_a_soak_goes_on_and_counts_what_grows(tmp_path: Path) -> None:
    for lines in (2, 3):
        soak = Soak(tmp_path, live=30, steps_of_line=60)
        soak.run(0.0)
        while len(soak.lines) < lines:
            soak = Soak(tmp_path, live=30, steps_of_line=60)
            soak.run(0.01)
        assert [line["step"] for line in soak.lines] == [
            60 * (n + 1) for n in range(len(soak.lines))
        ]
    found = summary(soak.lines)
    assert found["live"] == [30.0, 30.0]
    assert found["descriptors"][1] <= found["descriptors"][0] + 2
    assert found["threads"][1] <= found["threads"][0] + 1
    assert set(found["tables_grew"]) >= {"memory", "erased", "dream_cycle", "past"}
