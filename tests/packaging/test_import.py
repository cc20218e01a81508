"""What ``import oneiros`` costs: next to nothing, whatever the package stands on."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

import oneiros

HEAVY = (
    *("numpy", "faiss", "apsw", "pyroaring", "Stemmer"),
    *("rich", "typer", "click", "pydantic"),
    *("dataclasses", "inspect", "typing", "re", "enum", "json", "datetime", "pathlib"),
    "oneiros._core",
)

# What an engine that is opened and asked by words has no use for: each costs about as long to load as
# a search takes, or much more.
NOT_FOR_WORDS = (
    *("faiss", "rich", "typer", "click", "pyarrow"),
    *("dataclasses", "pathlib", "hashlib", "_hashlib"),
    *("logging", "secrets", "tempfile", "html", "difflib", "random", "pkgutil"),
    *(
        f"oneiros.{name}"
        for name in ("cli", "evaluation", "scoring.kernels", "demo", "display.tables")
    ),
    *(f"oneiros.rescoring.{name}" for name in ("rescore", "scorer", "store")),
    *("oneiros.engine.maintenance", "oneiros.dream.cycles"),
    *(f"oneiros.{name}" for name in ("explain.explanation", "explain.why_not", "runtime.files")),
    *("oneiros.vector_index.index", "oneiros.store.salvage", "oneiros.store.files"),
    "oneiros.filters.conditions",
    *("oneiros.dream.apply", "oneiros.dream.undo", "oneiros.write.cycle_columns"),
    *("oneiros.dream.report", "oneiros.dream.undo_log"),
    *(
        "oneiros.scoring.expression",
        "oneiros.scoring.callable_factor",
        "oneiros.scoring.row_scores",
    ),
    *(
        f"oneiros.scoring.profiles.{name}"
        for name in ("ciar", "cognitive", "mnemosyne", "omega", "reverie")
    ),
    *(f"oneiros.scoring.factors.{name}" for name in ("ciar", "cognitive", "mnemosyne", "thompson")),
    "oneiros.scoring.factors.omega_query",
)


def new_modules(code: str) -> set[str]:
    """Return the names of the modules that ``code`` loads into a fresh interpreter."""
    told = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys\nbefore = set(sys.modules)\n{code}\nprint(*set(sys.modules) - before)",
        ],
        check=True,
        capture_output=True,
        text=True,
    )
    return set(told.stdout.split())


def test_import_loads_the_face_and_nothing_behind_it() -> None:
    loaded = new_modules("import oneiros")
    assert "oneiros" in loaded
    assert {name for name in loaded if name.split(".")[0] == "oneiros"} == {"oneiros"}
    assert loaded.isdisjoint(HEAVY)


OPEN_AND_SEARCH = """
from oneiros import Engine
with Engine({path!r}) as mind:
    assert mind.search("coffee").ids == {ids!r}
    found = mind.search("coffee", session="s1")
    assert found.results[0].memory.text == "Ada likes coffee"
"""


@pytest.mark.parametrize("count", [1, 3_000], ids=["read from the store", "mapped"])
def test_opening_a_store_and_a_search_by_words_need_no_numpy(tmp_path: Path, count: int) -> None:
    path = str(tmp_path / "mind.db")
    with oneiros.Engine(path) as mind:
        mind.add_many([{"id": "ada", "text": "Ada likes coffee"}])
        mind.add_many([{"text": f"tea number {number}"} for number in range(count - 1)])
    assert (tmp_path / "mind.db-snapshot").exists() == (count > 1)
    for _ in range(2):  # the second follows the uses that the first has written
        loaded = new_modules(OPEN_AND_SEARCH.format(path=path, ids=["ada"]))
        assert "oneiros.engine" in loaded
        assert "numpy" not in loaded
        assert loaded.isdisjoint(NOT_FOR_WORDS)


WRITES: dict[str, Callable[[oneiros.Engine], object]] = {
    "use": lambda mind: mind.search("tea"),
    "add": lambda mind: mind.add("fresh tea", tags=["a"], metadata={"cups": 2}, session="s2"),
    "add many": lambda mind: mind.add_many([{"text": "pot"}, {"text": "cup", "project": "q"}]),
    "update": lambda mind: mind.update("m1", text="green tea", importance=0.9),
    "archive": lambda mind: mind.update("m1", status="archived"),
    "delete": lambda mind: mind.delete("m1"),
    "link": lambda mind: mind.link("m1", "m2"),
    "feedback": lambda mind: mind.feedback("m1", "helpful", query="tea"),
}
FILTERED = """
from oneiros import Engine, where
with Engine({path!r}) as mind:
    found = mind.search("coffee", where=where(project="p") & ~where(kind="lesson"), session="s1")
    assert found.ids == ["ada"]
    assert mind.search("coffee", exclude=["ada"], session="s1").ids == []
    assert mind.scope(project="p").search("coffee", session="s1").ids == ["ada"]
