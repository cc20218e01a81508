"""Clocks and new ids."""

from __future__ import annotations

import math
import os
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneiros.clock import Deadline, VirtualClock, system_clock
from oneiros.model.ids import new_ulid

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def number_of(text: str) -> int:
    value = 0
    for character in text:
        value = value * 32 + ALPHABET.index(character)
    return value


def test_a_ulid_holds_its_time_as_published() -> None:
    assert new_ulid(1469918176.385).startswith("01ARYZ6S41")  # the example of the ULID standard
    assert len(new_ulid(0.0)) == 26


@given(st.floats(0, 2**48 / 1000 - 1))
def test_the_time_of_a_ulid_is_its_millisecond(now: float) -> None:
    assert number_of(new_ulid(now)[:10]) == int(now * 1000)


def test_a_child_of_a_fork_gives_out_ids_of_its_own() -> None:
    new_ulid(0.0)
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.write(writing, "".join(new_ulid(0.0) for _ in range(80)).encode())
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:  # noqa: PTH123 - no path
        told = pipe.read().decode()
    os.waitpid(child, 0)
    theirs = {told[at : at + 26] for at in range(0, len(told), 26)}
    assert len(theirs) == 80
    assert theirs.isdisjoint(new_ulid(0.0) for _ in range(80))


def test_times_that_do_not_fit_are_cut() -> None:
    assert new_ulid(-5.0).startswith("0" * 10)
    assert new_ulid(1e15).startswith("7ZZZZZZZZZ")


@given(st.floats(0, 1e11), st.floats(0.001, 1e6))
def test_ulids_sort_by_time(now: float, later: float) -> None:
    assert new_ulid(now) < new_ulid(now + later + 0.001)


def test_ulids_do_not_repeat_and_use_every_character_at_every_place() -> None:
    ids = [new_ulid(1.0) for _ in range(20_000)]
    assert len(set(ids)) == len(ids)
    for place in range(10, 26):
        assert {id[place] for id in ids} == set(ALPHABET)


def test_the_virtual_clock_moves_only_when_told() -> None:
    clock = VirtualClock(100.0)
    assert (clock(), clock()) == (100.0, 100.0)
    assert clock.advance(2.5) == 102.5
    assert clock.advance(-50.0) == 52.5
    assert clock() == 52.5


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_the_virtual_clock_refuses_what_is_no_time(value: float) -> None:
    with pytest.raises(ValueError, match="start: must be finite"):
        VirtualClock(value)
    with pytest.raises(ValueError, match="seconds: must be finite"):
        VirtualClock().advance(value)


def test_the_virtual_clock_loses_no_step_of_any_thread() -> None:
    clock = VirtualClock()
    steps = [
        threading.Thread(target=lambda: [clock.advance(1.0) for _ in range(500)]) for _ in "abcd"
    ]
    for thread in steps:
        thread.start()
    for thread in steps:
        thread.join()
    assert clock() == 2000.0


def test_the_system_clock_is_the_machines() -> None:
    before = time.time()
    assert before <= system_clock() <= time.time()


def test_a_deadline_ends_and_never_runs_below_zero() -> None:
    assert Deadline(-1.0).left() == 0.0
    deadline = Deadline(60.0)
    assert 59.0 < deadline.left() <= 60.0
    over = Deadline(0.0)
    over.pause(60.0)  # returns at once
    assert over.left() == 0.0
