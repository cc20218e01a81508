// Arithmetic primitives of programs, with IEEE 754 semantics as in NumPy.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ranking/formulas/elapsed.h"
#include "ranking/formulas/mathematics.h"
#include "ranking/formulas/of_count.h"
#include "ranking/signature.h"

namespace oneiros::formulas {

// A formula of one or two operands, given by its expression.
#define ONEIROS_UNARY(Name, name, expression)                               \
  struct Name {                                                             \
    static constexpr Signature kSignature{name, {{"a"}}, {}};               \
    template <typename Real>                                                \
    ONEIROS_ALWAYS_INLINE static Real value(const Real* /*none*/, Real a) { \
      return expression;                                                    \
    }                                                                       \
  };
// The same for formulas of whole numbers that may be looked up.
#define ONEIROS_UNARY_OF_COUNT(Name, name, expression)                         \
  struct Name : OfCountAlone<Name> {                                           \
    static constexpr Signature kSignature{name, {{"a"}}, {}};                  \
    template <typename Real>                                                   \
    ONEIROS_ALWAYS_INLINE static Real of_count(const Real* /*none*/, Real a) { \
      return expression;                                                       \
    }                                                                          \
  };
#define ONEIROS_BINARY(Name, name, expression)                                      \
  struct Name {                                                                     \
    static constexpr Signature kSignature{name, {{"a"}, {"b"}}, {}};                \
    template <typename Real>                                                        \
    ONEIROS_ALWAYS_INLINE static Real value(const Real* /*none*/, Real a, Real b) { \
      return expression;                                                            \
    }                                                                               \
  };

ONEIROS_BINARY(Add, "add", a + b)
ONEIROS_BINARY(Subtract, "subtract", a - b)
ONEIROS_BINARY(Multiply, "multiply", a* b)
ONEIROS_BINARY(Divide, "divide", a / b)
ONEIROS_BINARY(Power, "power", power(a, b))
ONEIROS_BINARY(Less, "less", a < b ? Real(1) : Real(0))
ONEIROS_BINARY(LessEqual, "less_equal", a <= b ? Real(1) : Real(0))
ONEIROS_BINARY(Greater, "greater", a > b ? Real(1) : Real(0))
ONEIROS_BINARY(GreaterEqual, "greater_equal", a >= b ? Real(1) : Real(0))
ONEIROS_BINARY(Equal, "equal", a == b ? Real(1) : Real(0))
ONEIROS_BINARY(NotEqual, "not_equal", a != b ? Real(1) : Real(0))
ONEIROS_UNARY(Negate, "negate", -a)
ONEIROS_UNARY(Absolute, "absolute", magnitude(a))
ONEIROS_UNARY(Floor, "floor", rounded_down(a))
ONEIROS_UNARY(SquareRoot, "sqrt", square_root(a))
ONEIROS_UNARY(Exponential, "exp", exponential(a))
ONEIROS_UNARY_OF_COUNT(NaturalLogarithm, "log", natural_logarithm(a))
ONEIROS_UNARY_OF_COUNT(LogarithmOfOnePlus, "log1p", logarithm_of_one_plus(a))
ONEIROS_UNARY_OF_COUNT(BinaryLogarithm, "log2", binary_logarithm(a))
ONEIROS_UNARY(IsNan, "is_nan", is_nan(a) ? Real(1) : Real(0))

#undef ONEIROS_UNARY
#undef ONEIROS_UNARY_OF_COUNT
#undef ONEIROS_BINARY

// NaN if either operand is.
struct Minimum {
  static constexpr Signature kSignature{"minimum", {{"a"}, {"b"}}, {}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* /*none*/, Real a, Real b) {
    const Real smaller = a < b ? a : b;  // b where either is NaN
    return is_nan(a) ? a : smaller;
  }
};

struct Maximum {
  static constexpr Signature kSignature{"maximum", {{"a"}, {"b"}}, {}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* /*none*/, Real a, Real b) {
    const Real larger = a > b ? a : b;
    return is_nan(a) ? a : larger;
  }
};

// Clamps to [low, high]; high if low > high. NaN stays.
struct Clip {
  static constexpr Signature kSignature{
      "clip", {{"a"}}, {{"low", kAnyNumber}, {"high", kAnyNumber}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real a) {
    return at_most(at_least(a, numbers[0]), numbers[1]);
  }
};

// factor x a + offset.
struct Scale {
  static constexpr Signature kSignature{
      "scale", {{"a"}}, {{"factor", kFinite}, {"offset", kFinite}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* numbers, Real a) {
    return numbers[0] * a + numbers[1];
  }
};

// a if the condition is not 0 (NaN counts as not 0), else b.
struct Select {
  static constexpr Signature kSignature{"select", {{"condition"}, {"a"}, {"b"}}, {}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* /*none*/, Real condition, Real a, Real b) {
    return condition != Real(0) ? a : b;
  }
};

// table[code], or the value one past the table's end if the code is not an index. NaN stays.
template <typename Real>
ONEIROS_ALWAYS_INLINE Real looked_up(const Real* table, std::size_t table_size, Real code) {
  const Real end = static_cast<Real>(table_size);
  const Real inside = (code >= Real(0)) & (code < end) ? code : end;
  const auto index = static_cast<std::int32_t>(inside);
  // One unconditional load per row: a branch would prevent vectorisation.
  const Real value =
      table[static_cast<Real>(index) == inside ? index : static_cast<std::int32_t>(table_size)];
  return is_nan(code) ? code : value;
}

// table[code], or `otherwise`.
struct Lookup {
  static constexpr Signature kSignature{
      "lookup", {{"code"}}, {{"otherwise", kAnyNumber}, {"table", kAnyNumber, 0}}};

  template <typename Real>
  ONEIROS_ALWAYS_INLINE static Real value(const Real* table, std::size_t table_size, Real code) {
    return looked_up(table, table_size, code);
  }
};

}  // namespace oneiros::formulas
