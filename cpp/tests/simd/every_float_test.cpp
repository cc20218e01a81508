// Each float in turn: minutes, so asked for by name: core_tests --no-skip -tc="every float*"
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "simd/exponential.h"
#include "simd/logarithm.h"
#include "ulps.h"

namespace {

using oneiros::testing::error_in_ulps;
using oneiros::testing::WorstError;

// A double's error is a billionth of a float's ULP: near enough to the true value, and far quicker.
template <typename Function, typename Exact>
WorstError worst_error(Function function, Exact exact) {
  WorstError worst;
  std::uint32_t bits = 0;
  do {
    const auto x = std::bit_cast<float>(bits);
    worst.see(error_in_ulps(function(x), exact(static_cast<double>(x))), static_cast<double>(x));
  } while (++bits != 0);
  MESSAGE("worst error: ", worst.ulps, " ULP at ", worst.x);
  return worst;
}

}  // namespace

TEST_CASE("every float: exponential" * doctest::skip()) {
  CHECK(worst_error([](float x) { return oneiros::exponential(x); },
                    [](double x) { return std::exp(x); })
            .ulps < 1.0);
}

TEST_CASE("every float: natural_logarithm" * doctest::skip()) {
  CHECK(worst_error([](float x) { return oneiros::natural_logarithm(x); },
                    [](double x) { return std::log(x); })
            .ulps < 1.0);
}

TEST_CASE("every float: binary_logarithm" * doctest::skip()) {
  CHECK(worst_error([](float x) { return oneiros::binary_logarithm(x); },
                    [](double x) { return std::log2(x); })
            .ulps < 1.5);
}

TEST_CASE("every float: logarithm_of_one_plus" * doctest::skip()) {
  CHECK(worst_error([](float x) { return oneiros::logarithm_of_one_plus(x); },
                    [](double x) { return std::log1p(x); })
            .ulps < 1.0);
}

TEST_CASE("every float: binary_exponential" * doctest::skip()) {
  CHECK(worst_error([](float x) { return oneiros::binary_exponential(x); },
                    [](double x) { return std::exp2(x); })
            .ulps < 1.0);
}
