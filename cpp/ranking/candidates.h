// What the channels of one query found, put together: each row once, with rank and raw score.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "ranking/ranked_union.h"

namespace oneiros {

// One channel's ranked list: best first, a raw score a row.
struct ChannelHits {
  std::span<const std::uint32_t> rows;
  std::variant<std::span<const double>, std::span<const float>> scores;
};

// Not thread-safe while it is filled.
class Candidates {
 public:
  // The union in order of first appearance, channel by channel; a row repeated within one list
  // keeps its best rank and that rank's score. Throws std::invalid_argument where a list has
  // another number of scores than rows, and as RankedUnion::build().
  explicit Candidates(std::span<const ChannelHits> channels);

  [[nodiscard]] std::size_t size() const noexcept { return hits_.size(); }
  [[nodiscard]] std::size_t channel_count() const noexcept { return hits_.list_count(); }
  [[nodiscard]] const RankedUnion<std::uint32_t>& hits() const noexcept { return hits_; }
  [[nodiscard]] std::span<const std::uint32_t> rows() const noexcept { return hits_.ids(); }
  // In the channel's own list, 0 where it did not find the row. REQUIRES: channel <
  // channel_count(), here and below.
  [[nodiscard]] std::span<const std::uint32_t> ranks(std::size_t channel) const noexcept {
    return hits_.ranks(channel);
  }
  // The raw scores, found or filled in; NaN: none.
  [[nodiscard]] std::span<const double> scores(std::size_t channel) const noexcept {
    return std::span(scores_).subspan(channel * size(), size());
  }
  // Whether the query asked the channel: it found something, or was asked to fill in scores.
  [[nodiscard]] bool is_present(std::size_t channel) const noexcept { return is_present_[channel]; }

  // Adds rows that no channel found, without ranks or scores, behind the others.
  // Throws std::invalid_argument for one that is there already, or given twice.
  void append(std::span<const std::uint32_t> rows);

  // Says what each row gains from its neighbours, in the order of rows().
  // Throws std::invalid_argument for another number of values.
  void lend(std::vector<double> shares);
  // As it was said last; empty before, and after append().
  [[nodiscard]] std::span<const double> neighbour_gains() const noexcept {
    return neighbour_gains_;
  }

  // The rows without a score there, in the order of rows().
  [[nodiscard]] std::vector<std::uint32_t> missing(std::size_t channel) const;

  // Gives the rows of missing(channel) their scores, in that order; NaN: still none.
  // Throws std::invalid_argument for another number of scores.
  void fill(std::size_t channel, std::span<const double> scores);

 private:
  RankedUnion<std::uint32_t> hits_;
  std::vector<double> scores_;  // channels x rows
  std::vector<bool> is_present_;
  std::vector<double> neighbour_gains_;
};

}  // namespace oneiros
