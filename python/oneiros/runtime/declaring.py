"""Dataclasses whose code is made when it is first needed.

The standard library writes the methods of each dataclass as source and compiles it at once, which
took a third of the time to a process's first answer. Here a class has methods shared by all, and an
``__init__`` that works through its fields; one that is called a second time, or called wrongly, or
looked at, is compiled like the standard one. Classes, messages, representations, hashes and ``dataclasses.fields()``, ``replace()`` and ``asdict()`` of them are the same.

Import these names from :mod:`oneiros.runtime.dataclasses`, through which type checkers see dataclasses.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator
from operator import attrgetter
from reprlib import recursive_repr
from types import MemberDescriptorType
from typing import Any, Final, NoReturn, TypeVar, cast

__all__ = ["MISSING", "NamedTuple", "asdict", "dataclass", "field", "fields", "replace"]

Kind = TypeVar("Kind", bound="type[Any]")
Part = TypeVar("Part")

# Compiling takes as long as ten calls; what is made a second time is mostly made by every search.
CALLS_UNTIL_COMPILED: Final = 1


class _NamedTupleMaker(type):
    """Makes a plain subclass of ``tuple`` of each class that names ``NamedTuple`` as its base."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
        if not bases:
            return super().__new__(cls, name, bases, body)
        annotations = body["__annotations__"]
        defaults = [body[field] for field in annotations if field in body]
        make: Any = namedtuple  # checkers want to see the fields
        made: Any = make(name, annotations, defaults=defaults, module=body["__module__"])
        made.__annotations__ = annotations
        for attribute, value in body.items():
            if attribute not in annotations and attribute not in _OWN_OF_TUPLES:
                setattr(made, attribute, value)
        return made


_OWN_OF_TUPLES: Final = frozenset(("__annotations__", "__module__", "__qualname__"))


class NamedTuple(metaclass=_NamedTupleMaker):
    """As ``typing.NamedTuple``, which compiles the annotation of each field."""


class _Missing:
    """Stands for a default that there is not."""

    __slots__ = ()


