"""What the analyzers make of real words: each script's answer, written out."""

# ruff: noqa: RUF001 - letters that look alike are the point here

from __future__ import annotations

import pytest

from oneiros import analyzers

GOLDEN = {
    "german": ("Die Straßenbahn fährt über die Brücke.", "die strassenbahn fahrt uber die brucke"),
    "french": ("L’été, j'ai mangé des œufs à l'école.", "ete ai mange des oeufs a ecole"),
    "turkish": ("İstanbul'da ILIK ığdır", "istanbul da ilik igdir"),
    "vietnamese": ("Tiếng Việt ở Đà Nẵng", "tieng viet o da nang"),
    "polish": ("Zażółć gęślą jaźń, Łódź", "zazolc gesla jazn lodz"),
    "danish": ("rødgrød på Ærø", "rodgrod pa aero"),
    "icelandic": ("Þórr og Öræfajökull, ðe", "thorr og oraefajokull de"),
    "catalan": ("col·lecció d'estiu", "col leccio estiu"),
    "greek": ("Η Αθήνα, ΑΘΉΝΑΣ αθηνας", "η αθηνα αθηνασ αθηνασ"),
    "russian": ("Ёлка и ЁЖ", "елка и еж"),
    "japanese": ("東京タワーに登る。猫", "東京 京タ タワ ワー ーに に登 登る 猫"),
    "half-width": ("ﾃﾞｰﾀﾍﾞｰｽ", "デー ータ タベ ベー ース"),
    "chinese": ("我喜欢机器学习，你呢", "我喜 喜欢 欢机 机器 器学 学习 你呢"),
    "korean": ("기억을 검색한다", "기억 억을 검색 색한 한다"),
    "arabic": ("السَّلامُ عليكم ١٢٣ آخر", "السلام عليكم 123 اخر"),
    "persian": ("می\u200cخواهم", "میخواهم"),
    "hebrew": ("שָׁלוֹם צה״ל ג׳ירפה", "שלום צהל גירפה"),
    "thai": ("สวัสดี", "สวั วัส สดี"),
    "hindi": ("हिन्दी में क़लम", "हिन्दी में कलम"),
    "tamil": ("தமிழ்", "தமிழ்"),
    "emoji": ("ok 👍🏽 ❤️ 👨‍👩‍👧 🇩🇪🇫🇷 #️⃣ 🎉", "ok 👍 ❤ 👨 👩 👧 🇩🇪 🇫🇷 🎉"),
    "compatibility": ("Ｆｕｌｌ ﬁne ㎏ ℡ ㍿ Ⅷ", "full fine kg tel 株式 式会 会社 viii"),
    "mathematics": ("𝐁old 𝓼cript x² ½", "bold script x2 1 2"),
    "apostrophes": ("John's don't they're O'Neill", "john don't they o'neill"),
    "invisible": ("ex\u00adample zero\u200bwidth a\ufeffb", "example zero width ab"),
    "nothing": (" .,;-_/ \n\t\x00\u0301", ""),
}

IDENTIFIERS = {
    "snake": ("read_many_rows", "read_many_rows read mani row"),
    "constant": ("MAX_RETRY_COUNT", "max_retry_count max retri count"),
    "camel": ("searchMany", "searchmani search mani"),
    "acronym": ("HTTPServer2", "httpserver2 http server 2"),
    "path": ("src/index/b.py", "src/index/b.py src index b.py b py"),
    "version": ("v1.2.3", "v1.2.3 v1 2 3"),
    "error": ("ERR_CONN-42", "err_conn-42 err_conn err conn 42"),
    "dotted": ("os.path.join", "os.path.join os path join"),
    "kebab": ("gpt-4o covid-19", "gpt-4o gpt 4o covid-19 covid 19"),
    "hyphen": ("high-speed running", "high speed run"),
    "scoped": ("std::vector", "std::vector std vector"),
    "mail": ("ann@example.org", "ann@example.org ann example.org exampl org"),
    "url": ("https://a.io/x?y=2", "https a.io/x?y=2 a.io io x y 2"),
    "abbreviation": ("U.S.A. U.S. e.g.", "usa u.s"),
    "languages": ("C++ C# F", "c++ c c# c f"),
    "windows": (r"C:\Users\ann", r"c users\ann user ann"),
}


def spelt(analyzer: str, text: str | bytes) -> str:
    return " ".join(term for term, _ in analyzers.make(analyzer).tokens(text=text))


@pytest.mark.parametrize("name", GOLDEN)
def test_words_of_many_scripts(name: str) -> None:
    text, want = GOLDEN[name]
    assert spelt("simple", text) == want


@pytest.mark.parametrize("name", IDENTIFIERS)
def test_identifiers_are_found_whole_and_in_parts(name: str) -> None:
    text, want = IDENTIFIERS[name]
    assert spelt("english", text) == want


def test_english_drops_stop_words_and_keeps_their_positions() -> None:
    tokens = analyzers.make("english").tokens(text="The runners are running to a house")
    assert tokens == [("runner", 1), ("run", 3), ("hous", 6)]


def test_simple_keeps_every_word_as_it_is() -> None:
    tokens = analyzers.make("simple").tokens(text="The Runners_ran")
    assert tokens == [("the", 0), ("runners_ran", 1)]


def test_parts_share_the_positions_of_the_whole() -> None:
    tokens = analyzers.make("english").tokens(text="see snake_case now")
    assert tokens == [("see", 0), ("snake_case", 1), ("snake", 1), ("case", 2), ("now", 3)]


@pytest.mark.parametrize("written", ["youtube", "YouTube", "YOUTUBE"])
def test_a_camel_case_word_is_found_in_lower_case(written: str) -> None:
    assert "youtub" in spelt("english", written).split()


@pytest.mark.parametrize("written", ["Fußmatte", "FUSSMATTE", "FU\u1e9eMATTE", "fussmatte"])
def test_the_capital_sharp_s_begins_no_word(written: str) -> None:
    assert spelt("german", written) == "fussmatt"


@pytest.mark.parametrize(
    ("composed", "decomposed"),
    [("café", "cafe\u0301"), ("한글", "\u1112\u1161\u11ab\u1100\u1173\u11af"), ("が", "か\u3099")],
)
def test_composed_and_decomposed_text_is_the_same(composed: str, decomposed: str) -> None:
    assert spelt("simple", composed) == spelt("simple", decomposed)