"""


@pytest.mark.parametrize("name", WRITES)
def test_after_a_write_filters_need_no_numpy_either(tmp_path: Path, name: str) -> None:
    path = str(tmp_path / "mind.db")
    with oneiros.Engine(path) as mind:
        mind.add("Ada likes coffee", id="ada", project="p")
        mind.add_many(
            [{"id": f"m{n}", "text": f"tea {n}", "project": f"p{n % 9}"} for n in range(3_000)]
        )
    assert (tmp_path / "mind.db-snapshot").exists()
    with oneiros.Engine(path) as mind:
        WRITES[name](mind)
    loaded = new_modules(FILTERED.format(path=path))
    assert "numpy" not in loaded
    assert loaded.isdisjoint({*NOT_FOR_WORDS} - {"oneiros.filters.conditions"})


WITH_VECTORS = """
from oneiros import Engine
engine = Engine({path!r})
found = engine.search("coffee", session="s1")
assert found.results[0].memory.text == "Ada likes coffee"
engine.close()
assert "numpy" not in sys.modules, "of words alone"
with Engine({path!r}) as engine:
    found = engine.search("coffee", embedding=[1.0, 0.0, 0.0])
    assert "m7" in found.ids
    assert found.results[0].memory.embedding is not None
"""


@pytest.mark.filterwarnings("ignore::oneiros.MissingEmbedderWarning")
def test_a_store_with_vectors_loads_numpy_with_the_first_vector_and_faiss_later(
    tmp_path: Path,
) -> None:
    path = str(tmp_path / "mind.db")
    with oneiros.Engine(path, vector_index="hnsw") as mind:
        mind.add("Ada likes coffee", id="ada", embedding=[0.0, 1.0, 0.0])
        mind.add_many(
            {"id": f"m{number}", "text": f"tea {number}", "embedding": [8.0, 1.0, abs(number - 7)]}
            for number in range(3_000)
        )
        vectors = mind._scope.services.read_model.indexes.vectors
        assert vectors is not None
        assert vectors.settle(60)
        assert vectors.has_graph
    loaded = new_modules(WITH_VECTORS.format(path=path))
    assert "numpy" in loaded
    assert loaded.isdisjoint({"faiss", "logging", "oneiros.vector_index.hnsw"})


def test_an_add_needs_no_numpy() -> None:
    code = """
from oneiros import Engine
with Engine(":memory:") as mind:
    mind.add("Tea, with milk", tags=["drink"], metadata={"cups": 2}, session="s1")
    mind.add_many([{"text": "More tea"}, {"text": "Coffee", "project": "p"}])
    mind.add_many([{"text": f"Then {n}", "session": "s1"} for n in range(3)])
    found = mind.search("tea")
    assert len(found.ids) == 4, "two that say so, and two beside one of them in its session"
"""
    assert "numpy" not in new_modules(code)


def test_an_engine_loads_the_systems_that_its_profile_asks_for(tmp_path: Path) -> None:
    code = f"from oneiros import Engine\nEngine({str(tmp_path / 'mind.db')!r}, profile='omega')"
    assert "oneiros.scoring.factors.thompson" in new_modules(code)
    assert "oneiros.scoring.profiles.omega" in new_modules(code)


def test_the_command_parses_no_argument_at_import() -> None:
    loaded = new_modules("import oneiros.cli")
    assert loaded.isdisjoint(HEAVY)


@pytest.mark.parametrize("name", [name for name in oneiros.__all__ if name != "__version__"])
def test_every_public_name_is_there_on_first_use(name: str) -> None:
    assert getattr(oneiros, name) is not None
    assert name in dir(oneiros)


def test_sqlite_is_one_that_keeps_its_commits() -> None:
    # 3.7.0 to 3.51.2 can lose commits in WAL mode; apsw brings its own, whatever the system has.
    version = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))
    assert version >= (3, 51, 3)


FORMER_NAMES = """
import warnings
with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter("always")
    from oneiros.ranking.factors import TimeDecay
    import oneiros.ranking.fusion, oneiros.ranking.channels
from oneiros.scoring import channels, factors, fusion
assert TimeDecay is factors.TimeDecay
assert oneiros.ranking.fusion is fusion and oneiros.ranking.channels is channels
(one,) = found
assert one.category is DeprecationWarning and "oneiros.ranking is now oneiros.scoring" in str(one.message)
print(one.filename)
"""


def test_the_former_name_of_scoring_still_works_and_says_so() -> None:
    found = subprocess.run(
        [sys.executable, "-c", FORMER_NAMES], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "<string>"  # the warning names the caller's line