class _Factory:
    """Stands in a signature for what a factory makes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<factory>"


MISSING: Final = _Missing()
_FACTORY: Final = _Factory()
_FIELDS: Final = "_fields_declared"  # the name under which a class has its fields


class FieldSpec:
    """A field of a class, or a class variable (``is_field`` is False)."""

    __slots__ = (
        *("compare", "default", "default_factory", "init", "is_field"),
        *("kw_only", "name", "repr", "type"),
    )

    def __init__(
        self,
        default: Any,
        default_factory: Any,
        kw_only: Any,
        *,
        init: bool,
        repr: bool,
        compare: bool,
    ) -> None:
        self.name = self.type = ""
        self.default, self.default_factory, self.kw_only = default, default_factory, kw_only
        self.init, self.repr, self.compare = init, repr, compare
        self.is_field = True

    @property
    def is_optional(self) -> bool:
        """Whether a call may leave it out."""
        return self.default is not MISSING or self.default_factory is not MISSING


def field(
    *,
    default: Any = MISSING,
    default_factory: Any = MISSING,
    init: bool = True,
    repr: bool = True,
    compare: bool = True,
    kw_only: Any = MISSING,
) -> Any:
    """As ``dataclasses.field``."""
    return FieldSpec(default, default_factory, kw_only, init=init, repr=repr, compare=compare)


def dataclass(
    *,
    slots: bool = False,
    frozen: bool = False,
    kw_only: bool = False,
    eq: bool = True,
    repr: bool = True,
) -> Callable[[Kind], Kind]:
    """As ``dataclasses.dataclass``."""

    def declared(cls: Kind) -> Kind:
        return _declared(cls, slots=slots, frozen=frozen, kw_only=kw_only, eq=eq, repr=repr)

    return declared


def fields(declared: Any) -> tuple[Any, ...]:
    """As ``dataclasses.fields``, of classes made here and of others."""
    found = _fields_of(declared if isinstance(declared, type) else type(declared))
    if found is None:
        import dataclasses  # noqa: PLC0415 - of another's class

        return dataclasses.fields(declared)
    return tuple(one for one in found.values() if one.is_field)


def replace(declared: Part, /, **changes: Any) -> Part:
    """As ``dataclasses.replace``."""
    found = _fields_of(type(declared))
    if found is None:
        import dataclasses  # noqa: PLC0415 - of another's class

        return dataclasses.replace(declared, **changes)  # type: ignore[type-var]
    for one in found.values():
        if not one.is_field:
            continue
        if not one.init:
            if one.name in changes:
                msg = (
                    f"field {one.name} is declared with init=False, "
                    "it cannot be specified with replace()"
                )
                raise ValueError(msg)
        elif one.name not in changes:
            changes[one.name] = getattr(declared, one.name)
    return type(declared)(**changes)


def asdict(declared: Any) -> dict[str, Any]:
    """As ``dataclasses.asdict``."""
    import dataclasses  # noqa: PLC0415 - few ask

    return dataclasses.asdict(declared)


def _fields_of(cls: type[Any]) -> dict[str, FieldSpec] | None:
    """The fields of a class that was made here, or of the nearest base; None: it was not made here."""
    for base in cls.__mro__:
        if _FIELDS in base.__dict__:
            own: dict[str, FieldSpec] = base.__dict__[_FIELDS]
            return own
        if "__dataclass_fields__" in base.__dict__:
            return None
    return None


def _declared(cls: Kind, *, slots: bool, frozen: bool, kw_only: bool, eq: bool, repr: bool) -> Kind:
    own = _own_fields(cls, kw_only=kw_only)
    found: dict[str, FieldSpec] = {}
    for base in reversed(cls.__mro__[1:]):
        found |= base.__dict__.get(_FIELDS, {})
    found |= own
    body, made = dict(cls.__dict__), cast("Any", cls)
    if slots:
        body = _slotted(cls, own)
        made = type(cls)(cls.__name__, cls.__bases__, body)  # type: ignore[misc]
        made.__qualname__ = cls.__qualname__
    else:
        _put_defaults(cls, own)
    every = [one for one in found.values() if one.is_field]
    methods: dict[str, Any] = {
        "__init__": _Init(made, every, frozen=frozen).first(),
        "__match_args__": tuple(one.name for one in every if one.init and not one.kw_only),
        "__replace__": replace,
    }
    compared = _values_of([one.name for one in every if one.compare])
    if repr:
        methods["__repr__"] = _repr_of([one.name for one in every if one.repr])
    if eq:
        methods["__eq__"] = _eq_of(compared)
    if frozen:
        methods |= _frozen(made, frozenset(one.name for one in every))
        methods |= _state(tuple(one.name for one in every)) if slots else {}
    for name, method in methods.items():
        if name not in body:
            setattr(made, name, method)
    if eq and ("__hash__" not in body or (body["__hash__"] is None and "__eq__" in body)):
        made.__hash__ = _hash_of(compared) if frozen else None
    setattr(made, _FIELDS, found)
    made.__dataclass_fields__ = _StandardFields(made)
    made.__dataclass_params__ = _StandardParams(
        made, slots=slots, frozen=frozen, kw_only=kw_only, eq=eq, repr=repr
    )
    return made  # type: ignore[no-any-return]


def _own_fields(cls: type[Any], *, kw_only: bool) -> dict[str, FieldSpec]:
    """The fields that a class names, and its class variables."""
    annotations: dict[str, str] = cls.__dict__.get("__annotations__") or {}  # noqa: RUF063 - no inspect
    found = {}
    for name, annotation in annotations.items():
        default = cls.__dict__.get(name, MISSING)
        if isinstance(default, FieldSpec):
            one = default
        else:
            if isinstance(default, MemberDescriptorType):
                default = MISSING
            one = FieldSpec(default, MISSING, MISSING, init=True, repr=True, compare=True)
        one.name, one.type = name, annotation
        one.is_field = not annotation.startswith("ClassVar")
        if one.is_field and one.kw_only is MISSING:
            one.kw_only = kw_only
        found[name] = one
    return found


def _put_defaults(cls: type[Any], own: dict[str, FieldSpec]) -> None:
    """Leave the defaults of fields as attributes of the class."""
    for name, one in own.items():
        if isinstance(cls.__dict__.get(name), FieldSpec):
            if one.default is MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, one.default)


def _slotted(cls: type[Any], own: dict[str, FieldSpec]) -> dict[str, Any]:
    """The body of the class that has slots for its fields."""
    body = dict(cls.__dict__)
    names = [name for name, one in own.items() if one.is_field]
    for name in (*names, "__dict__", "__weakref__"):
        body.pop(name, None)
    inherited = {
        name for base in cls.__mro__[1:-1] for name in _names(base.__dict__.get("__slots__", ()))
    }
    body["__slots__"] = tuple(name for name in names if name not in inherited)
    return body


def _names(slots: Any) -> Iterator[str]:
    return iter((slots,) if isinstance(slots, str) else slots)


class _Init:
    """Makes a class's ``__init__``: one that works through the fields, then one that is compiled."""

    __slots__ = ("_cls", "_fields", "_is_frozen", "_left")

    def __init__(self, cls: type[Any], every: list[FieldSpec], *, frozen: bool) -> None:
        self._cls, self._fields, self._is_frozen = cls, every, frozen
        self._left = CALLS_UNTIL_COMPILED
        cls.__signature__ = _Signature(self)

    def first(self) -> Callable[..., None]:
        """Return the first one, which needs no compiling."""
        plan = [(one.name, one.default, one.default_factory, one.init) for one in self._fields]
        positional = [one.name for one in self._fields if one.init and not one.kw_only]
        put, has_end = object.__setattr__, hasattr(self._cls, "__post_init__")

        def __init__(self_: Any, /, *args: Any, **kwargs: Any) -> None:
            self._left -= 1
            rest = dict(zip(positional, args, strict=False))
            if self._left < 0 or len(rest) < len(args) or not rest.keys().isdisjoint(kwargs):
                return self.compiled()(self_, *args, **kwargs)
            rest |= kwargs
            for name, default, factory, is_given in plan:
                if is_given and name in rest:
                    value = rest.pop(name)
                elif factory is not MISSING:
                    value = factory()
                elif default is not MISSING:
                    value = default
                elif is_given:
                    return self.compiled()(self_, *args, **kwargs)
                else:
                    continue
                put(self_, name, value)
            if rest:
                return self.compiled()(self_, *args, **kwargs)
            if has_end:
                self_.__post_init__()
            return None

        __init__.__qualname__ = f"{self._cls.__qualname__}.__init__"
        __init__.__module__ = self._cls.__module__
        return __init__

    def compiled(self) -> Callable[..., None]:
        """Return the one that is compiled, and has the class use it."""
        known: dict[str, Any] = {"_put": object.__setattr__, "_factory": _FACTORY}
        plain: list[str] = []
        keyword: list[str] = []
        lines: list[str] = []
        for one in self._fields:
            value = one.name
            if one.init:
                (keyword if one.kw_only else plain).append(_parameter(one, known))
            if one.default_factory is not MISSING:
                known[f"_make_{one.name}"] = one.default_factory
                value = f"_make_{one.name}()"
                if one.init:
                    value = f"{value} if {one.name} is _factory else {one.name}"
            elif not one.init:
                if one.default is MISSING:
                    continue
                known[f"_default_{one.name}"] = one.default
                value = f"_default_{one.name}"
            put = f"_put(self, {one.name!r}, {value})" if self._is_frozen else ""
            lines.append(put or f"self.{one.name} = {value}")
        if hasattr(self._cls, "__post_init__"):
            lines.append("self.__post_init__()")
        parameters = ", ".join(["self", *plain, *(["*"] if keyword else []), *keyword])
        body = "\n ".join(lines or ["pass"])
        exec(f"def __init__({parameters}):\n {body}", known)  # noqa: S102 - of the fields' names
        made: Any = known["__init__"]
        made.__qualname__ = f"{self._cls.__qualname__}.__init__"
        made.__module__ = self._cls.__module__
        made.__annotations__ = {one.name: one.type for one in self._fields if one.init}
        made.__annotations__["return"] = None
        self._cls.__init__ = made
        if "__signature__" in vars(self._cls):
            del self._cls.__signature__
        return made  # type: ignore[no-any-return]


