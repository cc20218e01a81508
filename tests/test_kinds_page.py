"""The kinds that mean the same, and the page docs/kinds.md held to the profiles.

``python -m tests.test_kinds_page`` writes the tables of the page again.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import pytest

from oneiros import Engine, Expression, kernels, profiles, where
from oneiros.model.fields import (
    ALIASES,
    PRIORITY_BY_KIND,
    PRIORITY_OTHERWISE,
    kinds_of,
    table_of,
    with_aliases,
    words_with_aliases,
)
from oneiros.scoring.factors import FlooredDecay, KindWeight, Preference, WeibullRecency
from oneiros.scoring.phases.omega import Forgetting
from oneiros.scoring.phases.reverie import Place, Promote, Prune
from oneiros.scoring.profile import Profile
from oneiros.scoring.selection import Selection
from tests.oracles import kinds as oracle

Part = TypeVar("Part")
PAGE = Path(__file__).parents[1] / "docs" / "kinds.md"
REVERIE, HOUSE = profiles.get("reverie"), profiles.get("oneiros")
OMEGA, MNEMOSYNE = profiles.get("omega"), profiles.get("mnemosyne-3")
COGNITIVE = profiles.get("cognitive")


def part(profile: Profile, of: type[Part]) -> Part:
    return next(one for one in (*profile.factors, *profile.phases) if isinstance(one, of))


WEIBULL = part(MNEMOSYNE, WeibullRecency)
Reader = Callable[[str], float]


def aliased(table: Mapping[str, float], otherwise: float) -> Reader:
    return lambda kind: oracle.entry(table, kind, otherwise)


def literal(table: Mapping[str, float], otherwise: float) -> Reader:
    return lambda kind: table.get(kind, otherwise)


TABLES: dict[str, tuple[Mapping[str, float], float, Callable[..., Reader]]] = {
    "priority": (PRIORITY_BY_KIND, PRIORITY_OTHERWISE, aliased),
    "stale after, `reverie`": (part(REVERIE, Prune).limits_days, 180.0, aliased),
    "decay a day": (part(OMEGA, FlooredDecay).rates, part(OMEGA, FlooredDecay).otherwise, aliased),
    "signal": (part(REVERIE, Promote).weights, 1.0, literal),
    "weight": (part(OMEGA, KindWeight).table, 1.0, literal),
    "shape": (WEIBULL.shapes, WEIBULL.other_shape, literal),
    "eta hours": (WEIBULL.eta_hours, WEIBULL.other_eta_hours, literal),
}
COLUMNS = {name: read(table, otherwise) for name, (table, otherwise, read) in TABLES.items()}
OTHERWISE = {name: otherwise for name, (_, otherwise, _) in TABLES.items()}
assert OMEGA.understanding is not None
ALIASED_LISTS: dict[str, tuple[str, ...]] = {
    "archived where others are deleted (R13; `reverie`, `oneiros`)": (
        part(REVERIE, Prune).archived_kinds
    ),
    "never archived by forgetting (O31; `omega`, `omega-bounded`)": part(OMEGA, Forgetting).exempt,
    "decay that slows with use (O14; `omega`)": part(OMEGA, FlooredDecay).decisions,
    "expire (C7; `cognitive`, `cognitive-0.5`)": COGNITIVE.selection.expiring_kinds,
}
LITERAL_LISTS: dict[str, tuple[str, ...]] = {
    "boosted where the query asks for a preference (O19; `omega`)": part(OMEGA, Preference).kinds,
    "hidden unless the filter names kinds (O23; `omega`, `omega-bounded`)": (
        OMEGA.selection.hidden_kinds
    ),
    "channel weights of their own where the filter names one kind (O8; `omega`)": tuple(
        hint for hint in OMEGA.understanding.hints if "-" not in hint and hint != "_default"
    ),
}
LISTS = ALIASED_LISTS | LITERAL_LISTS


def every_kind() -> list[str]:
    """The plain words in order of the alphabet, each followed by the other words for it."""
    named = {kind for table, _, _ in TABLES.values() for kind in table}
    named |= {kind for kinds in LISTS.values() for kind in kinds}
    others = {word for group in ALIASES.values() for word in group}
    plain = sorted((named | set(ALIASES)) - others)
    return [word for kind in plain for word in (kind, *ALIASES.get(kind, ()))]


def number(value: float) -> str:
    return "never" if value == math.inf else f"{value:g}"


def lines() -> Iterator[str]:
    """The tables of the page."""
    yield f"| kind | {' | '.join(COLUMNS)} |"
    yield "|---" * (1 + len(COLUMNS)) + "|"
    for kind in every_kind():
        indent = "" if kind not in {word for group in ALIASES.values() for word in group} else "= "
        cells = (number(read(kind)) for read in COLUMNS.values())
        yield f"| {indent}{kind} | {' | '.join(cells)} |"
    cells = map(number, OTHERWISE.values())
    yield f"| any other | {' | '.join(cells)} |"
    yield ""
    yield "| list | kinds |"
    yield "|---|---|"
    for name, kinds in LISTS.items():
        is_among = oracle.is_among if name in ALIASED_LISTS else operator.contains
        listed = [kind for kind in every_kind() if is_among(kinds, kind)]
        yield f"| {name} | {', '.join(listed)} |"


START = "| kind |"


def test_the_page_lists_what_each_kind_does_under_each_profile() -> None:
    text = PAGE.read_text(encoding="utf-8")
    held = text[text.index(START) :].rstrip().splitlines()
    assert held == list(lines())


def test_the_words_for_a_kind_are_those_of_the_page() -> None:
    assert tuple((kind, *others) for kind, others in ALIASES.items()) == oracle.SAME
    words = [word for group in oracle.SAME for word in group]
    assert len(set(words)) == len(words)  # no word has two meanings


def test_an_entry_of_its_own_comes_before_that_of_another_word() -> None:
    table = {"preference": 1.0, "user_preference": 2.0, "learning": 3.0, "note": 4.0}
    found = with_aliases(table)
    assert {kind: found[kind] for kind in table} == table
    assert (found["lesson"], found["lesson_learned"], found["general"]) == (3.0, 3.0, 4.0)
    assert "fact" not in found
    # The first that is listed, in the order of the page.
    assert with_aliases({"instruction": 1.0, "constraint": 2.0})["directive"] == 2.0
    assert with_aliases({"instruction": 1.0, "constraint": 2.0})["rule"] == 2.0
    assert words_with_aliases(["x", "error_pattern"]) == ("x", "error_pattern", "error")


@pytest.mark.parametrize(
    ("published", "table"),
    [
        ({"session": 30.0, "bug": 60.0, "config": 90.0, "decision": 180.0}, "reverie"),
        ({"constraint": 3.0, "lesson_learned": 2.0, "user_preference": 2.0, "test": 0.4}, "omega"),
        ({"preference": 0.4, "fact": 0.8, "decision": 1.0, "request": 1.5}, "mnemosyne"),
    ],
)
def test_a_kind_that_a_published_table_lists_keeps_its_number(
    published: Mapping[str, float], table: str
) -> None:
    names = {"reverie": "stale after, `reverie`", "omega": "weight", "mnemosyne": "shape"}
    read = COLUMNS[names[table]]
    assert {kind: read(kind) for kind in published} == published


@pytest.mark.parametrize(
    ("owner", "field", "reads_other_words"),
    [
        (part(HOUSE, Prune), "limits_days", True),  # R13
        (part(HOUSE, Prune), "archived_kinds", True),
        (part(HOUSE, Place), "limits_days", True),  # R14
        (part(HOUSE, Promote), "limits_days", True),  # R15
        (part(HOUSE, Promote), "weights", False),  # R16
        (part(OMEGA, FlooredDecay), "rates", True),  # O14
        (part(OMEGA, FlooredDecay), "decisions", True),
        (part(OMEGA, Forgetting), "exempt", True),  # O31
        (COGNITIVE.selection, "expiring_kinds", True),  # C7
        (OMEGA.selection, "hidden_kinds", False),  # O23
        (part(OMEGA, KindWeight), "table", False),  # O11
        (part(OMEGA, Preference), "kinds", False),  # O19
        (WEIBULL, "shapes", False),  # M8
        (WEIBULL, "eta_hours", False),
    ],
)
def test_a_part_declares_which_fields_read_other_words(
    owner: object, field: str, reads_other_words: bool
) -> None:
    assert (field in getattr(owner, "reads_aliases", ())) == reads_other_words
    held = getattr(owner, field)
    read = (table_of if isinstance(held, Mapping) else kinds_of)(owner, field)
    extended = with_aliases(held) if isinstance(held, Mapping) else words_with_aliases(held)
    assert read == (extended if reads_other_words else held)


def test_the_kernel_reads_its_table_literally() -> None:
    assert kernels.kind_weight("lesson_learned") == 2.0
    assert kernels.kind_weight("lesson") == 1.0
    assert list(kernels.kind_weight(["preference", "user_preference"])) == [1.0, 2.0]
    own = {"preference": 7.0}
    assert list(kernels.kind_weight(["preference", "user_preference"], table=own)) == [7.0, 1.0]


def test_a_published_weight_is_read_literally() -> None:
    kinds = ("lesson", "lesson_learned", "preference", "user_preference", "issue", "bug", "note")
    whole = OMEGA.replace(strong_signal=None, duplicates=None)
    with Engine(":memory:", profile=whole, clock=lambda: 1.75e9) as mind:
        for kind in kinds:
            mind.add(f"tea is best {kind}", id=kind, kind=kind, priority=3)
        values = {
            one.id: {factor.name: factor.value for factor in one.explanation.factors}
            for one in mind.search("prefer tea", k=100, explain=True, reinforce=False)
        }
        ages = {
            one.id: {factor.name: factor.value for factor in one.explanation.factors}["recency"]
            for one in mind.search(
                "tea", k=9, explain=True, reinforce=False, profile="mnemosyne-3", now=1.76e9
            )
        }
    assert {kind: values[kind]["kind"] for kind in kinds} == {
        kind: 2.0 if kind in ("lesson_learned", "user_preference") else 1.0 for kind in kinds
    }
    assert {kind: values[kind]["preference"] for kind in kinds} == {
        kind: 1.5 if kind == "user_preference" else 1.0 for kind in kinds
    }
    assert ages["lesson"] == ages["lesson_learned"] == ages["note"] == ages["bug"]
    assert ages["bug"] != ages["issue"]


def test_expiring_kinds_read_other_words() -> None:
    selection = Selection(expiring_kinds=("lesson",))
    profile = HOUSE.replace(name="lessons", selection=selection)
    with Engine(":memory:", profile=profile, clock=lambda: 1.75e9) as mind:
        for kind in ("lesson", "lesson_learned", "fact"):
            mind.add(f"tea is best {kind}", id=kind, kind=kind, valid_until=1.74e9)
        assert mind.search("tea").ids == ["fact"]


@pytest.mark.parametrize("group", oracle.SAME)
def test_decay_and_staleness_read_other_words_alike(group: tuple[str, ...]) -> None:
    whole = OMEGA.replace(strong_signal=None, duplicates=None)
    with Engine(":memory:", profile=whole, clock=lambda: 1.75e9) as mind:
        for kind in group:
            mind.add(f"tea is best {kind}", id=kind, kind=kind, now=1.74e9, priority=3)
        found = mind.search("tea", k=100, explain=True, reinforce=False)
        decays = {
            factor.value
            for one in found.results
            for factor in one.explanation.factors
            if factor.name == "decay"
        }
    assert len(decays) == 1
    assert len({COLUMNS["priority"](kind) for kind in group}) == 1


def test_the_stored_kind_and_filters_stay_literal() -> None:
    with Engine(":memory:") as mind:
        mind.add("black tea", id="a", kind="preference")
        mind.add("black coffee", id="b", kind="user_preference")
        assert (mind.get("a").kind, mind.get("b").kind) == ("preference", "user_preference")
        assert (mind.get("a").priority, mind.get("b").priority) == (5, 5)
        assert mind.search("black", where=where(kind="preference")).ids == ["a"]


def test_a_kind_in_an_expression_stays_literal() -> None:
    doubled = HOUSE.replace(
        name="doubled", factors=(Expression('1 + (kind == "preference")', "doubled"),)
    )
    with Engine(":memory:", profile=doubled) as mind:
        mind.add("black tea", id="a", kind="preference")
        mind.add("black coffee", id="b", kind="user_preference")
        found = mind.search("black", explain=True)
        values = {one.id: one.explanation.factors[0].value for one in found.results}
    assert values == {"a": 2.0, "b": 1.0}


def test_hints_are_read_literally() -> None:
    reader = OMEGA.understanding
    assert reader is not None
    assert reader.weights_of("lesson_learned", None) != reader.weights_of(None, None)
    assert reader.weights_of("lesson", None) == reader.weights_of("fact", None)
    assert reader.weights_of("fact", None) == reader.weights_of(None, None)


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(text[: text.index(START)] + "\n".join(lines()) + "\n", encoding="utf-8")
