"""A record that is refused leaves nothing behind: the store goes on, now and when it is opened."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import oneiros

LIMIT = 16 * 2**20
LARGE = "ant " * (LIMIT // 4)
MOST_KINDS = 2**16 - 1


def goes_on(path: Path, mind: oneiros.Engine, count: int, kind: str = "note") -> bool:
    """Whether the engine still finds, adds, and opens its file again."""
    assert len(mind) == count
    mind.add("cat", id="after", kind=kind)
    assert [result.id for result in mind.search("cat").results] == ["after"]
    mind.close()
    with oneiros.Engine(path, analyzer="simple") as again:
        return len(again) == count + 1 and again.check() == []


@pytest.fixture(scope="module")
def full_of_kinds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed store that holds every kind it can: 65,535 of them."""
    path = tmp_path_factory.mktemp("kinds") / "mind.db"
    with oneiros.Engine(path, analyzer="simple", durability="normal") as mind:
        mind.add_many([{"text": "ant", "id": f"k{n}", "kind": f"k{n}"} for n in range(MOST_KINDS)])
    return path


@pytest.mark.parametrize(
    "refused",
    [
        lambda mind: mind.add("ant", kind="one more"),
        lambda mind: mind.add_many([{"text": "ant", "kind": kind} for kind in ("k7", "one more")]),
        lambda mind: mind.update("k7", kind="one more"),
    ],
    ids=["add", "add_many", "update"],
)
def test_a_kind_beyond_the_last_is_refused_whole(
    tmp_path: Path, full_of_kinds: Path, refused: Callable[[oneiros.Engine], object]
) -> None:
    path = tmp_path / "mind.db"
    shutil.copyfile(full_of_kinds, path)
    mind = oneiros.Engine(path, analyzer="simple", durability="normal")
    with pytest.raises(ValueError, match="kind"):
        refused(mind)
    assert mind.get("k7").kind == "k7"
    assert goes_on(path, mind, MOST_KINDS, kind="k7")


def test_a_text_at_the_limit_may_have_a_title(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    mind = oneiros.Engine(path, analyzer="simple", durability="normal")
    mind.add(LARGE, title="bee", id="large")  # docs/systems/fields.md: text up to 16 MiB
    for query in ("ant", "bee"):
        assert [result.id for result in mind.search(query).results] == ["large"]
    assert goes_on(path, mind, 1)


@pytest.mark.parametrize("text", ["", LARGE])
def test_a_title_too_large_to_index_is_refused_whole(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mind.db"
    mind = oneiros.Engine(path, analyzer="simple", durability="normal")
    try:
        mind.add(text, title=LARGE)
    except ValueError as error:
        assert "title" in str(error)  # noqa: PT017
        assert goes_on(path, mind, 0)
    else:
        assert len(mind.search("ant").results) == 1
        assert goes_on(path, mind, 1)


def test_an_update_to_the_limit_may_have_a_title(tmp_path: Path) -> None:
    path = tmp_path / "mind.db"
    mind = oneiros.Engine(path, analyzer="simple", durability="normal")
    mind.add("ant", title="bee", id="large")
    mind.update("large", text=LARGE)
    assert goes_on(path, mind, 1)
