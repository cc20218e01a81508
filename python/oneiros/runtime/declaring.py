"""Dataclasses whose ``__init__`` is compiled on demand.

The standard library writes the methods of each dataclass as source and compiles them at once, which
took a third of the time to the first search of a process. Here the methods are shared closures and
``__init__`` loops over the fields. It is compiled like the standard one on its second call, on a
wrong call and when its signature is read. Behaviour, messages, ``repr()`` and hashes are those of
the standard library, whose ``fields()``, ``replace()`` and ``asdict()`` work too.

Import these names from :mod:`oneiros.runtime.dataclasses`, where type checkers see dataclasses.
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

# Compiling costs as much as ten calls. A class that is made twice is mostly made by every search.
CALLS_UNTIL_COMPILED: Final = 1


class _NamedTupleMaker(type):
    """A metaclass that turns subclasses of ``NamedTuple`` into plain subclasses of ``tuple``."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
        if not bases:
            return super().__new__(cls, name, bases, body)
        annotations = body["__annotations__"]
        defaults = [body[field] for field in annotations if field in body]
        make: Any = namedtuple  # type checkers require literal fields
        made: Any = make(name, annotations, defaults=defaults, module=body["__module__"])
        made.__annotations__ = annotations
        for attribute, value in body.items():
            if attribute not in annotations and attribute not in _SET_BY_NAMEDTUPLE:
                setattr(made, attribute, value)
        return made


_SET_BY_NAMEDTUPLE: Final = frozenset(("__annotations__", "__module__", "__qualname__"))


class NamedTuple(metaclass=_NamedTupleMaker):
    """``typing.NamedTuple`` without compiling the annotation of each field."""


class _Missing:
    """The type of ``MISSING``, the mark of a field without a default."""

    __slots__ = ()


