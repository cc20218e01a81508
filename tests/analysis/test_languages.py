"""Every language's analyzer: words of Snowball's own vocabulary, their terms written out."""

# ruff: noqa: RUF001 - letters that look alike are the point here

from __future__ import annotations

import sys
import unicodedata

import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st

import oneiros
from oneiros import LexicalIndex
from oneiros.lexical import analyzers

# language: words, their terms, a word that finds a text of the first one
TERMS = {
    "arabic": ("المعلمون كتابها آخر", "معلم كتاب اخر", "معلم"),
    "armenian": ("գրքի գիրք տներ", "գրքի գիր տներ", "գրքի"),
    "basque": ("etxeak etxe mendiak", "etxe etxe mendi", "etxe"),
    "catalan": ("cançons camions nacionals", "cancon cam nacion", "cançons"),
    "czech": ("městech město knihy", "mest mest knih", "město"),
    "danish": ("bøgerne huset husene", "bog hus hus", "bøger"),
    "dutch": ("boeken boek huizen", "boek boek huis", "boek"),
    "dutch_porter": ("lichamelijkheden boeken", "licham boek", "lichamelijk"),
    "english": ("running consistency knackeries", "run consist knackeri", "runs"),
    "esperanto": ("librojn libroj libro", "libr libr libr", "libro"),
    "estonian": ("raamatud raamatutes majad", "raama raama maja", "raamatutes"),
    "finnish": ("taloissa talossa taloa", "talo talo talo", "talossa"),
    "french": ("majestueusement continuellement", "majestu continuel", "majestueux"),
    "german": ("Häuser Haus aufeinanderfolge", "haus haus aufeinanderfolg", "Haus"),
    "greek": ("ανθρώπους ΆΝΘΡΩΠΟΣ σπίτια", "ανθρωπ ανθρωπ σπιτ", "άνθρωπος"),
    "hindi": ("लड़कियाँ लड़की किताबें", "लडक लडक किताब", "लड़की"),
    "hungarian": ("házakban ház könyvek", "haz haz konyv", "ház"),
    "indonesian": ("membacakan bacaan", "baca baca", "bacaan"),
    "irish": ("leabhair bhfuinneog", "leabhair fuinneog", "leabhair"),
    "italian": ("abbandonata abbandonate", "abbandon abbandon", "abbandonate"),
    "lithuanian": ("knygos knyga knygų", "knyg knyg knyg", "knyga"),
    "nepali": ("किताबहरू किताब", "किताब किताब", "किताब"),
    "norwegian": ("husene huset bøkene", "hus hus bok", "huset"),
    "persian": ("کتاب\u200cها کتاب می\u200cخواهم", "کتاب کتاب خواه", "کتاب"),
    "polish": ("książki książka", "ksiazk ksiazk", "książka"),
    "porter": ("running consistency", "run consist", "runs"),
    "portuguese": ("boatos corações nacionais", "boat coraco nacion", "boato"),
    "romanian": ("copiilor copii", "cop cop", "copii"),
    "russian": ("книгами книга книги", "книг книг книг", "книга"),
    "serbian": ("knjigama књига", "knjig knjig", "књига"),
    "sesotho": ("batho motho buka", "tho tho buk", "motho"),
    "spanish": ("canciones canción chicharrones", "cancion cancion chicharron", "canción"),
    "swedish": ("flickorna flicka flickor", "flick flick flick", "flicka"),
    "tamil": ("புத்தகங்கள் புத்தகம்", "புத்தகம் புத்தகம்", "புத்தகம்"),
    "turkish": ("kitapları kitap ILIKTIR", "kitap kitap ilik", "kitaplar"),
    "yiddish": ("קינדער בוך", "קינד בוכ", "קינד"),
}
# What a text loses: its stop words, told with their accents.
STOPPED = {
    "arabic": ("كتاب في بيت", 2),
    "catalan": ("el llibre amb mi", 2),
    "czech": ("kniha, že dům", 2),
    "danish": ("bogen på bordet", 2),
    "dutch": ("het boek van mij", 1),
    "dutch_porter": ("het boek van mij", 1),
    "english": ("the book and I", 1),
    "finnish": ("kirja että talo", 2),
    "french": ("où est le livre", 1),
    "german": ("das Buch FÜR dich", 1),
    "hindi": ("किताब है", 1),
    "hungarian": ("könyv és ház", 2),
    "indonesian": ("buku yang baru", 2),
    "italian": ("perché il libro", 1),
    "norwegian": ("boken på bordet", 2),
    "polish": ("książka się dom", 2),
    "porter": ("the book and I", 1),
    "portuguese": ("o livro não", 1),
    "russian": ("книга и дом", 2),
    "spanish": ("está el libro", 1),
    "swedish": ("boken på bordet", 2),
}


def terms(analyzer: str, text: str) -> list[str]:
    return [term for term, _ in analyzers.make(analyzer).tokens(text=text)]


def test_every_language_of_snowball_has_an_analyzer_and_a_case_here() -> None:
    assert set(TERMS) == set(Stemmer.algorithms())
    assert set(analyzers.NAMES) == {*TERMS, "simple", "code", "cjk"}
    assert len(analyzers.NAMES) == len(set(analyzers.NAMES))


@pytest.mark.parametrize("language", TERMS)
def test_terms_are_snowballs_stems_without_accents(language: str) -> None:
    text, want, _ = TERMS[language]
    assert terms(language, text) == want.split()


