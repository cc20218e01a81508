"""The kinds that mean the same, and the page docs/kinds.md held to the profiles.

``python -m tests.test_kinds_page`` writes the tables of the page again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import pytest

from oneiros import Engine, Expression, kernels, profiles, where
from oneiros.fields import PRIORITY_BY_KIND, PRIORITY_OTHERWISE
from oneiros.kinds import ALIASES, with_aliases, words_with_aliases
from oneiros.ranking.factors import FlooredDecay, KindWeight, Preference, WeibullRecency
from oneiros.ranking.phases.omega import Forgetting
from oneiros.ranking.phases.reverie import Promote, Prune
from oneiros.ranking.profile import Profile
from tests.oracles import kinds as oracle

Part = TypeVar("Part")
PAGE = Path(__file__).parents[1] / "docs" / "kinds.md"
REVERIE, HOUSE = profiles.get("reverie"), profiles.get("oneiros")
OMEGA, MNEMOSYNE = profiles.get("omega"), profiles.get("mnemosyne-3")


def part(profile: Profile, of: type[Part]) -> Part:
    return next(one for one in (*profile.factors, *profile.phases) if isinstance(one, of))


WEIBULL = part(MNEMOSYNE, WeibullRecency)
COLUMNS: dict[str, tuple[Mapping[str, float], float]] = {
    "priority": (PRIORITY_BY_KIND, PRIORITY_OTHERWISE),
    "stale after, `reverie`": (part(REVERIE, Prune).limits_days, 180.0),
    "stale after, `oneiros`": (part(HOUSE, Prune).limits_days, 180.0),
    "signal": (part(REVERIE, Promote).weights, 1.0),
    "weight": (part(OMEGA, KindWeight).table, 1.0),
    "decay a day": (part(OMEGA, FlooredDecay).rates, part(OMEGA, FlooredDecay).otherwise),
    "shape": (WEIBULL.shapes, WEIBULL.other_shape),
    "eta hours": (WEIBULL.eta_hours, WEIBULL.other_eta_hours),
}
assert OMEGA.understanding is not None
LISTS: dict[str, tuple[str, ...]] = {
    "archived where others are deleted (R13; `reverie`, `oneiros`)": (
        part(REVERIE, Prune).archived_kinds
    ),
    "never archived by forgetting (O31; `omega`, `omega-bounded`)": part(OMEGA, Forgetting).exempt,
    "decay that slows with use (O14; `omega`)": part(OMEGA, FlooredDecay).decisions,
    "boosted where the query asks for a preference (O19; `omega`)": part(OMEGA, Preference).kinds,
    "hidden unless the filter names kinds (O23; `omega`, `omega-bounded`)": (
        OMEGA.selection.hidden_kinds
    ),
    "channel weights of their own where the filter names one kind (O8; `omega`)": tuple(
        hint for hint in OMEGA.understanding.hints if "-" not in hint and hint != "_default"
    ),
}


def every_kind() -> list[str]:
    """The plain words in order of the alphabet, each followed by the other words for it."""
    named = {kind for table, _ in COLUMNS.values() for kind in table}
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
        cells = (
            number(oracle.entry(table, kind, otherwise)) for table, otherwise in COLUMNS.values()
        )
        yield f"| {indent}{kind} | {' | '.join(cells)} |"
    cells = (number(otherwise) for _, otherwise in COLUMNS.values())
    yield f"| any other | {' | '.join(cells)} |"
    yield ""
    yield "| list | kinds |"
    yield "|---|---|"
    for name, kinds in LISTS.items():
        listed = [kind for kind in every_kind() if oracle.is_among(kinds, kind)]
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
    found = with_aliases(COLUMNS[names[table]][0])
    assert {kind: found[kind] for kind in published} == published


def test_the_kernel_reads_other_words_too() -> None:
    assert kernels.kind_weight("lesson") == kernels.kind_weight("lesson_learned") == 2.0
    assert list(kernels.kind_weight(["preference", "fact"])) == [2.0, 1.0]
    assert kernels.kind_weight("preference", table={"preference": 7.0}) == 7.0


def test_every_profile_reads_other_words_alike() -> None:
    texts = {kind: f"tea is best {kind}" for group in oracle.SAME for kind in group}
    for name in ("omega", "mnemosyne-3", "oneiros", "reverie", "ciar", "cognitive"):
        with Engine(":memory:", profile=name, clock=lambda: 1.75e9) as mind:
            for kind, text in texts.items():
                mind.add(text, id=kind, kind=kind, now=1.74e9)
            found = mind.search("tea", k=100, explain=True, reinforce=False)
            factors = {
                one.id: {factor.name: factor.value for factor in one.explanation.factors}
                for one in found.results
            }
        compiled = profiles.get(name)
        own = {
            kind
            for factor in compiled.factors
            for table in (getattr(factor, "table", {}), getattr(factor, "shapes", {}))
            if isinstance(table, Mapping)
            for kind in table
        }
        for group in oracle.SAME:
            alike = [factors[kind] for kind in group if kind in factors and kind not in own]
            assert all(one == alike[0] for one in alike), (name, group)


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


def test_hints_follow_other_words() -> None:
    reader = OMEGA.understanding
    assert reader is not None
    assert reader.hint_row("preference") == "user_preference"
    assert reader.hint_row("fact") is None
    assert reader.weights_of("lesson", None) == reader.weights_of("lesson_learned", None)
    assert reader.weights_of("fact", None) == reader.weights_of(None, None)


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(text[: text.index(START)] + "\n".join(lines()) + "\n", encoding="utf-8")
