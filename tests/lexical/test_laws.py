"""What holds for every history, query, filter and number of threads."""

from __future__ import annotations

import os
import tempfile

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oneiros import LexicalIndex, _core, analyzers
from tests.oracles import bm25

settings.register_profile("long", max_examples=5000)
if os.environ.get("ONEIROS_LONG"):
    settings.load_profile("long")

VARIANTS = ["lucene", "robertson", "atire", "bm25plus", "bm25l"]
WORDS = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen"]

Tokens = list[str]
tokens = st.lists(st.sampled_from(WORDS), max_size=12)
ids = st.integers(0, 12) | st.sampled_from(["x", "y", "z"])
histories = st.lists(
    st.one_of(
        st.tuples(st.just("add"), ids, tokens),
        st.tuples(st.just("delete"), ids, st.just([])),
        st.tuples(st.just("seal"), st.just(0), st.just([])),
    ),
    max_size=40,
)
slow = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


half_lengths = st.sampled_from([0.0, 0.5, 4.0, 50.0])


def new(variant: str = "lucene", half_length: float = 0.0) -> LexicalIndex:
    return LexicalIndex(variant=variant, analyzer="simple", half_length=half_length)


def play(index: LexicalIndex, history: list[tuple[str, int | str, Tokens]]) -> dict:
    """Run a history; return the texts that are there, in order of insertion."""
    there: dict[int | str, Tokens] = {}
    for step, id, words in history:
        if step == "add":
            index.add(id, " ".join(words))
            there[id] = words  # a dict keeps the place of an id that it has
        elif step == "delete":
            assert index.delete(id) == (there.pop(id, None) is not None)
        else:
            index.seal()
    assert len(index) == len(there)
    return there


def play_on(index: LexicalIndex, history: list[tuple[str, int | str, Tokens]]) -> None:
    """Go on with an index that may hold texts."""
    for step, id, words in history:
        if step == "add":
            index.add(id, " ".join(words))
        elif step == "delete":
            index.delete(id)
        else:
            index.seal()


def oracle(there: dict, query: Tokens, k: int, variant: str, **options: object) -> list:
    order = list(there)
    documents = dict(enumerate(there.values()))
    ranked = bm25.rank(documents, query, k, variant=variant, **options)
    return [(order[row], score) for row, score in ranked]


@slow
@given(histories, tokens, st.integers(0, 20), st.sampled_from(VARIANTS), half_lengths)
def test_any_history_scores_as_the_oracle_to_the_bit(
    history: list, query: Tokens, k: int, variant: str, half_length: float
) -> None:
    index = new(variant, half_length)
    there = play(index, history)
    expected = oracle(there, query, k, variant, half_length=half_length)
    assert list(index.search(" ".join(query), k=k)) == expected


@slow
@given(histories, tokens, st.lists(ids, max_size=20), st.sampled_from(VARIANTS), half_lengths)
def test_a_text_scores_the_bits_that_a_search_gives_it(
    history: list, query: Tokens, asked: list, variant: str, half_length: float
) -> None:
    index = new(variant, half_length)
    play(index, history)
    found = dict(index.search(" ".join(query), k=50))
    got = index.score(" ".join(query), asked)
    assert got.tolist() == [found.get(id, 0.0) for id in asked]


@slow
@given(histories, tokens, st.sampled_from(VARIANTS))
def test_incremental_equals_rebuilt(history: list, query: Tokens, variant: str) -> None:
    index, rebuilt = new(variant), new(variant)
    there = play(index, history)
    rebuilt.add_many(list(there), [" ".join(words) for words in there.values()])
    text = " ".join(query)
    assert list(index.search(text, k=50)) == list(rebuilt.search(text, k=50))
    rebuilt.seal()
    assert list(index.search(text, k=50)) == list(rebuilt.search(text, k=50))


@slow
@given(histories, tokens, st.sampled_from(VARIANTS))
def test_merged_equals_unmerged(history: list, query: Tokens, variant: str) -> None:
    merged, unmerged = new(variant), new(variant)
    for step in history:  # sealed after each step: many segments, merged into one at the end
        play_on(merged, [step, ("seal", 0, [])])
    merged.seal()
    play(unmerged, [step for step in history if step[0] != "seal"])
    text = " ".join(query)
    assert list(merged.search(text, k=50)) == list(unmerged.search(text, k=50))


