"""A profile as data: round trip, hash, refusals."""

from __future__ import annotations

import copy
import hashlib
import math
import pickle
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneiros import profiles
from oneiros.ranking.channels import LexicalChannel, VectorChannel
from oneiros.ranking.factors import Depth, Factor, Spread, Stability, Strength, TimeDecay
from oneiros.ranking.fusion import ReciprocalRankFusion
from oneiros.ranking.profile import Profile
from oneiros.ranking.reinforcement import Reinforcement
from oneiros.ranking.selection import Selection

WEIGHT = st.floats(0, 1e6)
DAYS = st.floats(0, 1e12, exclude_min=True)
FACTOR_SETS = st.tuples(
    st.builds(TimeDecay, boost=WEIGHT, tau_days=DAYS),
    st.just(Strength()),
    st.builds(Depth, table=st.tuples(WEIGHT, WEIGHT, WEIGHT)),
    st.builds(Spread, cap=st.one_of(st.just(math.inf), st.floats(1e-9, 1e9))),
    st.builds(Stability, tau_days=DAYS, low=st.floats(0, 1), high=st.floats(1, 1e6)),
).flatmap(st.permutations)
PROFILES = st.builds(
    Profile,
    name=st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}\Z"),
    channels=st.just((LexicalChannel(depth=7), VectorChannel())),
    fusion=st.builds(
        ReciprocalRankFusion,
        k=st.floats(0, 1e9),
        weights=st.one_of(st.none(), st.tuples(WEIGHT, WEIGHT)),
    ),
    factors=st.builds(lambda factors, n: tuple(factors[:n]), FACTOR_SETS, st.integers(0, 5)),
    selection=st.builds(Selection, hide_superseded=st.booleans(), hide_expired=st.booleans()),
    reinforcement=st.one_of(
        st.none(), st.builds(Reinforcement, gain=WEIGHT, span_days=DAYS, limit=DAYS)
    ),
)


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
"""
    assert Profile.from_toml(text) == profile
    assert Profile.from_toml(text).hash == profile.hash
    program = "from oneiros import profiles; print(profiles.get('reverie').hash)"
    told = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert told.stdout.strip() == profile.hash


def test_the_hash_is_over_canonical_json() -> None:
    profile = Profile(name="a", factors=(Spread(),), reinforcement=None)
    text = (
        '{"channels":[{"depth":100,"name":"lexical"},{"depth":100,"name":"vector"}],'
        '"factors":[{"cap":Infinity,"name":"spread"}],"fusion":{"k":30.0,"name":"reciprocal_rank"},'
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
        ({"fusion": None}, TypeError, "fusion: expected ReciprocalRankFusion, got NoneType"),
        ({"selection": True}, TypeError, "selection: expected Selection, got bool"),
        ({"reinforcement": 1}, TypeError, "reinforcement: expected Reinforcement, got int"),
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
        ('name = "a"\n[selection]\nhide_expired = 1', TypeError, "selection.hide_expired: expec"),
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
        ("x = [" + "1," * 300 + "]", ValueError, "text: at most 256 values"),
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


def test_one_name_per_kind_of_part() -> None:
    kinds: tuple[type[Factor], ...] = (TimeDecay, Strength, Depth, Spread, Stability)
    assert len({kind.name for kind in kinds}) == len(kinds)
