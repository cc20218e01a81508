"""Rules that hold for every command; the commands and their options are those of the application.

A new command fails here until ``CALLS`` has a call of it.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

import oneiros.engine
from oneiros import Engine
from oneiros.cli.application import application
from oneiros.display.tables import columns_of
from oneiros.model.fields import FIELDS
from oneiros.ray.routing import Layout
from oneiros.ray.shard import layout_file, store_file, write_layout
from tests.cli.conftest import HOSTILE, Run

GROUP: Any = typer.main.get_command(application)
COMMANDS: dict[str, Any] = {
    name: GROUP.get_command(None, name) for name in GROUP.list_commands(None) if name != "eval"
}
OPTIONS: dict[str, set[str]] = {
    name: {form for parameter in command.params for form in parameter.opts}
    for name, command in COMMANDS.items()
}
NOW = "2025-06-01T00:00:00Z"
CLOCK = ("--now", NOW)

CALLS: dict[str, list[tuple[str, ...]]] = {
    "add": [("tea", "--id", "new", *CLOCK)],
    "import": [("rows.jsonl",), ("bad.jsonl", "--on-error", "collect")],
    "search": [("coffee", *CLOCK), ("coffee", "--explain", *CLOCK), ("nothing at all", "-k", "0")],
    "why-not": [("coffee", "rent", *CLOCK), ("coffee", "gone", *CLOCK)],
    "get": [("coffee",), ("odd",)],
    "list": [(), ("-n", "2")],
    "last": [("2",)],
    "history": [("coffee",)],
    "update": [("coffee", "--set", "importance=0.9")],
    "feedback": [("coffee", "helpful")],
    "pin": [("coffee",)],
    "link": [("coffee", "odd"), ("coffee",)],
    "supersede": [("coffee", "odd")],
    "conflicts": [()],
    "delete": [("coffee",), ("--where", '{"kind": "fact"}', "--yes")],
    "restore": [("gone",)],
    "forget": [("coffee", "--yes")],
    "purge": [("--dry-run", *CLOCK), ("--yes", *CLOCK)],
    "promote": [("--profile", "ciar:knowledge_base", *CLOCK)],
    "dream": [
        ("--dry-run", "--profile", "reverie", *CLOCK),
        ("--dry-run", "--impact", "questions.jsonl", *CLOCK),
        ("--yes", "--profile", "reverie", *CLOCK),
        ("--list",),
        ("--undo", "CYCLE", *CLOCK),
    ],
    "drift": [()],
    "stats": [()],
    "doctor": [(), ("--deep",)],
    "embed": [("--embedder", "hashing")],
    "export": [("out.jsonl",)],
    "backup": [("copy.db",)],
    "config": [("--scope", "user=ada")],
    "profiles": [()],
    "rescore": [
        ("facts.csv", "scores.csv", *CLOCK),
        ("facts.csv", "--compare", "ciar", "ciar-shipped", *CLOCK),
    ],
    "demo": [()],
    "evaluate": [
        ("trips", "--profile", "bm25"),
        ("trips", "--profile", "bm25", "--categories"),
        ("--profile", "rrf", "--without"),
        ("trips", "--profile", "ciar", "--with-use"),
        ("trips", "--profile", "oneiros", "--with-forgetting"),
    ],
    "tune": [("trips", "--over", "fusion.weight=0.4,0.5")],
    "bench": [("--size", "100", "--rounds", "1", "--task", "words")],
    "ray": [("status", "shards")],
    "simulate": [("--memories", "60", "--days", "20", "--dream-every", "5")],
}
SERVERS = {"inspect", "mcp"}  # print no results
ONE_LINE = {
    *("add", "import", "update", "feedback", "pin", "supersede", "delete", "restore", "forget"),
    *("embed", "export", "backup"),
}
"""Commands without a table: they say in a line or two what was done."""
WITHOUT_STORE = {"profiles", "rescore", "demo", "evaluate", "tune", "simulate", "bench", "ray"}
EVERY = [(name, *call) for name, calls in CALLS.items() for call in calls]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a store of which every command has something to say, and files."""
    folder = tmp_path_factory.mktemp("every")
    with Engine(folder / "agent.db", embedder="hashing", clock=lambda: 1.7e9) as engine:
        engine.add("Ada takes her coffee black", id="coffee", importance=0.9, certainty=0.9)
        engine.add("My rent is 900 euros a month", id="rent", kind="fact", now=1.6e9)
        engine.add("My rent went up to 950 euros now", id="dearer", kind="fact", now=1.71e9)
        engine.add("An old door code", id="gone", now=1.6e9)
        engine.add("An older door code", id="older", now=1.5e9, importance=0.1)
        engine.add(
            f"{HOSTILE} " + "word " * 60, id="odd", title=HOSTILE, metadata={"at": 1.7e9, "b": [1]}
        )
        engine.supersede("older", "gone", now=1.65e9)
        engine.link("coffee", "rent")
        engine.delete("gone", now=1.7e9)
        engine.update("coffee", importance=0.8, now=1.72e9)
        engine.dream(1.74e9)
    (folder / "shards").mkdir()
    for number in range(2):
        with Engine(store_file(folder / "shards", number), embedder="hashing") as engine:
            engine.add(HOSTILE, id=HOSTILE)
        write_layout(layout_file(folder / "shards", number), number, Layout(3, "user"))
    rows = [{"text": "one", "created_at": NOW}, {"text": "two", "importance": 0.5}]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "bad.jsonl").write_text('{"text": "three"}\nno JSON\n')
    (folder / "questions.jsonl").write_text('{"text": "door code"}\n')
    (folder / "facts.csv").write_text(
        "id,certainty,impact,created_at,access_count\n"
        "a,0.9,0.8,2025-05-01T00:00:00Z,3\nb,0.2,0.1,2025-01-01T00:00:00Z,0\n"
    )
    trips = folder / "trips"
    trips.mkdir()
    days = range(1, 9)
    corpus = [
        {"_id": f"d{n}", "text": f"Train {n} was late", "timestamp": f"2025-05-0{n}T08:00:00Z"}
        for n in days
    ]
    queries = [{"_id": f"q{n}", "text": f"was train {n} late?"} for n in days]
    for name, records in {"corpus": corpus, "queries": queries}.items():
        (trips / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    grades = "".join(f"q{n}\td{n}\t1\n" for n in days)
    (trips / "qrels.tsv").write_text("query\tdocument\tgrade\n" + grades)
    return folder


@pytest.fixture
def here(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the folder, which is the working directory."""
    folder = tmp_path / "here"
    shutil.copytree(template, folder)
    monkeypatch.chdir(folder)
    return folder


def called(call: tuple[str, ...]) -> list[str]:
    """Return the arguments of a call, on the store if the command has one."""
    name, *rest = call
    if "CYCLE" in rest:
        with Engine("agent.db", embedder="hashing") as engine:
            rest[rest.index("CYCLE")] = engine.dreams()[0].id
    return [name, *rest, *(["--store", "agent.db"] if "--store" in OPTIONS[name] else [])]


def test_every_command_is_called_here() -> None:
    assert {name for name, forms in OPTIONS.items() if "--json" in forms} == CALLS.keys()
    assert COMMANDS.keys() - CALLS.keys() == SERVERS
    assert {name for name in CALLS if "--store" not in OPTIONS[name]} == WITHOUT_STORE


# -- JSON ------------------------------------------------------------------------------------------

TIMES = {name for name, field in FIELDS.items() if field.kind == "time"} | {"now", "until"}
ISO = re.compile(r"-?\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?\+00:00|-?\d+ s")
EPOCHS = range(1_400_000_000, 2_200_000_000)  # seconds that are times of these stores
COUNTS = {"changes", "fields"}  # of fields by name, so that a time's name has a number
LISTS = {
    *("memories", "results", "revisions", "links", "conflicts", "dreams", "cycles", "promoted"),
    "profiles",
}


def leaves(value: object, name: str = "") -> Iterator[tuple[str, object]]:
    """Yield each value with the name it stands under, without metadata, which are the user's."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key != "metadata" and not (key in COUNTS and isinstance(inner, dict)):
                yield from leaves(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner, name)
    else:
        yield name, value


def memories(value: object) -> Iterator[dict[str, object]]:
    if isinstance(value, dict):
        if "embedding_dimension" in value and "id" in value:
            yield value
        for inner in value.values():
            yield from memories(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from memories(inner)


@pytest.mark.parametrize("call", EVERY, ids=" ".join)
@pytest.mark.usefixtures("here")
def test_json_is_one_document_of_the_same_form(run: Run, call: tuple[str, ...]) -> None:
    outcome = run(*called(call), "--json")
    assert outcome.exit_code == 0, outcome.stderr
    document = outcome.document
    assert list(document)[:2] == ["command", "store"]
    assert document["command"] == call[0]
    assert document["store"] == (None if call[0] in WITHOUT_STORE else "agent.db")
    for name, value in leaves(document):
        if name in TIMES or name.endswith(("_at", "_since")):
            assert value is None or (isinstance(value, str) and ISO.fullmatch(value)), (name, value)
        assert not (isinstance(value, int | float) and int(value) in EPOCHS), (name, value)
    for memory in memories(document):
        assert memory.keys() == FIELDS.keys() - {"embedding"} | {"embedding_dimension"}
    for name in LISTS & document.keys():
        if isinstance(document[name], list):
            assert document["count"] >= len(document[name])


@pytest.mark.usefixtures("here")
def test_json_after_a_failure_is_no_document(run: Run) -> None:
    outcome = run("get", "unknown", "-s", "agent.db", "--json")
    assert outcome == (1, "", "error: id: no memory 'unknown'\n")


# -- plain lines and tables ------------------------------------------------------------------------

FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e─│└├]")
LINKING = ("link", "coffee", "odd")  # the command shows a table without the second id
WITH_TABLES = [call for call in EVERY if call[0] not in ONE_LINE and call != LINKING]


def test_every_command_with_a_table_has_plain_lines() -> None:
    assert {name for name, forms in OPTIONS.items() if "--plain" not in forms} == (
        ONE_LINE | SERVERS
    )


@pytest.mark.parametrize("call", WITH_TABLES, ids=" ".join)
@pytest.mark.usefixtures("here")
def test_plain_lines_are_cells_between_tabs_under_one_line_of_heads(
    run: Run, call: tuple[str, ...]
) -> None:
    outcome = run(*called(call), "--plain")
    assert outcome.exit_code == 0, outcome.stderr
    assert not outcome.stderr or call[0] == "bench"  # which says there what it stands beside
    heads, *rows = (line.split("\t") for line in outcome.stdout.split("\n")[:-1])
    assert all(heads)
    assert len(set(heads)) == len(heads) > 1
    assert all(len(row) == len(heads) for row in rows)
    assert not FORBIDDEN.search(outcome.stdout)


@pytest.mark.parametrize("call", [call for call in EVERY if call not in WITH_TABLES], ids=" ".join)
@pytest.mark.usefixtures("here")
def test_the_others_say_what_was_done_in_a_line_or_two(run: Run, call: tuple[str, ...]) -> None:
    outcome = run(*called(call))
    assert outcome.exit_code == 0
    assert 1 <= len(outcome.stdout.splitlines()) <= 2
    assert not FORBIDDEN.search(outcome.stdout.replace("\n", ""))


@pytest.mark.parametrize("columns", [20, 40, 80])
@pytest.mark.parametrize("call", WITH_TABLES, ids=" ".join)
@pytest.mark.usefixtures("here")
def test_what_is_shown_fits(
    run: Run, call: tuple[str, ...], columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    outcome = run(*called(call))
    assert outcome.exit_code == 0, outcome.stderr
    for line in outcome.stdout.splitlines():
        is_to_be_copied = line.lstrip().startswith("oneiros ") or " rows scored in " in line
        assert is_to_be_copied or columns_of(line) <= columns, line
    assert not set("\x1b\x9b\u202e\x07") & set(outcome.stdout)


@pytest.mark.parametrize("call", WITH_TABLES, ids=" ".join)
@pytest.mark.usefixtures("here")
def test_two_forms_at_once_are_refused(run: Run, call: tuple[str, ...]) -> None:
    for forms in (("--json", "--plain"), ("--plain", "--json")):
        outcome = run(*called(call), *forms)
        assert outcome == (2, "", "error: --plain, --json: only one of them\n")


# -- exit codes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMMANDS)
def test_an_unknown_option_is_wrong_usage(run: Run, name: str) -> None:
    outcome = run(name, "--nothing-of-this-name")
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith("error: No such option: --nothing-of-this-name")
    assert outcome.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("call", "given", "hint"),
    [
        (("search", "a.db", "tea"), "tea", "a query of several words needs quotes"),
        (("why-not", "where", "do", "we"), "we", "a query of several words needs quotes"),
        (("add", "green", "tea"), "tea", "a text of several words needs quotes"),
        (("stats", "a.db"), "a.db", ""),
    ],
)
def test_an_argument_too_many_is_answered_by_how_to_give_it(
    run: Run, call: tuple[str, ...], given: str, hint: str
) -> None:
    words = f"error: Got unexpected extra argument ({given}); the store is an option, --store FILE"
    said = run(*call).stderr.replace("argument(s)", "argument")  # as some versions of click say it
    assert said == words + (f"; {hint}" if hint else "") + "\n"


MAKING = {"add", "import", "config", "mcp"}  # a store that is missing is none of their problems


@pytest.mark.parametrize("name", [*CALLS, "inspect"])
@pytest.mark.usefixtures("here")
def test_a_store_that_is_missing_is_wrong_input(run: Run, name: str) -> None:
    if name in MAKING or "--store" not in OPTIONS[name]:
        return
    first = next(iter(CALLS.get(name, [()])))
    outcome = run(name, *first, "--store", "absent.db")
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert outcome.stderr == (
        "error: absent.db: no such store (--store or ONEIROS_STORE names it)\n"
    )
    assert not Path("absent.db").exists()


@pytest.mark.parametrize("name", sorted(name for name in CALLS if "--store" in OPTIONS[name]))
@pytest.mark.usefixtures("here")
def test_a_file_that_is_no_store_fails(run: Run, name: str) -> None:
    if name == "config":
        return
    Path("agent.db").write_bytes(b"no store, whatever its name says " * 400)
    outcome = run(name, *CALLS[name][0], "--store", "agent.db")
    assert (outcome.exit_code, outcome.stdout) == (1, "")
    assert outcome.stderr.startswith("error: ")
    assert outcome.stderr.count("\n") == 1


UNKNOWN = {
    "get": ("none",),
    "history": ("none",),
    "update": ("none", "--text", "x"),
    "feedback": ("none", "helpful"),
    "pin": ("none",),
    "link": ("none", "coffee"),
    "supersede": ("none", "coffee"),
    "delete": ("none",),
    "restore": ("none",),
}


@pytest.mark.parametrize("name", UNKNOWN)
@pytest.mark.usefixtures("here")
def test_a_memory_that_is_not_there_is_a_failure(run: Run, name: str) -> None:
    outcome = run(name, *UNKNOWN[name], "--store", "agent.db")
    assert (outcome.exit_code, outcome.stdout) == (1, "")
    assert outcome.stderr.startswith("error: ")
    assert "'none'" in outcome.stderr


def test_every_command_that_takes_an_id_is_tried_with_an_unknown_one() -> None:
    takes_id = {
        name
        for name, command in COMMANDS.items()
        if any(
            one.metavar in ("ID", "OLD") and one.name in ("id", "ids", "old")
            for one in command.params
            if one.param_type_name == "argument"
        )
    }
    # Why a search does not return an unknown memory has an answer; erasing it leaves nothing.
    assert takes_id - UNKNOWN.keys() == {"why-not", "forget"}


@pytest.mark.parametrize("name", [*CALLS, "inspect"])
@pytest.mark.usefixtures("here")
def test_ctrl_c_is_one_line_and_130(run: Run, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "config" or "--store" not in OPTIONS[name]:
        return

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(oneiros.engine.QuietEngine, "__init__", interrupted)
    first = next(iter(CALLS.get(name, [()])))
    outcome = run(name, *first, "--store", "agent.db")
    assert outcome.exit_code == 130
    assert outcome.stderr.startswith("error: interrupted")
    assert outcome.stderr.count("\n") == 1


# -- help ------------------------------------------------------------------------------------------

ANONYMOUS = {"TEXT", "PATH", "STRING", "STR", "INTEGER", "INT", "FLOAT", "VALUE", "FILENAME"}


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_in_words_what_goes_where(run: Run, name: str) -> None:
    shown = run(name, "--help").stdout
    assert max(map(len, shown.splitlines())) <= 80
    assert not re.search(r"<(list|str|int|float|path|bool)\b", shown, re.IGNORECASE)
    for parameter in COMMANDS[name].params:
        assert parameter.name == "text" or parameter.metavar not in ANONYMOUS, parameter.name
        assert parameter.help, parameter.name
    for option, word in re.findall(
        r"^\s+(?:-\w, )?(--[\w-]+) ([A-Z][\w=,. ]*?)(?:  |$)", shown, re.MULTILINE
    ):
        assert option == "--text" or word not in ANONYMOUS, (option, word)
