"""Scripts: memories in order, with the facts that they state; from a file or from the demo."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NoReturn

from oneiros.demo import load
from oneiros.display.json_values import decoding_problem
from oneiros.model.memory import Memory
from oneiros.runtime.dataclasses import NamedTuple, dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

__all__ = ["NEVER_TRUE", "Fact", "Line", "Phrase", "Script", "demo_script", "read_script"]


NEVER_TRUE: Final = -1
"""Version of a line that contradicts its fact."""


class Phrase(NamedTuple):
    """One wording of a question about a fact."""

    text: str
    vector: npt.NDArray[np.float32] | None = None
    """Shape (dimension,); None: computed by the run's embedder."""


class Line(NamedTuple):
    """A memory, and what it states."""

    record: Mapping[str, Any]
    """Fields for ``Engine.add``, without session and times; an ``id`` is only a name here."""
    fact: int | None = None
    """Index of the fact in the script; None if no question is about it."""
    version: int = 0
    """Value of the fact that it states, from 0; :data:`NEVER_TRUE` if it contradicts the fact."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact that questions are about, whose value may change."""

    topic: str | None
    """Facts of a topic come up together: the subject in a generated script; None: its own."""
    phrases: tuple[Phrase, ...]
    """At least one."""


@dataclass(frozen=True, slots=True)
class Script:
    """Lines in the order in which they are added.

    The last stated value of a fact is current: a version makes lower versions stale.
    """

    lines: Sequence[Line]
    facts: Sequence[Fact]


_KEPT: Final = (
    *("text", "title", "kind", "category", "topic", "project", "tags", "metadata", "importance"),
    *("certainty", "impact", "priority", "veracity", "pinned", "importance_tag"),
)


@dataclass(slots=True)
class _Given:
    """A line, and its references to others."""

    place: str
    """For messages: "line 17"."""
    id: str
    record: Mapping[str, Any]
    phrases: tuple[Phrase, ...]
    replaces: tuple[str, ...]


def read_script(path: Path) -> Script:
    """Read a script from a file of JSON lines.

    Each line is an object with the fields of a memory and, optionally, ``questions`` (one or more
    texts) and ``replaces`` (ids of earlier lines).

    Raises:
        OSError: the file cannot be read.
        ValueError, TypeError: an invalid line or field; no line at all, or none with a question.
            For an invalid line the message begins with its number.
    """
    script = _script_of(_read(path.read_bytes()))
    if not script.lines:
        msg = "the file has no lines"
        raise ValueError(msg)
    if not script.facts:
        msg = "no line has questions, so nothing would be asked"
        raise ValueError(msg)
    return script


def demo_script() -> Script:
    """Return the demo's memories with its questions, and the vectors of both.

    A question is about the newest of its answers of grade 2. It is left out if that memory has been
    superseded.
    """
    data = load()
    places = {record["id"]: place for place, record in enumerate(data.memories)}
    replaces: dict[str, list[str]] = {}
    for record in data.memories:
        if record.get("superseded_by") is not None:
            replaces.setdefault(record["superseded_by"], []).append(record["id"])
    phrases: dict[str, list[Phrase]] = {}
    for question, vector in zip(data.questions, data.question_vectors, strict=True):
        answers = [id for id, grade in question.answers.items() if grade >= 2.0]
        newest = max(answers, key=places.__getitem__, default=None)
        if newest is not None and data.memories[places[newest]].get("superseded_by") is None:
            phrases.setdefault(newest, []).append(Phrase(question.text, vector))
    return _script_of(
        _Given(
            record["id"],
            record["id"],
            {**_kept(record), "embedding": vector},
            tuple(phrases.get(record["id"], ())),
            tuple(replaces.get(record["id"], ())),
        )
        for record, vector in zip(data.memories, data.memory_vectors, strict=True)
    )


def _read(content: bytes) -> Iterator[_Given]:
    """Parse and check the lines that are not blank."""
    for number, line in enumerate(content.split(b"\n"), start=1):
        if line.strip():
            yield _given(f"line {number}", line)


def _given(place: str, line: bytes) -> _Given:
    try:
        values = json.loads(line.decode("utf-8-sig"), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        msg = f"{place}: not JSON in UTF-8: {decoding_problem(error)}"
        raise ValueError(msg) from error
    if not isinstance(values, dict):
        msg = f"{place}: expected an object, got {type(values).__name__}"
        raise TypeError(msg)
    questions = _texts(place, "questions", values.pop("questions", []))
    replaces = _texts(place, "replaces", values.pop("replaces", []))
    try:
        checked = Memory.from_record(values, now=0.0)
    except (TypeError, ValueError) as error:
        msg = f"{place}: {error}"
        raise type(error)(msg) from error
    id = checked.id if values.get("id") is not None else place
    return _Given(place, id, _kept(values), tuple(map(Phrase, questions)), replaces)


def _refuse(constant: str) -> NoReturn:
    msg = f"{constant} is no JSON"
    raise ValueError(msg)


def _texts(place: str, field: str, value: object) -> tuple[str, ...]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(each, str) for each in texts):
        msg = f"{place}: {field}: expected a text or a list of texts, got {value!r:.80}"
        raise TypeError(msg)
    if not all(each.strip() for each in texts):
        msg = f"{place}: {field}: must not be blank, got {value!r:.80}"
        raise ValueError(msg)
    return tuple(texts)


def _kept(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: record[name] for name in _KEPT if record.get(name) is not None}


def _script_of(lines: Iterable[_Given]) -> Script:
    """Join lines that replace each other to facts."""
    given = list(lines)
    place_of: dict[str, int] = {}
    replaced_by: dict[int, int] = {}
    versions: list[int] = []
    for place, line in enumerate(given):
        before = [_replaced(line, id, place_of, replaced_by, given) for id in line.replaces]
        replaced_by.update(dict.fromkeys(before, place))
        versions.append(1 + max((versions[old] for old in before), default=-1))
        if line.id in place_of:
            msg = f"{line.place}: id: {line.id!r} is that of {given[place_of[line.id]].place}, too"
            raise ValueError(msg)
        place_of[line.id] = place
    heads = list(range(len(given)))
    for place in reversed(range(len(given))):
        if place in replaced_by:
            heads[place] = heads[replaced_by[place]]
    return _joined(given, heads, versions)


def _replaced(
    line: _Given,
    id: str,
    place_of: Mapping[str, int],
    replaced_by: Mapping[int, int],
    given: Sequence[_Given],
) -> int:
    """Return the index of the line that ``line`` replaces."""
    old = place_of.get(id)
    if old is None:
        msg = f"{line.place}: replaces: no line before it has the id {id!r}"
        raise ValueError(msg)
    if old in replaced_by:
        newer = given[replaced_by[old]].place
        msg = f"{line.place}: replaces: {id!r} is replaced in {newer} already"
        raise ValueError(msg)
    return old


def _joined(given: Sequence[_Given], heads: Sequence[int], versions: Sequence[int]) -> Script:
    """Return the script, with a fact for each chain of lines that has questions."""
    phrases: dict[int, list[Phrase]] = {}
    for line, head in zip(given, heads, strict=True):
        if line.phrases:
            phrases.setdefault(head, []).extend(line.phrases)
    numbers = {head: number for number, head in enumerate(phrases)}
    lines = [
        Line(line.record, numbers.get(head), version)
        for line, head, version in zip(given, heads, versions, strict=True)
    ]
    facts = [Fact(given[head].record.get("topic"), tuple(texts)) for head, texts in phrases.items()]
    return Script(lines, facts)
