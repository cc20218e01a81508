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
    last = soak.lines[-1]
    assert 0 < last.get("allocator_in_use_bytes", 1) < last["memory_bytes"]  # of glibc
    assert last["python_blocks"] > 10_000
    assert 0 <= last["empty_rows"] < last["step"]
    assert set(found["tables_grew"]) >= {"memory", "erased", "dream_cycle", "past"}


def test_the_slope_of_an_hour_leaves_out_pauses_between_runs() -> None:
    lines = [
        {
            "step": 60 * number,
            "run": number // 10,
            "seconds": 90.0 * number + 86_400.0 * (number // 10),
            "memory_bytes": 2**20 * number,
            "tables": {},
            **dict.fromkeys(("live", "file_bytes", "descriptors", "threads", "p99_ms"), 1),
        }
        for number in range(20)
    ]
    found = summary(lines)
    assert found["hours_between_the_tenths"] == round(14 * 90 / 3_600, 2)
    assert found["memory_mib_of_an_hour"] == 42.9  # 15 MiB in 14 steps of 90 s
