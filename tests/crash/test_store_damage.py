"""A store's file that is damaged anywhere gives the answers of the sound one, or damage is noticed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import oneiros
from tests.crash import store_damage

MUTATIONS = int(os.environ.get("ONEIROS_MUTATIONS") or (400 if os.environ.get("CI") else 200))
"""``python -m tests.campaigns store_damage`` makes more."""


@pytest.mark.parametrize("count", [store_damage.COUNT, store_damage.FEW], ids=["large", "small"])
@pytest.mark.parametrize("with_snapshot", [False, True], ids=["alone", "snapshot"])
def test_no_damage_gives_a_wrong_answer_in_silence(
    tmp_path: Path, with_snapshot: bool, count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    is_large = count == store_damage.COUNT
    # The large take five times as long.
    mutations = max(20, MUTATIONS // 10) if is_large else max(1, MUTATIONS // 2)
    report = store_damage.Report()
    store_damage.run(
        tmp_path,
        mutations=mutations,
        seed=(13 if is_large else 21) + with_snapshot,
        with_snapshot=with_snapshot,
        report=report,
        count=count,
    )
    with capsys.disabled():
        print(f"\n{report}")  # noqa: T201 - the figures are part of the result
    assert report.wrong == []
    assert report.harmless > 0
    assert report.noticed > report.refused
    if is_large:  # where half of the file is free, by chance none may be refused
        assert report.refused or with_snapshot


def test_the_harness_sees_a_wrong_answer() -> None:
    sound = {"get a": {"id": "a", "text": "x"}, "count": 1, "check": [], "damaged": 0}
    assert store_damage.verdict(sound, dict(sound)) == (True, [])
    for key, answer in {"get a": {"id": "a", "text": "y"}, "count": 2}.items():
        _, wrong = store_damage.verdict(sound, sound | {key: answer})
        assert wrong
    told = sound | {"count": 2, "check": ["damage"]}
    assert store_damage.verdict(sound, told) == (False, [])
    told = sound | {"get a": oneiros.StoreCorrupt}
    assert store_damage.verdict(sound, told) == (False, [])
    _, wrong = store_damage.verdict(sound, told | {"list": [{"id": "a", "text": "y"}]})
    assert wrong == ["another memory: a"]  # whatever else was told
