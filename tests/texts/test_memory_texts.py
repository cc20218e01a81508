"""The core's texts of candidates: read when first asked for, in step with the store, by definition."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros import _core, profiles
from oneiros.index.texts import (
    MemoryTexts,
    canonical,
    is_normalised_by_letter,
    normalised,
    words_of,
)
from oneiros.scoring.understanding import QueryWords
from oneiros.search.query.parsed import TextMatcher
from tests.oracles import mnemosyne
from tests.oracles import texts as oracle

ALPHABET = "abAB ﬁéÉßİσΣ_9-*#`\t\n\u0301\xa0\u2028東\U0001f600\0"
BY_LETTER = ALPHABET.replace("`", "")  # for Python, a backtick does not end a word for the sigma
pieces = st.lists(
    st.sampled_from(
        ["Running", "tests", "the", "fox", "\uff26\uff2f\uff38", "snake_case", "`code`",
         "**bold**", "  ", "ΟΔΟΣ", "deployments", "nation"]
    ),
    max_size=9,
).map(" ".join)  # fmt: skip
written = st.one_of(st.text(BY_LETTER, max_size=12), pieces)
alike = st.text("*b", max_size=4).map(lambda end: f"the first sixteen {end}")
marked = st.one_of(st.text(ALPHABET, max_size=12), st.text(ALPHABET, min_size=25), pieces)


joined = st.lists(
    st.sampled_from(
        ["what", "is", "pool", "pool.size", "-x", "a/b-c", "foo_", "__foo", "foo._", "12", "2024",
         "v1.2", "x:", "éa", "東京", "recall", "Pool,", "++", "x..y", "(ab)"]
    ),
    max_size=7,
).map(" ".join)  # fmt: skip


def shares(column: _core.TextColumn, rows: npt.NDArray[np.uint32], words: list[str]) -> list[float]:
    """The share of words that are a part of each row's text. O3."""
    if not words:
        return [0.0] * len(rows)
    return (column.count_words(rows=rows, words=words) / len(words)).tolist()


def overlaps(
    texts: MemoryTexts, query: str, rule: QueryWords, rows: npt.NDArray[np.uint32]
) -> list[float]:
    """The share of words found in each row's text and tags. O18."""
    words, stems, count = TextMatcher(texts, query, rule).overlap_words(())
    if not count:
        return [0.0] * len(rows)
    found = texts.column.count_canonical_words(rows=rows, words=words, stems=stems)
    return (found / count).tolist()


APART = profiles.get("omega").query_words
JOINED = profiles.get("mnemosyne-3").query_words


class Rows:
    """Rows by their own number, as the lifecycle has them: id "0" is row 0."""

    def __init__(self, count: int) -> None:
        self.ids = [str(row) for row in range(count)]

    def rows_of(self, sequences: Sequence[int]) -> list[int]:
        return list(sequences)


def texts_of(texts: list[str], tags: Sequence[str] = ()) -> MemoryTexts:
    made = MemoryTexts(Rows(len(texts)))  # type: ignore[arg-type]
    written = json.dumps(list(tags)) if tags else None
    made.read([[(row, text, written) for row, text in enumerate(texts)]])
    return made


def column_of(texts: list[str]) -> _core.TextColumn:
    return texts_of(texts).column


@settings(max_examples=100, deadline=None)
@given(text=marked)
def test_the_canonical_form_is_the_oracles(text: str) -> None:
    assert canonical(text) == oracle.canonical(text)


def test_a_text_written_in_another_way_has_the_same_canonical_form() -> None:
    ways = [
        "Use snake_case  here",
        "**Use** `snake case`\nhere",
        "> \uff35se [snake](case)\u2028HERE|",
    ]
    assert {canonical(text) for text in ways} == {"use snake case here"}
    assert canonical("ΟΔΟΣ`Δ") == "οδος δ"
    assert canonical("fixed in 1a2b3c4d - 1a2b3c4d") == "fixed in 1a2b3c4d - 1a2b3c4d"  # not cut


@settings(max_examples=100, deadline=None)
@given(text=marked, characters=st.integers(0, 14))
def test_a_text_normalised_by_letter_can_be_cut_before_or_after(text: str, characters: int) -> None:
    if is_normalised_by_letter(text):
        assert normalised(text[:characters]) == normalised(text)[:characters]


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(written, max_size=6), query=written)
def test_words_are_found_as_the_oracle_says(texts: list[str], query: str) -> None:
    rows = np.arange(len(texts) + 1, dtype=np.uint32)
    held = texts_of(texts).column
    got = shares(held, rows, TextMatcher(texts_of(texts), query, APART).words)
    assert got == [oracle.word_ratio(query, text) for text in [*texts, ""]]
    got = shares(held, rows, words_of(query))
    words = oracle.words(query)
    assert got == [oracle.share(words, oracle.normal(text)) for text in [*texts, ""]]


