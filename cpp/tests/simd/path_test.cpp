#include "simd/path.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

TEST_CASE("simd_path: one of this machine's, the best at first, changed by name") {
  const auto paths = oneiros::simd_paths();
  REQUIRE(!paths.empty());
  CHECK(paths.front() == oneiros::SimdPath::baseline);
  const oneiros::SimdPath before = oneiros::simd_path();
  for (const oneiros::SimdPath path : paths) {
    oneiros::use_simd_path(oneiros::kSimdPathNames[static_cast<std::size_t>(path)]);
    CHECK(oneiros::simd_path() == path);
  }
  CHECK_THROWS_AS(oneiros::use_simd_path("avx"), std::invalid_argument);
  CHECK(oneiros::simd_path() == paths.back());
  oneiros::use_simd_path(oneiros::kSimdPathNames[static_cast<std::size_t>(before)]);
}
