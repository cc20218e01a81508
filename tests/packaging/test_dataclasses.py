"""Dataclasses made on use are those of the standard library, in everything a caller can see."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import inspect
import pickle
import pkgutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest

import oneiros
from oneiros.runtime import declaring

SOURCE = """
from __future__ import annotations
import math
from typing import ClassVar

@dataclass(frozen=True, slots=True, kw_only=True)
class Keywords:
    '''A docstring.'''
    label: ClassVar[str] = "keywords"
    name: str
    count: int = 3
    words: list[str] = field(default_factory=list)
    share: float = math.nan
    hidden: str = field(init=False, repr=False, compare=False, default="h")

    def __post_init__(self) -> None:
        if self.count < 0:
            raise ValueError(f"count: {self.count}")
        object.__setattr__(self, "hidden", self.name.upper())

@dataclass(frozen=True, slots=True)
class Places:
    first: int
    second: tuple[int, ...] = ()
    third: float = field(default=1.5, kw_only=True)

@dataclass(frozen=True, slots=True)
class Single:
    only: object = None

@dataclass(slots=True)
class Changing:
    first: int
    items: list[int] = field(default_factory=list)
    last: dict[int, int] = field(init=False, repr=False, compare=False)

@dataclass(frozen=True, slots=True, eq=False)
class Identical:
    first: int = 1

@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Own:
    name: str = "a"

    def __repr__(self) -> str:
        return "own"

    def __hash__(self) -> int:
        return 7

@dataclass(frozen=True, slots=True, kw_only=True)
class Child(Places):
    fourth: str = "d"
    first: int = 8

class Plain(Places):
    __slots__ = ("free",)

@dataclass(frozen=True)
class Open:
    first: int
    second: str = "b"
    third: list[int] = field(default_factory=list)
    fourth: float = field(default=4.0, compare=False)

@dataclass(kw_only=True)
class Lax:
    first: int = 1
    items: list[int] = field(default_factory=list, repr=False)

@dataclass(frozen=True, slots=True)
class Empty:
    pass
"""


def classes(dataclass: Any, field: Any, name: str) -> SimpleNamespace:
    module = ModuleType(name)
    module.__dict__.update(dataclass=dataclass, field=field)
    sys.modules[name] = module
    exec(compile(textwrap.dedent(SOURCE), name, "exec", dont_inherit=True), module.__dict__)  # noqa: S102
    return cast("SimpleNamespace", module)


OURS = classes(declaring.dataclass, declaring.field, "made_on_use")
STANDARD = classes(dataclasses.dataclass, dataclasses.field, "made_at_once")
CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("Keywords", (), {"name": "a"}),
    ("Keywords", (), {"name": "a", "count": 5, "words": ["x"], "share": 0.5}),
    ("Keywords", (), {"name": "a", "count": -5}),
    ("Keywords", (), {}),
    ("Keywords", ("a",), {}),
    ("Keywords", ("a", "b"), {"name": "a"}),
    ("Keywords", (), {"name": "a", "other": 1}),
    ("Keywords", (), {"name": "a", "hidden": "x"}),
    ("Keywords", (), {"nam": "a"}),
    ("Places", (1,), {}),
    ("Places", (1, (2,)), {"third": 2.5}),
    ("Places", (1, (2,), 2.5), {}),
    ("Places", (1,), {"first": 2}),
    ("Places", (), {"second": (3,)}),
    ("Places", (), {}),
    ("Single", ([1],), {}),
    ("Single", (), {"only": 1}),
    ("Changing", (1,), {}),
    ("Changing", (1, [2]), {}),
    ("Changing", (), {"last": {}}),
    ("Identical", (), {}),
    ("Own", (), {"name": "b"}),
    ("Child", (), {}),
    ("Child", (1, (4,)), {"fourth": "e"}),
    ("Plain", (1,), {}),
    ("Plain", (), {}),
    ("Open", (1,), {}),
    ("Open", (1, "c", [2]), {"fourth": 5.0}),
    ("Open", (), {}),
    ("Lax", (), {}),
    ("Lax", (), {"first": 2, "items": [3]}),
    ("Lax", (1,), {}),
    ("Empty", (), {}),
    ("Empty", (1,), {}),
]


NAMES = [name for name, kind in vars(OURS).items() if isinstance(kind, type)]


CHANGING = (OURS.Changing, STANDARD.Changing, OURS.Plain, STANDARD.Plain, OURS.Lax, STANDARD.Lax)


def outcome(act: Callable[[], Any]) -> Any:
    try:
        return act()
    except Exception as error:  # noqa: BLE001 - whatever it is, both must raise it
        return type(error), str(error).replace("made_on_use", "").replace("made_at_once", "")


def hash_of(made: Any) -> int | None:
    """Return the hash, unless it is that of the object's address."""
    return None if type(made).__hash__ is object.__hash__ else hash(made)