@settings(max_examples=100, deadline=None)
@given(texts=st.lists(joined, max_size=4), query=joined)
def test_joined_words_are_found_as_the_oracle_says(texts: list[str], query: str) -> None:
    matcher = TextMatcher(texts_of(texts), query, JOINED)
    assert matcher.words == [oracle.normal(word) for word in mnemosyne.gate_words(query)]
    got = shares(matcher.column, np.arange(len(texts), dtype=np.uint32), matcher.words)
    assert got == [mnemosyne.lexical_share(query, text) for text in texts]


def test_a_query_is_cut_as_the_profile_declares() -> None:
    query = 'Where is "src/main.py"? pool, POOL_size 2024 v1.2 -- pool, the the'
    assert words_of(query) == ["where", "src", "main", "pool", "pool_size", "2024", "the"]
    assert words_of(query, APART) == [
        *("Where", '"src/main.py"?', "pool,", "POOL_size", "2024", "v1.2"),
        *("pool,", "the", "the"),
    ]
    assert words_of(query, JOINED) == ["src/main.py", "pool", "pool_size", "v1.2", "pool"]
    assert words_of("a bc", QueryWords(least_characters=1)) == ["a", "bc"]
    assert words_of("x y " * 2_000, QueryWords(least_characters=1, counts_each=True)) == (
        ["x", "y"] * 512
    )
    with pytest.raises(ValueError, match="cut: must be one of"):
        QueryWords(cut="blanks")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="least_characters"):
        QueryWords(least_characters=0)


@settings(max_examples=100, deadline=None)
@given(texts=st.lists(marked, max_size=6), query=written, tags=st.lists(marked, max_size=2))
def test_words_of_the_canonical_form_are_found_as_the_oracle_says(
    texts: list[str], query: str, tags: list[str]
) -> None:
    rows = np.arange(len(texts), dtype=np.uint32)
    assert overlaps(texts_of(texts, tags), query, APART, rows) == [
        oracle.overlap(query, text, tags) for text in texts
    ]


@pytest.mark.parametrize(
    ("query", "text", "share"),
    [
        ("deployment", "we deploy on Friday", 1.0),  # -ment
        ("deploy", "the deployment", 1.0),  # as it is
        ("nation", "nat", 0.0),  # -ation leaves one character, -tion two: nothing is cut
        ("nations", "a nation", 1.0),  # -s
        ("creation", "to create", 1.0),  # -ation: "cre"
        ("creations", "to create", 0.0),  # -s alone, since a word is cut once: "creation"
        ("motion", "a mot", 0.0),  # -tion leaves two characters, and -ion is no ending
        ("kindnesses", "kindness", 1.0),  # -es stands before -s
        ("abilities", "ability", 0.0),  # -es, cut once: "abiliti"
        ("testing", "TEST", 1.0),
        ("tests", "*te*st", 0.0),  # a mark is a blank
        ("snake_case", "Snake\n  `case`", 1.0),  # one word, and a blank in it
        ("snake_case", "case snake", 0.0),
        ("the the fox", "the", 2 / 3),  # each time it stands there
        ("___ fox", "the", 0.5),  # what is nothing but marks is a part of every text
        ("deploy?", "to deploy", 0.0),  # punctuation stays
        ("deploy?", "deploy? yes", 1.0),
        ("(deploy)", "to deploy", 1.0),  # a mark does not
        ("to be", "to be", 0.0),  # no word of three characters
    ],
)
def test_shares_done_by_hand(query: str, text: str, share: float) -> None:
    assert overlaps(texts_of([text]), query, APART, np.zeros(1, np.uint32)) == [share]


@settings(max_examples=100, deadline=None)
@given(
    texts=st.lists(marked, max_size=6),
    text=marked,
    characters=st.integers(3, 30),
    least=st.sampled_from((0.0, 1e-300, 0.25, 1 / 3, 0.5, 0.6, 1.0)),
)
def test_likenesses_are_as_the_oracle_says(
    texts: list[str], text: str, characters: int, least: float
) -> None:
    held = texts_of(texts)
    # A search cuts such a text before it is normalised.
    cut = [one[:characters] if row in held.uneven else one for row, one in enumerate(texts)]
    got = column_of(cut).trigram_similarities(
        rows=list(range(len(texts))),
        text=TextMatcher(held, text).start(characters),
        # Of those texts all counts: lower case may have made them longer.
        characters=characters if not held.uneven else 2 * characters + 2,
        least=least,
    )
    if held.uneven:
        got = np.array(
            [
                column_of([one]).trigram_similarities(
                    rows=[0],
                    text=TextMatcher(held, text).start(characters),
                    characters=100 if row in held.uneven else characters,
                    least=least,
                )[0]
                for row, one in enumerate(cut)
            ]
        )
    want = [oracle.jaccard(one, text, characters) for one in texts]
    assert got.tolist() == [share if share >= least else 0.0 for share in want]


