"""The keywords of add, update and where follow the fields, and type checkers know them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from oneiros.filters import conditions
from oneiros.filters.fields import MEASURES, TIMES
from oneiros.model.fields import ENUMS, FIELDS
from oneiros.model.keywords import AddFields, ChangedFields, Conditions

TYPES = {
    "text": "str",
    "id": "str",
    "enum": "str",
    "embedding": "npt.ArrayLike",
    "words": "Iterable[str]",
    "word_set": "Iterable[str]",
    "ids": "Iterable[str]",
    "metadata": "Mapping[str, Any]",
    "time": "Time",
    "seconds": "float | timedelta",
    "float32": "float",
    "int": "int",
    "bool": "bool",
}


def annotations(keywords: type) -> dict[str, str]:
    return {
        name: given if isinstance(given, str) else given.__forward_arg__
        for name, given in keywords.__annotations__.items()
    }


def test_add_has_every_field_but_the_text() -> None:
    assert annotations(AddFields) == {
        name: f"{TYPES[field.kind]} | None" for name, field in FIELDS.items() if name != "text"
    }


def test_update_has_every_field_that_changes() -> None:
    assert annotations(ChangedFields) == {
        name: TYPES[field.kind] + (" | None" if field.nullable else "")
        for name, field in FIELDS.items()
        if name not in ("id", "learned_at")
    }


def test_where_has_every_condition() -> None:
    found = annotations(Conditions)
    assert found.keys() == set(conditions._KNOWN)
    for name, kind in found.items():
        if name in TIMES:
            assert kind == "TimeRange", name
        elif name in MEASURES:
            assert kind == ("Flags" if FIELDS[name].kind == "bool" else "NumberRange"), name
        elif name != "metadata":
            assert kind == "Words", name
    assert ENUMS.keys() < found.keys()


SAMPLE = """
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path

import oneiros
from oneiros.scoring.factors import KindWeight
from oneiros.scoring.phases.house import Budget
from oneiros.scoring.profile import Profile
from oneiros.scoring.understanding import Understanding

utc = timezone.utc


def embed(texts: list[str]) -> list[list[float]]:
    return [[float(len(text))] for text in texts]


def rerank(query: str, texts: list[str]) -> list[float]:
    return [float(query in text) for text in texts]


def judge(one: str, other: str) -> str:
    return "same"


with oneiros.Engine(Path("x"), embedder=embed, reranker=rerank, timezone="UTC") as engine:
    id = engine.add("ant", kind="fact", tags=["x"], ttl=timedelta(1), created_at=datetime.now(utc))
    engine.add("ant", sessions={"s"}, metadata={"a": [1]}, embedding=[1.0], on_conflict="replace")
    engine.add("ant", knd="fact")  # error
    engine.add("ant", importance="high")  # error
    engine.add("ant", created_at=timedelta(1))  # error
    engine.update(id, importance=0.5, topic=None, merge_metadata=True)
    engine.update(id, importanse=0.5)  # error
    engine.update(id, kind=None)  # error
    engine.touch(id, ttl=timedelta(1))
    where = oneiros.where(kind=["fact"], importance=(0.5, None), pinned=True, priority=3)
    where &= oneiros.where(created_at=("2025-01-01T00:00:00Z", None), metadata={"a": 1})
    oneiros.where(kinds="fact")  # error
    oneiros.where(importance="high")  # error
    response = engine.search("ant", 5, where=where, offset=2, exclude=[id], deadline=timedelta(1))
    engine.search("ant", offsett=2)  # error
    first: oneiros.SearchResult = response[0]
    some: Sequence[oneiros.SearchResult] = response[1:]
    channels: float = first.channels["lexical"]
    total: int | None = engine.list(order="newest", with_total=True).total
    engine.dream(judge=judge)
    by_kind = KindWeight(table={"policy": 1.5, "anecdote": 0.8})
    KindWeight(table={"policy": "high"})  # error
    engine.dream(keep=Budget(share=0.5, kind_weights={"policy": 1.5}))
    Understanding(hints={"decision": (1.0, 1.0, 1.0, 1.0, 2.0)}, intents={"factual": [1.0] * 5})
    engine.search("ant", profile=oneiros.profiles.get("oneiros").replace(factors=(by_kind,)))


async def main(engine: oneiros.AsyncEngine, profile: Profile) -> None:
    await engine.add("ant", kind="fact")
    await engine.add("ant", knd="fact")  # error
    page = await engine.list(order="-importance")
    memory: oneiros.Memory = page[0]
    counts: dict[str, int] = await engine.values("kind")
"""


def test_mypy_knows_the_keywords_and_plain_functions(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api")
    path = tmp_path / "sample.py"
    path.write_text(SAMPLE)
    package = Path(conditions.__file__).parents[2]
    config = tmp_path / "mypy.ini"
    # An installed package is found without, and mypy refuses its path.
    found_by = "" if package.name == "site-packages" else f"mypy_path = {package}\n"
    config.write_text(
        f"[mypy]\nstrict = True\n{found_by}"
        "[mypy-faiss.*,Stemmer.*,pyarrow.*,stop_words.*,dateutil.*]\nignore_missing_imports = True\n"
    )
    told, failed, _ = api.run(
        [str(path), "--config-file", str(config), "--cache-dir", str(tmp_path / "cache")]
    )
    assert failed == "", failed
    found = {int(line) for line in re.findall(r"sample\.py:(\d+): error", told)}
    wanted = {n for n, line in enumerate(SAMPLE.split("\n"), start=1) if "# error" in line}
    assert found == wanted, told
