"""Scripts from files of one's own and from the demo."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from oneiros import demo
from oneiros.simulation.script import demo_script, read_script
from oneiros.simulation.workload import Workload

LINES: list[dict[str, object]] = [
    {"id": "old", "text": "the port is 80", "kind": "config", "questions": "which port?"},
    {"text": "cake again", "created_at": 5.0, "session": "s", "access_count": 3},
    {"id": "other", "text": "tea at four", "questions": ["when is tea?", "tea?"]},
    {"id": "new", "text": "the port is 81", "replaces": "old", "questions": "the port now?"}
    | {"topic": "ports"},
]


def written(folder: Path, *lines: object) -> Path:
    path = folder / "life.jsonl"
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path


def test_lines_that_replace_one_another_are_one_fact(tmp_path: Path) -> None:
    script = read_script(written(tmp_path, *LINES[:2], "", *LINES[2:]))
    assert [(line.fact, line.version) for line in script.lines] == [
        (0, 0),
        (None, 0),
        (1, 0),
        (0, 1),
    ]
    phrases = [[phrase.text for phrase in fact.phrases] for fact in script.facts]
    assert phrases == [["which port?", "the port now?"], ["when is tea?", "tea?"]]
    assert [fact.topic for fact in script.facts] == ["ports", None]  # of what holds at the end
    assert script.lines[1].record == {"text": "cake again"}  # a life gives times and counts
    world = Workload(days=5.0, questions=4.0).world(script)
    assert world.memory_count == 4


@pytest.mark.parametrize(
    ("lines", "error", "message"),
    [
        ([], ValueError, "^the file has no lines"),
        ([{"text": "a"}], ValueError, "^no line has questions"),
        (["{"], ValueError, "line 1: not JSON in UTF-8"),
        (['{"text": "a", "importance": NaN}'], ValueError, "line 1: not JSON in UTF-8: NaN"),
        (["[]"], TypeError, "line 1: expected an object, got list"),
        ([{"text": "a", "importance": 9}], ValueError, "line 1: importance"),
        ([{"text": "a"}, {"text": "b", "colour": 1}], ValueError, "line 2: .*colour"),
        ([{"text": "a", "questions": 1}], TypeError, "line 1: questions: expected a text or a"),
        ([{"text": "a", "questions": [" "]}], ValueError, "line 1: questions: must not be blank"),
        ([{"text": "a", "replaces": "b"}], ValueError, "line 1: replaces: no line before it has"),
        (
            [{"id": "a", "text": "a"}, {"id": "a", "text": "b"}],
            ValueError,
            "line 2: id: 'a' is that of line 1, too",
        ),
        (
            [
                {"id": "a", "text": "a"},
                {"text": "b", "replaces": "a"},
                {"text": "c", "replaces": ["a"]},
            ],
            ValueError,
            "line 3: replaces: 'a' is replaced in line 2 already",
        ),
    ],
)
def test_a_line_that_breaks_the_format_is_named(
    tmp_path: Path, lines: list[object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        read_script(written(tmp_path, *lines))


def test_the_demos_questions_are_about_what_is_not_superseded() -> None:
    script, data = demo_script(), demo.load()
    assert [line.record["text"] for line in script.lines] == [
        record["text"] for record in data.memories
    ]
    superseded = {
        line.record["text"]
        for line, record in zip(script.lines, data.memories, strict=True)
        if record.get("superseded_by") is not None
    }
    heads = {line.fact: line for line in script.lines if line.fact is not None}
    assert len(heads) == len(script.facts) > 50
    for line in heads.values():  # the last line of each fact
        assert line.record["text"] not in superseded
    asked = {phrase.text for fact in script.facts for phrase in fact.phrases}
    assert asked < {question.text for question in data.questions}
