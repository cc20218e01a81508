#include "columns/unit_vector.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

using oneiros::to_unit;
using oneiros::UnitVector;

TEST_CASE("unit vectors: any length but zero becomes 1, in either width") {
  for (const std::size_t size : {1U, 2U, 7U, 8U, 9U, 384U}) {
    std::vector<double> values(size);
    double squared = 0;
    for (std::size_t i = 0; i < size; ++i) {
      values[i] = static_cast<double>(i % 5) - 1.5;
      squared += values[i] * values[i];
    }
    const std::vector<float> narrow(values.begin(), values.end());
    std::vector<float> unit(size);
    REQUIRE(to_unit(std::span<const double>(values), unit) == UnitVector::made);
    std::vector<float> of_narrow(size);
    REQUIRE(to_unit(std::span<const float>(narrow), of_narrow) == UnitVector::made);
    CHECK(unit == of_narrow);
    for (std::size_t i = 0; i < size; ++i) {
      CHECK(unit[i] == doctest::Approx(values[i] / std::sqrt(squared)).epsilon(1e-6));
    }
  }
}

TEST_CASE("unit vectors: what is of length 1 but for rounding keeps its bits") {
  const std::vector<float> values{0.6F, 0.8F};
  std::vector<float> unit(2);
  REQUIRE(to_unit(std::span<const float>(values), unit) == UnitVector::made);
  CHECK(unit == values);
}

TEST_CASE("unit vectors: no direction, and no finite length") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<float> unit{3.0F, 4.0F};
  const auto outcome = [&](std::vector<double> values) {
    return to_unit(std::span<const double>(values), unit);
  };
  CHECK(outcome({0.0, -0.0}) == UnitVector::zero);
  CHECK(outcome({1e-200, 0.0}) == UnitVector::zero);
  CHECK(outcome({1e200, 0.0}) == UnitVector::refused);
  CHECK(outcome({kInfinity, 0.0}) == UnitVector::refused);
  CHECK(outcome({std::nan(""), 0.0}) == UnitVector::refused);
  CHECK(unit == std::vector<float>{3.0F, 4.0F});
}