def seen(namespace: SimpleNamespace, name: str, args: Any, kwargs: Any) -> list[Any]:
    """Everything that can be seen of what a call makes."""
    kind = getattr(namespace, name)
    made = outcome(lambda: kind(*args, **copy.deepcopy(kwargs)))
    if isinstance(made, tuple):
        return [made]
    like = kind(*args, **copy.deepcopy(kwargs))
    replace = declaring.replace if namespace is OURS else dataclasses.replace
    return [
        repr(made),
        outcome(lambda: made == like),
        outcome(lambda: made == kind(*args, **{**kwargs, "count": 9})),
        outcome(lambda: hash_of(made)),
        [
            outcome(partial(setattr, made, name, getattr(made, name, 0)))
            for name in getattr(kind, "__slots__", ("first",))
            if name != "free"
        ],
        [
            outcome(partial(delattr, made, name))
            for name in getattr(kind, "__slots__", ())
            if kind not in CHANGING
        ],
        outcome(lambda: repr(replace(made, first=5))),
        outcome(lambda: repr(replace(made, hidden="x"))),
        outcome(lambda: repr(dataclasses.replace(made, name="z"))),
        outcome(lambda: repr(copy.copy(made))),
        outcome(lambda: repr(copy.deepcopy(made))),
        outcome(lambda: repr(pickle.loads(pickle.dumps(made)))),
        outcome(lambda: repr(dataclasses.asdict(made))),
        outcome(lambda: repr(dataclasses.astuple(made))),
        [one.name for one in dataclasses.fields(made)],
        hasattr(made, "__dict__"),
    ]


@pytest.mark.parametrize("call", CALLS, ids=repr)
def test_what_a_call_makes_is_the_same_however_often_it_is_called(call: Any) -> None:
    if sys.version_info >= (3, 13) and call[0] == "Keywords":
        pytest.skip("there the standard ones compare field by field, so that NaN is not itself")
    wanted = seen(STANDARD, *call)
    for _ in range(declaring.CALLS_UNTIL_COMPILED + 2):
        assert seen(OURS, *call) == wanted


@pytest.mark.parametrize("name", NAMES)
def test_classes_look_the_same(name: str) -> None:
    fresh = classes(declaring.dataclass, declaring.field, "made_once_more")
    ours, standard = getattr(fresh, name), getattr(STANDARD, name)
    assert str(inspect.signature(ours)) == str(inspect.signature(standard))
    assert str(inspect.signature(ours.__init__)) == str(inspect.signature(standard.__init__))
    assert ours.__match_args__ == standard.__match_args__
    assert getattr(ours, "__slots__", None) == getattr(standard, "__slots__", None)
    for attribute in ("first", "second", "third", "fourth"):
        own, other = vars(ours).get(attribute, 0), vars(standard).get(attribute, 0)
        assert type(own) is type(other)
    assert ours.__qualname__ == standard.__qualname__
    assert dataclasses.is_dataclass(ours)
    assert repr(ours.__dataclass_params__) == repr(standard.__dataclass_params__)
    shown = [
        [
            (one.name, one.type, one.init, one.repr, one.compare, one.kw_only, one._field_type.name)
            for one in kind.__dataclass_fields__.values()
        ]
        for kind in (ours, standard)
    ]
    assert shown[0] == shown[1]


def test_a_standard_dataclass_may_extend_one() -> None:
    @dataclasses.dataclass(frozen=True)
    class Extended(OURS.Places):  # type: ignore[misc,name-defined]
        extra: str = "x"

    made = Extended(1, (2,), "y", third=0.5)
    assert repr(made).endswith("Extended(first=1, second=(2,), third=0.5, extra='y')")
    assert [one.name for one in declaring.fields(made)] == ["first", "second", "third", "extra"]
    assert declaring.replace(made, extra="z") == Extended(1, (2,), "z", third=0.5)


def test_what_is_frozen_takes_no_other_names_and_what_extends_it_its_own() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'free'"):
        OURS.Places(1).free = 2
    plain = OURS.Plain(1)
    plain.free = 2
    assert plain.free == 2
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'first'"):
        del plain.first


def test_one_that_holds_itself_is_shown() -> None:
    made, standard = OURS.Single([]), STANDARD.Single([])
    for one in (made, standard):
        one.only.append(one)
    assert repr(made) == repr(standard) == "Single(only=[...])"


@pytest.mark.filterwarnings("ignore:oneiros.ranking is now:DeprecationWarning")
def test_every_class_of_the_package_is_one_to_the_standard_library() -> None:
    found = set()
    for module in pkgutil.walk_packages(oneiros.__path__, "oneiros."):
        if module.name.endswith("__main__"):
            continue
        try:
            held = importlib.import_module(module.name)
        except ImportError:  # of an extra that is not installed
            continue
        found |= {kind for kind in vars(held).values() if isinstance(kind, type)}
    declared = [kind for kind in found if declaring._FIELDS in vars(kind)]
    assert len(declared) > 150
    for kind in declared:
        ours = list(declaring.fields(kind))
        names = [one.name for one in ours]
        assert [one.name for one in dataclasses.fields(kind)] == names
        taken = [one.name for one in ours if one.init]
        assert sorted(inspect.signature(kind).parameters) == sorted(taken), kind


def test_making_classes_compiles_nothing() -> None:
    code = "import sys, oneiros.scoring.profile; assert 'dataclasses' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
