"""The page in Chromium: keyboard, narrow screens, hostile texts, two browsers, changes.

Skipped where there is no Chromium.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest

from oneiros import profiles
from oneiros.display.escaping import visible
from oneiros.engine import QuietEngine
from oneiros.scoring.factors import Expression
from tests.inspection.browser import CHROMIUM, Browser, Page
from tests.inspection.conftest import HOSTILE, HOSTILE_ID, NOW, Client, Serve

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="NO BROWSER: Chromium is not installed")

Open = Callable[..., Page]
VIEWS = (
    "#/search",
    "#/search?q=coffee%20deploys%20tea&deep_recall=1",
    f"#/memory?id={quote(HOSTILE_ID)}",
    "#/memory?id=big",
    "#/memory?id=coffee",
    "#/memory?id=pool",
    "#/dreams?profile=reverie",
    "#/store",
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    made = Browser(tmp_path_factory.mktemp("browser"))
    yield made
    made.close()


@pytest.fixture
def opened(browser: Browser) -> Open:
    """Open a view of a server's page in a browser of its own."""

    def make(client: Client, view: str = "", width: int = 1200, *, is_dark: bool = False) -> Page:
        page = browser.page(width, is_dark=is_dark)
        page.open(client.server.url + view)
        return page

    return make


def go(page: Page, view: str) -> None:
    """Follow an address within the page."""
    page.run(f"location.hash = {json.dumps(view)}; 0")
    page.settle()


def focused(page: Page) -> str:
    return str(
        page.run("document.activeElement.getAttribute('href') || document.activeElement.name")
    )


# -- hostile texts ---------------------------------------------------------------------------------


def test_hostile_texts_are_shown_and_do_nothing(opened: Open, client: Client) -> None:
    page = opened(client)
    for view in VIEWS:
        go(page, view)
        page.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        assert page.run("window.hacked") is None, view
        assert page.run("document.querySelectorAll('main script, main img').length") == 0
        assert page.run("document.querySelectorAll('[onload],[onerror],[onclick]').length") == 0
        assert page.run(
            "[...document.querySelectorAll('a')].every((a) => a.getAttribute('href')[0] === '#')"
        )
    assert page.errors() == []
    requested = {url.partition("#")[0] for url in page.requested() if url != "about:blank"}
    assert all(url.startswith((client.server.url, "data:,")) for url in requested)
    go(page, f"#/memory?id={quote(HOSTILE_ID)}")
    assert page.run("document.querySelector('.whole').textContent") == visible(
        HOSTILE + " <b>again</b>"
    )


def test_the_page_shows_control_characters_as_the_commands_do(opened: Open, client: Client) -> None:
    page = opened(client)
    text = "".join(map(chr, (*range(0x300), *range(0x1FFA, 0x2071), 0xFEFF, 0x1F600, 0xE0041)))
    assert page.run(f"visible({json.dumps(text)})") == visible(text)
    lone = "a\ud800b\udfffc"
    assert page.run(f"visible({json.dumps(lone)})") == visible(lone)


def test_the_policy_refuses_scripts_and_other_machines(opened: Open, client: Client) -> None:
    page = opened(client)
    probes = (
        "document.body.innerHTML = '<b>x</b>'",
        "document.body.setAttribute('onclick', 'x')",
        "eval('1')",
        "new Function('1')()",
    )
    for probe in probes:
        done = page.command("Runtime.evaluate", expression=probe, allowUnsafeEvalBlockedByCSP=False)
        assert "exceptionDetails" in done, probe
    page.run(
        "{ const made = document.createElement('img');"
        "made.src = 'http://127.0.0.1:9/x.png'; document.body.append(made); }"
    )
    outcome = "fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'refused')"
    assert page.run(outcome) == "refused"
    assert any("Content Security Policy" in error for error in page.errors())


def test_hostile_ids_lead_to_their_memory(opened: Open, client: Client) -> None:
    page = opened(client, f"#/search?q=tea&session={quote(HOSTILE)}")
    page.run("document.querySelector('a.open').click()")
    page.wait("document.querySelector('.whole')")
    page.settle()
    assert page.run("Object.fromEntries(new URLSearchParams(location.hash.split('?')[1])).id") == (
        HOSTILE_ID
    )
    assert page.run("document.querySelector('h1').textContent").startswith("</script>")
    page.run("document.querySelector('table a.open').click()")
    page.wait("location.hash === '#/memory?id=coffee'")


# -- narrow screens --------------------------------------------------------------------------------


