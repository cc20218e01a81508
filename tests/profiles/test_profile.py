"""A profile as data: round trip, hash, refusals."""

from __future__ import annotations

import copy
import hashlib
import math
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oneiros import profiles
from oneiros.scoring.channels import LexicalChannel, TemporalChannel, VectorChannel
from oneiros.scoring.factors import (
    Expression,
    HalfLifeRecency,
    KindWeight,
    ShippedDecay,
    Spread,
    Strength,
    TimeDecay,
)
from oneiros.scoring.fusion import (
    Blend,
    Fusion,
    ReciprocalRankFusion,
    RetentionWeightedUnion,
    WeightedSum,
)
from oneiros.scoring.profile import Profile
from oneiros.scoring.reinforcement import SpacedReinforcement
from oneiros.scoring.relevance_adjustments import Neighbours
from oneiros.search.plan import DeepRecall
from tests.profiles.declarations import PROFILES
from tests.profiles.values import WEIGHT, WORD


@given(PROFILES)
def test_a_profile_survives_toml_pickle_and_copy(profile: Profile) -> None:
    for again in (
        Profile.from_toml(profile.to_toml()),
        pickle.loads(pickle.dumps(profile)),
        copy.deepcopy(profile),
    ):
        assert again == profile
        assert again.hash == profile.hash
        assert hash(again) == hash(profile)
    assert str(profile) == profile.to_toml()


@given(PROFILES, PROFILES)
def test_profiles_are_equal_where_their_hashes_are(one: Profile, other: Profile) -> None:
    assert (one == other) == (one.hash == other.hash)


def test_zero_has_no_sign() -> None:
    one, other = (
        Profile(
            name="a",
            fusion=ReciprocalRankFusion(k=zero, weights=(zero, 1.0)),
            factors=(KindWeight(table={"fact": zero}),),
            deep_recall_penalty=zero,
        )
        for zero in (0.0, -0.0)
    )
    assert one == other
    assert one.hash == other.hash
    assert one.to_toml() == other.to_toml()


@settings(deadline=None)  # the first of a kind loads its file
@given(PROFILES)
def test_every_profile_compiles(profile: Profile) -> None:
    assert profile.compile() is Profile.from_toml(profile.to_toml()).compile()


def test_the_hash_does_not_depend_on_order_form_or_process() -> None:
    profile = profiles.get("reverie")
    text = """
name = "reverie"
factors = [{tau_days = 30, boost = 0.3, name = "time_decay"}, {name = "strength"},
           {table = [0.8, 1, 1.2], name = "depth"}, {name = "spread", cap = +inf},
           {name = "stability", high = 3, low = 0.1, tau_days = 3e1}]
channels = [{name = "lexical"}, {depth = 100, name = "vector"}]
[reinforcement]
limit = 10
gain = 1e-1
[fusion]
k = 30
[[phases]]
name = "scan"
limit = 50
[[phases]]
nearest = 3
name = "consolidate"
[[phases]]
floor = 1e-2
name = "downscale"
[[phases]]
name = "prune"
[phases.limits_days]
reference = inf
heuristic = inf
directive = inf
preference = +inf
decision = 180
config = 90
bug = 6e1
session = 30
[[phases]]
name = "place"
[[phases]]
name = "promote"
missed_limits = 2
"""
    assert Profile.from_toml(text) == profile
    assert Profile.from_toml(text).hash == profile.hash
    program = "from oneiros import profiles; print(profiles.get('reverie').hash)"
    told = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert told.stdout.strip() == profile.hash


def test_what_makes_nothing_core_is_kept_for_who_lets_it_again() -> None:
    house = profiles.get("oneiros")
    rule = house.reinforcement
    assert isinstance(rule, SpacedReinforcement)
    without = house.replace(reinforcement=replace(rule, core_accesses=None))
    told = Profile.from_toml(without.to_toml())
    assert (told, told.hash) == (without, without.hash)
    assert told.hash != house.replace(reinforcement=SpacedReinforcement()).hash
    bare = SpacedReinforcement(core_stability=0.85)
    assert not [key for key in bare.record() if key.startswith("core_")]


