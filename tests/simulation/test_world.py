"""What is still relevant, and what is true, in worlds made by hand."""

from __future__ import annotations

from oneiros.simulation.script import NEVER_TRUE, Fact, Phrase
from oneiros.simulation.world import FactQuery, FactStanding, Session, Telling, World


def telling(id: str, fact: int | None, version: int = 0) -> Telling:
    return Telling({"id": id, "text": f"text of {id}"}, fact, version, ())


def session(at: float, *asked: FactQuery, tells: tuple[Telling, ...] = ()) -> Session:
    return Session(f"s{at}", at, asked, at, tells)


FIRST, SECOND = Phrase("the first?"), Phrase("first, once more?")
FACTS = (Fact("notes", (FIRST, SECOND)), Fact("notes", (Phrase("the second?"),)))
WORLD = World(
    300.0,
    (
        session(10.0, tells=(telling("a", 0), telling("b", 1))),
        session(20.0, FactQuery(20.0, 0, 1)),
        session(200.0, FactQuery(200.0, 0, 0)),
        session(330.0, FactQuery(330.0, 1, 0)),  # in the aftermath
    ),
    FACTS,
    2,
)


def relevant(at: float) -> list[tuple[int, str]]:
    return [(probe.fact, probe.phrase.text) for probe in WORLD.still_relevant(at)]


def test_relevant_is_what_is_asked_in_the_next_90_days_or_was_in_the_last_30() -> None:
    assert relevant(9.9) == []  # not told yet
    assert relevant(10.0) == [(0, "first, once more?")]  # asked on day 20, and put as it will be
    assert relevant(20.0) == [(0, "first, once more?")]
    assert relevant(49.9) == [(0, "first, once more?")]  # put as it was
    assert relevant(50.0) == []  # 30 days after, 150 before
    assert relevant(109.9) == []
    assert relevant(110.0) == [(0, "the first?")]
    assert relevant(229.9) == [(0, "the first?")]
    assert relevant(239.9) == []
    assert relevant(240.0) == [(1, "the second?")]  # by a question that nobody runs
    assert relevant(300.0) == [(1, "the second?")]


def test_of_sessions_that_overlap_the_question_put_next_counts() -> None:
    long = Session("long", 20.0, (FactQuery(20.0, 0, 0), FactQuery(20.5, 0, 0)), 21.0, ())
    short = Session("short", 20.1, (FactQuery(20.2, 0, 1),), 20.3, ())
    world = World(30.0, (session(10.0, tells=(telling("a", 0),)), long, short), FACTS, 1)
    assert [probe.phrase for probe in world.still_relevant(20.1)] == [SECOND]
    assert [probe.phrase for probe in world.still_relevant(20.3)] == [FIRST]


def test_the_value_told_last_holds() -> None:
    standing = FactStanding()
    assert standing.current(0) == {} == standing.stale(0)
    standing.tell(telling("chat", None))
    standing.tell(telling("a", 0))
    standing.tell(telling("again", 0))
    assert standing.current(0) == {"a": "text of a", "again": "text of again"}
    standing.tell(telling("wrong", 0, NEVER_TRUE))
    assert set(standing.current(0)) == {"a", "again"}
    assert standing.stale(0) == {"wrong": "text of wrong"}
    standing.tell(telling("new", 0, 1))
    assert set(standing.current(0)) == {"new"}
    assert set(standing.stale(0)) == {"a", "again", "wrong"}
    assert standing.current(1) == {}