def _parameter(one: FieldSpec, known: dict[str, Any]) -> str:
    if one.default is not MISSING:
        known[f"_default_{one.name}"] = one.default
        return f"{one.name}=_default_{one.name}"
    return f"{one.name}=_factory" if one.default_factory is not MISSING else one.name


class _Signature:
    """Has the ``__init__`` compiled when somebody looks at a class's signature."""

    __slots__ = ("_init",)

    def __init__(self, init: _Init) -> None:
        self._init = init

    def __get__(self, instance: object, cls: type[Any]) -> NoReturn:
        self._init.compiled()
        msg = "__signature__"
        raise AttributeError(msg)  # so the compiled one is looked at


def _values_of(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda one: tuple([getattr(one, name) for name in names])


def _repr_of(names: list[str]) -> Callable[[Any], str]:
    @recursive_repr("...")
    def __repr__(self: Any) -> str:
        shown = ", ".join([f"{name}={getattr(self, name)!r}" for name in names])
        return f"{type(self).__qualname__}({shown})"

    return __repr__


def _eq_of(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any, Any], bool]:
    def __eq__(self: Any, other: Any) -> bool:
        if type(other) is type(self):
            return values(self) == values(other)
        return NotImplemented

    return __eq__


def _hash_of(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any], int]:
    def __hash__(self: Any) -> int:
        return hash(values(self))

    return __hash__