def test_the_hash_is_over_canonical_json() -> None:
    profile = Profile(name="a", factors=(Spread(),), reinforcement=None)
    text = (
        '{"channels":[{"b":0.75,"depth":100,"k1":1.2,"name":"lexical"},'
        '{"depth":100,"name":"vector"}],'
        '"factors":[{"cap":Infinity,"damping":1.0,"name":"spread"}],'
        '"fusion":{"k":30.0,"name":"reciprocal_rank","normalise":"none"},'
        '"name":"a","reinforcement":false,'
        '"selection":{"hide_expired":true,"hide_superseded":true}}'
    )
    assert profile.hash == hashlib.sha256(text.encode()).hexdigest()


def test_what_is_absent_has_its_default() -> None:
    assert Profile.from_toml('name = "mine"') == Profile(name="mine")
    assert Profile.from_toml('name = "mine"\nreinforcement = false').reinforcement is None


def test_replace_changes_a_copy() -> None:
    profile = profiles.get("reverie")
    mine = profile.replace(name="mine", factors=(TimeDecay(tau_days=7.0), Strength()))
    assert mine.factors == (TimeDecay(tau_days=7.0), Strength())
    assert mine.fusion == profile.fusion
    assert mine != profile
    assert mine.hash != profile.hash
    with pytest.raises(TypeError, match="factor: a profile has no such field; known: name, "):
        profile.replace(factor=())
    with pytest.raises(AttributeError):
        profile.name = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"name": ""}, ValueError, "name: must match"),
        ({"name": "a\nb"}, ValueError, "name: must match"),
        ({"name": "x" * 65}, ValueError, "name: must match"),
        ({"name": 1}, TypeError, "name: expected str, got int 1"),
        ({"channels": ()}, ValueError, "channels: at least one, got none"),
        ({"channels": (Strength(),)}, TypeError, r"channels\[0\]: expected LexicalChannel or"),
        (
            {"channels": (VectorChannel(),) * 2},
            ValueError,
            r"channels\[1\]: vector stands there tw",
        ),
        ({"factors": Strength()}, TypeError, "factors: expected a tuple, got Strength"),
        ({"factors": ("strength",)}, TypeError, r"factors\[0\]: expected Factor, got str"),
        ({"factors": (Strength,)}, TypeError, r"factors\[0\]: expected Factor, got type"),
        ({"keep": (Strength,)}, TypeError, r"keep\[0\]: expected KeepRule, got type"),
        ({"factors": (Spread(), Spread(cap=3.0))}, ValueError, r"factors\[1\]: spread stands"),
        ({"fusion": None}, TypeError, "fusion: expected ReciprocalRankFusion or .*got NoneType"),
        ({"selection": True}, TypeError, "selection: expected Selection, got bool"),
        ({"reinforcement": 1}, TypeError, "reinforcement: expected Reinforcement or .*, got int"),
        ({"promotion": 0.6}, TypeError, "promotion: expected Promotion, got float 0.6"),
        ({"initial_stability": 1}, TypeError, "initial_stability: expected InitialStability, got"),
        (
            {"fusion": WeightedSum(weights=(1.0, 2.0, 3.0))},
            ValueError,
            r"fusion.weights: one a channel \(2\), got \(1.0, 2.0, 3.0\)",
        ),
        (
            {"fusion": WeightedSum(normalise=("max",))},
            ValueError,
            r"fusion.normalise: one a channel \(2\), got \('max',\)",
        ),
        (
            {"fusion": ReciprocalRankFusion(weights=(1.0,))},
            ValueError,
            r"fusion.weights: one a channel \(2\), got \(1.0,\)",
        ),
    ],
)
def test_what_is_no_profile_is_refused(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Profile(**({"name": "mine"} | arguments))


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("factors = []", ValueError, "name: a profile must have one"),
        ('name = "a"\nspeed = 1', ValueError, "profile: unknown key 'speed'; known: name, chann"),
        ('name = "a"\n[fusion]\nkk = 1', ValueError, "fusion: unknown key 'kk'; known: name, k"),
        ('name = "a"\n[fusion]\nk = "1"', TypeError, "fusion.k: expected a number, got str '1'"),
        ('name = "a"\n[fusion]\nk = nan', ValueError, "fusion.k: must be .*got nan"),
        ('name = "a"\n[fusion]\nname = "sum"', ValueError, "fusion.name: must be one of reciproc"),
        ('name = "a"\n[selection]\nname = "x"', ValueError, "selection: unknown key 'name'"),
        ('name = "a"\n[selection]\nhide_expired = 1', TypeError, "selection.hide_expired: must"),
        ('name = "a"\n[[factors]]\nboost = 1', ValueError, r"factors\[0\].name: must be one of ti"),
        (
            'name = "a"\n[[factors]]\nname = "time_decay"\ntau_days = 0',
            ValueError,
            r"factors\[0\].tau_days: must be > 0 and finite, got 0",
        ),
        (
            'name = "a"\n[[factors]]\nname = "depth"\ntable = [1, 2, "3"]',
            TypeError,
            r"factors\[0\].table\[2\]: expected a number, got str '3'",
        ),
        ('name = "a"\n[factors]\nx = 1', TypeError, "factors: expected a list of tables, got dict"),
        ('name = "a"\nfactors = [1]', TypeError, r"factors\[0\]: expected a table, got int 1"),
        ('name = "a"\nreinforcement = true', TypeError, "reinforcement: expected a table"),
        (
            'name = "a"\n[[channels]]\nname = "lexical"\ndepth = 0',
            ValueError,
            r"\]\.depth: must be",
        ),
        ("name = ", ValueError, "Invalid value"),
        ('name = "' + "x" * 70_000 + '"', ValueError, "text: at most 65536 bytes, got 70009"),
        ("x = " + "[" * 9 + "]" * 9, ValueError, "text: nested deeper than 8"),
        ("x = " + "[" * 30_000 + "]" * 30_000, ValueError, "text: nested deeper than 8"),
        ("a" + ".a" * 20_000 + " = 1", ValueError, "text: at most 512 dots a line"),
        ("a" + ".a" * 500 + " = 1", ValueError, "text: nested deeper than 8"),
        ("x = [" + "1," * 5_000 + "]", ValueError, "text: at most 4096 values"),
        (
            'name = "a"\n[[factors]]\nname = "decay"',
            ValueError,
            r"factors\[0\].system: must be one of omega, ciar, ciar-shipped, got None",
        ),
        (
            'name = "a"\n[[factors]]\nname = "decay"\nsystem = "reverie"',
            ValueError,
            r"factors\[0\].system: must be one of omega, ciar, ciar-shipped, got 'reverie'",
        ),
        (
            'name = "a"\n[[factors]]\nname = "kind"\n[factors.table]\nnote = "1"',
            TypeError,
            r"factors\[0\].table.note: expected a number, got str '1'",
        ),
        (
            'name = "a"\n[[factors]]\nname = "kind"\ntable = 1',
            TypeError,
            r"factors\[0\].table: expected a table of numbers by word, got int 1",
        ),
        (
            f'name = "a"\n[[factors]]\nname = "kind"\n[factors.table]\n{"k" * 65} = 1',
            ValueError,
            r"factors\[0\].table: a word must be 1 to 64 bytes of UTF-8",
        ),
        (
            'name = "a"\n[fusion]\nname = "weighted_sum"\nnormalise = ["max", "best"]',
            ValueError,
            r"fusion.normalise\[1\]: must be one of none, max, clamp, minmax_floor, got 'best'",
        ),
        (
            'name = "a"\n[[keep]]\nname = "feedback"\nleaves_at = 1',
            ValueError,
            r"keep\[0\].leaves_at: must be >= -32768 and <= 0, got 1",
        ),
        ('name = "a"\npromotion = true', TypeError, "promotion: expected a table, got bool True"),
    ],
)
def test_bad_toml_says_what_is_wrong_and_where(
    text: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Profile.from_toml(text)


@given(st.text(max_size=200))
def test_no_text_gives_anything_but_a_profile_or_an_error(text: str) -> None:
    try:
        profile = Profile.from_toml(text)
    except (ValueError, TypeError):
        return
    assert isinstance(profile, Profile)


def test_bytes_are_no_text() -> None:
    with pytest.raises(TypeError, match="text: expected str, got bytes"):
        Profile.from_toml(b'name = "a"')  # type: ignore[arg-type]


def test_a_name_that_several_systems_use_is_told_by_system_or_by_fields() -> None:
    by_field = Profile.from_toml(
        'name = "a"\n[[factors]]\nname = "decay"\nrate = 0.5\nmost_days = 9\n'
        '[[factors]]\nname = "recency"\nhalf_life_days = 9'
    )
    by_system = Profile.from_toml(
        'name = "a"\n[[factors]]\nname = "decay"\nsystem = "ciar-shipped"\nrate = 0.5\n'
        "most_days = 9\n"
        '[[factors]]\nname = "recency"\nsystem = "oneiros"\nhalf_life_days = 9'
    )
    assert by_field.factors == (
        ShippedDecay(rate=0.5, most_days=9.0),
        HalfLifeRecency(half_life_days=9.0),
    )
    assert by_system == by_field


def test_numbers_of_words_and_sessions_survive_toml_and_change_the_hash() -> None:
    plain = Profile(name="a", channels=(LexicalChannel(),), fusion=Blend(), neighbours=Neighbours())
    changes: tuple[tuple[str, Any, str], ...] = (
        ("channels", (LexicalChannel(half_length=12.5),), "half_length = 12.5"),
        ("channels", (LexicalChannel(function_words=0.25),), "function_words = 0.25"),
        ("channels", (LexicalChannel(whole_query=12),), "whole_query = 12"),
        ("channels", (LexicalChannel(typos=0.5),), "typos = 0.5"),
        ("channels", (LexicalChannel(title_weight=2.5),), "title_weight = 2.5"),
        ("channels", (LexicalChannel(title_length=0),), "title_length = 0.0"),
        ("fusion", Blend(scale="coverage"), 'scale = "coverage"'),
        ("fusion", Blend(baseline="candidates"), 'baseline = "candidates"'),
        ("neighbours", Neighbours(above_session=True), "above_session = true"),
        ("neighbours", Neighbours(from_better=True), "from_better = true"),
        ("neighbours", Neighbours(session_share=0.25), "session_share = 0.25"),
        ("neighbours", Neighbours(whole_length=30), "whole_length = 30.0"),
    )
    hashes = {plain.hash}
    for part, value, line in changes:
        profile = plain.replace(**{part: value})
        assert line in profile.to_toml()
        assert line.split()[0] not in plain.to_toml()
        again = Profile.from_toml(profile.to_toml())
        assert (again, again.hash) == (profile, profile.hash)
        assert getattr(again, part) == value
        hashes.add(profile.hash)
    assert len(hashes) == len(changes) + 1


def test_what_says_the_default_is_the_default() -> None:
    assert Blend(scale="best") == Blend()
    assert LexicalChannel(function_words=1) == LexicalChannel()
    assert LexicalChannel(typos=0) == LexicalChannel()
    assert LexicalChannel(title_weight=2, title_length=1) == LexicalChannel()
    assert Neighbours(above_session=False, from_better=False) == Neighbours()
    assert (
        Profile.from_toml('name = "a"\n[fusion]\nname = "blend"\nscale = "best"').fusion == Blend()
    )


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: LexicalChannel(half_length=-1), ValueError, "half_length: must be >= 0 .* got -1"),
        (
            lambda: LexicalChannel(half_length=2e6),
            ValueError,
            "half_length: must be .* got 2000000",
        ),
        (lambda: LexicalChannel(half_length=math.nan), ValueError, "half_length: must be .* nan"),
        (
            lambda: LexicalChannel(half_length="50"),
            TypeError,
            "half_length: expected a number, got",
        ),
        (
            lambda: LexicalChannel(function_words=0),
            ValueError,
            "function_words: must be .* got 0",
        ),
        (lambda: LexicalChannel(function_words=1.5), ValueError, "function_words: .* got 1.5"),
        (
            lambda: LexicalChannel(function_words="a"),
            TypeError,
            "function_words: expected a number",
        ),
        (lambda: LexicalChannel(title_weight=9), ValueError, "title_weight: must be .* got 9"),
        (lambda: LexicalChannel(title_weight=0.3), ValueError, "title_weight: must be .* got 0.3"),
        (lambda: LexicalChannel(title_length=-1), ValueError, "title_length: must be .* got -1"),
        (lambda: LexicalChannel(title_length=0.3), ValueError, "title_length: .* got 0.3 for 2.0"),
        (lambda: LexicalChannel(title_length="a"), TypeError, "title_length: expected a number"),
        (lambda: LexicalChannel(typos=1.5), ValueError, "typos: must be .* got 1.5"),
        (lambda: LexicalChannel(typos="a"), TypeError, "typos: expected a number"),
        (lambda: LexicalChannel(whole_query=0), ValueError, "whole_query: must be .* got 0"),
        (lambda: LexicalChannel(whole_query=2.5), TypeError, "whole_query: expected an int"),
        (lambda: Blend(scale="max"), ValueError, "scale: must be one of best, coverage, got 'max'"),
        (lambda: Blend(scale=1), ValueError, "scale: must be one of best, coverage, got 1"),
        (
            lambda: Blend(baseline="mean"),
            ValueError,
            "baseline: must be one of zero, candidates, got 'mean'",
        ),
        (lambda: Neighbours(above_session=1), TypeError, "above_session: must be True or False"),
        (lambda: Neighbours(from_better="no"), TypeError, "from_better: must be True or False"),
        (lambda: Neighbours(session_share=1.1), ValueError, "session_share: must be .* got 1.1"),
        (lambda: Neighbours(session_share=-0.1), ValueError, "session_share: must be .* got -0.1"),
        (lambda: Neighbours(session_share=math.nan), ValueError, "session_share: must be .* nan"),
        (lambda: Neighbours(session_share=()), TypeError, "session_share: expected a number"),
        (lambda: Neighbours(whole_length=-1), ValueError, "whole_length: must be >= 0 .* got -1"),
        (lambda: Neighbours(whole_length=math.inf), ValueError, "whole_length: must be .* inf"),
        (lambda: Neighbours(whole_length="x"), TypeError, "whole_length: expected a number, got"),
    ],
)
def test_a_wrong_number_of_words_and_sessions_is_refused(
    make: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make()


@given(st.dictionaries(WORD, WEIGHT, max_size=40))
def test_a_table_survives_toml_whatever_its_words(table: dict[str, float]) -> None:
    profile = Profile(name="a", factors=(KindWeight(table=table),))
    again = Profile.from_toml(profile.to_toml())
    assert again == profile
    assert dict(again.factors[0].table) == table  # type: ignore[attr-defined]


def test_the_order_of_a_table_is_no_part_of_a_profile() -> None:
    one = Profile(name="a", factors=(KindWeight(table={"a": 1, "b": 2.0}),))
    other = Profile(name="a", factors=(KindWeight(table={"b": 2, "a": 1.0}),))
    assert one == other
    assert one.hash == other.hash
    assert hash(one.factors[0]) == hash(other.factors[0])


def test_a_part_that_is_not_there_is_no_part_of_the_hash() -> None:
    record = Profile(name="a").record()
    assert not record.keys() & {"keep", "promotion", "initial_stability"}


def test_the_penalty_of_deep_recall_is_one_number() -> None:
    published = profiles.get("oneiros")
    assert "deep_recall_penalty = 0.5" in published.to_toml()
    assert published.replace(deep_recall_penalty=0.5).hash == published.hash
    mine = published.replace(deep_recall_penalty=0.8)
    assert mine.deep_recall_penalty == 0.8
    assert mine.hash != published.hash
    again = Profile.from_toml(mine.to_toml())
    assert (again, again.hash) == (mine, mine.hash)
    assert Profile.from_toml('name = "a"\ndeep_recall_penalty = 1').deep_recall_penalty == 1.0
    assert str(mine) == mine.to_toml()


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (-0.1, ValueError),
        (1.1, ValueError),
        (math.nan, ValueError),
        ("x", TypeError),
        (True, TypeError),
        (None, TypeError),
    ],
)
def test_the_penalty_of_deep_recall_is_a_share(wrong: object, error: type[Exception]) -> None:
    with pytest.raises(error, match="deep_recall_penalty: "):
        profiles.get("cognitive").replace(deep_recall_penalty=wrong)


