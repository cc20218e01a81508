"""Scripts: what is told in which order and which facts it states; from a file or from the demo."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

from oneiros.model.memory import Memory
from oneiros.runtime.dataclasses import dataclass
from oneiros.simulation.figures import DEFAULT_KIND

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

__all__ = ["NEVER_TRUE", "Fact", "Line", "Phrase", "Script", "demo_script", "read_script"]


NEVER_TRUE: Final = -1
"""The version of a line that contradicts its fact."""


class Phrase(NamedTuple):
    """One way in which a fact is asked about."""

    text: str
    vector: npt.NDArray[np.float32] | None = None
    """Shape (dimension,); None: the run's embedder makes it."""


class Line(NamedTuple):
    """One memory, and what it states."""

    record: Mapping[str, Any]
    """As ``Engine.add`` takes it, without session and times; an ``id``, if any, names it here only."""
    fact: int | None = None
    """The place of the fact among the script's; None: nobody will ever ask about this."""
    version: int = 0
    """Which value of the fact it states, from 0; :data:`NEVER_TRUE` where it contradicts it."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that is asked about, whose value may change."""

    kind: str
    phrases: tuple[Phrase, ...]
    """At least one."""


@dataclass(frozen=True, slots=True)
class Script:
    """Lines in the order in which they are told.

    Of a fact the value told last holds: a line of a version makes those of lower versions untrue.
    """

    lines: Sequence[Line]
    facts: Sequence[Fact]


_KEPT: Final = (
    *("text", "title", "kind", "category", "topic", "project", "tags", "metadata", "importance"),
    *("certainty", "impact", "priority", "veracity", "pinned", "importance_tag"),
)


@dataclass(slots=True)
class _Given:
    """A line, and what it says of others."""

    place: str
    """For messages: "line 17"."""
    id: str
    record: Mapping[str, Any]
    phrases: tuple[Phrase, ...]
    replaces: tuple[str, ...]


def read_script(path: Path) -> Script:
    """Return the script of a file of JSON lines; see the module's page for its format.

    Raises:
        OSError: the file cannot be read.
        ValueError, TypeError: a line breaks the format, or a field its rule; no line at all, or
            none with a question. The message begins with the line.
    """
    script = _script_of(_read(path.read_bytes()))
    if not script.lines:
        msg = f"{path.name}: no line in it"
        raise ValueError(msg)
    if not script.facts:
        msg = f"{path.name}: no line has questions, so nothing would be asked"
        raise ValueError(msg)
    return script


def demo_script() -> Script:
    """Return the demo's memories with its questions, and the vectors of both.

    A question is about the newest of the memories judged to be its answer (grade 2), unless that
    has been superseded.
    """
    from oneiros.demo import load  # noqa: PLC0415

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
    """Yield the lines that are not blank, checked."""
    for number, line in enumerate(content.split(b"\n"), start=1):
        if line.strip():
            yield _given(f"line {number}", line)


def _given(place: str, line: bytes) -> _Given:
    try:
        values = json.loads(line.decode("utf-8-sig"), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        msg = f"{place}: not JSON in UTF-8: {error}"
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
    if not isinstance(texts, list) or not all(isinstance(one, str) for one in texts):
        msg = f"{place}: {field}: expected a text or a list of texts, got {value!r:.80}"
        raise TypeError(msg)
    if not all(one.strip() for one in texts):
        msg = f"{place}: {field}: must not be blank, got {value!r:.80}"
        raise ValueError(msg)
    return tuple(texts)


def _kept(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: record[name] for name in _KEPT if record.get(name) is not None}


def _script_of(lines: Iterable[_Given]) -> Script:
    """Join the lines that replace one another to facts."""
    given = list(lines)
    place_of: dict[str, int] = {}
    replaced_by: dict[int, int] = {}
    versions: list[int] = []
    for place, one in enumerate(given):
        before = [_replaced(one, id, place_of, replaced_by, given) for id in one.replaces]
        replaced_by.update(dict.fromkeys(before, place))
        versions.append(1 + max((versions[old] for old in before), default=-1))
        if one.id in place_of:
            msg = f"{one.place}: id: {one.id!r} is that of {given[place_of[one.id]].place}, too"
            raise ValueError(msg)
        place_of[one.id] = place
    heads = list(range(len(given)))
    for place in reversed(range(len(given))):
        if place in replaced_by:
            heads[place] = heads[replaced_by[place]]
    return _joined(given, heads, versions)


def _replaced(
    one: _Given,
    id: str,
    place_of: Mapping[str, int],
    replaced_by: Mapping[int, int],
    given: Sequence[_Given],
) -> int:
    """Return the place of a line that this one replaces."""
    old = place_of.get(id)
    if old is None:
        msg = f"{one.place}: replaces: no line before it has the id {id!r}"
        raise ValueError(msg)
    if old in replaced_by:
        newer = given[replaced_by[old]].place
        msg = f"{one.place}: replaces: {id!r} is replaced in {newer} already"
        raise ValueError(msg)
    return old


def _joined(given: Sequence[_Given], heads: Sequence[int], versions: Sequence[int]) -> Script:
    """Return the script: one fact for each head that anything is asked about."""
    phrases: dict[int, list[Phrase]] = {}
    for one, head in zip(given, heads, strict=True):
        if one.phrases:
            phrases.setdefault(head, []).extend(one.phrases)
    numbers = {head: number for number, head in enumerate(phrases)}
    lines = [
        Line(one.record, numbers.get(head), version)
        for one, head, version in zip(given, heads, versions, strict=True)
    ]
    kinds = [given[head].record.get("kind", DEFAULT_KIND) for head in phrases]
    facts = [Fact(kind, tuple(held)) for kind, held in zip(kinds, phrases.values(), strict=True)]
    return Script(lines, facts)
