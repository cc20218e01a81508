// A compiled profile: fuse candidates, gather their columns, run one program, keep the best k.
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

// The registers of the program that hold its results.
struct PlanOutputs {
  std::size_t relevance = 0;
  std::size_t score = 0;
  std::size_t retention = 0;
  std::optional<std::size_t> keep;  // 0 or NaN: the row is removed
  std::vector<std::size_t> factors;
  std::vector<std::size_t> parts;  // the summands of the relevance, if it is a sum
};

// Rows in rank order: higher score first, then the smaller row. Parallel vectors.
struct Ranked {
  std::vector<std::uint32_t> rows;
  std::vector<double> scores;
  std::vector<double> relevance;
  std::vector<double> retention;
  std::size_t candidate_count = 0;
  std::size_t kept_count = 0;    // candidates with a score that no rule removed
  std::size_t future_count = 0;  // candidates with a required time after now
  // Filled only if an explanation is requested, row-major.
  std::vector<std::uint32_t> ranks;    // channels x rows, 0: not returned by the channel
  std::vector<double> channel_scores;  // channels x rows, NaN: no score
  std::vector<double> factors;         // factors x rows
  std::vector<double> parts;           // parts x rows
};

// The explanation of one row, and its place among all kept candidates from 1; 0 if it was removed.
struct Placed {
  Ranked explanation;
  std::size_t place = 0;
};

// Values that depend on the query, by name: one per candidate, or one for all. Not owned.
using Signals = std::map<std::string, std::span<const double>, std::less<>>;

// The input of a ranking. References must stay valid during the call.
struct RankRequest {
  const Columns& columns;
  const Candidates& candidates;
  double now_seconds;
  const Signals& signals;
};

// A fusion, a program and the binding of its inputs. Immutable; any number of threads may use it.
// The columns' shared lock is held only while they are gathered.
class Plan {
 public:
  // Inputs of the program by name: every column; "relevance" (fused) and "best_relevance" (the
  // largest); "score:<channel>" (NaN: none), "has:<channel>" (1 or 0) and "rank:<channel>" (0:
  // absent); "neighbours", the boost from session neighbours; "part:<channel>", the channel's
  // contribution to the fused relevance, and "word_pairs", that of pairs, both for explanations;
  // and the request's signals. Inputs
  // without a value have their default. Throws std::invalid_argument as Fusion, and for an output
  // that is not a register.
  Plan(std::string_view fusion, const FusionParameters& parameters,
       std::vector<std::string> channels, std::shared_ptr<const Program> program,
       PlanOutputs outputs);

  // The fused relevance of each candidate, before any terms of the program. Throws
  // std::invalid_argument for candidates with a different number of channels.
  [[nodiscard]] std::vector<double> fused(const Candidates& candidates) const;

  // The best k candidates. Rows whose score is NaN or whose keep is 0 or NaN are removed. Throws
  // std::invalid_argument for candidates with a different number of channels, a row that does not
  // exist, a now_seconds that is not finite, and a signal with a wrong length or a reserved name.
  // Cost: linear in candidates x instructions, plus k log k.
  [[nodiscard]] Ranked rank(const RankRequest& request, std::size_t k, bool is_explained) const;

  // The same for one row; no value if it is not a candidate.
  [[nodiscard]] std::optional<Placed> place_of(const RankRequest& request, std::uint32_t row) const;

  // The names of the channels, in the order of their lists.
  [[nodiscard]] std::span<const std::string> channels() const noexcept { return channels_; }
  // The numbers of factors and parts in an explanation.
  [[nodiscard]] std::size_t factor_count() const noexcept { return outputs_.factors.size(); }
  [[nodiscard]] std::size_t part_count() const noexcept { return outputs_.parts.size(); }

 private:
  // The working memory of a call; see plan.cpp.
  struct Run;

  void require_channels(const Candidates& candidates) const;
  // Fuses, binds and runs the program.
  void evaluate(const RankRequest& request, bool is_explained, Run& run) const;
  void bind(const RankRequest& request, bool is_explained, Run& run) const;
  // Copies the ranked rows of a run into a result.
  [[nodiscard]] Ranked collect(const RankRequest& request, bool is_explained, const Run& run) const;
  static Run& run_of_thread();

  // The origin of an operand's values.
  enum class Source : std::uint8_t {
    column,
    relevance,
    best_relevance,
    neighbour_gains,
    score,
    has,
    rank,
    part,
    pair_part,
    signal
  };
  // An operand of the program with its origin.
  struct Binding {
    Source source;
    std::size_t index;  // of the column or channel
  };
  [[nodiscard]] Binding binding_of(const std::string& name) const;

  Fusion fusion_;
  std::vector<std::string> channels_;
  std::shared_ptr<const Program> program_;
  PlanOutputs outputs_;
  std::vector<Binding> bindings_;  // one per operand of the program
};

}  // namespace oneiros
