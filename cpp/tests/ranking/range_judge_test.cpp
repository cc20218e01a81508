#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "ranking/operand.h"
#include "simd/path.h"

namespace {

using oneiros::ColumnRange;
using oneiros::ElementType;
using oneiros::RangeJudge;

constexpr double kInf = std::numeric_limits<double>::infinity();

// Whether a value among ordinary ones is found, wherever it stands.
template <typename Element>
bool is_found(ElementType type, Element ordinary, Element value, ColumnRange range) {
  constexpr std::size_t kSize = 71;  // a register and more of every type
  std::size_t found = 0;
  for (std::size_t place = 0; place < kSize; ++place) {
    std::vector<Element> values(kSize, ordinary);
    values[place] = value;
    range.column = {type, values.data(), kSize};
    const RangeJudge judge(range);
    CHECK_FALSE(judge.any_outside(0, place));
    CHECK_FALSE(judge.any_outside(place + 1, kSize - place - 1));
    found += judge.any_outside(place / 2, kSize - place / 2) ? 1 : 0;
  }
  CHECK((found == 0 || found == kSize));
  return found != 0;
}

}  // namespace

TEST_CASE_TEMPLATE("range judge: reals, their bounds included", Real, float, double) {
  constexpr auto kType = sizeof(Real) == 4 ? ElementType::f32 : ElementType::f64;
  const ColumnRange share{{}, 0.0, 1.0, false, false};
  const auto found = [&](Real value, const ColumnRange& range) {
    return is_found(kType, Real(0.5), value, range);
  };
  for (const Real inside :
       {Real(0), Real(-0.0), Real(1), std::numeric_limits<Real>::denorm_min()}) {
    CHECK_FALSE(found(inside, share));
  }
  for (const Real outside :
       {std::nextafter(Real(1), Real(2)), -std::numeric_limits<Real>::denorm_min(),
        std::numeric_limits<Real>::infinity(), -std::numeric_limits<Real>::infinity(),
        std::numeric_limits<Real>::quiet_NaN()}) {
    CHECK(found(outside, share));
  }
  const ColumnRange time{{}, 0.0, 1.0, true, false};
  CHECK_FALSE(found(std::numeric_limits<Real>::quiet_NaN(), time));
  CHECK(found(Real(1.5), time));
  const ColumnRange endless{{}, -kInf, kInf, false, false};
  CHECK_FALSE(found(std::numeric_limits<Real>::infinity(), endless));
  CHECK(found(std::numeric_limits<Real>::quiet_NaN(), endless));
}

TEST_CASE_TEMPLATE("range judge: counts are whole", Real, float, double) {
  constexpr auto kType = sizeof(Real) == 4 ? ElementType::f32 : ElementType::f64;
  const ColumnRange count{{}, 0.0, 2147483647.0, false, true};
  CHECK_FALSE(is_found(kType, Real(3), Real(7), count));
  CHECK(is_found(kType, Real(3), Real(7.5), count));
  CHECK(is_found(kType, Real(3), Real(-1), count));
  CHECK(is_found(kType, Real(3), Real(4294967296.0), count));
}

TEST_CASE("range judge: a bound between two floats") {
  // 0.1 lies between two floats: the one below is outside, the one above inside.
  const ColumnRange range{{}, 0.1, kInf, false, false};
  const float above = static_cast<double>(0.1F) < 0.1 ? std::nextafter(0.1F, 1.0F) : 0.1F;
  CHECK_FALSE(is_found(ElementType::f32, 0.5F, above, range));
  CHECK(is_found(ElementType::f32, 0.5F, std::nextafter(above, 0.0F), range));
}

TEST_CASE(
    "range judge: integers, also where the range is wider than their type, or apart from it") {
  const ColumnRange depth{{}, 1.0, 3.0, false, false};
  CHECK_FALSE(is_found<std::uint8_t>(ElementType::u8, 2, 3, depth));
  CHECK(is_found<std::uint8_t>(ElementType::u8, 2, 0, depth));
  CHECK(is_found<std::int16_t>(ElementType::i16, 2, -1, depth));
  CHECK(
      is_found<std::int64_t>(ElementType::i64, 2, std::numeric_limits<std::int64_t>::min(), depth));
  CHECK(is_found<std::uint64_t>(ElementType::u64, 2, std::numeric_limits<std::uint64_t>::max(),
                                depth));
  const ColumnRange wide{{}, -1e300, 1e300, false, false};
  CHECK_FALSE(is_found<std::int32_t>(ElementType::i32, 0, -2147483647 - 1, wide));
  const std::vector<std::uint8_t> bytes(70, 200);
  CHECK(RangeJudge({{ElementType::u8, bytes.data(), bytes.size()}, 300.0, 400.0, false, false})
            .any_outside(0, bytes.size()));
  CHECK_FALSE(
      RangeJudge({{ElementType::u8, bytes.data(), bytes.size()}, 300.0, 400.0, false, false})
          .any_outside(5, 0));
}