def test_no_factor_states_the_penalty_a_second_time() -> None:
    for factor in (DeepRecall(0.8), Expression("1", name="deep_recall")):
        message = r"factors\[0\]: deep_recall is .*; set deep_recall_penalty"
        with pytest.raises(ValueError, match=message):
            Profile(name="a", factors=(factor,))
    with pytest.raises(ValueError, match=r"factors\[1\]: association is "):
        Profile(name="a", factors=(Spread(), Expression("1", name="association")))
    with pytest.raises(ValueError, match=r"factors\[0\]\.name: must be one of"):
        Profile.from_toml('name = "a"\n[[factors]]\nname = "deep_recall"')


def test_weights_are_brought_to_the_sum_1() -> None:
    channels = (VectorChannel(), LexicalChannel())
    mnemosyne = Profile(name="sum", channels=channels, fusion=WeightedSum())
    mine = mnemosyne.replace(weights=(2, 1, 1))  # vector, text, importance
    assert mine.fusion == WeightedSum(weights=(0.5, 0.25), importance=0.25)  # M7
    assert mnemosyne.replace(weights=(0, 0, 0)) == mnemosyne  # M7: all zero, the defaults
    assert mnemosyne.replace(weights=(0.5, 0.3, 0.2)) == mnemosyne
    plain = profiles.get("reverie").replace(weights=(2, 1))
    assert plain.fusion == ReciprocalRankFusion(k=30.0, weights=(2.0, 1.0))
    with pytest.raises(ValueError, match="weights: expected 3 numbers"):
        mnemosyne.replace(weights=(1, 1))
    with pytest.raises(TypeError, match="weights: the fusion blend has none"):
        Profile(name="a", fusion=Blend()).replace(weights=(1, 1))


