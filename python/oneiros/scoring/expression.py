"""Custom factors written as formulas: the parser of their texts, and the factor.

Python's ``ast`` parses the text; each node is checked and flattened.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping, Sequence
from keyword import iskeyword
from math import nan
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias, TypeVar

from oneiros._lazy import np
from oneiros.model.fields import ENUMS
from oneiros.model.validation import (
    require_choice,
    require_match,
    settle,
    settle_flags,
    unmasked,
)
from oneiros.runtime.dataclasses import dataclass, field
from oneiros.scoring.expression_steps import (
    CONSTANTS,
    NUMBERS,
    WORD_FIELDS,
    IsOneOf,
    Name,
    Step,
    Steps,
    emit,
    likely,
)
from oneiros.scoring.factor import Operation
from oneiros.scoring.program import ProgramBuilder

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = [
    "LONGEST_TEXT",
    "MOST_NODES",
    "OPERATIONS",
    "Expression",
    "parse",
    "require_name",
    "require_words",
    "wrong",
]

LONGEST_TEXT: Final = 4096
"""Most bytes of one expression, in UTF-8."""

MOST_NODES: Final = 256
"""Most values, operations and calls of one expression."""

_DEEPEST: Final = 64
_MOST_TOKENS: Final = 2 * MOST_NODES
"""Values and operators; an expression of 256 nodes has fewer."""

_TOKEN: Final = re.compile(
    r"""(?P<space>[ \t\r\n]+)
      | (?P<quoted>'[^'\\\x00-\x1f\x7f]*' | "[^"\\\x00-\x1f\x7f]*")
      | (?P<number>(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?(?![\w.]))
      | (?P<word>[A-Za-z_][A-Za-z0-9_]*(?![A-Za-z0-9_"']))
      | (?P<bracket>[()\[\]])
      | (?P<comma>,)
      | (?P<operator>\*\*|[<>=!]=|[-+*/<>](?![=/>]))""",
    re.VERBOSE,
)
_KEYWORDS: Final = frozenset(("and", "or", "not", "if", "else", "in", "True", "False"))
_WRONG: Final = (  # a pattern of text that is no token, and the problem to report
    (re.compile(r"""[A-Za-z_]\w*["']"""), "a quoted word takes no prefix"),
    (re.compile(r"[0-9.]*[0-9][\w.]*"), "this is no decimal number"),
    (re.compile(r"""["']"""), "a quoted word ends on its line and holds no backslash"),
    (re.compile(r"\."), "attributes are not part of the language"),
    (re.compile(r":=|[-+*/%@&|^<>]*="), "nothing is assigned here; equality is =="),
    (re.compile(r"//"), "write floor(a / b)"),
    (re.compile(r"[{}:]"), "lists stand in ( ) or [ ], nothing else is needed"),
    (re.compile(r"(?s)."), "this sign is not part of the language"),
)


def wrong(column: int, problem: str) -> ValueError:
    """Return the error for a problem at ``column``, counted from 1."""
    return ValueError(f"text: column {column}: {problem}")


def require_words(text: str) -> None:
    """Check size and tokens of a text before it is parsed.

    Raises:
        ValueError: empty, over 4 KiB, brackets deeper than 64, more values and operators than any
            expression has, or a sign or word outside the language; the message has the column.
    """
    _require_length(text)
    place = tokens = depth = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise _wrong_at(text, place)
        kind, token = match.lastgroup, match.group()
        if kind == "word" and iskeyword(token) and token not in _KEYWORDS:
            raise wrong(place + 1, f"{token} is not part of the language")
        if kind == "bracket":
            depth += 1 if token in "([" else -1
            if depth > _DEEPEST:
                raise wrong(place + 1, f"brackets are nested deeper than {_DEEPEST}")
        tokens += kind in ("quoted", "number", "word", "operator") and token != "else"
        if tokens > _MOST_TOKENS:
            raise wrong(place + 1, f"an expression has at most {MOST_NODES} nodes")
        place = match.end()


def _require_length(text: str) -> None:
    try:
        length = len(text.encode())
    except UnicodeEncodeError as error:
        raise wrong(error.start + 1, "a lone surrogate is no text") from error
    if length > LONGEST_TEXT:
        msg = f"text: at most {LONGEST_TEXT} bytes, got {length}"
        raise ValueError(msg)
    if not text.strip():
        msg = "text: an expression must not be empty"
        raise ValueError(msg)


def _wrong_at(text: str, place: int) -> ValueError:
    matches = ((pattern.match(text, place), problem) for pattern, problem in _WRONG)
    match, problem = next(pair for pair in matches if pair[0])  # the last pattern matches any sign
    assert match is not None
    return wrong(place + 1, f"{problem}, got {match.group()[:40]!r}")


@dataclass(frozen=True, slots=True)
class _Words:
    """Quoted words, alone or in a list; valid only in a comparison with a word field."""

    words: tuple[str, ...]
    is_list: bool = False


@dataclass(frozen=True, slots=True)
class _WordField:
    """A word field; valid only in a comparison with quoted words."""

    field: str


@dataclass(frozen=True, slots=True)
class _List:
    """Numbers in a list; valid only after ``in``."""

    steps: tuple[int, ...]


_Value: TypeAlias = int | _Words | _WordField | _List

_BINARY: Final[dict[type[ast.operator], str]] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.Pow: "power",
}
_COMPARISONS: Final[dict[type[ast.cmpop], str]] = {
    ast.Lt: "less",
    ast.LtE: "less_equal",
    ast.Gt: "greater",
    ast.GtE: "greater_equal",
    ast.Eq: "equal",
    ast.NotEq: "not_equal",
}
_FUNCTIONS: Final = {  # name -> kernel, fewest and most arguments
    "exp": ("exp", 1, 1),
    "log": ("log", 1, 1),
    "log1p": ("log1p", 1, 1),
    "log2": ("log2", 1, 1),
    "sqrt": ("sqrt", 1, 1),
    "abs": ("absolute", 1, 1),
    "floor": ("floor", 1, 1),
    "isnan": ("is_nan", 1, 1),
    "pow": ("power", 2, 2),
    "min": ("minimum", 2, MOST_NODES),
    "max": ("maximum", 2, MOST_NODES),
    "clip": ("clip", 3, 3),
    "where": ("select", 3, 3),
}


def parse(text: str) -> tuple[Step, ...]:
    """Return the steps of an expression; the last one is its value.

    Raises:
        ValueError: names the problem and its column, counted from 1.
    """
    require_words(text)
    line = "".join(" " if sign in "\t\r\n" else sign for sign in text)
    try:
        tree = ast.parse(line.lstrip(), mode="eval").body
    except SyntaxError as error:
        indent = len(line) - len(line.lstrip())
        column = min(indent + error.offset, len(line)) if error.offset else len(line)
        raise wrong(column, error.msg) from error
    except (RecursionError, MemoryError) as error:  # the caller's stack is deep
        msg = "text: nested too deeply"
        raise ValueError(msg) from error
    return _Reader(line).read(tree)


class _Reader:
    """Converts a tree into steps, without recursion."""

    def __init__(self, line: str) -> None:
        self._line = line
        self._indent = len(line) - len(line.lstrip())
        self._steps = Steps()
        self._values: dict[ast.expr, _Value] = {}

    def read(self, tree: ast.expr) -> tuple[Step, ...]:
        nodes = _children_first(tree)
        if len(nodes) > MOST_NODES:
            column = sorted(map(self._column, nodes))[MOST_NODES]
            raise wrong(column, f"an expression has at most {MOST_NODES} nodes")
        called = {node.func for node in nodes if isinstance(node, ast.Call)}
        for node in nodes:
            if isinstance(node, ast.expr) and node not in called:
                self._values[node] = self._value(node)
        return self._steps.up_to(self._number(tree))

    def _value(self, node: ast.expr) -> _Value:
        match node:
            case ast.Constant(value=value):
                return self._literal(node, value)
            case ast.Name(id=name):
                return self._named(node, name)
            case ast.UnaryOp():
                return self._unary(node)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                return self._steps.call(_BINARY[type(op)], self._number(left), self._number(right))
            case ast.BoolOp(op=op, values=values):
                return self._fold_logic(op, [self._number(value) for value in values])
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._steps.call("select", *map(self._number, (test, body, orelse)))
            case ast.Compare():
                return self._compare(node)
            case ast.Call():
                return self._function(node)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return self._list(node, items)
        raise wrong(self._column(node), "this is not part of the language")

    # --- leaves -----------------------------------------------------------------------------------

    def _literal(self, node: ast.expr, value: object) -> _Value:
        if isinstance(value, str):
            return _Words((value,))
        if not isinstance(value, int | float):
            raise wrong(self._column(node), f"{value!r} is not part of the language")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isinf(number):
            raise wrong(self._column(node), "no float64 is so large; infinity is written inf")
        return self._steps.constant(number)

    def _named(self, node: ast.expr, name: str) -> _Value:
        if name in WORD_FIELDS:
            return _WordField(name)
        if name in CONSTANTS:
            return self._steps.constant(CONSTANTS[name])
        if name in NUMBERS:
            return self._steps.name(name)
        if name in _FUNCTIONS:
            raise wrong(self._column(node), f"{name} is a function: write {name}(...)")
        meant = likely(name, (*NUMBERS, *WORD_FIELDS, *CONSTANTS))
        raise wrong(self._column(node), f"no field is called {name}; {meant}")

    def _list(self, node: ast.expr, items: list[ast.expr]) -> _Value:
        values = [self._values[item] for item in items]
        if values and all(isinstance(value, _Words) for value in values):
            words = (word for value in values if isinstance(value, _Words) for word in value.words)
            return _Words(tuple(words), is_list=True)
        if not values:
            raise wrong(self._column(node), "a list must not be empty")
        return _List(tuple(map(self._number, items)))

    def _number(self, node: ast.expr) -> int:
        match self._values[node]:
            case int(step):
                return step
            case _WordField(field=field):
                raise wrong(self._column(node), f"{field} holds words: compare it with == or in")
            case _Words():
                raise wrong(
                    self._column(node), f"a word stands only beside {', '.join(WORD_FIELDS)}"
                )
            case _List():
                raise wrong(self._column(node), "a list stands only after in")

    # --- operations -------------------------------------------------------------------------------

    def _unary(self, node: ast.UnaryOp) -> int:
        operand = self._number(node.operand)
        match node.op:
            case ast.USub():
                return self._steps.call("negate", operand)
            case ast.UAdd():
                return operand
            case ast.Not():
                return self._steps.call("equal", operand, self._steps.constant(0.0))
        raise wrong(self._column(node), "this is not part of the language")

    def _fold_logic(self, op: ast.boolop, values: list[int]) -> int:
        """Fold as in Python: ``a and b`` is ``b if a else a``, ``a or b`` is ``a if a else b``."""
        folded = values[0]
        for value in values[1:]:
            choices = (value, folded) if isinstance(op, ast.And) else (folded, value)
            folded = self._steps.call("select", folded, *choices)
        return folded

    def _compare(self, node: ast.Compare) -> int:
        sides = [node.left, *node.comparators]
        links = [
            self._link(left, op, right)
            for left, op, right in zip(sides, node.ops, sides[1:], strict=False)
        ]
        return self._fold_logic(ast.And(), links)

    def _link(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> int:
        first, second = self._values[left], self._values[right]
        if isinstance(first, _Words) and isinstance(op, ast.Eq | ast.NotEq):
            left, first, second = right, second, first  # "fact" == kind
        if isinstance(first, _WordField):
            return self._compare_words(left, first.field, op, second)
        if isinstance(op, ast.In | ast.NotIn):
            if not isinstance(second, _List):
                raise wrong(self._column(right), "after in stands a list: depth in (2, 3)")
            number = self._number(left)
            links = [self._steps.call("equal", number, step) for step in second.steps]
            return self._negated(self._fold_logic(ast.Or(), links), isinstance(op, ast.NotIn))
        return self._steps.call(_COMPARISONS[type(op)], self._number(left), self._number(right))

    def _compare_words(self, node: ast.expr, field: str, op: ast.cmpop, words: _Value) -> int:
        is_membership = isinstance(op, ast.In | ast.NotIn)
        if not isinstance(words, _Words) or not (
            is_membership or isinstance(op, ast.Eq | ast.NotEq)
        ):
            raise wrong(self._column(node), f"{field} holds words: compare it with == or in")
        if words.is_list != is_membership:
            rule = "after in stands a list" if is_membership else "a list stands only after in"
            raise wrong(self._column(node), f"{rule}: {field} in ('...', '...')")
        for word in words.words:
            if field != "kind" and word not in ENUMS[field]:
                known = ", ".join(ENUMS[field])
                raise wrong(self._column(node), f"{field} is never {word!r}; known: {known}")
        step = self._steps.is_one_of(field, words.words)
        return self._negated(step, isinstance(op, ast.NotEq | ast.NotIn))

    def _negated(self, step: int, is_negated: bool) -> int:
        return self._steps.call("equal", step, self._steps.constant(0.0)) if is_negated else step

    def _function(self, node: ast.Call) -> int:
        if not isinstance(node.func, ast.Name) or node.func.id not in _FUNCTIONS:
            name = ast.unparse(node.func)[:40]
            raise wrong(
                self._column(node), f"no function is called {name}; {likely(name, _FUNCTIONS)}"
            )
        kernel, fewest, most = _FUNCTIONS[node.func.id]
        if node.keywords:
            raise wrong(self._column(node.keywords[0]), f"{node.func.id} takes no named arguments")
        if not fewest <= len(node.args) <= most:
            wanted = str(fewest) if most == fewest else f"at least {fewest}"
            things = "argument" if most == 1 else "arguments"
            problem = f"{node.func.id} takes {wanted} {things}, got {len(node.args)}"
            raise wrong(self._column(node), problem)
        operands = list(map(self._number, node.args))
        if kernel in ("minimum", "maximum"):
            folded = operands[0]
            for operand in operands[1:]:
                folded = self._steps.call(kernel, folded, operand)
            return folded
        if kernel == "clip":
            return self._steps.clip(*operands)
        return self._steps.call(kernel, *operands)

    def _column(self, node: ast.expr | ast.keyword) -> int:
        before = self._line.lstrip().encode()[: node.col_offset]  # ast counts bytes
        return self._indent + len(before.decode()) + 1


def _children_first(tree: ast.expr) -> list[ast.expr | ast.keyword]:
    """Return the nodes of values from left to right, each after its children."""
    nodes: list[ast.expr | ast.keyword] = []
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.expr | ast.keyword):
            nodes.append(node)
            pending.extend(ast.iter_child_nodes(node))
    return nodes[::-1]


OPERATIONS = ("multiply", "add")

Real = TypeVar("Real", "np.float32", "np.float64")

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class Expression:
    """A factor given by a formula over a memory's fields, its ages and the query's scores.

    >>> from oneiros import Engine, Expression, Profile
    >>> boost = "1.5 if kind in ('decision', 'constraint') and age_days < 90 else 1.0"
    >>> fresh = Expression("exp(-age_days / 30) * (1 + 0.1 * log1p(access_count))", name="fresh")
    >>> fresh.names
    ('age_days', 'access_count')
    >>> profile = Profile(name="custom", factors=(Expression(boost, name="boost"), fresh))
    >>> engine = Engine(":memory:", profile=profile)

    The syntax is Python's, but the text is never run as Python: it is checked and compiled to
    kernels of the core, for search, rescoring and explanations. It may contain

    - the numeric fields of docs/systems/fields.md, with the defaults given there;
    - ``age_days``, ``updated_days`` and ``idle_days`` since creation, the last update, the last
      access (creation if never), and the same as ``_hours``; 0 for a time after now;
    - ``relevance`` (the fused score), ``bm25`` and ``cosine`` (raw), all 1 without a query; a raw
      score is 1 also under a profile without that channel. A missing one is 0, and under a weighted
      sum or mean also that of a memory which the channel itself did not find;
    - ``+ - * / **``, comparisons (1 or 0, also chained), ``and or not``, ``a if b else c``;
    - ``exp log log1p log2 sqrt pow abs floor min max clip where isnan``, ``inf`` and ``nan``;
    - ``kind``, ``category``, ``status``, ``tier``, ``veracity``, ``importance_tag`` and
      ``canonical_layer`` compared with words: ``kind == "fact"``, ``tier in ("hot", "cold")``.

    Arithmetic is NumPy's float64 (float32 in a float32 batch): x / 0 is infinite or NaN, ``min``
    and ``max`` propagate NaN, and a memory whose score is NaN is not returned.
    """

    text: str
    """At most 4 KiB, 256 nodes (values, operations, calls) and brackets 64 deep."""

    name: str = "expression"
    """Name in explanations: a lower case letter, then up to 63 letters, digits or underscores."""

    operation: Operation = "multiply"
    """"multiply" the score by the value, or "add" the value to it."""

    is_lifecycle: bool = field(default=False, kw_only=True)
    """Whether the value is part of the retention score, and ``lifecycle=False`` leaves it out."""

    _steps: tuple[Step, ...] = field(init=False, repr=False, compare=False, default=())

    discriminator: ClassVar[str] = "text"
    """The field by which a record of an expression differs from those of other factors."""

    def __post_init__(self) -> None:
        text: object = self.text
        if not isinstance(text, str):
            msg = f"text: expected str, got {type(text).__name__} {text!r}"
            raise TypeError(msg)
        require_name(self.name)
        settle_flags(self, "is_lifecycle")
        require_choice("operation", self.operation, OPERATIONS)
        settle(self, "_steps", parse(text))

    @property
    def names(self) -> tuple[str, ...]:
        """The fields, ages and scores that the formula reads."""
        names = (_name_of(step) for step in self._steps)
        return tuple(dict.fromkeys(name for name in names if name is not None))

    def emit(self, program: ProgramBuilder) -> int:
        """Add the formula to a program and return the register of its value."""
        return emit(self._steps, program)

    def values(
        self, names: Mapping[str, npt.NDArray[Real]], kinds: Sequence[str] = ()
    ) -> npt.NDArray[Real]:
        """Return the formula's value for each memory.

        >>> import numpy as np
        >>> from oneiros import Expression
        >>> Expression("1 / (1 + age_days)").values({"age_days": np.array([0.0, 1.0, 3.0])})
        array([1.  , 0.5 , 0.25])

        Args:
            names: an array of shape (n,), contiguous, for every name in :attr:`names`; word fields
                as codes. What the mask of a masked array hides is NaN.
            kinds: the words of ``kind``, by code.

        Returns:
            Shape (n,), the dtype of the arrays.

        Raises:
            TypeError: not an array of float32 or float64, or two dtypes differ.
            ValueError: a name is missing or unknown, another shape, or not contiguous.
        """
        arrays = {name: unmasked(array) for name, array in names.items()}
        dtype, size = _require_arrays(self.names, arrays)
        builder = ProgramBuilder(kinds)
        register = emit(self._steps, builder, lambda name, to: to.signal(f"given {name}", nan))
        program = builder.build()
        given = {
            name if name in WORD_FIELDS else f"given {name}": array
            for name, array in arrays.items()
        }
        # `kind` compared with words that are not among `kinds` is a constant, and no input.
        read = {name for _, name, _ in program.inputs if isinstance(name, str)}
        (result,), _ = program.compiled().run(
            operands={name: array for name, array in given.items() if name in read},
            now_seconds=0.0,
            size=size,
            outputs=builder.numbers([register]),
            dtype=dtype,
            out=None,
            threads=1,
        )
        return result


def _name_of(step: Step) -> str | None:
    match step:
        case Name(name=name):
            return name
        case IsOneOf(field=name):
            return name
    return None


def _require_arrays(
    names: tuple[str, ...], arrays: Mapping[str, Any]
) -> tuple[Literal["float32", "float64"], int]:
    """Check the arrays and return their common dtype and length."""
    if set(arrays) != set(names) or not arrays:
        msg = f"names: expected {', '.join(names) or 'a formula that names something'}, got "
        raise ValueError(msg + (", ".join(arrays) or "none"))
    first = next(iter(arrays.values()))
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray):
            msg = f"{name}: expected an array, got {type(array).__name__}"
            raise TypeError(msg)
        if array.dtype not in (np.float32, np.float64) or array.dtype != first.dtype:
            msg = f"{name}: expected float32 or float64, all alike, got {array.dtype}"
            raise TypeError(msg)
        if array.ndim != 1 or len(array) != len(first):
            msg = f"{name}: expected shape (n,), all alike, got {array.shape}"
            raise ValueError(msg)
        if not array.flags.c_contiguous:
            msg = f"{name}: must be contiguous; pass numpy.ascontiguousarray(...)"
            raise ValueError(msg)
    return ("float32" if first.dtype == np.float32 else "float64"), len(first)


def require_name(name: object) -> None:
    """Check the name of a custom factor.

    Raises:
        TypeError: not a str.
        ValueError: not a lower case letter and up to 63 letters, digits or underscores.
    """
    require_match("name", name, _NAME)
