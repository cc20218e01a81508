"""Dataclasses, named tuples and typed dicts that compile nothing when they are declared.

The standard library writes the methods of each dataclass as source and compiles them at once, which
took a third of the time to the first search of a process. Here the methods are shared closures and
``__init__`` loops over the fields. It is compiled like the standard one after a few calls, on a
wrong call and when its signature is read. Behaviour, messages, ``repr()`` and hashes are those of
the standard library, whose ``fields()``, ``replace()`` and ``asdict()`` work too.

A class is made once, with all its methods: a method that is set later costs Python a walk over all
slots of the type.

Import these names from :mod:`oneiros.runtime.dataclasses`, where type checkers see those of the
standard library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from operator import attrgetter, itemgetter
from reprlib import recursive_repr
from types import FunctionType, MemberDescriptorType
from typing import Any, Final, NoReturn, TypeVar

__all__ = [
    "MISSING",
    "NamedTuple",
    "TypedDict",
    "asdict",
    "dataclass",
    "field",
    "fields",
    "replace",
]

Kind = TypeVar("Kind", bound=type)
Part = TypeVar("Part")

CALLS_UNTIL_COMPILED: Final = 10
"""Compiling ``__init__`` costs as much as so many calls of the loop."""


class _NamedTupleMaker(type):
    """A metaclass that turns subclasses of ``NamedTuple`` into plain subclasses of ``tuple``."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
        if not bases:
            return super().__new__(cls, name, bases, body)
        names = tuple(body["__annotations__"])
        defaults = {field: body[field] for field in names if field in body}
        made = {
            **_TUPLE_METHODS,
            **body,
            **{field: _attribute(place) for place, field in enumerate(names)},
            "__slots__": (),
            "__new__": _tuple_maker(name, names, tuple(defaults.values())),
            "_fields": names,
            "_field_defaults": defaults,
            "__match_args__": names,
        }
        made.setdefault("__doc__", f"{name}({', '.join(names)})")
        return type(name, (tuple,), made)


class NamedTuple(metaclass=_NamedTupleMaker):
    """``typing.NamedTuple`` without compiling the annotation of each field."""


@lru_cache(maxsize=64)
def _attribute(place: int) -> Any:
    """Return a descriptor of a field; CPython has a faster one than a property."""
    try:
        # As the standard library does.
        from _collections import _tuplegetter  # type: ignore[import-not-found]  # noqa: PLC0415
    except ImportError:
        return property(itemgetter(place))
    return _tuplegetter(place, "")


def _tuple_maker(
    name: str, names: tuple[str, ...], defaults: tuple[object, ...]
) -> Callable[..., Any]:
    """Return ``__new__`` of a named tuple: that of all with as many fields, with other names."""
    code = _code_of_size(len(names)).replace(co_varnames=("_cls", *names))
    maker = FunctionType(code, {"_new": tuple.__new__}, "__new__", defaults or None)
    maker.__qualname__ = f"{name}.__new__"
    return maker


@lru_cache(maxsize=64)
def _code_of_size(count: int) -> Any:
    names = "".join(f"_{place}, " for place in range(count))
    made: dict[str, Any] = {}
    exec(f"def __new__(_cls, {names}): return _new(_cls, ({names}))", made)  # noqa: S102 - numbers
    return made["__new__"].__code__


def _make(cls: Any, values: Iterable[object]) -> Any:
    """Return a new instance of the values."""
    made = tuple.__new__(cls, values)
    if len(made) != len(cls._fields):
        msg = f"Expected {len(cls._fields)} arguments, got {len(made)}"
        raise TypeError(msg)
    return made


def _changed(self: Any, /, **changes: object) -> Any:
    """Return a copy with other values of some fields."""
    made = self._make(map(changes.pop, self._fields, self))
    if changes:
        msg = f"Got unexpected field names: {list(changes)!r}"
        raise ValueError(msg)
    return made


def _shown(self: Any) -> str:
    shown = ", ".join([f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True)])
    return f"{type(self).__name__}({shown})"


_TUPLE_METHODS: Final[Mapping[str, object]] = {
    "_make": classmethod(_make),
    "_replace": _changed,
    "__replace__": _changed,
    "_asdict": lambda self: dict(zip(self._fields, self, strict=True)),
    "__repr__": _shown,
    "__getnewargs__": lambda self: (*self,),
}


class TypedDict:
    """``typing.TypedDict`` without compiling the annotation of each key; a call makes a dict."""

    __slots__ = ()

    def __new__(cls, /, **items: Any) -> Any:
        """Return the items."""
        return items

    def __init_subclass__(cls, *, total: bool = True) -> None:
        del total
        bases = cls.__mro__[-3::-1]  # without object and this class
        cls.__annotations__ = {
            name: annotation
            for base in bases
            for name, annotation in vars(base).get("__annotations__", {}).items()
        }


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


class _Owner:
    """The class that methods belong to; they are made before it is."""

    __slots__ = ("cls",)

    cls: type[Any]