def _frozen(cls: type[Any], names: frozenset[str]) -> dict[str, Any]:
    """The methods that refuse changes."""

    def __setattr__(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            _refuse("assign to", name)
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            _refuse("delete", name)
        super(cls, self).__delattr__(name)

    return {"__setattr__": __setattr__, "__delattr__": __delattr__}


def _refuse(what: str, name: str) -> NoReturn:
    from dataclasses import FrozenInstanceError  # noqa: PLC0415 - nobody does so

    msg = f"cannot {what} field {name!r}"
    raise FrozenInstanceError(msg)


def _state(names: tuple[str, ...]) -> dict[str, Any]:
    """The methods that pickling and copying use, past those that refuse changes."""

    def __getstate__(self: Any) -> list[Any]:
        return [getattr(self, name) for name in names]

    def __setstate__(self: Any, state: list[Any]) -> None:
        for name, value in zip(names, state, strict=False):
            object.__setattr__(self, name, value)

    return {"__getstate__": __getstate__, "__setstate__": __setstate__}


class _StandardFields:
    """Makes the fields as the standard library has them, once somebody asks for these."""

    __slots__ = ("_cls",)

    def __init__(self, cls: type[Any]) -> None:
        self._cls = cls

    def __get__(self, instance: object, cls: type[Any]) -> dict[str, Any]:
        import dataclasses  # noqa: PLC0415

        standard: Any = dataclasses
        found = {}
        for name, one in getattr(self._cls, _FIELDS).items():
            values = (one.default, one.default_factory, one.kw_only)
            default, factory, kw_only = [
                standard.MISSING if value is MISSING else value for value in values
            ]
            made = standard.field(
                default=default,
                default_factory=factory,
                init=one.init,
                repr=one.repr,
                compare=one.compare,
                kw_only=kw_only,
            )
            made.name, made.type = name, one.type
            made._field_type = standard._FIELD if one.is_field else standard._FIELD_CLASSVAR
            found[name] = made
        self._cls.__dataclass_fields__ = found
        return found


class _StandardParams:
    """Makes the record of how a class was made, as the standard library has it."""

    __slots__ = ("_cls", "_params")

    def __init__(self, cls: type[Any], **params: Any) -> None:
        self._cls, self._params = cls, params

    def __get__(self, instance: object, cls: type[Any]) -> Any:
        import dataclasses  # noqa: PLC0415

        made = dataclasses.make_dataclass("Like", [], **self._params)
        self._cls.__dataclass_params__ = made.__dataclass_params__  # type: ignore[attr-defined]
        return self._cls.__dataclass_params__