@pytest.mark.parametrize("language", TERMS)
def test_an_index_finds_an_inflected_form(language: str) -> None:
    text, _, form = TERMS[language]
    index = oneiros.LexicalIndex(analyzer=language)
    index.add("it", text.split()[0])
    index.add("other", "xyzzy")
    assert list(index.search(form).ids) == ["it"]


@pytest.mark.parametrize("language", STOPPED)
def test_stop_words_are_left_out(language: str) -> None:
    text, count = STOPPED[language]
    assert len(terms(language, text)) == count


@pytest.mark.parametrize("language", sorted(set(TERMS) - set(STOPPED)))
def test_languages_without_a_good_list_leave_out_nothing(language: str) -> None:
    assert analyzers.of(language) == []


def test_stop_words_are_told_with_their_accents() -> None:
    assert terms("german", "für fur") == ["fur"]
    assert terms("french", "ou\u0300 a\u0300 ouïe") == ["oui"]


@pytest.mark.parametrize(
    ("language", "first", "second"),
    [
        ("german", "Häuser", "hauser"),
        ("german", "Straße", "STRASSE"),
        ("german", "grün", "grun"),
        ("german", "u\u0308bel", "übel"),
        ("greek", "ΣΊΣΥΦΟΣ", "Σίσυφος"),
        ("turkish", "ILIK", "ılık"),
        ("turkish", "İSTANBUL", "istanbul"),
        ("turkish", "I\u0307zmir", "İzmir"),
        ("turkish", "MAX_ID", "max_id"),
        ("arabic", "السَّلامُ", "السلام"),
        ("persian", "کتاب\u200cها", "کتاب"),
        ("spanish", "CANCIÓN", "cancion"),
        ("english", "résumés", "resume"),
        ("vietnamese as simple", "Tiếng Việt", "tieng viet"),
    ],
)
def test_spellings_that_are_one(language: str, first: str, second: str) -> None:
    analyzer = language.rpartition(" ")[2]
    assert terms(analyzer, first) == terms(analyzer, second)


def test_a_stem_sees_the_accents() -> None:
    assert terms("german", "Häuser") == terms("german", "Haus")
    assert terms("hungarian", "kertből kertbol") == ["kert", "kertbol"]


# Of two code points at most, so that both orders of two accents are the same word.
ACCENTED = st.text(st.characters(min_codepoint=0xC0, max_codepoint=0x24F, categories=["L"]))


@given(ACCENTED)
def test_composed_and_decomposed_words_are_the_same(text: str) -> None:
    german = analyzers.make("german")
    composed = german.tokens(text=unicodedata.normalize("NFC", text))
    assert german.tokens(text=unicodedata.normalize("NFD", text)) == composed


def test_code_finds_identifiers_and_keeps_every_word() -> None:
    assert " ".join(terms("code", "The readManyRows of src/a/read_many.py v1.2")) == (
        "the readmanyrows read many rows of src/a/read_many.py src a read_many.py read_many "
        "read many py v1.2 v1 2"
    )


def test_cjk_goes_by_pairs_and_a_lone_character_by_itself() -> None:
    text = "東京タワー 猫 한국어 The Runners_ran"
    assert " ".join(terms("cjk", text)) == "東京 京タ タワ ワー 猫 한국 국어 the runners_ran"


@pytest.mark.parametrize("analyzer", ["english", "cjk", "simple", "code"])
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("猫", ["first", "last", "alone"]),
        ("茶", ["inner"]),
        ("차", ["korean"]),
        ("好き", ["first"]),
        ("猫 茶", ["inner", "first", "last", "alone"]),
    ],
)
def test_a_lone_character_is_found_wherever_it_stands(
    analyzer: str, query: str, found: list[str]
) -> None:
    index = LexicalIndex(analyzer=analyzer)
    texts = {
        "first": "猫が好き",
        "last": "黒い猫",
        "alone": "猫",
        "inner": "我喝茶了",
        "korean": "차를",
    }
    index.add_many(list(texts), list(texts.values()))
    assert sorted(index.search(query, k=9).ids) == sorted(found)


def test_single_characters_add_nothing_to_the_length_of_a_text() -> None:
    index = LexicalIndex(analyzer="cjk", b=1.0)
    index.add_many(["unspaced", "spaced"], ["東京都 x", "ab bc x"])  # three words each
    scores = index.search("x", k=2).scores
    assert scores[0] == scores[1]


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stop_words", None)
    with pytest.raises(ImportError, match=r"pip install 'oneiros\[languages\]'"):
        oneiros.LexicalIndex(analyzer="german")
    assert terms("english", "the books") == ["book"]
    assert terms("greek", "σπίτια") == ["σπιτ"]


def test_a_store_keeps_its_language(tmp_path: object) -> None:
    path = f"{tmp_path}/store.db"
    with oneiros.Engine(path, analyzer="german") as mind:
        mind.add("Die Häuser stehen leer", id="it")
    with oneiros.Engine(path) as mind:
        assert [result.memory.id for result in mind.search("Haus").results] == ["it"]
        assert mind.stats()["lexical"]["analyzer"] == "german"
    with pytest.raises(ValueError, match=r"analyzer: must be one of .* got 'klingon'"):
        oneiros.Engine(path, analyzer="klingon")
