"""The report as a page: what it tells, and that whatever a store holds is only shown."""

from __future__ import annotations

import json
import re
import shlex
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneiros import dream
from oneiros.clock import VirtualClock
from oneiros.display.escaping import OBEYED, visible
from oneiros.display.pages import environment
from oneiros.display.tables import day
from oneiros.dream.figures import MOST_KINDS
from oneiros.dream.report import RULE_NAMES, RULE_WORDS, Distribution, DreamReport, FieldChange
from oneiros.engine import Engine
from tests.dream.page.reading import read

pytest.importorskip("matplotlib", reason="pages have plots: pip install 'oneiros[plots]'")
pytest.importorskip("jinja2", reason="pages are templates: pip install 'oneiros[plots]'")

NOW = 1_750_000_000.0
DAY = 86_400.0
HOSTILE = {
    "script": "</td><script>alert(1)</script>",
    "formula": r"$\frac{1}{$ $x$ \$",
    "controls": "a\x00b\x1b[2J\x7f\x9b\u2028",
    "right to left": "\u202eabc\u202c \u05e2\u05d1\u05e8\u05d9\u05ea \u2066x",
    "wide": "\U0001f600\u65e5\u672c\u8a9e\u0301",
    "attribute": "\" onload=alert(1) x='",
    "colours": '#010203 url(#clip) id="q000n" &lt;&amp;',
    "a word of ours": "q000nnnn",
}


@pytest.fixture(scope="module")
def reports() -> list[DreamReport]:
    """Three cycles of a store, the second taken back, the newest first."""
    clock = VirtualClock(NOW)
    with Engine(":memory:", clock=clock, profile="reverie") as mind:
        for number in range(30):
            kind = ("note", "bug", "fact")[number % 3]
            mind.add(f"text {number}", id=f"m{number}", kind=kind, now=NOW - number * 20 * DAY)
        mind.add("pinned", id="pinned", now=NOW - 900 * DAY, pinned=True)
        mind.dream()
        clock.advance(40 * DAY)
        mind.search("text 3", k=1)
        mind.undo_dream(mind.dream().id)
        clock.advance(30 * DAY)
        mind.dream()
        return mind.dreams()


@pytest.fixture(scope="module")
def html(reports: list[DreamReport]) -> str:
    """The page of the last of them."""
    return reports[0].html(earlier=reports)


def test_it_tells_the_report(reports: list[DreamReport], html: str) -> None:
    report = reports[0]
    page = read(html)
    assert page.is_closed
    assert f"Dream cycle of {day(report.now)}" in page.texts[""]
    assert f"cycle {report.id}" in page.texts[""]
    assert f"{report.live_before} → {report.live_after}" in page.texts[""]
    for phase in report.phases:
        for rule, fields in phase.changes.items():
            rows = [row for row in page.cells if row[1:2] == [RULE_WORDS[rule]]]
            assert any(row[2] == str(phase.memories[rule]) for row in rows), rule
            assert max(fields.values()) <= phase.memories[rule] <= sum(fields.values())
    gone = {change.id: change for change in report.named if change.field == "deleted_at"}
    assert gone
    rows = {row[0]: row[1:] for row in page.cells if row[0] in gone and row[1:2] == ["deleted"]}
    assert rows == {
        id: ["deleted", one.because, f"oneiros restore -- {shlex.quote(id)}"]
        for id, one in gone.items()
    }
    assert all((one.because or "").startswith("not used for ") for one in gone.values())
    assert f"removed{len(gone)} deleted" in page.texts[""]
    assert "pinned, core, or tagged" in page.texts["kept"]
    assert not re.search(r"\b[A-Z]\d\d\b", "".join(page.texts.values()))
    assert [link["href"] for link in page.named("a")] == [
        f"#{one['id']}" for one in page.named("section")
    ]


