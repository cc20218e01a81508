"""The core's texts of candidates: read when first asked for, in step with the store, by definition."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros import _core
from oneiros.texts.memory_texts import word_ratios
from oneiros.texts.normalised import normalised, stemmed, words_of
from tests.oracles import texts as oracle

ALPHABET = "abAB ﬁéÉßİσΣ_9-\u0301東\U0001f600\0"
written = st.one_of(
    st.text(ALPHABET, max_size=12),
    st.lists(
        st.sampled_from(["Running", "tests", "the", "fox", "\uff26\uff2f\uff38"]), max_size=9
    ).map(" ".join),
)


def column_of(texts: list[str], tags: list[list[str]] | None = None) -> _core.TextColumn:
    column = _core.TextColumn()
    lines = [""] * len(texts) if tags is None else ["\n".join(map(normalised, t)) for t in tags]
    column.write(rows=list(range(len(texts))), texts=list(map(normalised, texts)), tags=lines)
    return column


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(written, max_size=6), query=written, tag=written)
def test_words_are_found_as_the_oracle_says(texts: list[str], query: str, tag: str) -> None:
    column = column_of(texts, [[tag]] * len(texts))
    rows = np.arange(len(texts) + 1, dtype=np.uint32)
    words = words_of(query)
    got = word_ratios(column, rows, words, with_tags=False)
    assert got.tolist() == [oracle.word_ratio(query, text) for text in [*texts, ""]]
    stems = stemmed(words, oracle.SUFFIXES)
    got = word_ratios(column, rows[:-1], stems, with_tags=True)
    assert got.tolist() == [oracle.overlap(query, text, [tag]) for text in texts]


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(written, max_size=6),
    text=written,
    characters=st.integers(0, 14),
    least=st.sampled_from((0.0, 1e-300, 0.25, 1 / 3, 0.5, 0.6, 1.0)),
)
def test_likenesses_are_as_the_oracle_says(
    texts: list[str], text: str, characters: int, least: float
) -> None:
    column, rows = column_of(texts), np.arange(len(texts), dtype=np.uint32)
    got = column.trigram_similarities(rows=rows, text=normalised(text), characters=200, least=least)
    want = [oracle.jaccard(one, text) for one in texts]
    assert got.tolist() == [share if share >= least else 0.0 for share in want]
    first = column.first_alike(rows=rows, characters=characters)
    for place, one in enumerate(texts):
        alike = [oracle.begins_alike(one, other, characters) for other in texts[:place]]
        assert first[place] == (alike.index(True) if True in alike else place)
    sought = [text, *texts[::2]]
    which = column.which_alike(
        rows=rows, texts=list(map(normalised, sought)), characters=characters
    )
    for place, one in enumerate(texts):
        alike = [oracle.begins_alike(one, other, characters) for other in sought]
        assert which[place] == (alike.index(True) if True in alike else len(sought))


def test_a_column_refuses_by_name() -> None:
    column = _core.TextColumn()
    with pytest.raises(ValueError, match="tags: expected 1, one a text, got 0"):
        column.write(rows=[0], texts=["a"], tags=[])
    with pytest.raises(ValueError, match="texts: expected 2, one a row, got 1"):
        column.write(rows=[0, 1], texts=["a"], tags=[""])
    with pytest.raises(ValueError, match="rows: must be below 268435456, got 4294967295"):
        column.write(rows=[2**32 - 1], texts=["a"], tags=[""])
    with pytest.raises(TypeError, match=r"words\[1\]: expected str, got int"):
        column.count_words(rows=[0], words=["a", 1], with_tags=False)  # type: ignore[list-item]
    with pytest.raises(ValueError, match=r"least: must be >= 0, got -0\.5"):
        column.trigram_similarities(rows=[0], text="a", characters=3, least=-0.5)
    assert len(column) == 0


def test_texts_are_read_when_first_asked_for_and_follow_the_store(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with oneiros.Engine(path) as mind, oneiros.Engine(path) as other:
        mind.add("Ants dig", id="a", tags=["Soil"])
        mind.add("Bees fly", id="b")
        mind.delete("b")
        mind.search("ants", profile="reverie")
        texts = mind._parts.projections.texts
        assert not texts.are_read
        assert mind._parts.remember.texts() is texts
        assert (texts.are_read, len(texts.column)) == (True, 1)

        def held() -> dict[str, float]:
            row_of = mind._parts.projections.lifecycle.row_of
            rows = np.array(list(row_of.values()), np.uint32)
            words = ["ants", "soil", "bees", "wasps"]
            counts = word_ratios(texts.column, rows, words, with_tags=True) * len(words)
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