def _declared(cls: Kind, *, slots: bool, frozen: bool, kw_only: bool, eq: bool, repr: bool) -> Kind:
    own_fields = _own_fields(cls, kw_only=kw_only)
    found: dict[str, FieldSpec] = {}
    for base in reversed(cls.__mro__[1:]):
        found |= base.__dict__.get(_FIELDS, {})
    found |= own_fields
    specs = [spec for spec in found.values() if spec.is_field]
    owner = _Owner()
    init = _Init(owner, specs, frozen=frozen)
    compared = _values_of([spec.name for spec in specs if spec.compare])
    methods: dict[str, Any] = {
        "__init__": init.first(cls),
        "__match_args__": tuple(spec.name for spec in specs if spec.init and not spec.kw_only),
        "__replace__": replace,
    }
    if repr:
        methods["__repr__"] = _repr_of([spec.name for spec in specs if spec.repr])
    if eq:
        methods["__eq__"] = _eq_of(compared)
    if frozen:
        methods |= _frozen(owner, frozenset(spec.name for spec in specs))
        methods |= _state(tuple(spec.name for spec in specs)) if slots else {}
    body = _slotted(cls, own_fields) if slots else dict(cls.__dict__)
    methods = {name: method for name, method in methods.items() if name not in body}
    if eq and ("__hash__" not in body or (body["__hash__"] is None and "__eq__" in body)):
        methods["__hash__"] = _hash_of(compared) if frozen else None
    methods |= {
        "__signature__": _Signature(init),
        _FIELDS: found,
        "__dataclass_fields__": _StandardFields(owner),
        "__dataclass_params__": _StandardParams(
            owner, slots=slots, frozen=frozen, kw_only=kw_only, eq=eq, repr=repr
        ),
    }
    if slots:
        body |= {**methods, "__qualname__": cls.__qualname__}
        metaclass: Any = type(cls)
        owner.cls = metaclass(cls.__name__, cls.__bases__, body)
    else:
        owner.cls = cls
        _put_defaults(cls, own_fields)
        for name, method in methods.items():
            setattr(cls, name, method)
    return owner.cls  # type: ignore[return-value]


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

    __slots__ = ("_fields", "_is_frozen", "_left", "_owner")

    def __init__(self, owner: _Owner, specs: list[FieldSpec], *, frozen: bool) -> None:
        self._owner, self._fields, self._is_frozen = owner, specs, frozen
        self._left = CALLS_UNTIL_COMPILED

    def first(self, cls: type[Any]) -> Callable[..., None]:
        """Return the ``__init__`` that loops over the fields, for a class like ``cls``."""
        plan = [(spec.name, spec.default, spec.default_factory, spec.init) for spec in self._fields]
        positional = [spec.name for spec in self._fields if spec.init and not spec.kw_only]
        put, has_post_init = object.__setattr__, hasattr(cls, "__post_init__")

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

        __init__.__qualname__ = f"{cls.__qualname__}.__init__"
        __init__.__module__ = cls.__module__
        return __init__

    def compiled(self) -> Callable[..., None]:
        """Compile ``__init__``, set it on the class and return it."""
        cls = self._owner.cls
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
        if hasattr(cls, "__post_init__"):
            lines.append("self.__post_init__()")
        parameters = ", ".join(["self", *plain, *(["*"] if keyword else []), *keyword])
        body = "\n ".join(lines or ["pass"])
        exec(f"def __init__({parameters}):\n {body}", known)  # noqa: S102 - only field names
        made: Any = known["__init__"]
        made.__qualname__ = f"{cls.__qualname__}.__init__"
        made.__module__ = cls.__module__
        made.__annotations__ = {spec.name: spec.type for spec in self._fields if spec.init}
        made.__annotations__["return"] = None
        cls.__init__ = made
        if "__signature__" in vars(cls):
            del cls.__signature__
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


def _frozen(owner: _Owner, names: frozenset[str]) -> dict[str, Any]:
    """Return the methods that forbid assignment and deletion."""

    def __setattr__(self: Any, name: str, value: Any) -> None:
        if type(self) is owner.cls or name in names:
            _refuse("assign to", name)
        super(owner.cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is owner.cls or name in names:
            _refuse("delete", name)
        super(owner.cls, self).__delattr__(name)

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

    __slots__ = ("_owner",)

    def __init__(self, owner: _Owner) -> None:
        self._owner = owner

    def __get__(self, instance: object, cls: type[Any]) -> dict[str, Any]:
        standard = _standard()
        found = {}
        for name, spec in getattr(self._owner.cls, _FIELDS).items():
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
        self._owner.cls.__dataclass_fields__ = found
        return found


class _StandardParams:
    """A ``__dataclass_params__`` that is made when it is read."""

    __slots__ = ("_owner", "_params")

    def __init__(self, owner: _Owner, **params: Any) -> None:
        self._owner, self._params = owner, params

    def __get__(self, instance: object, cls: type[Any]) -> Any:
        made = _standard().make_dataclass("Like", [], **self._params)
        self._owner.cls.__dataclass_params__ = made.__dataclass_params__
        return self._owner.cls.__dataclass_params__