def test_factors_are_changed_by_name() -> None:
    profile = profiles.get("reverie")
    mine = profile.with_factors(Spread(cap=3.0), TimeDecay(tau_days=7.0))
    assert [factor.name for factor in mine.factors] == [factor.name for factor in profile.factors]
    assert mine.factors[0] == TimeDecay(tau_days=7.0)
    assert mine.factors[3] == Spread(cap=3.0)
    with pytest.raises(ValueError, match="factors: the profile has none called 'kind'; known: ti"):
        profile.with_factors(KindWeight())


def test_a_blend_takes_words_and_vectors_only() -> None:
    channel = VectorChannel()
    assert Profile(name="a", channels=(channel,), fusion=Blend()).channels == (channel,)


@pytest.mark.parametrize("fusion", [Blend(), RetentionWeightedUnion()], ids=lambda one: one.name)
def test_a_fusion_of_raw_scores_needs_a_channel_that_has_some(fusion: Fusion) -> None:
    with pytest.raises(
        ValueError, match=f"fusion: {fusion.name} needs lexical or vector, got temp"
    ):
        Profile(name="dates", channels=(TemporalChannel(),), fusion=fusion)


@pytest.mark.parametrize(
    "text",
    [
        "a" * 60_000 + " = 1",
        "\n".join(f"k{n} = {n}" for n in range(4_000)),
        "\n".join(f"[[k]]\na{n} = {n}" for n in range(3_000)),
        "x = [" + "[]," * 4_000 + "]",
        "\n".join("a" + ".b" * 7 + f".k{n} = 1" for n in range(2_000)),
        ("a" + ".a" * 511 + " = 1\n") * 60,
    ],
)
def test_hostile_texts_are_refused_without_ado(text: str) -> None:
    with pytest.raises(
        ValueError, match=r"unknown key|Cannot overwrite|nested deeper|at most 4096"
    ):
        Profile.from_toml(text)  # a reader of quadratic time takes minutes for some


@pytest.mark.parametrize("part", ["a", '"\u2028"', '"\x85"'])
def test_a_key_of_many_parts_is_refused_before_it_is_read(part: str) -> None:
    with pytest.raises(ValueError, match="text: at most 512 dots a line"):
        Profile.from_toml(f"{part}.{'a.' * 400}" * 2 + "a = 1")


def test_toml_that_could_not_be_read_again_is_not_written() -> None:
    factors = [Expression("1" + " " * 4_000 + "+ importance", f"e{n}") for n in range(20)]
    with pytest.raises(ValueError, match=r"^profile in TOML: at most 65536 bytes, got 8"):
        Profile(name="mine", factors=factors).to_toml()