def test_its_plots_say_what_they_show(reports: list[DreamReport], html: str) -> None:
    page = read(html)
    said = [svg["aria-label"] for svg in page.named("svg") if svg["role"] == "img"]
    assert len(said) == len(page.named("svg")) == 8
    places = ("strength", "stability", "age in days", "kind")
    curves = f"decay of {len(reports[0].decay)} kinds"
    for what in (*(f"memories by {place}" for place in places), curves):
        assert sum(what in (one or "") for one in said) == 1, what
    report = reports[0]
    for name in ("strength", "kind"):
        (one,) = (told for told in report.distributions if told.name == name)
        rows = zip(one.places, map(str, one.before), map(str, one.after), strict=True)
        numbers = [row for row in page.cells if row[0] == name and row[-1].isdecimal()]
        assert numbers == [[name, *row] for row in rows]
    legends = [item for item in page.named("span") if "--kind-" in (item.get("style") or "")]
    assert len(legends) >= 3
    assert report.decay
    assert all(curve.kind in page.texts["decay"] for curve in report.decay)


def test_drift_is_told_where_there_are_several_cycles(
    reports: list[DreamReport], html: str
) -> None:
    assert "drift" not in read(replace(reports[0], distributions=()).html()).texts
    page = read(html)
    dreamt = [one for one in reports if one.drift]
    rows = [row for row in page.cells if len(row) == 8][1:]
    assert [row[0] for row in rows] == [one.id for one in dreamt]
    assert [row[2] for row in rows] == ["reverie", "reverie, undone", "reverie"]
    assert [row[4] for row in rows] == [f"{one.drift['stale_share']:.1%}" for one in dreamt]


def test_it_needs_nothing_else_and_runs_nothing(html: str) -> None:
    found = read(html)
    assert {"script", "link", "img", "iframe", "object", "image"}.isdisjoint(
        name for name, _ in found.elements
    )
    for _, attributes in found.elements:
        for name, value in attributes.items():
            assert not name.startswith("on")
            if name in ("src", "href", "xlink:href"):
                assert (value or "").startswith("#")
    assert set(re.findall(r"https?://[^\"]*", html)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    assert {"http-equiv": "Content-Security-Policy", "content": policy} in found.named("meta")


def test_no_name_is_given_twice_and_every_reference_leads_somewhere(html: str) -> None:
    given = [value["id"] for _, value in read(html).elements if "id" in value]
    assert len(given) == len(set(given))
    wanted = set(re.findall(r'(?:href="#|url\(#)([^")]+)', html))
    assert wanted <= set(given)


def test_colours_follow_light_and_dark(html: str) -> None:
    assert "@media (prefers-color-scheme: dark)" in html
    style, body = html.split("</style>")
    assert "#0102" not in body
    assert "#0203" not in body
    used = set(re.findall(r"var\((--[\w-]+)\)", body))
    assert {"--ink", "--before", "--after", "--kind-0"} <= used
    for name in used:
        assert style.count(f"{name}:") == 2


def shown(text: str) -> str:
    return visible(text).replace("\n", "␊").replace("\t", "␉")


@pytest.fixture(scope="module")
def hostile_html() -> str:
    """A page on a store of nothing else; of each kind one memory that goes, and one that stays."""
    with Engine(":memory:", clock=VirtualClock(NOW), profile="reverie") as mind:
        for text in HOSTILE.values():
            mind.add(text, id=text, kind=text, now=NOW - 400 * DAY)
            mind.add(f"not {text}", kind=text)
        mind.add("ours", kind="q001nnnn")
        plan = mind.dream(dry_run=True)
        return plan.html(impact=plan.impact([*HOSTILE.values()]))


def test_a_page_of_hostile_texts_is_a_page_all_the_same(hostile_html: str) -> None:
    page = read(hostile_html)
    assert page.is_closed
    assert "script" not in {name for name, _ in page.elements}
    assert not any(name.startswith("on") for _, given in page.elements for name in given)
    obeyed = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u202a-\u202e\u2066-\u2069]"
    assert not re.search(obeyed, hostile_html)
    assert page.texts["distributions"].count("q001nnnn") == 2


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_the_store_holds_is_shown_as_it_is(hostile_html: str, text: str) -> None:
    page = read(hostile_html)
    because = "not used for 400 days (limit 180)"
    (row,) = (
        row for row in page.cells if row[:4] == [shown(text), shown(text), "deleted", because]
    )
    assert row[4] == (
        "engine.restore(id) in Python: the id has control characters"
        if re.search(OBEYED, text)
        else shown(f"oneiros restore -- {shlex.quote(text)}")
    )
    assert shown(text) in page.texts["impact"]
    assert page.texts["distributions"].count(shown(text)[:20]) >= 2  # in the plot, in its numbers
    if text in list(HOSTILE.values())[:MOST_KINDS]:
        assert page.texts["decay"].count(shown(text)) >= 2  # in the legend, in its numbers