class _Factory:
    """The default shown in a signature for a field with a ``default_factory``."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<factory>"


MISSING: Final = _Missing()
_FACTORY: Final = _Factory()
_FIELDS: Final = "_fields_declared"  # the class attribute with its fields


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


def field(
    *,
    default: Any = MISSING,
    default_factory: Any = MISSING,
    init: bool = True,
    repr: bool = True,
    compare: bool = True,
    kw_only: Any = MISSING,
) -> Any:
    """Declare a field, as ``dataclasses.field`` does."""
    return FieldSpec(default, default_factory, kw_only, init=init, repr=repr, compare=compare)


def dataclass(
    *,
    slots: bool = False,
    frozen: bool = False,
    kw_only: bool = False,
    eq: bool = True,
    repr: bool = True,
) -> Callable[[Kind], Kind]:
    """Return a class decorator, as ``dataclasses.dataclass`` does."""

    def declared(cls: Kind) -> Kind:
        return _declared(cls, slots=slots, frozen=frozen, kw_only=kw_only, eq=eq, repr=repr)

    return declared


def fields(declared: Any) -> tuple[Any, ...]:
    """Return the fields, as ``dataclasses.fields`` does, of a class made here or elsewhere."""
    found = _fields_of(declared if isinstance(declared, type) else type(declared))
    if found is None:
        return _standard().fields(declared)  # type: ignore[no-any-return]
    return tuple(spec for spec in found.values() if spec.is_field)


def replace(declared: Part, /, **changes: Any) -> Part:
    """Return a changed copy, as ``dataclasses.replace`` does."""
    found = _fields_of(type(declared))
    if found is None:
        return _standard().replace(declared, **changes)  # type: ignore[no-any-return]
    for spec in found.values():
        if not spec.is_field:
            continue
        if not spec.init:
            if spec.name in changes:
                msg = (
                    f"field {spec.name} is declared with init=False, "
                    "it cannot be specified with replace()"
                )
                raise ValueError(msg)
        elif spec.name not in changes:
            changes[spec.name] = getattr(declared, spec.name)
    return type(declared)(**changes)


def asdict(declared: Any) -> dict[str, Any]:
    """Return the fields as a dict, as ``dataclasses.asdict`` does."""
    return _standard().asdict(declared)  # type: ignore[no-any-return]


def _standard() -> Any:
    """Import the standard module, which is slow to load: it imports ``inspect``."""
    import dataclasses  # noqa: PLC0415 - see the docstring

    return dataclasses


def _fields_of(cls: type[Any]) -> dict[str, FieldSpec] | None:
    """Return the fields of the nearest class in the MRO that was made here.

    None if there is none, or if a dataclass of the standard library comes first.
    """
    for base in cls.__mro__:
        if _FIELDS in base.__dict__:
            found: dict[str, FieldSpec] = base.__dict__[_FIELDS]
            return found
        if "__dataclass_fields__" in base.__dict__:
            return None
    return None


def _declared(cls: Kind, *, slots: bool, frozen: bool, kw_only: bool, eq: bool, repr: bool) -> Kind:
    own_fields = _own_fields(cls, kw_only=kw_only)
    found: dict[str, FieldSpec] = {}
    for base in reversed(cls.__mro__[1:]):
        found |= base.__dict__.get(_FIELDS, {})
    found |= own_fields
    body, made = dict(cls.__dict__), cast("Any", cls)
    if slots:
        body = _slotted(cls, own_fields)
        made = type(cls)(cls.__name__, cls.__bases__, body)  # type: ignore[misc]
        made.__qualname__ = cls.__qualname__
    else:
        _put_defaults(cls, own_fields)
    specs = [spec for spec in found.values() if spec.is_field]
    methods: dict[str, Any] = {
        "__init__": _Init(made, specs, frozen=frozen).first(),
        "__match_args__": tuple(spec.name for spec in specs if spec.init and not spec.kw_only),
        "__replace__": replace,
    }
    compared = _values_of([spec.name for spec in specs if spec.compare])
    if repr:
        methods["__repr__"] = _repr_of([spec.name for spec in specs if spec.repr])
    if eq:
        methods["__eq__"] = _eq_of(compared)
    if frozen:
        methods |= _frozen(made, frozenset(spec.name for spec in specs))
        methods |= _state(tuple(spec.name for spec in specs)) if slots else {}
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
    """Return the fields and class variables that the class itself annotates."""
    annotations: dict[str, str] = cls.__dict__.get("__annotations__") or {}  # noqa: RUF063 - no inspect
    found = {}
    for name, annotation in annotations.items():
        default = cls.__dict__.get(name, MISSING)
        if isinstance(default, FieldSpec):
            spec = default
        else:
            if isinstance(default, MemberDescriptorType):
                default = MISSING
            spec = FieldSpec(default, MISSING, MISSING, init=True, repr=True, compare=True)
        spec.name, spec.type = name, annotation
        spec.is_field = not annotation.startswith("ClassVar")
        if spec.is_field and spec.kw_only is MISSING:
            spec.kw_only = kw_only
        found[name] = spec
    return found


def _put_defaults(cls: type[Any], own_fields: dict[str, FieldSpec]) -> None:
    """Set the defaults of fields as attributes of the class."""
    for name, spec in own_fields.items():
        if isinstance(cls.__dict__.get(name), FieldSpec):
            if spec.default is MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, spec.default)


def _slotted(cls: type[Any], own_fields: dict[str, FieldSpec]) -> dict[str, Any]:
    """Return the namespace of the class with slots for its fields."""
    body = dict(cls.__dict__)
    names = [name for name, spec in own_fields.items() if spec.is_field]
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
    """The maker of a class's ``__init__``: first as a loop over the fields, later compiled."""

    __slots__ = ("_cls", "_fields", "_is_frozen", "_left")

    def __init__(self, cls: type[Any], specs: list[FieldSpec], *, frozen: bool) -> None:
        self._cls, self._fields, self._is_frozen = cls, specs, frozen
        self._left = CALLS_UNTIL_COMPILED
        cls.__signature__ = _Signature(self)

    def first(self) -> Callable[..., None]:
        """Return the ``__init__`` that loops over the fields."""
        plan = [(spec.name, spec.default, spec.default_factory, spec.init) for spec in self._fields]
        positional = [spec.name for spec in self._fields if spec.init and not spec.kw_only]
        put, has_post_init = object.__setattr__, hasattr(self._cls, "__post_init__")

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
            if has_post_init:
                self_.__post_init__()
            return None

        __init__.__qualname__ = f"{self._cls.__qualname__}.__init__"
        __init__.__module__ = self._cls.__module__
        return __init__

    def compiled(self) -> Callable[..., None]:
        """Compile ``__init__``, set it on the class and return it."""
        known: dict[str, Any] = {"_put": object.__setattr__, "_factory": _FACTORY}
        plain: list[str] = []
        keyword: list[str] = []
        lines: list[str] = []
        for spec in self._fields:
            value = spec.name
            if spec.init:
                (keyword if spec.kw_only else plain).append(_parameter(spec, known))
            if spec.default_factory is not MISSING:
                known[f"_make_{spec.name}"] = spec.default_factory
                value = f"_make_{spec.name}()"
                if spec.init:
                    value = f"{value} if {spec.name} is _factory else {spec.name}"
            elif not spec.init:
                if spec.default is MISSING:
                    continue
                known[f"_default_{spec.name}"] = spec.default
                value = f"_default_{spec.name}"
            put = f"_put(self, {spec.name!r}, {value})" if self._is_frozen else ""
            lines.append(put or f"self.{spec.name} = {value}")
        if hasattr(self._cls, "__post_init__"):
            lines.append("self.__post_init__()")
        parameters = ", ".join(["self", *plain, *(["*"] if keyword else []), *keyword])
        body = "\n ".join(lines or ["pass"])
        exec(f"def __init__({parameters}):\n {body}", known)  # noqa: S102 - only field names
        made: Any = known["__init__"]
        made.__qualname__ = f"{self._cls.__qualname__}.__init__"
        made.__module__ = self._cls.__module__
        made.__annotations__ = {spec.name: spec.type for spec in self._fields if spec.init}
        made.__annotations__["return"] = None
        self._cls.__init__ = made
        if "__signature__" in vars(self._cls):
            del self._cls.__signature__
        return made  # type: ignore[no-any-return]


