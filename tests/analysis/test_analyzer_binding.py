"""The seam between Python and the core: stems, encodings, errors, threads."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from oneiros import _core, analyzers


def make(stem: Callable[[list[str]], list[str]] | None) -> _core.Analyzer:
    return _core.Analyzer(stop_words=[], identifiers=True, folding="full", stem=stem)


def test_stems_are_asked_for_once_a_word_in_one_call_a_text() -> None:
    calls: list[list[str]] = []

    def stem(words: list[str]) -> list[str]:
        calls.append(words)
        return [word.rstrip("s") for word in words]

    analyzer = make(stem)
    analyzer.tokens(text="cats dogs cats a_b 東京")
    analyzer.tokens(text="dogs cats birds")
    assert calls == [["cats", "dogs", "a", "b"], ["birds"]]
    assert analyzer.vocabulary_size == 9  # with the two characters of the pair


@pytest.mark.parametrize(
    ("stem", "error", "message"),
    [
        (tuple, TypeError, "stem: must return a list of str, got tuple"),
        (lambda words: [1 for _ in words], TypeError, "stem: .* one is of type int"),
        (lambda words: words[1:], ValueError, "stem: must return one stem .* got 1 for 2"),
        (lambda words: ["\ud800" for _ in words], UnicodeEncodeError, "surrogates"),
        (lambda words: {}[words[0]], KeyError, "two"),
    ],
    ids=["type", "items", "length", "surrogate", "raised"],
)
def test_what_is_wrong_with_stems_reaches_the_caller(
    stem: Callable[[list[str]], list[str]], error: type[Exception], message: str
) -> None:
    analyzer = make(stem)
    with pytest.raises(error, match=message):
        analyzer.tokens(text="two words")
    assert analyzer.vocabulary_size == 0


def test_a_stem_must_be_callable() -> None:
    with pytest.raises(TypeError, match="stem: must be callable or None"):
        make("porter")  # type: ignore[arg-type]


def test_text_is_str_or_bytes() -> None:
    analyzer = make(None)
    assert analyzer.tokens(text=b"caf\xc3\xa9 \xff \xed\xa0\x80 x\x00y") == [
        ("cafe", 0),
        ("x", 1),
        ("y", 2),
    ]
    with pytest.raises(TypeError, match="text: expected str or bytes, got int"):
        analyzer.tokens(text=1)  # type: ignore[arg-type]
    with pytest.raises(UnicodeEncodeError, match="surrogates not allowed"):
        analyzer.tokens(text="lone \ud800")


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        ValueError, match=r"must be one of 'simple', 'code', .* 'english', .*, got 'klingon'"
    ):
        analyzers.make("klingon")
    with pytest.raises(ValueError, match=r"folding: must be one of 'full', .* got 'none'"):
        _core.Analyzer(stop_words=[], identifiers=True, folding="none", stem=None)


def test_the_tables_tell_their_unicode_version() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", _core.unicode_version)


def test_stemming_may_analyze_with_the_same_analyzer() -> None:
    def stem(words: list[str]) -> list[str]:
        if "inner" not in words:
            analyzer.tokens(text="inner")
        return words

    analyzer = make(stem)
    assert analyzer.tokens(text="outer words") == [("outer", 0), ("words", 1)]


def test_threads_share_one_vocabulary() -> None:
    analyzer = analyzers.make("english")
    texts = [f"common words number {i % 50} running_{i % 70}" for i in range(400)]
    barrier = threading.Barrier(4)

    def work() -> list[list[tuple[str, int]]]:
        barrier.wait()
        return [analyzer.tokens(text=text) for text in texts]

    with ThreadPoolExecutor(4) as pool:
        results = [future.result() for future in [pool.submit(work) for _ in range(4)]]
    alone = analyzers.make("english")
    want = [alone.tokens(text=text) for text in texts]
    assert all(result == want for result in results)
    assert analyzer.vocabulary_size == alone.vocabulary_size