@pytest.mark.parametrize("is_dark", [False, True])
@pytest.mark.parametrize("width", [320, 400, 1200])
def test_no_view_scrolls_sideways(opened: Open, client: Client, width: int, is_dark: bool) -> None:
    page = opened(client, width=width, is_dark=is_dark)
    for view in VIEWS:
        go(page, view)
        page.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        assert page.run("document.documentElement.scrollWidth") <= width, view
        wide = page.run(
            "[...document.querySelectorAll('main *')].filter((each) => !each.closest('.scroll, "
            ".short, .clamped, .whole, svg') && each.getBoundingClientRect().right > innerWidth + 1)"
            ".map((each) => each.outerHTML.slice(0, 120))"
        )
        assert wide == [], view


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG 2 defines it."""

    def luminance(colour: str) -> float:
        parts = [int(part) / 255 for part in colour.strip("rgb()").split(",")]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("is_dark", [False, True])
def test_light_and_dark_are_readable(opened: Open, client: Client, is_dark: bool) -> None:
    page = opened(client, "#/search?q=coffee", is_dark=is_dark)
    style = "getComputedStyle(document.querySelector({!r}))"
    paper = page.run(f"{style.format('body')}.backgroundColor")
    assert (paper == "rgb(255, 255, 255)") is not is_dark
    for chosen in ("body", ".meta", "summary", ".label", ".row .text a", "button"):
        ink = page.run(f"{style.format(chosen)}.color")
        assert contrast(ink, paper) >= 4.5, chosen
    main = style.format("button.main")
    assert contrast(page.run(f"{main}.color"), page.run(f"{main}.backgroundColor")) >= 4.5


# -- keyboard --------------------------------------------------------------------------------------


def test_everything_is_reached_by_keys(opened: Open, client: Client) -> None:
    page = opened(client)
    assert focused(page) == "q"
    page.type("deploys or coffee")
    page.key("Enter")
    page.wait("location.hash.startsWith('#/search?q=deploys')")
    page.wait("document.body.innerText.includes('profile oneiros')")
    page.settle()
    page.key("Escape")
    page.key("j")
    first = focused(page)
    assert first.startswith("#/memory?id=")
    page.key("e")
    assert page.run("document.activeElement.closest('.row').querySelector('details').open") is True
    page.key("j")
    second = focused(page)
    page.key("k")
    assert focused(page) == first != second
    page.key("Enter")
    page.wait(f"location.hash === {json.dumps(first)}")
    page.settle()
    page.key("Escape")
    page.wait("location.hash.startsWith('#/search?q=deploys')")
    page.settle()
    page.wait(f"document.activeElement.getAttribute('href') === {json.dumps(first)}")
    page.key("n")
    page.type("pool")
    page.key("Enter")
    page.wait("document.body.innerText.includes('hidden: deleted')")
    page.key("Escape")
    page.key("2")
    page.wait("location.hash === '#/dreams'")
    page.settle()
    page.key("3")
    page.wait("location.hash === '#/store'")
    page.settle()
    page.key("?")
    assert page.run("document.getElementById('keys').open") is True
    page.key("Escape")
    assert page.run("document.getElementById('keys').open") is False
    page.key("/")
    page.wait("document.activeElement.name === 'q' && document.querySelector('a.open')")
    page.key("ArrowDown")
    assert focused(page).startswith("#/memory?id=")
    assert page.errors() == []


def test_every_control_has_a_name_and_a_visible_focus(opened: Open, client: Client) -> None:
    page = opened(client)
    for view in VIEWS:
        go(page, view)
        nameless = page.run(
            "[...document.querySelectorAll('button, input, select, textarea, a')].filter((each) =>"
            " each.offsetParent && !(each.labels?.length || each.textContent.trim()"
            " || each.getAttribute('aria-label'))).map((each) => each.outerHTML)"
        )
        assert nameless == [], view
        assert page.run("document.querySelectorAll('h1').length") == 1
        assert page.run(
            "new Set([...document.querySelectorAll('[id]')].map((e) => e.id)).size"
        ) == (page.run("document.querySelectorAll('[id]').length"))
    go(page, "#/store")
    page.key("Tab")
    style = "getComputedStyle(document.activeElement)"
    assert page.run(f"{style}.outlineStyle") == "solid"
    assert page.run(f"parseFloat({style}.outlineWidth)") >= 2


# -- views -----------------------------------------------------------------------------------------


def test_a_large_text_is_read_on_and_on(opened: Open, client: Client) -> None:
    page = opened(client, "#/memory?id=big")
    length = "document.querySelector('.whole').textContent.length"
    assert page.run(length) == 20_000
    page.run("document.querySelector('.actions button').click()")
    page.wait(f"{length} === 40000")
    assert "40,000 of 1,000,000" in page.text()


def test_a_large_text_of_emoji_is_read_to_its_end(
    opened: Open, writer: Client, store: Path
) -> None:
    with QuietEngine(store, clock=lambda: NOW) as engine:
        engine.add("\U0001f375" * 30_000 + "end", id="emoji")
    page = opened(writer, "#/memory?id=emoji")
    assert "20,000 of 30,003" in page.text()
    page.run("document.querySelector('.actions button').click()")
    page.wait("[...document.querySelector('.whole').textContent].length === 30003")


def test_filters_are_in_the_address_and_in_the_form(opened: Open, client: Client) -> None:
    page = opened(client, "#/search?q=coffee&user=ada&kind=user_preference&k=3")
    assert page.run("document.querySelectorAll('.row').length") == 1
    assert page.run("document.querySelector('[name=user]').value") == "ada"
    assert page.run("document.getElementById('filters').open") is True
    page.run("document.getElementById('clear-filters').click()")
    page.wait("!location.hash.includes('user=')")
    page.settle()
    assert page.run("document.querySelectorAll('.row').length") > 1
    assert "k=3" in page.run("location.hash")


def test_neutral_factors_are_hidden_and_the_table_has_them(opened: Open, client: Client) -> None:
    page = opened(client, "#/search?q=coffee&user=ada")
    parts = page.run("document.querySelector('.parts').innerText")
    assert "words" in parts
    assert "trust" not in parts
    page.run("document.querySelector('.row details').open = true")
    assert "trust" in page.run("document.querySelector('.row details').innerText")


def test_odd_values_are_readable(opened: Open, writer: Client, store: Path) -> None:
    with QuietEngine(store, clock=lambda: NOW) as engine:
        engine.add("of old", id="old", event_at=-70_000_000_000.0, title=" \t")
        engine.update("old", tags=["x"])
    page = opened(writer, "#/memory?id=old")
    page.wait("document.body.textContent.includes('tags: ')")
    assert "-000249-10-15 19:33" in page.text()
    assert page.run("document.querySelector('h1').textContent") == "Memory old"
    assert "none → x" in page.text()


def test_a_damaged_cycle_has_no_counts(opened: Open, serve: Serve, store: Path) -> None:
    with QuietEngine(store, clock=lambda: NOW) as engine:
        id = engine.dream().id
    with closing(sqlite3.connect(store)) as other, other:
        other.execute("PRAGMA ignore_check_constraints = ON")
        other.execute("UPDATE dream_cycle SET report = '{'")
    page = opened(serve(store), "#/dreams")
    page.wait(f"document.body.textContent.includes({id!r})")
    row = f"[...document.querySelectorAll('tr')].find((row) => row.textContent.includes({id!r}))"
    assert page.run(f"[...{row}.children].slice(3).map((cell) => cell.textContent).join()") == ",,"


def test_an_infinite_score_hides_no_result(opened: Open, serve: Serve, store: Path) -> None:
    endless = profiles.get("bm25").replace(
        name="endless", factors=(Expression("1 / access_count", name="unused"),)
    )
    page = opened(serve(store, profile=endless), "#/search?q=deploys")
    assert "not finite" in page.text()
    assert "Deploys happen on Fridays" in page.text()


def test_an_address_beyond_the_end_leads_back(opened: Open, client: Client) -> None:
    page = opened(client, "#/search?offset=4000")
    assert "The list ends before this page." in page.text()
    assert "4001" not in page.text()
    page.run("[...document.querySelectorAll('main a')].find((a) => a.text === 'Newer').click()")
    page.settle()
    assert "Deploys happen on Fridays" in page.text()


def test_a_filter_that_no_memory_has_stays_in_the_form(opened: Open, client: Client) -> None:
    page = opened(client, "#/search?kind=of%20an%20old%20address")
    assert page.run("document.querySelector('[name=kind]').value") == "of an old address"


def test_an_address_of_no_view_shows_no_other(opened: Open, client: Client) -> None:
    page = opened(client, "#/store")
    for view in ("none", "constructor"):
        go(page, f"#/{view}")
        assert "There is no such view." in page.text()
        assert page.run("document.title") == "Nothing here · Oneiros"
        assert page.run("document.querySelector('main').textContent") == ""


def test_the_links_are_drawn_and_listed(opened: Open, client: Client) -> None:
    page = opened(client, "#/memory?id=coffee")
    assert page.run("document.querySelectorAll('.graph circle').length") == 4
    assert page.run("document.querySelectorAll('.graph line').length") == 3
    assert page.run("document.querySelector('.graph').getAttribute('role')") == "img"
    assert "fridays" not in page.run("location.hash")
    page.run("document.querySelector('.graph .hop-2').dispatchEvent(new MouseEvent('click'))")
    page.wait("location.hash === '#/memory?id=fridays'")


def test_a_plan_says_why_before_it_names_rules(opened: Open, client: Client) -> None:
    page = opened(client, "#/dreams?profile=reverie")
    row = page.run("document.querySelector('.row').innerText")
    assert row.index("Deploys happen on Tuesdays") < row.index("superseded by") < row.index("R13")
    page.run("document.querySelector('textarea').value = 'deploys on Tuesdays'")
    page.run("document.querySelector('textarea').closest('form').requestSubmit()")
    page.wait("document.body.innerText.includes('results,')")


def test_what_goes_wrong_is_said(opened: Open, serve: Serve, store: Path, tmp_path: Path) -> None:
    client = serve(store)
    page = opened(client, "#/memory?id=nobody")
    page.wait("!document.getElementById('failure').hidden")
    assert "no memory 'nobody'" in page.text()
    go(page, "#/nowhere")
    assert "no such view" in page.text()
    go(page, "#/dreams?keep=much")
    page.wait("document.body.innerText.includes('keep: must be')")
    store.rename(tmp_path / "elsewhere.db")
    go(page, "#/memory?id=coffee")
    page.wait(
        "document.body.innerText.includes('the store\\u2019s file is gone') || "
        'document.body.innerText.includes("the store\'s file is gone")'
    )
    client.server.close()
    go(page, "#/memory?id=deploy")
    page.wait("document.body.innerText.includes('Start oneiros inspect again')")


# -- changes ---------------------------------------------------------------------------------------


def press(page: Page, text: str) -> None:
    """Click the button in the document or the dialog that has this text."""
    chosen = f"[...document.querySelectorAll('button')].find((b) => b.textContent === {text!r})"
    page.wait(f"{chosen} && !{chosen}.disabled")
    page.run(f"{chosen}.click()")


def test_only_reading_offers_no_change(opened: Open, client: Client) -> None:
    page = opened(client, "#/memory?id=coffee")
    assert "read only" in page.text()
    for text in ("Pin", "Delete", "Helpful"):
        assert f"\n{text}\n" not in page.text()
    go(page, "#/memory?id=pool")
    assert "oneiros restore --store" in page.text()


def test_a_memory_is_changed_after_a_question(opened: Open, writer: Client) -> None:
    page = opened(writer, "#/memory?id=coffee")
    press(page, "Pin")
    page.wait("document.getElementById('status').textContent === 'Pinned.'")
    assert writer.get("memory", id="coffee").value["pinned"] is True
    press(page, "Helpful")
    page.wait("document.getElementById('status').textContent === 'Feedback is 1 now.'")
    press(page, "Delete")
    page.wait("document.getElementById('question').open")
    assert page.run("document.activeElement.textContent") == "Cancel"
    page.key("Escape")
    assert writer.get("memory", id="coffee").value["deleted_at"] is None
    press(page, "Delete")
    page.wait("document.getElementById('question').open")
    page.run("document.getElementById('question-yes').click()")
    page.wait("document.getElementById('status').textContent === 'Deleted.'")
    assert writer.get("memory", id="coffee").value["deleted_at"] is not None
    press(page, "Restore")
    page.wait("document.getElementById('status').textContent === 'Restored.'")
    assert writer.get("memory", id="coffee").value["deleted_at"] is None
    assert page.errors() == []


def test_a_cycle_is_undone_after_a_question(opened: Open, serve: Serve, store: Path) -> None:
    with QuietEngine(store, profile="reverie", clock=lambda: NOW) as engine:
        id = engine.dream().id
    client = serve(store, writes=True)
    page = opened(client, "#/dreams")
    assert id in page.text()
    go(page, f"#/cycle?id={id}")
    assert "oneiros restore --store" in page.text()
    press(page, "Undo this cycle")
    page.wait("document.getElementById('question').open")
    page.run("document.getElementById('question-yes').click()")
    page.wait("document.getElementById('status').textContent.includes('undone by')")
    assert client.get("memory", id="deploy").value["deleted_at"] is None
    assert "undone by" in page.run("document.querySelector('main').innerText")


def test_two_browsers_look_at_once(opened: Open, writer: Client) -> None:
    one, other = opened(writer, "#/memory?id=coffee"), opened(writer, "#/search?q=coffee", 400)
    press(one, "Pin")
    one.wait("document.getElementById('status').textContent === 'Pinned.'")
    go(other, "#/memory?id=coffee")
    assert "pinned" in other.run("document.querySelector('.meta').innerText")
    assert one.errors() == other.errors() == []
