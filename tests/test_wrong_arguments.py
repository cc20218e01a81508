"""Wrong arguments end in a TypeError or a ValueError that names them, and leave nothing behind."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oneiros
from oneiros import kernels, profiles
from oneiros.scoring.factors import Thompson
from oneiros.scoring.understanding import QueryWords
from tests.rescoring.forms import rescore

NOW = 1_750_000_000.0
HUGE = 10**400
NO_TEXT = "\ud800"
ONE = np.array(3)
SEVERAL = np.array([1.0, 2.0])


class Thing:
    """Nothing that anything takes."""


def wrong(*values: Any) -> list[Any]:
    return [pytest.param(value, id=f"{type(value).__name__} {value!r:.12}") for value in values]


# -- opening ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("path", value) for value in (None, 5, b"x", "", "a\0b", NO_TEXT)),
        *(("profile", value) for value in (None, 5, [], Thing())),
        *(("embedder", value) for value in (5, "x")),
        *(("analyzer", value) for value in (5, [])),
        *(("variant", value) for value in (5, [])),
        *((name, "1.5") for name in ("k1", "b", "title_weight", "tags_weight")),
        *((name, True) for name in ("k1", "b", "title_weight", "tags_weight")),
        *((name, HUGE) for name in ("k1", "b", "title_weight", "tags_weight")),
        *(("vector_index", value) for value in (None, "ivf9", [], SEVERAL)),
        *(("durability", value) for value in (None, "most", [], SEVERAL)),
        *(("busy_timeout_seconds", value) for value in (None, "5", True, HUGE, -1, float("nan"))),
        *(("clock", value) for value in (None, 5, "now")),
        *(("auto_refresh", value) for value in (None, 1, "yes", SEVERAL)),
    ],
)
def test_an_engine_says_what_is_wrong_and_makes_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: object
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments: dict[str, Any] = {"path": "new.db"} | {name: value}
    with pytest.raises((TypeError, ValueError), match=name):
        oneiros.Engine(**arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_clock_that_gives_no_time_is_told_when_it_is_asked() -> None:
    mind = oneiros.Engine(":memory:", clock=lambda: "soon")  # type: ignore[arg-type, return-value]
    with pytest.raises(ValueError, match="clock: must be ISO 8601"):
        mind.add("text")
    assert len(mind) == 0


# -- an engine -------------------------------------------------------------------------------------

CALLS: list[tuple[str, str, Callable[..., object], list[Any]]] = [
    ("get", "id", lambda mind, it: mind.get(it), [None, 5, NO_TEXT, []]),
    ("get_many", "ids", lambda mind, it: mind.get_many(it), [None, 5, "a", [None], [NO_TEXT], ONE]),
    ("delete", "id", lambda mind, it: mind.delete(it), [5, NO_TEXT, []]),
    ("restore", "id", lambda mind, it: mind.restore(it), [None, NO_TEXT]),
    ("restore", "now", lambda mind, it: mind.restore("a", now=it), ["soon", HUGE, []]),
    ("forget", "id", lambda mind, it: mind.forget(it), [None, NO_TEXT]),
    ("feedback", "id", lambda mind, it: mind.feedback(it, "helpful"), [None, NO_TEXT]),
    ("supersede", "old", lambda mind, it: mind.supersede(it, "a"), [None, 5, NO_TEXT, []]),
    ("supersede", "new", lambda mind, it: mind.supersede("a", it), [None, 5, NO_TEXT, "a"]),
    ("supersede", "reason", lambda mind, it: mind.supersede("a", "b", it), [None, 5, NO_TEXT]),
    ("supersede", "now", lambda mind, it: mind.supersede("a", "b", now=it), ["soon", HUGE, []]),
    ("pin", "id", lambda mind, it: mind.pin(it), [None, 5, NO_TEXT, []]),
    ("pin", "pinned", lambda mind, it: mind.pin("ant", it), [None, 1, "yes", SEVERAL]),
    ("feedback", "verdict", lambda mind, it: mind.feedback("a", it), [None, "", [], SEVERAL]),
    ("add_many", "records", lambda mind, it: mind.add_many(it), [None, "a", {}, ONE]),
    ("link_many", "links", lambda mind, it: mind.link_many(it), [None, "ab", ONE]),
    ("statistics", "queries", lambda mind, it: mind.statistics(it), [None, [], (), [5]]),
    ("list", "after", lambda mind, it: mind.list(after=it), [5, NO_TEXT]),
    ("export", "path", lambda mind, it: mind.export(it), [None, "", ".", b"x", "a\0b", NO_TEXT]),
    ("export", "embeddings", lambda mind, it: mind.export("x", embeddings=it), [None, 1, SEVERAL]),
    ("backup", "path", lambda mind, it: mind.backup(it), [None, "", ".", b"x", "a\0b", NO_TEXT]),
    ("backup", "replace", lambda mind, it: mind.backup("x", replace=it), [None, 1]),
    ("search", "explain", lambda mind, it: mind.search("ant", explain=it), [None, 1, "yes"]),
    ("search", "reinforce", lambda mind, it: mind.search("ant", reinforce=it), [1, "no", SEVERAL]),
    ("search", "syntax", lambda mind, it: mind.search("ant", syntax=it), [None, "lucene", NO_TEXT]),
    ("search", "session", lambda mind, it: mind.search("ant", session=it), [5, NO_TEXT]),
    ("search", "hint", lambda mind, it: mind.search("ant", hint=it), [5, "", NO_TEXT, "x" * 65]),
    (
        "search",
        "date_range",
        lambda mind, it: mind.search("ant", date_range=it),
        [5, "2024", (None, None), (NOW, "soon"), (NOW, NOW - 1), (HUGE, None), [NOW]],
    ),
    (
        "search",
        "soft_range",
        lambda mind, it: mind.search("ant", date_range=(0, NOW), soft_range=it),
        [None, 1, "yes", SEVERAL],
    ),
    ("search", "soft_range", lambda mind, it: mind.search("ant", soft_range=it), [True, 0]),
    ("search_many", "soft_range", lambda mind, it: mind.search_many([], soft_range=it), [True]),
    ("why_not", "soft_range", lambda mind, it: mind.why_not("ant", "a", soft_range=it), [True]),
    ("search_many", "date_range", lambda mind, it: mind.search_many(["a"], date_range=it), [5]),
    ("why_not", "date_range", lambda mind, it: mind.why_not("ant", "a", date_range=it), [(1, 0)]),
    ("search", "context", lambda mind, it: mind.search("ant", context=it), [5, "file.py", {}]),
    ("search_many", "context", lambda mind, it: mind.search_many(["a"], context=it), [5]),
    ("why_not", "context", lambda mind, it: mind.why_not("ant", "a", context=it), [5]),
    ("Context", "file", lambda _, it: oneiros.Context(file=it), [5, "", NO_TEXT]),
    ("Context", "project", lambda _, it: oneiros.Context(project=it), [5, "", NO_TEXT]),
    ("Context", "situation", lambda _, it: oneiros.Context(situation=it), [5, "", NO_TEXT]),
    ("Context", "tags", lambda _, it: oneiros.Context(tags=it), [5, "errors", [5]]),
    (
        "search",
        "situation",
        lambda mind, it: mind.search("ant", profile="omega", context=oneiros.Context(situation=it)),
        ["asleep"],
    ),
    ("search_many", "hint", lambda mind, it: mind.search_many(["a"], hint=it), [5, []]),
    ("why_not", "hint", lambda mind, it: mind.why_not("ant", "a", hint=it), [5, ""]),
    ("search_many", "queries", lambda mind, it: mind.search_many(it), [None, "ant", [5], ONE]),
    ("search_many", "embeddings", lambda mind, it: mind.search_many(["a"], embeddings=it), [5, []]),
    ("search_many", "threads", lambda mind, it: mind.search_many(["a"], threads=it), [0, 257, "2"]),
    ("why_not", "id", lambda mind, it: mind.why_not("ant", it), [None, NO_TEXT]),
    ("why_not", "explain", lambda mind, it: mind.why_not("ant", "a", explain=it), [None, 1]),
    ("similar", "id_or_text", lambda mind, it: mind.similar(it), [None, 5, NO_TEXT]),
    ("similar", "k", lambda mind, it: mind.similar("a", it), [None, -1, 1.5, True]),
    ("similar", "embedding", lambda mind, it: mind.similar("t", embedding=it), ["x", [1, "y"]]),
    ("similar", "where", lambda mind, it: mind.similar("a", where=it), [5, "project"]),
    ("similar", "profile", lambda mind, it: mind.similar("a", profile=it), [5, "nobody's"]),
    ("near_duplicates", "ids", lambda mind, it: mind.near_duplicates(it), [None, "a", [5], ONE]),
    ("promote", "dry_run", lambda mind, it: mind.promote(dry_run=it), [None, 1, SEVERAL]),
    ("reembed", "embedder", lambda mind, it: mind.reembed(it), [None, 5]),
    (
        "verify_erased",
        "text",
        lambda mind, it: mind.verify_erased(it),
        [None, 5, b"x", "", NO_TEXT],
    ),
    ("add", "on_conflict", lambda mind, it: mind.add("t", on_conflict=it), [None, [], SEVERAL]),
    ("add_many", "progress", lambda mind, it: mind.add_many([], progress=it), [None, 1]),
    ("add", "tags", lambda mind, it: mind.add("t", tags=it), [ONE]),
    ("add", "sessions", lambda mind, it: mind.add("t", sessions=it), [ONE]),
]


@pytest.mark.parametrize(
    ("name", "call", "value"),
    [
        pytest.param(name, call, value, id=f"{method}({name}={value!r:.12})")
        for method, name, call, values in CALLS
        for value in values
    ],
)
def test_a_call_says_what_is_wrong_and_changes_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    call: Callable[..., object],
    value: object,
) -> None:
    monkeypatch.chdir(tmp_path)
    mind = oneiros.Engine(":memory:", clock=lambda: NOW)
    mind.add("ant", id="a")
    revision = mind.stats()["revision"]
    with pytest.raises((TypeError, ValueError), match=name):
        call(mind, value)
    mind.flush()
    assert (len(mind), mind.stats()["revision"]) == (1, revision)
    assert list(tmp_path.iterdir()) == []


COMPOUND = "how do ants find food and also why do bees dance"


@pytest.mark.parametrize(
    "ask",
    [
        pytest.param(lambda mind, **it: mind.search(COMPOUND, **it), id="search"),
        pytest.param(lambda mind, **it: mind.search_many([COMPOUND], **it), id="search_many"),
        pytest.param(lambda mind, **it: mind.search_many([], **it), id="search_many of none"),
        pytest.param(lambda mind, **it: mind.why_not(COMPOUND, "a", **it), id="why_not"),
    ],
)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("k", value) for value in ("3", -1)),
        *((name, 1) for name in ("explain", "include_expired", "deep_recall")),
        *(("where", 5), ("status", 5), ("status", ["nobody's"]), ("valid_at", "soon")),
        *(("syntax", value) for value in ("sql", 5)),
    ],
)
def test_a_search_is_refused_before_an_embedder_or_expander_is_asked(
    ask: Callable[..., object], name: str, value: object
) -> None:
    asked: list[str] = []

    def embed(texts: list[str]) -> Any:
        asked.extend(texts)
        return np.ones((len(texts), 2), np.float32)

    def expand(query: str) -> list[str]:
        asked.append(query)
        return ["ant"]

    mind = oneiros.Engine(":memory:", profile="omega", embedder=embed, query_expander=expand)
    with pytest.raises((TypeError, ValueError), match=name):
        ask(mind, **{name: value})
    assert asked == []


def test_a_backup_replaces_a_file_only_when_it_is_told_to(tmp_path: Path) -> None:
    precious = tmp_path / "thesis.txt"
    precious.write_text("years of work")
    with oneiros.Engine(tmp_path / "a.db") as mind:
        mind.add("ant", id="a")
        with pytest.raises(ValueError, match="path: must be a new file without replace=True, got "):
            mind.backup(precious)
        assert precious.read_text() == "years of work"
        mind.backup(precious, replace=True)
        mind.backup(tmp_path / "new.db")
    for copy in (precious, tmp_path / "new.db"):
        with oneiros.Engine(copy) as held:
            assert held.get("a").text == "ant"


def test_a_result_count_beyond_the_channels_depth_is_told() -> None:
    mind = oneiros.Engine(":memory:", clock=lambda: NOW)
    mind.add_many({"text": "ant", "id": str(number)} for number in range(120))
    response = mind.search("ant", 10**6, reinforce=False)
    assert len(response) == 100
    (note,) = response.trace.notes
    assert note.startswith("k 1000000 is beyond the channels' depth of 100")


# -- the parts on their own ------------------------------------------------------------------------


@pytest.mark.parametrize("value", wrong(3, 0, 1.0, "yes", SEVERAL))
def test_a_truth_value_is_no_number_in_a_filter(value: object) -> None:
    for condition in (value, (None, value)):
        with pytest.raises(TypeError, match="pinned"):
            oneiros.where(pinned=condition)
    assert oneiros.where(pinned=np.True_) == oneiros.where(pinned=True)
    with pytest.raises(TypeError, match="depth: must be a number, got True"):
        oneiros.where(depth=True)


@pytest.mark.parametrize("name", ["kind", "tags", "tags_all", "id", "status"])
def test_a_filter_takes_no_array_without_a_dimension(name: str) -> None:
    with pytest.raises(TypeError, match=f"{name}: expected text"):
        oneiros.where(**{name: ONE})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, value) for name in ("k1", "b", "title_weight") for value in (HUGE, -HUGE)),
        *(("variant", value) for value in ([], None, SEVERAL)),
        *(("analyzer", value) for value in ([], None, SEVERAL)),
    ],
)
def test_a_lexical_index_says_what_is_wrong(name: str, value: object) -> None:
    with pytest.raises((TypeError, ValueError), match=name):
        oneiros.LexicalIndex(fields=True, **{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("id", lambda index: index.add(SEVERAL, "text")),
        ("id", lambda index: index.delete(SEVERAL)),
        ("ids", lambda index: index.add_many(ONE, ["t"])),
        ("texts", lambda index: index.add_many([1], ONE)),
        ("ids", lambda index: index.score("ant", ONE)),
        ("k", lambda index: index.search("ant", SEVERAL)),
        ("where", lambda index: index.search("ant", where=ONE)),
        ("syntax", lambda index: index.search("ant", syntax=NO_TEXT)),
        ("minimum_should_match", lambda index: index.search("ant", minimum_should_match=SEVERAL)),
        ("queries", lambda index: index.search_many(ONE)),
        ("path", lambda index: index.save(None)),
        ("path", lambda index: index.save("")),
        ("path", lambda index: index.save(NO_TEXT)),
        ("path", lambda index: index.open(NO_TEXT)),
    ],
)
def test_a_call_of_an_index_says_what_is_wrong(
    name: str, call: Callable[[oneiros.LexicalIndex], object]
) -> None:
    index = oneiros.LexicalIndex(analyzer="simple")
    index.add(1, "ant")
    with pytest.raises((TypeError, ValueError), match=name):
        call(index)
    assert index.search("ant").ids.tolist() == [1]


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("rankings", lambda: oneiros.rrf(None)),
        ("rankings", lambda: oneiros.rrf(ONE)),
        ("rankings", lambda: oneiros.rrf([ONE, ["a"]])),
        ("normalise", lambda: oneiros.rrf([["a"]], normalise=None)),
        ("weights", lambda: oneiros.rrf([["a"]], weights=ONE)),
        ("weight", lambda: kernels.blend(0.5, 0.5, weight=ONE)),
        ("amount", lambda: kernels.damp(0.5, amount=None)),
        ("amount", lambda: kernels.damp(0.5, amount=2.0)),
        ("table", lambda: kernels.depth_weight(1, table=ONE)),
        ("scores", lambda: kernels.weighted_sum(0.5, [1.0])),
        ("certainty", lambda: kernels.explain_ciar(HUGE, 0.5, 1, 1)),
        ("model", lambda: kernels.retention(1, 1, 1, "core", model=SEVERAL)),
        ("certainty", lambda: rescore({"certainty": [HUGE]}, "ciar", now=NOW)),
        ("access_count", lambda: rescore([{"access_count": -HUGE}], "ciar", now=NOW)),
        ("dtype", lambda: oneiros.rescore({"certainty": [0.5]}, "ciar", now=NOW, dtype=0)),
        ("progress", lambda: oneiros.promote({"certainty": [0.5]}, "ciar", now=NOW, progress=1)),
        ("operation", lambda: oneiros.Expression("1", operation=SEVERAL)),
        ("factors", lambda: profiles.get("omega").with_factors(None)),
        ("factors", lambda: profiles.get("omega").with_factors("decay")),
        ("factors", lambda: profiles.get("omega").with_factors(Thompson(), Thompson())),
        ("presets", lambda: profiles.register(profiles.get("ciar"), presets=5)),
        ("name", lambda: profiles.get([])),
        ("preset", lambda: profiles.get("ciar", preset=[])),
        ("path", lambda: profiles.presets_from("")),
        ("path", lambda: profiles.presets_from(None)),
    ],
)
def test_a_function_says_what_is_wrong(name: str, call: Callable[[], object]) -> None:
    with pytest.raises((TypeError, ValueError), match=name):
        call()


# -- one rule a thing ------------------------------------------------------------------------------


FLAGS: dict[str, Callable[[oneiros.Engine, Any], object]] = {
    "reinforce": lambda mind, it: mind.search("ant", reinforce=it),
    "explain": lambda mind, it: mind.search("ant", explain=it),
    "deep_recall": lambda mind, it: mind.search_many(["ant"], deep_recall=it),
    "include_expired": lambda mind, it: mind.why_not("ant", "a", include_expired=it),
    "include_expired_in_deep_recall": lambda mind, it: mind.search(
        "ant", deep_recall=True, include_expired_in_deep_recall=it
    ),
    "pinned": lambda mind, it: (mind.add("bee", pinned=it), mind.pin(mind.add("ant"), it)),
    "dry_run": lambda mind, it: (mind.dream(dry_run=it), mind.promote(dry_run=it)),
    "clamp": lambda _, it: (
        kernels.ciar(1, 1, 1, 1, clamp=it),
        kernels.explain_ciar(1, 1, 1, 1, clamp=it),
    ),
    "fields": lambda _, it: oneiros.LexicalIndex(fields=it),
    "lifecycle": lambda _, it: profiles.get("reverie", lifecycle=it),
    "is_lifecycle": lambda _, it: oneiros.Expression("age_days", is_lifecycle=it),
    "hide_expired": lambda _, it: profiles.get("omega").selection.__class__(hide_expired=it),
    "on_session_end": lambda _, it: oneiros.DreamSchedule(on_session_end=it),
    "progress": lambda _, it: rescore({"certainty": [1.0]}, "ciar", NOW, progress=it),
}


@pytest.mark.parametrize("name", FLAGS)
def test_a_flag_is_a_bool_of_python_or_numpy_and_nothing_else(
    mind: oneiros.Engine, name: str
) -> None:
    for value in (True, False, np.True_, np.False_):
        FLAGS[name](mind, value)
    for value in (1, 0, None, "yes", 1.0, np.int8(1), np.array(True), SEVERAL):
        if value is None and name == "reinforce":
            continue  # None: as the profile says
        with pytest.raises(TypeError, match=rf"^{name}: must be True or False, got "):
            FLAGS[name](mind, value)


def test_a_flag_of_numpy_is_kept_as_a_bool_of_python(mind: oneiros.Engine) -> None:
    own = profiles.get("omega").selection.__class__(hide_cold=np.True_)  # type: ignore[arg-type]
    assert own.hide_cold is True
    report = mind.dream(dry_run=np.True_).report  # type: ignore[call-overload]
    assert report.is_dry_run is True
    mind.pin(mind.add("ant", id="a"), np.True_)  # type: ignore[arg-type]
    assert mind.get("a").pinned is True
    for _ in range(2):  # and it means the same: what is not explained may come from the cache
        notes = mind.search("ant", profile="omega", explain=np.False_, reinforce=np.False_)  # type: ignore[arg-type]
    assert "response_cache" in [stage.name for stage in notes.trace.stages]


THREADS: dict[str, Callable[[oneiros.Engine, Any], object]] = {
    "rescore": lambda _, it: rescore({"certainty": [1.0]}, "ciar", NOW, threads=it),
    "promote": lambda _, it: oneiros.promote(
        {"certainty": [1.0]}, "ciar", threads=it, missing="default"
    ),
    "factors": lambda _, it: oneiros.factors([{}], threads=it),
    "Engine.rescore": lambda mind, it: mind.rescore(threads=it),
    "Engine.promote": lambda mind, it: mind.promote(threads=it),
    "Engine.search_many": lambda mind, it: mind.search_many(["ant"], threads=it),
    "LexicalIndex": lambda _, it: oneiros.LexicalIndex().search_many(["ant"], threads=it),
    "kernels": lambda _, it: kernels.blend(0.5, 0.5, threads=it),
    "should_promote": lambda _, it: kernels.should_promote(0.5, threads=it),
}


@pytest.mark.parametrize("name", THREADS)
def test_threads_have_one_bound_and_one_wording(mind: oneiros.Engine, name: str) -> None:
    for value in (1, 256, np.int64(2)):
        THREADS[name](mind, value)
    for value in (0, -1, 257, 300, 10**30):
        with pytest.raises(ValueError, match=rf"^threads: must be in 1 to 256, got {value}$"):
            THREADS[name](mind, value)
    for value in ("2", 1.0, True, np.True_):
        with pytest.raises(TypeError, match=r"^threads: expected an integer, got "):
            THREADS[name](mind, value)


INTEGERS: dict[str, tuple[Callable[[Any, Any], object], int, int]] = {
    "k": (lambda mind, it: mind.search("ant", it), 0, 2**31 - 1),
    "limit": (lambda mind, it: mind.list(limit=it), 0, 2**31 - 1),
    "workers": (lambda _, it: oneiros.AsyncEngine(":memory:", workers=it), 1, 1_024),
    "least_characters": (lambda _, it: QueryWords(least_characters=it), 1, 64),
}


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_have_one_wording(mind: oneiros.Engine, name: str) -> None:
    call, low, high = INTEGERS[name]
    for value in (low - 1, high + 1):
        with pytest.raises(ValueError, match=rf"^{name}: must be in {low} to {high}, got {value}$"):
            call(mind, value)
    for value in ("2", 1.5, True, None if name != "limit" else "x", np.True_):
        kind = type(value).__name__
        with pytest.raises(TypeError, match=rf"^{name}: expected an integer, got {kind} "):
            call(mind, value)


# -- calls that fit no signature -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda mind: mind.search("ant", top_k=3),
            "Engine.search() got an unexpected keyword argument 'top_k'; did you mean 'k'?",
        ),
        (
            lambda mind: mind.search_many(["ant"], sesion="s"),
            (
                "Engine.search_many() got an unexpected keyword argument 'sesion'; "
                "did you mean 'session'?"
            ),
        ),
        (
            lambda mind: mind.scope(project="p").why_not("ant", "a", whre=None),
            "Scope.why_not() got an unexpected keyword argument 'whre'; did you mean 'where'?",
        ),
        (
            lambda mind: mind.search("ant", filter=3),
            "Engine.search() got an unexpected keyword argument 'filter'",
        ),
        (
            lambda mind: mind.search("ant", 1, 2),
            "Engine.search() takes from 2 to 3 positional arguments but 4 were given",
        ),
        (
            lambda mind: mind.restore(),
            "Engine.restore() missing 1 required positional argument: 'id'",
        ),
        (
            lambda _: oneiros.Engine(":memory:", embeder=None),  # type: ignore[call-arg]
            "Engine() got an unexpected keyword argument 'embeder'; did you mean 'embedder'?",
        ),
        (
            lambda _: oneiros.LexicalIndex().search("ant", top_k=1),  # type: ignore[call-arg]
            "LexicalIndex.search() got an unexpected keyword argument 'top_k'; did you mean 'k'?",
        ),
    ],
)
def test_a_wrong_call_is_told_by_the_name_that_was_called(
    mind: oneiros.Engine, call: Callable[[Any], object], message: str
) -> None:
    with pytest.raises(TypeError) as caught:
        call(mind)
    assert str(caught.value) == message
    assert caught.value.__context__ is None


def test_an_awaited_call_is_told_by_the_name_that_was_called() -> None:
    async def messages() -> list[str]:
        async with oneiros.AsyncEngine(":memory:") as mind:
            scope = await mind.scope(project="p")
            calls: list[Callable[[], Any]] = [
                lambda: mind.search("ant", top_k=1),  # type: ignore[call-arg]
                lambda: scope.search("ant", top_k=1),  # type: ignore[call-arg]
                lambda: mind.dream(dryrun=True),  # type: ignore[call-overload]
            ]
            found = []
            for call in calls:
                with pytest.raises(TypeError) as caught:
                    await call()
                found.append(str(caught.value))
            return found

    unexpected = "got an unexpected keyword argument"
    assert asyncio.run(messages()) == [
        f"AsyncEngine.search() {unexpected} 'top_k'; did you mean 'k'?",
        f"AsyncScope.search() {unexpected} 'top_k'; did you mean 'k'?",
        f"AsyncEngine.dream() {unexpected} 'dryrun'; did you mean 'dry_run'?",
    ]


@pytest.mark.parametrize(
    ("public", "name"),
    [
        (oneiros.Engine, "Engine"),
        (oneiros.AsyncEngine, "AsyncEngine"),
        (oneiros.LexicalIndex, "LexicalIndex"),
    ],
)
def test_no_public_method_bears_the_name_of_a_class_that_nobody_calls(
    public: type, name: str
) -> None:
    methods = inspect.getmembers(public, inspect.isfunction)
    shown = {method.__qualname__ for attribute, method in methods if not attribute.startswith("_")}
    assert shown
    assert {qualname.partition(".")[0] for qualname in shown} == {name}


def test_an_error_from_within_a_call_is_what_it_was() -> None:
    def broken() -> float:
        msg = "broken() got an unexpected keyword argument 'k'"
        raise TypeError(msg)

    with (
        oneiros.Engine(":memory:", clock=broken) as mind,
        pytest.raises(TypeError, match=r"^broken\(\) got .* 'k'$"),
    ):
        mind.search("ant")


def test_an_embedder_with_more_digits_than_python_prints_is_named() -> None:
    with pytest.raises(TypeError, match=r"embedder: expected a callable .* an int of"):
        oneiros.Engine(":memory:", embedder=10**5_000)  # type: ignore[arg-type]
