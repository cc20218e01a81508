"""Messages of any length as queries."""

from __future__ import annotations

import pytest

from oneiros import Engine, QueryTooLarge, TextEncodingError
from oneiros.integrations.messages import found_by_message


@pytest.fixture
def engine() -> Engine:
    engine = Engine(":memory:")
    engine.add("The build of coffee.py fails", id="coffee")
    engine.add("Trains leave at nine", id="trains")
    return engine


def test_a_short_message_is_searched_as_it_is(engine: Engine) -> None:
    found = found_by_message(engine, "why does coffee fail?", k=1)
    assert found.ids == ["coffee"]
    assert found.query == "why does coffee fail?"


@pytest.mark.parametrize(
    "log",
    [
        " ".join(f"line{number}" for number in range(20_000)),  # over 1,024 words
        "é" * 200_000,  # over 64 KiB
    ],
    ids=["words", "bytes"],
)
def test_of_a_message_that_is_too_long_the_beginning_is_searched(engine: Engine, log: str) -> None:
    message = f"Why does coffee fail? {log}"
    with pytest.raises(QueryTooLarge):
        engine.search(message)
    found = found_by_message(engine, message)
    assert found.ids[0] == "coffee"
    assert message.startswith(found.query)


def test_an_error_that_is_not_for_the_length_is_raised(engine: Engine) -> None:
    with pytest.raises(ValueError, match="k: must be in 0 to"):
        found_by_message(engine, "coffee", k=-1)
    engine.add(" ".join(f"x{number}" for number in range(1_100)))
    with pytest.raises(QueryTooLarge):
        found_by_message(engine, "x*", syntax="query")


@pytest.mark.parametrize(
    ("message", "query"),
    [
        ("coffee \ud83d", "coffee \ufffd"),
        ("\ude00 coffee \udcff\udcfe", "\ufffd coffee \ufffd\ufffd"),
        ("coffee \ud83d\ude00 \ude00", "coffee \U0001f600 \ufffd"),
    ],
)
def test_half_characters_of_a_message_are_replaced(
    engine: Engine, message: str, query: str
) -> None:
    with pytest.raises(TextEncodingError):
        engine.search(message)
    found = found_by_message(engine, message)
    assert (found.ids, found.query) == (["coffee"], query)
    long = found_by_message(engine, message + " line" * 50_000)
    assert long.ids == ["coffee"]


def test_half_a_character_in_another_argument_is_an_error(engine: Engine) -> None:
    with pytest.raises(TextEncodingError, match="session"):
        found_by_message(engine, "coffee", session="\ud83d")


def test_a_query_in_the_query_language_is_not_cut(engine: Engine) -> None:
    words = " ".join(f"line{number}" for number in range(1_100))
    with pytest.raises(QueryTooLarge):
        found_by_message(engine, f"coffee {words} -fail", syntax="query")
    assert found_by_message(engine, f"coffee {words} -fail").ids
