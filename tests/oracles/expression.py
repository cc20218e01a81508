"""The expression language by NumPy, node by node: contract of ``oneiros.scoring.expression``.

Nothing here knows the core: each node of Python's own tree is one NumPy call over float64 arrays.
A field of words is an array of text.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Functions = Mapping[str, Callable[..., Array]]


def _smaller(a: Array, b: Array) -> Array:
    """As np.minimum; of 0.0 and -0.0, about which NumPy promises nothing, the second."""
    return np.where(np.isnan(a) | (a < b), a, b)


def _larger(a: Array, b: Array) -> Array:
    """As np.maximum; of 0.0 and -0.0 the second."""
    return np.where(np.isnan(a) | (a > b), a, b)


NUMPY: Functions = {
    "exp": np.exp,
    "log": np.log,
    "log1p": np.log1p,
    "log2": np.log2,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "floor": np.floor,
    "isnan": np.isnan,
    "pow": np.power,
    "min": lambda *values: reduce(_smaller, values),
    "max": lambda *values: reduce(_larger, values),
    "clip": lambda value, low, high: _smaller(high, _larger(low, value)),
    "where": np.where,
}
OPERATORS: Mapping[type[ast.AST], Callable[..., Array]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.USub: np.negative,
    ast.UAdd: np.positive,
    ast.Not: np.logical_not,
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
}


def evaluate(text: str, values: Mapping[str, Array], functions: Functions = NUMPY) -> Array:
    """Return the value of each row as float64; ``functions`` may replace some of NumPy's."""
    tree = ast.parse(text.strip(), mode="eval").body
    with np.errstate(all="ignore"):
        result = _Evaluator(values, {**NUMPY, **functions}).value(tree)
    rows = len(next(iter(values.values())))
    return np.broadcast_to(np.asarray(result, np.float64), (rows,))


class _Evaluator:
    def __init__(self, values: Mapping[str, Array], functions: Functions) -> None:
        self._values = values
        self._functions = functions

    def value(self, node: ast.expr) -> Array:
        result = self._of(node)
        return result.astype(np.float64) if result.dtype == bool else result

    def _of(self, node: ast.expr) -> Array:
        match node:
            case ast.Constant(value=str(word)):
                return np.array(word)
            case ast.Constant(value=number):
                return np.array(float(number))  # type: ignore[arg-type]
            case ast.Name(id="inf" | "nan" as name):
                return np.array(float(name))
            case ast.Name(id=name):
                return self._values[name]
            case ast.UnaryOp(op=op, operand=operand):
                return OPERATORS[type(op)](self.value(operand))
            case ast.BinOp(op=ast.Pow(), left=left, right=ast.Constant(value=2 | 2.0)):
                return np.square(self.value(left))
            case ast.BinOp(op=ast.Pow(), left=left, right=right):
                return self._functions["pow"](self.value(left), self.value(right))
            case ast.BinOp(op=op, left=left, right=right):
                return OPERATORS[type(op)](self.value(left), self.value(right))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return np.where(self.value(test) != 0, self.value(body), self.value(orelse))
            case ast.BoolOp(op=op, values=nodes):
                return self._logic(op, [self.value(one) for one in nodes])
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                sides = [left, *comparators]
                pairs = zip(sides, ops, comparators, strict=False)
                links = [self._link(*pair).astype(np.float64) for pair in pairs]
                return self._logic(ast.And(), links)
            case ast.Call(func=ast.Name(id=name), args=args):
                if name == "where":
                    test, body, orelse = map(self.value, args)
                    return np.where(test != 0, body, orelse)
                return self._functions[name](*map(self.value, args))
        raise AssertionError(ast.dump(node))

    def _logic(self, op: ast.boolop, values: list[Array]) -> Array:
        """As Python's ``and`` and ``or`` over floats, row by row: NaN and all but 0 hold."""
        result = values[0]
        for value in values[1:]:
            holds = result != 0
            pair = (value, result) if isinstance(op, ast.And) else (result, value)
            result = np.where(holds, *pair)
        return result

    def _link(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Array:
        if isinstance(op, ast.In | ast.NotIn):
            assert isinstance(right, ast.Tuple | ast.List)
            hits = [self._of(left) == self._of(item) for item in right.elts]
            found = np.logical_or.reduce(np.broadcast_arrays(*hits))
            return ~found if isinstance(op, ast.NotIn) else found
        return OPERATORS[type(op)](self._of(left), self._of(right))
