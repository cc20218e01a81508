"""Responses in another process: pickled, they have their memories, explanations and trace."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import oneiros
from oneiros import SearchResponse


def again(response: SearchResponse) -> SearchResponse:
    copied = pickle.loads(pickle.dumps(response))
    assert isinstance(copied, SearchResponse)
    return copied


@pytest.fixture
def linked() -> oneiros.Engine:
    engine = oneiros.Engine(":memory:", clock=lambda: 1_750_000_000.0)
    engine.add_many([{"id": f"t{n}", "text": f"green tea number {n}"} for n in range(4)])
    engine.add("the kettle", id="kettle")
    engine.link("t0", "kettle", 0.9)
    return engine


@pytest.mark.parametrize("is_explained", [False, True])
def test_a_response_is_the_same_after_the_store_is_closed(
    linked: oneiros.Engine, is_explained: bool
) -> None:
    response = linked.search("green tea", explain=is_explained)
    copied = again(response)
    record, trace, shown = response.to_dict(), response.trace, str(response)
    explained = [result.explanation for result in response]
    paths = [(result.path, result.path_weight, dict(result.channels)) for result in response]
    linked.close()
    assert copied.to_dict() == record
    assert copied.trace == trace
    assert str(copied) == shown
    assert [result.explanation for result in copied] == explained
    assert all(each is not None for each in explained) is is_explained
    assert [(each.path, each.path_weight, dict(each.channels)) for each in copied] == paths
    assert (copied.texts, copied.direct_ids, copied.linked_ids) == (
        response.texts,
        response.direct_ids,
        response.linked_ids,
    )
    assert "kettle" in copied.linked_ids
    assert copied.results[0].memory.text == copied.results[0].text
    assert again(copied).to_dict() == record


def test_a_single_result_can_be_pickled(linked: oneiros.Engine) -> None:
    result = linked.search("green tea").results[0]
    copied = pickle.loads(pickle.dumps(result))
    linked.close()
    assert (copied.id, copied.score, copied.channels) == (result.id, result.score, result.channels)
    assert copied.text.startswith("green tea")


def test_a_forgotten_memory_stays_forgotten(linked: oneiros.Engine) -> None:
    response = linked.search("green tea", k=3)
    linked.forget(response.ids[0])
    copied = again(response)
    assert copied.texts[0] is None
    with pytest.raises(oneiros.UnknownMemory, match="was forgotten after the search"):
        _ = copied.results[0].memory
    assert copied.results[1].memory.id == response.ids[1]


def test_nearest_misses_are_pickled() -> None:
    with oneiros.Engine(":memory:", profile="omega") as engine:
        engine.add("coffee", id="coffee", embedding=[1.0, 0.0])
        response = engine.search("tea or milk", embedding=[0.0, 1.0])
        assert response.abstained
        copied = again(response)
    assert [miss.text for miss in copied.nearest_misses] == [
        miss.text for miss in response.nearest_misses
    ]
    assert copied.reason == response.reason


def test_another_process_reads_a_response(linked: oneiros.Engine, tmp_path: Path) -> None:
    path = tmp_path / "response"
    path.write_bytes(pickle.dumps(linked.search("green tea", k=1)))
    program = f"import pickle; print(pickle.load(open({str(path)!r}, 'rb')).results[0].memory.text)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("green tea")
