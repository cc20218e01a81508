// The widths of SIMD register that the kernels are compiled for, and the one in use.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace oneiros {

// Ascending: each is at least as fast as the one before. All give the same bits.
enum class SimdPath : std::uint8_t { baseline, avx2, avx512 };

inline constexpr std::array<std::string_view, 3> kSimdPathNames{"baseline", "avx2", "avx512"};

// Those that this machine can run, the best last. Thread-safe.
[[nodiscard]] std::span<const SimdPath> simd_paths() noexcept;

// The path of every run that begins from now on: at first the best. Thread-safe.
[[nodiscard]] SimdPath simd_path() noexcept;

// Throws std::invalid_argument for a name that is no path, or one this machine cannot run.
// Thread-safe; runs that have begun end on the path they began on.
void use_simd_path(std::string_view name);

// Calls use_simd_path() with the environment's ONEIROS_SIMD, where it is set and not empty.
void use_simd_path_of_environment();

}  // namespace oneiros
