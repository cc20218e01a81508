"""What the caller is doing favours what belongs to it: docs/systems/omega.md O16, O20."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros import profiles
from oneiros.scoring.factors import ContextMatch as Boost
from oneiros.scoring.profiles.omega import UNDERSTANDING
from tests.oracles import omega
from tests.oracles.omega_tables import CONTEXTS, PROFILES

OPEN = oneiros.profiles.get("omega").replace(abstention=None, duplicates=None)
"""All that is found is returned."""

NOW = 1_750_000_000.0
TAGS = ("errors", "Net", "slow", "net", "pool.py", "ﬁx", "fix")
WORDS = ("Pool", "src", "retry", "pool.py", "network", "slow", "a.b", "ﬁx", "Fix")
RECORDS = st.lists(
    st.fixed_dictionaries(
        {"text": st.lists(st.sampled_from([*WORDS, "ant"]), max_size=4).map(" ".join)},
        optional={
            "tags": st.lists(st.sampled_from(TAGS), max_size=3, unique=True),
            "project": st.sampled_from(["atlas", "Net-Atlas", "src", "ﬁx-it"]),
        },
    ),
    min_size=1,
    max_size=8,
)
FILES = ("src/net/pool.py", "a.b", "/SRC/./lib/Retry.tar.gz", "../x/.pool", "net/", "/")
CONTEXT = st.fixed_dictionaries(
    {},
    optional={
        "tags": st.lists(st.sampled_from(TAGS), max_size=3),
        "project": st.sampled_from(["atlas", "nowhere"]),
        "file": st.sampled_from(FILES),
        "situation": st.sampled_from(list(CONTEXTS)),
    },
)


def engine_of(records: list[dict[str, Any]]) -> oneiros.Engine:
    mind = oneiros.Engine(":memory:", profile=OPEN, analyzer="simple", clock=lambda: NOW)
    mind.add_many(
        {**one, "id": f"m{n}", "text": f"ant {one['text']}"} for n, one in enumerate(records)
    )
    return mind


@settings(max_examples=40, deadline=None)
@given(RECORDS, CONTEXT, st.sampled_from([None, "error_pattern"]))
def test_what_belongs_to_the_context_is_boosted_as_the_page_says(
    records: list[dict[str, Any]], given: dict[str, Any], hint: str | None
) -> None:
    context = oneiros.Context(**given)
    with engine_of(records) as mind:
        response = mind.search("ant", 20, context=context, hint=hint, explain=True)
        (batch,) = mind.search_many(["ant"], 20, context=context, hint=hint, reinforce=False)
        missed = mind.why_not("ant", "m0", k=20, context=context, hint=hint)
    assert [(one.id, one.score) for one in response] == [(one.id, one.score) for one in batch]
    weight = PROFILES[hint or "_default"][3]
    weight *= CONTEXTS[given["situation"]][3] if "situation" in given else 1.0
    for result in response.results:
        one = records[int(result.id[1:])]
        told = result.explanation
        assert told is not None
        record = {**one, "text": f"ant {one['text']}"}
        matches = omega.context_matches(
            given.get("file"), given.get("tags", ()), given.get("project"), record
        )
        want = omega.context_boost(*matches, weight)
        found = {factor.name: factor.value for factor in told.factors}
        assert found["context"] == pytest.approx(want, rel=1e-12)
        assert told.evaluate() == result.score
    assert missed.score == {one.id: one.score for one in response}["m0"]


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("src/net/pool.py", {"src", "net", "pool.py", "pool"}),
        ("a.b", {"a.b", "a"}),  # the name's two words are of any length
        ("/x/io/Parse_Config-v2.tar.gz", {"parse_config-v2.tar.gz", "parse_config-v2.tar"}),
        (".bashrc", {".bashrc"}),
        ("lib/name.", {"lib", "name."}),
        ("Makefile", {"makefile"}),
        ("C:\\work\\App.tsx", {"work", "app.tsx", "app"}),
        ("/", set()),
    ],
)
def test_the_words_of_a_file_are_its_name_and_the_longer_parts_of_its_path(
    file: str, words: set[str]
) -> None:
    assert set(oneiros.Context(file=file).words) == words
    both = oneiros.Context(file=file, tags=["Slow", "q", "slow", ""]).words
    assert set(both) == words | {"slow", "q"}
    assert len(both) == len(words) + 2
    if "\\" not in file:
        assert omega.context_words(file, ()) == words


@pytest.mark.parametrize(
    ("given", "record", "boost"),
    [
        ({"tags": ["net"]}, {"text": "the network is slow"}, 0.05),  # a tag in the text
        ({"tags": ["net"]}, {"project": "Subnets"}, 0.15),  # and in the project
        ({"file": "src/pool.py"}, {"tags": ["Pool", "src", "pool.py", "py"]}, 0.30),
        ({"file": "src/pool.py"}, {"project": "carpools"}, 0.15),
        ({"file": "src/a-b.py", "tags": ["c d"]}, {"text": "a b c d a-b a-b.py src"}, 0.15),
        ({"tags": list("abcdefgh")}, {"tags": list("abcdefgh")}, 0.80),  # without a cap
        ({"project": "red"}, {"project": "red"}, 0.15),
        ({"project": "red"}, {"project": "infrared"}, 0.0),  # equal, and no substring
        ({"project": "red", "tags": ["infra"]}, {"project": "infrared"}, 0.15),
        # In lower case and nothing else: another way of writing a letter is another letter.
        ({"tags": ["ﬁle"]}, {"text": "the file"}, 0.0),
        ({"tags": ["file"]}, {"text": "the ﬁle", "tags": ["ﬁle"]}, 0.0),
        ({"tags": ["ﬁLE"]}, {"text": "the ﬁle", "tags": ["ﬁle"]}, 0.15),
        ({"tags": ["file"]}, {"project": "ﬁles"}, 0.0),
        ({"tags": ["\uff21\uff22"]}, {"tags": ["\uff41\uff42"]}, 0.10),  # wide letters
        ({"tags": ["ab"]}, {"tags": ["\uff41\uff42"], "text": "AB"}, 0.05),
    ],
)
def test_a_file_and_tags_are_one_set_of_words(
    given: dict[str, Any], record: dict[str, Any], boost: float
) -> None:
    with oneiros.Engine(":memory:", profile=OPEN, clock=lambda: NOW) as mind:
        mind.add(**{"text": "", "title": "ant", **record})
        (found,) = mind.search("ant", context=oneiros.Context(**given), explain=True)
    assert found.explanation is not None
    factors = {factor.name: factor.value for factor in found.explanation.factors}
    assert factors["context"] == pytest.approx(1 + boost, rel=1e-12)


def test_a_profile_that_looks_into_texts_for_the_context_alone_reads_them() -> None:
    profile = oneiros.profiles.get("reverie").replace(factors=(Boost(),))
    with oneiros.Engine(":memory:", profile=profile, clock=lambda: NOW) as mind:
        mind.add("an ant in the net", id="a", tags=["net"])
        context = oneiros.Context(tags=["net"])
        plain, boosted = (
            mind.search("ant", context=one, reinforce=False) for one in (None, context)
        )
    assert boosted.results[0].score == pytest.approx(1.15 * plain.results[0].score)


def test_the_situations_are_those_of_the_page() -> None:
    assert dict(UNDERSTANDING.situations) == CONTEXTS


def test_a_situation_says_how_near_a_memory_must_be() -> None:
    mind = oneiros.Engine(":memory:", profile=OPEN, clock=lambda: NOW)
    mind.add("ant", id="near", embedding=[1.0, 0.0])
    mind.add("bee", id="far", embedding=[0.45, 0.893])
    asked: dict[str, Any] = {"embedding": [1.0, 0.0], "reinforce": False}
    everything = mind.search("unheard", **asked)
    general = mind.search("unheard", context=oneiros.Context(situation="general"), **asked)
    debugging = mind.search("unheard", context=oneiros.Context(situation="error_debug"), **asked)
    assert set(everything.ids) == set(debugging.ids) == {"near", "far"}
    assert general.ids == ["near"]
    assert general.profile_hash == everything.profile_hash
    why = mind.why_not("unheard", "far", context=oneiros.Context(situation="general"), **asked)
    assert why.channels[1].detail == "farther than the least cosine 0.5"


def test_a_profile_that_knows_no_situations_takes_any() -> None:
    omega = profiles.get("omega")
    weighs = omega.replace(name="weighs", understanding=None)
    with oneiros.Engine(":memory:", clock=lambda: NOW) as mind:
        mind.add("ant", id="a", tags=["x"])
        context = oneiros.Context(tags=["x"], situation="any")
        assert mind.search("ant", context=context, profile=weighs).ids == ["a"]


def test_a_profile_may_know_situations_and_weigh_no_context() -> None:
    """ "omega-bounded" has no factor of O20: its situation says only how near a memory must be."""
    with oneiros.Engine(":memory:", profile="omega-bounded", clock=lambda: NOW) as mind:
        id = mind.add("ant", tags=["net"])
        context = oneiros.Context(tags=["net"], situation="planning")
        assert mind.search("ant", context=context).ids == [id]