@given(st.text(max_size=40), st.text(max_size=40))
def test_no_text_opens_an_element(one: str, other: str) -> None:
    template = '<p title="{{ other }}" class="x">{{ one }}<b>{{ other }}</b></p>'
    made = read(environment().from_string(template).render(one=one, other=other))
    assert made.is_closed
    assert [name for name, _ in made.elements] == ["p", "b"]
    assert made.elements[0][1] == {"title": visible(other), "class": "x"}
    # A parser takes \r\n for one line's end; visible() leaves no \r.
    assert made.texts.get("", "") == visible(one) + visible(other)


def test_every_rule_of_a_phase_has_words() -> None:
    sources = Path(dream.__file__).parent.glob("*.py")
    named = {
        rule for one in sources for rule in re.findall(r'"([A-Z]\d+)"', one.read_text("utf-8"))
    }
    assert {"R12", "R13", "C20", "O31"} <= named
    assert named <= RULE_WORDS.keys()
    assert RULE_NAMES.keys() == RULE_WORDS.keys()


def test_an_empty_store_and_an_undoing_have_pages() -> None:
    with Engine(":memory:", clock=VirtualClock(NOW), profile="reverie") as mind:
        empty = read(mind.dream().html())
        assert "0 → 0" in empty.texts[""]
        mind.add("stale", id="gone", now=NOW - 400 * DAY)
        done = mind.dream()
        undone = mind.undo_dream(done.id)
        page = read(undone.html())
        assert f"Dream cycle {done.id} undone" in page.texts[""]
        assert f"fields restored{undone.change_count}" in page.texts[""]


def test_old_and_odd_reports_have_pages() -> None:
    bare = DreamReport(
        id="x", now=1e18, profile="reverie", profile_hash="", is_dry_run=False, change_count=1_500
    )
    assert "1000000000000000000 s" in read(bare.html()).texts[""]
    damaged = read(replace(bare, damage="<b>no JSON").html(earlier=[bare]))
    assert "The report is damaged: <b>no JSON" in damaged.texts[""]
    odd = replace(
        bare,
        distributions=(Distribution(name="kind", places=(), before=(), after=()),),
        named=tuple(
            FieldChange(id="m", field=field, before=None, after=after, phase="p", rule="?")
            for field, after in (("deleted_at", 1e18), ("tier", "cold"), ("link", {"to": "<b>"}))
        ),
        changed_since=("<i>",),
    )
    page = read(odd.html())
    assert ["m", "deleted", "?", "oneiros restore -- m"] in page.cells
    assert ["m", "link", "-", "{'to': '<b>'}", "p"] in page.cells
    assert "2 changes, and 1497 more that are not listed" in page.texts["changes"]
    assert "<i>" in page.texts["kept"]
    assert DreamReport.from_record(json.loads(json.dumps(odd.record()))).html() == odd.html()


def test_without_matplotlib_it_is_said_what_to_install(
    reports: list[DreamReport], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'oneiros\[plots\]'"):
        reports[0].html()
