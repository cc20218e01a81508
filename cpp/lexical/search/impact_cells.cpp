// Quantised impacts (Anh & Moffat 2002), chosen per segment.
//
// Algorithm: pairs of (frequency, length) are grouped into at most 256 cells. Within one frequency,
// lengths are cut greedily: a cell ends where the contribution falls by more than a tolerance. The
// tolerance is doubled until the cells fit, then refined by bisection. Cells are numbered from the
// greatest contribution down.
//
// Invariants: a cell names ranges, not a value: contributions are recomputed from the ranges for
// each query's statistics, so bounds hold at any average length. Bounds include a margin for
// floating-point rounding.
//
// Cost: add() is a store for usual pairs (frequency < 5, length < 4096); assign() is a few passes
// over the distinct pairs; encode() is a look-up or a binary search.
#include "lexical/search/impact_cells.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

namespace oneiros::lexical {

namespace {

// A margin above the rounding error between bounds and exact scores, which are computed by the same
// operations in another order.
constexpr double kRounding = 1.0 + 1e-9;

constexpr std::size_t kMostUnsorted = std::size_t{1} << 16U;

void sort_unique(std::vector<std::uint32_t>& values) {
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
}

// By the least contribution of their pairs, descending.
void sort_best_first(const Bm25& bm25, double average_length, std::span<ImpactCell> cells) {
  for_variant(bm25.variant, [&]<Bm25Variant Variant>() {
    const Saturation<Variant> saturation(bm25, average_length);
    std::ranges::stable_sort(cells, std::greater<>(), [&](const ImpactCell& cell) {
      return saturation(cell.lowest_frequency, cell.longest);
    });
  });
}

}  // namespace

ImpactCells::ImpactCells(std::vector<ImpactCell> cells)
    : cells_(std::move(cells)), longest_first_(cells_.size()) {
  assert(cells_.size() <= kCount);
  std::iota(longest_first_.begin(), longest_first_.end(), std::uint8_t{0});
  std::ranges::stable_sort(longest_first_, std::greater<>(),
                           [this](std::uint8_t code) { return cells_[code].longest; });
  for (const ImpactCell& cell : cells_) {
    highest_frequencies_.push_back(cell.highest_frequency);
    shortest_lengths_.push_back(cell.shortest);
    lowest_frequencies_.push_back(cell.lowest_frequency);
    longest_lengths_.push_back(cell.longest);
    is_exact_ = is_exact_ && cell.tells_frequency() && cell.shortest == cell.longest;
  }
}

double ImpactCells::bound(const Bm25& bm25, double average_length, std::span<double> most,
                          std::span<double> least) const {
  assert(most.size() == cells_.size() && least.size() == cells_.size());
  double tightness = 1.0 / (kRounding * kRounding);
  for_variant(bm25.variant, [&]<Bm25Variant Variant>() {
    const Saturation<Variant> saturation(bm25, average_length);
    for (std::size_t i = 0; i < most.size(); ++i) {
      most[i] = saturation(highest_frequencies_[i], shortest_lengths_[i]) * kRounding;
    }
    for (std::size_t i = 0; i < least.size(); ++i) {
      least[i] = saturation(lowest_frequencies_[i], longest_lengths_[i]) * (1.0 / kRounding);
    }
    for (std::size_t i = 0; i < most.size() && !is_exact_; ++i) {
      tightness = std::min(tightness, least[i] / most[i] * (1.0 / kRounding));
    }
  });
  return tightness;
}

ImpactEncoder::ImpactEncoder() : usual_(kUsualClasses * kUsualLengths) {
  last_length_.fill(std::numeric_limits<std::uint64_t>::max());
  most_unsorted_.fill(kMostUnsorted);
}

std::size_t ImpactEncoder::class_of(std::uint32_t frequency) {
  assert(frequency >= 1);
  if (frequency < ImpactCells::kCoarse) {
    return frequency - 1;
  }
  constexpr std::size_t kFirstOctave = std::bit_width(ImpactCells::kCoarse);
  return ImpactCells::kCoarse - 1 + (std::bit_width(frequency) - kFirstOctave);
}

void ImpactEncoder::add(std::uint32_t frequency, std::uint32_t length) {
  const std::size_t index = class_of(frequency);
  if (index < kUsualClasses && length < kUsualLengths) {
    usual_[index * kUsualLengths + length] = 1;
    return;
  }
  if (std::exchange(last_length_[index], length) == length) {
    return;
  }
  std::vector<std::uint32_t>& lengths = lengths_[index];
  if (lengths.size() >= most_unsorted_[index]) {
    sort_unique(lengths);
    most_unsorted_[index] = std::max(kMostUnsorted, 2 * lengths.size());
  }
  lengths.push_back(length);
}

void ImpactEncoder::gather_usual() {
  for (std::size_t index = 0; index < kUsualClasses; ++index) {
    for (std::uint32_t length = 0; length < kUsualLengths; ++length) {
      if (usual_[index * kUsualLengths + length] != 0) {
        lengths_[index].push_back(length);
      }
    }
  }
}

// Cuts all classes with the tolerance; stops once there are more than `limit` cells.
std::vector<ImpactCell> ImpactEncoder::cut(const Bm25& bm25, double average_length,
                                           double tolerance, std::size_t limit) const {
  std::vector<ImpactCell> cells;
  for_variant(bm25.variant, [&]<Bm25Variant Variant>() {
    const Saturation<Variant> saturation(bm25, average_length);
    for (std::size_t index = 0; index < kClasses && cells.size() <= limit; ++index) {
      ImpactCell cell;
      if (index < ImpactCells::kCoarse - 1) {
        cell.lowest_frequency = static_cast<std::uint32_t>(index + 1);
        cell.highest_frequency = cell.lowest_frequency;
      } else {
        cell.lowest_frequency = ImpactCells::kCoarse << (index - (ImpactCells::kCoarse - 1));
        cell.highest_frequency = cell.lowest_frequency * 2 - 1;
      }
      double best = 0.0;
      bool is_open = false;
      for (const std::uint32_t length : lengths_[index]) {
        const double earned = saturation(cell.lowest_frequency, length);
        if (is_open && earned * (1.0 + tolerance) >= best) {
          cells.back().longest = length;
          continue;
        }
        best = earned;
        is_open = true;
        cell.shortest = length;
        cell.longest = length;
        cells.push_back(cell);
      }
    }
  });
  return cells;
}

ImpactCells ImpactEncoder::assign(const Bm25& bm25, double average_length) {
  gather_usual();
  std::size_t pair_count = 0;
  for (std::vector<std::uint32_t>& lengths : lengths_) {
    sort_unique(lengths);
    pair_count += lengths.size();
  }
  constexpr double kNone = -1.0;  // every pair has its own cell
  constexpr double kSmallest = 1e-3;
  constexpr int kHalvings = 8;
  double tolerance = pair_count <= ImpactCells::kCount ? kNone : kSmallest;
  std::vector<ImpactCell> cells = cut(bm25, average_length, tolerance, ImpactCells::kCount);
  double too_small = 0.0;
  while (cells.size() > ImpactCells::kCount) {
    too_small = tolerance;
    tolerance *= 2.0;
    cells = cut(bm25, average_length, tolerance, ImpactCells::kCount);
  }
  for (int i = 0; i < kHalvings && too_small > 0.0; ++i) {
    const double middle = (too_small + tolerance) / 2.0;
    std::vector<ImpactCell> tried = cut(bm25, average_length, middle, ImpactCells::kCount);
    if (tried.size() > ImpactCells::kCount) {
      too_small = middle;
    } else {
      tolerance = middle;
      cells = std::move(tried);
    }
  }
  assert(cells.size() <= ImpactCells::kCount);
  sort_best_first(bm25, average_length, cells);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    parts_[class_of(cells[i].lowest_frequency)].push_back(
        {.shortest = cells[i].shortest, .code = static_cast<std::uint8_t>(i)});
  }
  for (std::vector<Part>& parts : parts_) {
    std::ranges::sort(parts, {}, &Part::shortest);
  }
  for (std::size_t index = 0; index < kUsualClasses; ++index) {
    for (std::size_t part = 0; part < parts_[index].size(); ++part) {
      const std::uint32_t begin = parts_[index][part].shortest;
      const std::uint32_t end =
          part + 1 < parts_[index].size() ? parts_[index][part + 1].shortest : kUsualLengths;
      for (std::uint32_t length = begin; length < std::min(end, kUsualLengths); ++length) {
        usual_[index * kUsualLengths + length] = parts_[index][part].code;
      }
    }
  }
  return ImpactCells(std::move(cells));
}

std::uint8_t ImpactEncoder::encode(std::uint32_t frequency, std::uint32_t length) const {
  const std::size_t index = class_of(frequency);
  if (index < kUsualClasses && length < kUsualLengths) {
    return usual_[index * kUsualLengths + length];
  }
  const std::vector<Part>& parts = parts_[index];
  const auto after = std::ranges::upper_bound(parts, length, {}, &Part::shortest);
  assert(after != parts.begin());
  return std::prev(after)->code;
}

}  // namespace oneiros::lexical
