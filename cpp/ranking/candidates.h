// The candidate set of a query: the union of its channels' hits, with rank and raw score by
// channel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "ranking/ranked_union.h"

namespace oneiros {

// One channel's hits, best first, with parallel raw scores.
struct ChannelHits {
  std::span<const std::uint32_t> rows;
  std::variant<std::span<const double>, std::span<const float>> scores;
};

// Rows with their ranks and scores in every channel, in order of first appearance. Grows by
// append() and fill(). Not thread-safe while it is modified.
class Candidates {
 public:
  // Unites the lists, channel by channel. A row repeated within a list keeps its best rank and that
  // rank's score. Throws std::invalid_argument if a list's rows and scores differ in number, and
  // whatever RankedUnion::build() throws. Linear in the hits.
  explicit Candidates(std::span<const ChannelHits> channels);

  [[nodiscard]] std::size_t size() const noexcept { return hits_.size(); }
  [[nodiscard]] std::size_t channel_count() const noexcept { return hits_.list_count(); }
  [[nodiscard]] const RankedUnion<std::uint32_t>& hits() const noexcept { return hits_; }
  [[nodiscard]] std::span<const std::uint32_t> rows() const noexcept { return hits_.ids(); }
  // Ranks in the channel's own list, from 1; 0 where it did not return the row. REQUIRES, here and
  // below: channel < channel_count().
  [[nodiscard]] std::span<const std::uint32_t> ranks(std::size_t channel) const noexcept {
    return hits_.ranks(channel);
  }
  // Raw scores, returned by the channel or filled in; NaN where there is none.
  [[nodiscard]] std::span<const double> scores(std::size_t channel) const noexcept {
    return std::span(scores_).subspan(channel * size(), size());
  }
  // The score that no text exceeds for the query in this channel; NaN if it is not known.
  [[nodiscard]] double possible(std::size_t channel) const noexcept { return possible_[channel]; }
  void set_possible(std::size_t channel, double score) noexcept { possible_[channel] = score; }
  // What cosines count from under the rule `blend`; 0 unless set. REQUIRES, to set: below 1.
  [[nodiscard]] double cosine_baseline() const noexcept { return cosine_baseline_; }
  void set_cosine_baseline(double cosine) noexcept { cosine_baseline_ = cosine; }
  // The share of the vector channel's weight that counts under the rule `blend`, 0 to 1; 1 unless
  // set.
  [[nodiscard]] double vector_share() const noexcept { return vector_share_; }
  void set_vector_share(double share) noexcept { vector_share_ = share; }
  // What each row gains in the lexical channel for pairs of query words near each other, unscaled,
  // and the sum for all pairs. Rows appended since are at the end of rows() and have none yet; no
  // value at all if pairs play no part.
  [[nodiscard]] std::span<const double> pair_scores() const noexcept { return pair_scores_; }
  [[nodiscard]] double possible_pairs() const noexcept { return possible_pairs_; }
  // Sets the sum, and the scores of the rows that have none, in the order of rows(). Throws
  // std::invalid_argument for a different number of scores.
  void add_pairs(std::span<const double> scores, double possible);

  // True if the channel took part: it returned rows, or scores were filled in.
  [[nodiscard]] bool is_present(std::size_t channel) const noexcept { return is_present_[channel]; }

  // Appends rows that no channel returned, without ranks and scores. Throws std::invalid_argument
  // for a row that is present already or repeated.
  void append(std::span<const std::uint32_t> rows);

  // Sets the boost of each row from its neighbours in the session, in the order of rows(). Throws
  // std::invalid_argument for a different number of values.
  void lend(std::vector<double> shares);
  // The boosts last set; empty before that and after append().
  [[nodiscard]] std::span<const double> neighbour_gains() const noexcept {
    return neighbour_gains_;
  }

  // The rows without a score of the channel, in the order of rows().
  [[nodiscard]] std::vector<std::uint32_t> missing(std::size_t channel) const;

  // Sets the scores of the rows that missing(channel) returns, in that order; NaN: still none.
  // Throws std::invalid_argument for a different number of scores.
  void fill(std::size_t channel, std::span<const double> scores);

 private:
  RankedUnion<std::uint32_t> hits_;
  std::vector<double> scores_;  // channels x rows
  std::vector<bool> is_present_;
  std::vector<double> possible_;
  std::vector<double> neighbour_gains_;
  std::vector<double> pair_scores_;
  double possible_pairs_ = 0.0;
  double cosine_baseline_ = 0.0;
  double vector_share_ = 1.0;
};

}  // namespace oneiros
