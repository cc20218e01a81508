// Reciprocal rank fusion: score = sum over channels of weight / (k + rank).
// Source: docs/systems/reverie.md R3; docs/systems/omega.md O7.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace oneiros {

// How a channel's contributions are scaled before they are added.
enum class Normalise : std::uint8_t {
  none,     // as they are
  channel,  // divided by the channel's best; the sums are divided by the best sum
};

struct FusionRule {
  double k;                         // finite, >= 0
  std::span<const double> weights;  // one a channel, or empty: all 1
  Normalise normalise = Normalise::none;
};

// Throws std::invalid_argument unless k is in [0, 1e9] and each weight in [0, 1e6].
void require_valid(const FusionRule& rule);

// Candidates in order of first appearance, channel by channel, best rank first. The buffers are
// kept from one use to the next: reuse an object and nothing is allocated.
// Not thread-safe: one object a thread.
template <std::integral Id>
class Fusion {
 public:
  // Fuses ranked lists, best first; ranks start at 1 and an id repeated within one list keeps its
  // best. The sums are formed in channel order.
  // Throws std::invalid_argument where the weights are not one a list, or the lists hold 2^32 - 1
  // entries or more. REQUIRES: `rule` is valid.
  void fuse(std::span<const std::span<const Id>> rankings, const FusionRule& rule);

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::span<const Id> ids() const noexcept { return std::span(ids_).first(size_); }
  [[nodiscard]] std::span<const double> scores() const noexcept {
    return std::span(scores_).first(size_);
  }
  // Writes the rank of each candidate in `channel`, 0 where absent. REQUIRES: ranks.size() ==
  // size().
  void ranks(std::size_t channel, std::span<std::uint32_t> ranks) const;

  // Gives back buffers that one huge call left behind.
  void trim();

 private:
  void prepare(std::span<const std::span<const Id>> rankings);
  [[nodiscard]] std::uint32_t candidate_of(Id id);

  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

  std::vector<std::uint32_t> slots_;  // open addressing: the candidate that took the slot
  unsigned shift_ = 0;
  std::size_t size_ = 0;  // candidates; the vectors below hold room for every entry
  std::vector<Id> ids_;
  std::vector<double> scores_;
  std::vector<std::size_t> last_channel_;  // of each candidate so far, counted from 1
  std::vector<std::uint32_t> entries_;     // each list entry's candidate; kNobody for a repeat
  std::vector<std::size_t> channel_begin_;
};

// Fuses and keeps the best min(top, n): ids by score, the higher first, equal scores by first
// appearance. Throws std::invalid_argument as fuse() and require_valid().
void fused_best_first(std::span<const std::span<const std::int64_t>> rankings,
                      const FusionRule& rule, std::size_t top, std::vector<std::int64_t>& ids,
                      std::vector<double>& scores);

}  // namespace oneiros
