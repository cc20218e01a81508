"""The reader of statements, and the model of conflicts. Source: docs/systems/house.md H12."""

from __future__ import annotations

from functools import cache
from typing import Final

from oneiros import _core
from oneiros.conflicts import words

__all__ = ["CONSTANT", "WEIGHTS", "model", "reader"]

CONSTANT: Final = -1.9
WEIGHTS: Final = {
    "shared": 0.6,
    "none_shared": -2.5,
    "share_of_older": 3.0,
    "share_of_newer": -1.1,
    "only_older": -3.7,
    "only_newer": -4.1,
    "length": -2.8,
    "number": 1.0,
    "name": 0.9,
    "named": 0.7,
    "cue": 2.9,
    "cue_of_older": -1.0,
    "addition": -1.7,
    "past": -0.7,
    "past_of_older": -1.4,
    "relative": -3.3,
    "denial": 1.8,
    "topic": -1.1,
    "no_topic": -0.9,
    "topic_and_cue": 1.2,
    "topic_and_value": 1.6,
    "other_subject": -4.3,
    "restated": 2.8,
    "reworded": 1.4,
}
"""Fitted on the half "develop" of ``bench.facts``, with pairs of LoCoMo, RealMem and BEAM as counter-
examples; docs/systems/house.md has the fit."""


@cache
def reader() -> _core.StatementReader:
    """Return the reader of statements; any number of threads may use it."""
    return _core.StatementReader(
        stop_words=sorted(words.STOP_WORDS),
        cue_words=sorted(words.CUE_WORDS),
        cues=[(strength, [*phrases]) for strength, phrases in words.CUES],
        additions=[*words.ADDITIONS],
        past=[*words.PAST],
        relatives=sorted(words.RELATIVES),
        denials=sorted(words.DENIALS),
        numbers=sorted(words.NUMBERS),
        dates=sorted(words.DATES),
        topics=[topic.split() for topic in words.TOPICS],
        states=sorted(words.STATES),
        amounts=sorted(words.AMOUNTS),
        articles=sorted(words.ARTICLES),
        particles=sorted(words.PARTICLES),
        headings=sorted(words.HEADINGS),
        labels=sorted(words.LABELS),
        prepositions=sorted(words.PREPOSITIONS),
    )


@cache
def model() -> _core.ConflictModel:
    """Return the model that gives two statements their confidence."""
    return _core.ConflictModel(weights=WEIGHTS, constant=CONSTANT)
