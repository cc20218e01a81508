// A compiled profile: candidates fused, their columns gathered, one program run, the best k kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "columns/columns.h"
#include "ranking/candidates.h"
#include "ranking/fusion.h"
#include "ranking/program.h"

namespace oneiros {

// Which registers of the program hold what.
struct PlanOutputs {
  std::size_t relevance = 0;
  std::size_t score = 0;
  std::size_t retention = 0;
  std::optional<std::size_t> keep;  // 0 or NaN: the row leaves
  std::vector<std::size_t> factors;
  std::vector<std::size_t> parts;  // what the relevance is the sum of, where it is one
};

// Rows in rank order: higher score first, then the smaller row.
struct Ranked {
  std::vector<std::uint32_t> rows;
  std::vector<double> scores;
  std::vector<double> relevance;
  std::vector<double> retention;
  std::size_t candidate_count = 0;
  std::size_t kept_count = 0;    // candidates with a score that nothing made leave
  std::size_t future_count = 0;  // candidates with a needed time after now
  // Filled on request, row-major.
  std::vector<std::uint32_t> ranks;    // channels x rows, 0 = absent
  std::vector<double> channel_scores;  // channels x rows, NaN = none
  std::vector<double> factors;         // factors x rows
  std::vector<double> parts;           // parts x rows
};

// One row's explanation; its place in the order of all kept candidates, from 1, 0 if it leaves.
struct Placed {
  Ranked explanation;
  std::size_t place = 0;
};

// What a query says of each candidate, by name: one value a candidate, or one for all.
using Signals = std::map<std::string, std::span<const double>, std::less<>>;

struct RankRequest {
  const Columns& columns;
  const Candidates& candidates;
  double now_seconds;
  const Signals& signals;
};

// Immutable once made; any number of threads may use it. Holds the columns' shared lock while it
// reads them.
class Plan {
 public:
  // The program's inputs by name: every column, gathered; "relevance", the fused one, and
  // "best_relevance", the largest; "score:<channel>" (NaN: none), "has:<channel>" (1 or 0) and
  // "rank:<channel>" (0: absent); "neighbours", what its neighbours lend it; "part:<channel>", what
  // it adds to the fused relevance, where that is a sum and an explanation is asked for; and what
  // the request's signals give. An input that nobody gives has its default. Throws
  // std::invalid_argument as Fusion, and for an output that is no register.
  Plan(std::string_view fusion, const FusionParameters& parameters,
       std::vector<std::string> channels, std::shared_ptr<const Program> program,
       PlanOutputs outputs);

  // The relevance of each candidate as it is fused, before any term that the program adds.
  // Throws std::invalid_argument for candidates of another number of channels.
  [[nodiscard]] std::vector<double> fused(const Candidates& candidates) const;

  // The best k of the candidates. A row whose score is NaN, or whose keep is 0 or NaN, is none.
  // Throws std::invalid_argument for candidates of another number of channels, a row that does not
  // exist, a now_seconds that is not finite, a signal of another length or one that the plan gives
  // itself.
  [[nodiscard]] Ranked rank(const RankRequest& request, std::size_t k, bool is_explained) const;

  // The same for one row; nothing if it is no candidate.
  [[nodiscard]] std::optional<Placed> place_of(const RankRequest& request, std::uint32_t row) const;

  [[nodiscard]] std::span<const std::string> channels() const noexcept { return channels_; }
  [[nodiscard]] std::size_t factor_count() const noexcept { return outputs_.factors.size(); }
  [[nodiscard]] std::size_t part_count() const noexcept { return outputs_.parts.size(); }

 private:
  struct Run;

  void require_channels(const Candidates& candidates) const;
  void evaluate(const RankRequest& request, bool is_explained, Run& run) const;
  void bind(const RankRequest& request, bool is_explained, Run& run) const;
  [[nodiscard]] Ranked collect(const RankRequest& request, bool is_explained, const Run& run) const;
  static Run& run_of_thread();

  // Where the values of one operand of the program come from.
  enum class Source : std::uint8_t {
    column,
    relevance,
    best_relevance,
    neighbour_gains,
    score,
    has,
    rank,
    part,
    signal
  };
  struct Binding {
    Source source;
    std::size_t index;  // of the column, or of the channel
  };
  [[nodiscard]] Binding binding_of(const std::string& name) const;

  Fusion fusion_;
  std::vector<std::string> channels_;
  std::shared_ptr<const Program> program_;
  PlanOutputs outputs_;
  std::vector<Binding> bindings_;  // one an operand of the program
};

}  // namespace oneiros