def _parameter(spec: FieldSpec, known: dict[str, Any]) -> str:
    if spec.default is not MISSING:
        known[f"_default_{spec.name}"] = spec.default
        return f"{spec.name}=_default_{spec.name}"
    return f"{spec.name}=_factory" if spec.default_factory is not MISSING else spec.name


class _Signature:
    """A ``__signature__`` that compiles ``__init__`` when it is read."""

    __slots__ = ("_init",)

    def __init__(self, init: _Init) -> None:
        self._init = init

    def __get__(self, instance: object, cls: type[Any]) -> NoReturn:
        self._init.compiled()
        msg = "__signature__"
        raise AttributeError(msg)  # so that the signature of the compiled __init__ is used


def _values_of(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda declared: tuple([getattr(declared, name) for name in names])


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
    """Return the methods that forbid assignment and deletion."""

    def __setattr__(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            _refuse("assign to", name)
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            _refuse("delete", name)
        super(cls, self).__delattr__(name)

    return {"__setattr__": __setattr__, "__delattr__": __delattr__}


def _refuse(action: str, name: str) -> NoReturn:
    msg = f"cannot {action} field {name!r}"
    raise _standard().FrozenInstanceError(msg)


def _state(names: tuple[str, ...]) -> dict[str, Any]:
    """Return the methods by which frozen instances with slots are pickled and copied."""

    def __getstate__(self: Any) -> list[Any]:
        return [getattr(self, name) for name in names]

    def __setstate__(self: Any, state: list[Any]) -> None:
        for name, value in zip(names, state, strict=False):
            object.__setattr__(self, name, value)

    return {"__getstate__": __getstate__, "__setstate__": __setstate__}


class _StandardFields:
    """A ``__dataclass_fields__`` that is made when it is read."""

    __slots__ = ("_cls",)

    def __init__(self, cls: type[Any]) -> None:
        self._cls = cls

    def __get__(self, instance: object, cls: type[Any]) -> dict[str, Any]:
        standard = _standard()
        found = {}
        for name, spec in getattr(self._cls, _FIELDS).items():
            values = (spec.default, spec.default_factory, spec.kw_only)
            default, factory, kw_only = [
                standard.MISSING if value is MISSING else value for value in values
            ]
            made = standard.field(
                default=default,
                default_factory=factory,
                init=spec.init,
                repr=spec.repr,
                compare=spec.compare,
                kw_only=kw_only,
            )
            made.name, made.type = name, spec.type
            made._field_type = standard._FIELD if spec.is_field else standard._FIELD_CLASSVAR
            found[name] = made
        self._cls.__dataclass_fields__ = found
        return found


class _StandardParams:
    """A ``__dataclass_params__`` that is made when it is read."""

    __slots__ = ("_cls", "_params")

    def __init__(self, cls: type[Any], **params: Any) -> None:
        self._cls, self._params = cls, params

    def __get__(self, instance: object, cls: type[Any]) -> Any:
        made = _standard().make_dataclass("Like", [], **self._params)
        self._cls.__dataclass_params__ = made.__dataclass_params__
        return self._cls.__dataclass_params__
