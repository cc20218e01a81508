// The SIMD paths that loops are compiled for, and the one in use.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace oneiros {

// In ascending order of speed. All give the same bits.
enum class SimdPath : std::uint8_t { baseline, avx2, avx512 };

inline constexpr std::array<std::string_view, 3> kSimdPathNames{"baseline", "avx2", "avx512"};

// The paths this machine supports, the best last. Thread-safe.
[[nodiscard]] std::span<const SimdPath> simd_paths() noexcept;

// The path for runs that start from now on; initially the best. Thread-safe.
[[nodiscard]] SimdPath simd_path() noexcept;

// Throws std::invalid_argument for an unknown name or a path that this machine does not support.
// Thread-safe; runs in progress finish on their path.
void use_simd_path(std::string_view name);

// Calls use_simd_path() with the environment variable ONEIROS_SIMD if it is set and not empty.
void use_simd_path_of_environment();

}  // namespace oneiros