@slow
@given(histories, histories, tokens, st.sampled_from(VARIANTS), half_lengths)
def test_a_saved_index_is_the_live_one_and_stays_so(
    history: list, later: list, query: Tokens, variant: str, half_length: float
) -> None:
    live = new(variant, half_length)
    play(live, history)
    with tempfile.TemporaryDirectory() as folder:
        live.save(f"{folder}/index")
        opened = LexicalIndex.open(f"{folder}/index")
        text = " ".join(query)
        assert list(opened.search(text, k=50)) == list(live.search(text, k=50))
        for index in (live, opened):
            play_on(index, later)
        assert len(opened) == len(live)
        assert list(opened.search(text, k=50)) == list(live.search(text, k=50))


@slow
@given(histories, tokens, tokens)
def test_delete_after_add_is_identity(history: list, passing: Tokens, query: Tokens) -> None:
    index = new()
    play(index, history)
    text = " ".join(query)
    before = list(index.search(text, k=50))
    index.add("passing", " ".join(passing))
    assert index.delete("passing")
    assert list(index.search(text, k=50)) == before
    assert "passing" not in index


@slow
@given(histories, tokens, st.integers(0, 8), st.sets(ids), st.sampled_from(VARIANTS))
def test_filtered_equals_filtered_afterwards(
    history: list, query: Tokens, k: int, where: set, variant: str
) -> None:
    index = new(variant)
    there = play(index, history)
    text = " ".join(query)
    everything = list(index.search(text, k=50))
    filtered = list(index.search(text, k=k, where=where))
    assert filtered == [hit for hit in everything if hit[0] in where][:k]
    order = list(there)
    allowed = {order.index(id) for id in where if id in there}
    assert filtered == oracle(there, query, k, variant, allowed=allowed)


@slow
@given(st.lists(tokens, max_size=20), st.randoms(), tokens, st.sampled_from(VARIANTS))
def test_the_order_of_insertion_changes_no_score(
    texts: list[Tokens], random: object, query: Tokens, variant: str
) -> None:
    straight, permuted = new(variant), new(variant)
    numbered = list(enumerate(texts))
    for id, words in numbered:
        straight.add(id, " ".join(words))
    random.shuffle(numbered)
    for id, words in numbered:
        permuted.add(id, " ".join(words))
    text = " ".join(query)
    assert dict(straight.search(text, k=50)) == dict(permuted.search(text, k=50))


@slow
@given(histories, st.lists(tokens, max_size=20), st.integers(1, 8), st.sets(ids) | st.none())
def test_threads_change_nothing(
    history: list, queries: list[Tokens], threads: int, where: set | None
) -> None:
    index = new()
    play(index, history)
    texts = [" ".join(query) for query in queries]
    single = [list(index.search(text, k=5, where=where)) for text in texts]
    for count in (1, threads):
        many = index.search_many(texts, k=5, threads=count, where=where)
        assert [list(hits) for hits in many] == single


INDEX = LexicalIndex()
INDEX.add_many(["a", "b"], ["ant bee café 東京 src/main.py", "ERR_CONN-42 größe \0 x"])


@given(st.text())
def test_every_string_is_a_query(query: str) -> None:
    hits = INDEX.search(query)
    assert len(hits.ids) == len(hits.scores) <= 2
    assert np.isfinite(hits.scores).all()


@slow
@given(st.lists(st.text(max_size=40), max_size=6), st.data())
def test_every_text_is_found_by_its_own_words(texts: list[str], data: st.DataObject) -> None:
    index = LexicalIndex()
    index.add_many(list(range(len(texts))), texts)
    analyzer = analyzers.make("english")
    for id, text in enumerate(texts):
        assert (id in index.search(text, k=10).ids) == bool(analyzer.tokens(text=text))
    if texts:
        id = data.draw(st.integers(0, len(texts) - 1))
        assert index.delete(id)
        assert id not in index.search(texts[id], k=10).ids


@given(st.lists(st.integers(0, 60), max_size=30), st.integers(0, 9))
def test_the_core_takes_any_bits_as_filter(rows: list[int], byte_count: int) -> None:
    core = _core.LexicalIndex(
        analyzer=analyzers.make("simple"),
        bm25=_core.Bm25(variant="lucene", k1=1.2, b=0.75, delta=0.0),
    )
    for row in rows:
        core.add(row=row, text="ant")
    bits = np.random.default_rng(byte_count).integers(0, 256, byte_count).astype(np.uint8)
    allowed = np.unpackbits(bits, bitorder="little")
    got, _, _ = core.search(query="ant", k=100, allowed=bits)
    assert got.tolist() == sorted({r for r in rows if r < len(allowed) and allowed[r]})
    assert got.dtype == np.uint32