@settings(max_examples=100, deadline=None)
@given(
    texts=st.lists(st.one_of(marked, alike), max_size=6),
    text=st.one_of(marked, alike),
    characters=st.integers(0, 30),
)
def test_beginnings_are_as_the_oracle_says(texts: list[str], text: str, characters: int) -> None:
    column, rows = texts_of(texts).column, np.arange(len(texts), dtype=np.uint32)
    first = column.first_alike(rows=rows, characters=characters)
    for place, one in enumerate(texts):
        alike = [oracle.begins_alike(one, other, characters) for other in texts[:place]]
        assert first[place] == (alike.index(True) if True in alike else place)
    others = [text, *texts[::2]]
    which = column.which_alike(rows=rows, texts=list(map(canonical, others)), characters=characters)
    for place, one in enumerate(texts):
        alike = [oracle.begins_alike(one, other, characters) for other in others]
        assert which[place] == (alike.index(True) if True in alike else len(others))


def test_a_column_refuses_by_name() -> None:
    column = _core.TextColumn()
    with pytest.raises(ValueError, match="tags: expected 1, one a text, got 0"):
        column.write(rows=[0], texts=["a"], tags=[])
    with pytest.raises(ValueError, match="texts: expected 2, one a row, got 1"):
        column.write(rows=[0, 1], texts=["a"], tags=[""])
    with pytest.raises(ValueError, match="rows: must be below 268435456, got 4294967295"):
        column.write(rows=[2**32 - 1], texts=["a"], tags=[""])
    with pytest.raises(TypeError, match=r"words\[1\]: expected str, got int"):
        column.count_words(rows=[0], words=["a", 1])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="stems: expected 1, one a word, got 0"):
        column.count_canonical_words(rows=[0], words=["a"], stems=[])
    with pytest.raises(ValueError, match=r"least: must be >= 0, got -0\.5"):
        column.trigram_similarities(rows=[0], text="a", characters=3, least=-0.5)
    assert len(column) == 0


def test_words_are_counted_in_lower_case_alone_after_every_change() -> None:
    profile = profiles.get("omega").replace(abstention=None, duplicates=None, retry=None)
    with oneiros.Engine(":memory:", profile=profile) as mind:
        mind.add("the ﬁle", id="a", tags=["ﬁx"], embedding=[1.0, 0.0])
        mind.add("the file", id="b", tags=["Fix"], embedding=[1.0, 0.0])

        def counts(*words: str) -> dict[str, tuple[int, int]]:
            """Words that are a tag, and words that are a part of the text, read off the factor."""
            found = dict.fromkeys("ab", (0, 0))
            for place, share in ((0, 0.10), (1, 0.05)):
                context = oneiros.Context(tags=[words[1 - place]])
                response = mind.search(
                    "anything", embedding=[1.0, 0.0], context=context, explain=True
                )
                for one in response:
                    assert one.explanation is not None
                    held = {factor.name: factor.value for factor in one.explanation.factors}
                    pair = list(found[one.id])
                    pair[place] = round((held["context"] - 1.0) / share)
                    found[one.id] = pair[0], pair[1]
            return found

        assert counts("file", "fix") == {"a": (0, 0), "b": (1, 1)}
        assert counts("ﬁle", "ﬁx") == {"a": (1, 1), "b": (0, 0)}
        mind.update("a", text="the file", tags=["fix"], embedding=[1.0, 0.0])
        mind.update("b", text="the ﬁle", embedding=[1.0, 0.0])
        assert counts("file", "fix") == {"a": (1, 1), "b": (1, 0)}
        mind.delete("b")
        assert counts("file", "fix") == {"a": (1, 1), "b": (0, 0)}


def test_texts_are_read_when_first_asked_for_and_follow_the_store(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with oneiros.Engine(path) as mind, oneiros.Engine(path) as other:
        mind.add("Ants dig", id="a", tags=["Soil"])
        mind.add("Bees fly", id="b")
        mind.delete("b")
        mind.search("ants", profile="reverie")
        texts = mind._scope.services.read_model.texts
        assert not texts.are_read
        assert mind._scope.services.sync.texts(mind._scope.read_model) is texts
        assert (texts.are_read, len(texts.column)) == (True, 1)

        def held() -> dict[str, float]:
            row_of = mind._scope.services.read_model.lifecycle.row_of
            rows = np.array(list(row_of.values()), np.uint32)
            words = ["ants", "soil", "bees", "wasps"]
            counts = texts.column.count_canonical_words(rows=rows, words=words, stems=[""] * 4)
            return {id: count for id, count in zip(row_of, counts.tolist(), strict=True) if count}

        assert held() == {"a": 2.0}
        mind.restore("b")
        other.add("wasps, ants and bees", id="c")
        mind.update("a", text="nothing", tags=[])
        mind.refresh()
        assert held() == {"b": 1.0, "c": 3.0}
        other.update("b", strength=0.5)
        mind.forget("c")
        mind.refresh()
        assert held() == {"b": 1.0}
        assert len(texts.column) == 2
