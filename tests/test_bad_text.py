"""Odd texts: every one is stored as given, found by its words, or refused by name."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros

LIMIT = 16 * 2**20
LONE = "broken \ud800 surrogate"


def ids(response: oneiros.SearchResponse) -> list[str]:
    return [result.id for result in response.results]


def finds(mind: oneiros.Engine, text: str, query: str) -> bool:
    id = mind.add(text)
    return ids(mind.search(query, k=1000, reinforce=False)).count(id) == 1


@pytest.mark.parametrize(
    "name",
    [
        *("text", "title", "id", "kind", "project", "session", "topic"),
        *("user", "agent", "namespace", "source_ref"),
    ],
)
def test_lone_surrogates_are_refused(mind: oneiros.Engine, name: str) -> None:
    with pytest.raises(oneiros.TextEncodingError, match=name):
        mind.add_many([{"text": "ant", name: LONE}])
    assert len(mind) == 0


def test_lone_surrogates_are_refused_in_tags_and_metadata(mind: oneiros.Engine) -> None:
    for fields in ({"tags": [LONE]}, {"metadata": {"key": LONE}}, {"metadata": {LONE: 1}}):
        with pytest.raises(oneiros.TextEncodingError, match=next(iter(fields))):
            mind.add("ant", **fields)
    assert len(mind) == 0


@pytest.mark.parametrize("syntax", ["plain", "query"])
def test_lone_surrogates_are_refused_in_queries(mind: oneiros.Engine, syntax: str) -> None:
    mind.add("ant")
    with pytest.raises(oneiros.TextEncodingError, match="query"):
        mind.search(LONE, syntax=syntax)


def test_bytes_are_no_text(mind: oneiros.Engine) -> None:
    with pytest.raises((TypeError, oneiros.TextEncodingError), match="text"):
        mind.add(b"ant \xff")
    assert len(mind) == 0


def test_nul_is_an_ordinary_character(mind: oneiros.Engine) -> None:
    text, id = "ant\0bee cat", "an\0id"
    mind.add(text, id=id, project="p\0q", tags=["t\0u"], metadata={"k\0": "v\0w"})
    mind.add("other", id="an")
    assert mind.get(id).text == text
    assert ids(mind.search("cat", reinforce=False)) == [id]
    assert ids(mind.search("bee", reinforce=False)) == [id]
    assert ids(mind.search("cat", where=oneiros.where(project="p\0q"), reinforce=False)) == [id]
    assert ids(mind.search("cat", where=oneiros.where(project="p"), reinforce=False)) == []
    assert ids(mind.search("cat", where=oneiros.where(tags="t\0u"), reinforce=False)) == [id]
    assert mind.get(id).metadata == {"k\0": "v\0w"}
    mind.delete(id)
    assert len(mind) == 1


def test_a_text_of_16_mib_is_the_limit(mind: oneiros.Engine) -> None:
    with pytest.raises(ValueError, match="text"):
        mind.add("é" * (LIMIT // 2) + "a")
    assert len(mind) == 0
    text = "ant " * (LIMIT // 4)
    mind.add(text, id="large")
    assert ids(mind.search("ant")) == ["large"]
    assert len(mind.get("large").text) == LIMIT
    with pytest.raises(ValueError, match="text"):
        mind.update("large", text=text + "a")


def test_a_token_of_ten_megabytes_is_cut_and_found(mind: oneiros.Engine) -> None:
    token = "a" * 10_000_000
    mind.add(f"before {token} after", id="long")
    assert ids(mind.search("after", reinforce=False)) == ["long"]
    assert ids(mind.search("a" * 1000, reinforce=False)) == ["long"]  # cut alike, 256 bytes
    assert ids(mind.search("a" * 256, reinforce=False)) == ["long"]
    assert ids(mind.search("a" * 255, reinforce=False)) == []


def test_a_million_distinct_tokens_are_all_found(mind: oneiros.Engine) -> None:
    mind.add(" ".join(f"w{number:x}" for number in range(1_000_000)), id="wide")
    mind.add("w0", id="small")
    assert ids(mind.search("wf423f", reinforce=False)) == ["wide"]
    assert ids(mind.search("w0", reinforce=False)) == ["small", "wide"]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("ﬁre", "fire"),
        ("\uff21\uff22\uff23\uff11", "abc1"),  # full width
        ("Grüße", "gruße"),
        ("İstanbul", "istanbul"),
        ("ISTANBUL", "istanbul"),
        ("café", "cafe\u0301"),
        ("cafe\u0301", "CAFÉ"),
        ("שלום עולם", "שלום"),
        ("مرحبا بالعالم", "بالعالم"),
        ("한국어 문장", "한국어"),
        (unicodedata.normalize("NFD", "한국어 문장"), "한국어"),
        ("한국어 문장", unicodedata.normalize("NFD", "문장")),
        ("東京都に住む", "東京"),
        ("東京都に住む", "京都"),
        ("カタカナ", "ｶﾀｶﾅ"),
        ("ΑΘΗΝΑ", "αθηνα"),
        ("Москва", "москва"),
        ("party 🎉 time", "party"),
        ("👩\u200d👩\u200d👧 family", "family"),
    ],
)
def test_words_are_found_in_every_script(mind: oneiros.Engine, text: str, query: str) -> None:
    assert finds(mind, text, query)
    assert mind.get_many([mind.list()[0].id])[0].text == text  # stored as given


@pytest.mark.parametrize(
    "text",
    [
        "a" + "\u0301" * 100_000 + " ant",
        "\ufdfa" * 100_000 + " ant",  # each expands to 18 characters under NFKC
        "\u0301" * 1000 + " ant",
        "\u202e\u2066 ant \u2069\u202c",
        "🙂" * 100_000 + " ant",
        "\ufeff ant",
        "漢" * 100_000 + " ant",
        "각" * 100_000 + " ant",
        "\u1100" * 100_000 + " ant",
    ],
    ids=["storm", "ligature", "marks", "bidi", "emoji", "bom", "cjk", "hangul", "jamo"],
)
def test_a_word_beside_a_storm_is_found(mind: oneiros.Engine, text: str) -> None:
    assert finds(mind, text, "ant")


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(st.text(max_size=60), min_size=1, max_size=5))
def test_every_text_comes_back_as_given(texts: list[str]) -> None:
    with oneiros.Engine(":memory:", profile="reverie") as mind:
        names = mind.add_many([{"text": text} for text in texts]).ids
        assert [mind.get(id).text for id in names] == texts
        for id, text in zip(names, texts, strict=True):
            found = ids(mind.search(text, k=100, reinforce=False))
            assert set(found) <= set(names)
            if any(word.isascii() and word.isalpha() and len(word) > 9 for word in text.split()):
                assert id in found  # no stop word is that long
