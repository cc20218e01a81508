"""Laws that hold for every text."""

from __future__ import annotations

import re
import unicodedata

from hypothesis import example, given
from hypothesis import strategies as st

from oneiros import analyzers

SIMPLE = analyzers.make("simple")
ENGLISH = analyzers.make("english")

# Letters that lower case and decomposition alone explain; scripts with spaces between words.
LETTERS = st.characters(
    categories=["Lu", "Ll", "Nd"],
    max_codepoint=0x17F,
    exclude_characters="ÐØÞßæðøþĐđĦħıĿŀŁłŊŋŒœŦŧſÆŉĸ",
)
PLAIN = st.text(st.one_of(LETTERS, st.sampled_from(' \n\t!?()"')))
ANY = st.text()


def reference(text: str) -> list[str]:
    """Return the words of plain letters, digits and spaces, by the regular expression ``\\w+``."""
    decomposed = unicodedata.normalize("NFKD", text.lower())
    return re.findall(r"\w+", "".join(c for c in decomposed if not unicodedata.combining(c)))


def terms(text: str) -> list[str]:
    return [term for term, _ in SIMPLE.tokens(text=text)]


@given(PLAIN)
@example("İstanbul ŒUVRE")
def test_plain_text_breaks_as_a_regular_expression_does(text: str) -> None:
    text = text.replace("Œ", "").replace("İ", "I")
    assert terms(text) == reference(text)


@given(ANY)
def test_positions_rise_and_terms_are_of_the_limit(text: str) -> None:
    tokens = ENGLISH.tokens(text=text)
    positions = [position for _, position in tokens]
    assert positions == sorted(positions)
    assert all(0 < len(term.encode()) <= 256 for term, _ in tokens)


@given(ANY)
def test_the_same_text_gives_the_same_tokens(text: str) -> None:
    assert ENGLISH.tokens(text=text) == analyzers.make("english").tokens(text=text)


@given(ANY)
def test_case_and_normal_form_make_no_difference(text: str) -> None:
    want = terms(text)
    assert terms(unicodedata.normalize("NFD", text)) == want
    assert terms(unicodedata.normalize("NFC", text)) == want


@given(ANY, ANY)
def test_texts_with_a_line_between_are_analyzed_apart(first: str, second: str) -> None:
    assert terms(f"{first}\n{second}") == terms(first) + terms(second)


@given(st.binary())
def test_any_bytes_are_a_text(data: bytes) -> None:
    replaced = data.decode("utf-8", errors="replace")
    assert SIMPLE.tokens(text=data) == SIMPLE.tokens(text=replaced)
