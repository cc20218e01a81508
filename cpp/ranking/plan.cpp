// Ranking of candidates by a compiled profile.
//
// Algorithm: fuse the channels' ranks and scores into relevances; point every operand of the
// program to its values (columns are gathered for the candidates under the columns' shared lock,
// everything else is viewed); run the program in double precision on one thread; remove rows by
// `keep`; select the best k with a bounded heap (top.h).
//
// Invariants: the program is the one that batches and explanations run, so scores agree to the bit.
// Ties are broken by row. A plan is immutable; working memory is kept per thread and trimmed when
// large.
//
// Cost: O(candidates x instructions) with vectorised kernels, plus one gather per column.
#include "ranking/plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "ranking/parameter.h"
#include "ranking/top.h"

namespace oneiros {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

void require_rows(std::span<const std::uint32_t> rows, std::size_t size) {
  for (const std::uint32_t row : rows) {
    if (row >= size) {
      throw std::invalid_argument("rows: " + std::to_string(row) + " is not one of the " +
                                  std::to_string(size) + " rows");
    }
  }
}

void gather(const AnyValues& column, std::span<const std::uint32_t> rows, double* values) {
  std::visit(
      [&](auto from) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
          values[i] = static_cast<double>(from[rows[i]]);
        }
      },
      column);
}

double largest(std::span<const double> values) {
  double best = -std::numeric_limits<double>::infinity();
  for (const double value : values) {
    best = value > best ? value : best;
  }
  return best;
}

template <typename T>
void pick(std::span<const T> from, std::span<const std::uint32_t> order, std::vector<T>& into) {
  for (const std::uint32_t index : order) {
    into.push_back(from[index]);
  }
}

}  // namespace

// The working memory of a call, kept per thread for the next one.
struct Plan::Run {
  std::size_t size = 0;
  double best_relevance = 0;
  std::vector<double> relevance;  // fused
  std::vector<double> gathered;   // operands x candidates
  std::vector<Operand> operands;
  std::vector<double> results;   // outputs x candidates
  std::vector<double> standing;  // the score; NaN for removed rows
  std::vector<std::uint32_t> order;
  std::size_t future_count = 0;
  std::size_t kept_count = 0;

  // The order of outputs in `results`.
  enum Output : std::size_t { relevance_output, score_output, retention_output, first_other };

  [[nodiscard]] std::span<double> output(std::size_t number) {
    return std::span(results).subspan(number * size, size);
  }
  [[nodiscard]] std::span<const double> output(std::size_t number) const {
    return std::span(results).subspan(number * size, size);
  }

  void trim() {
    constexpr std::size_t kKept = std::size_t{1} << 17;
    if (gathered.capacity() > kKept || results.capacity() > kKept) {
      *this = Run();
    }
  }
};

Plan::Plan(std::string_view fusion, const FusionParameters& parameters,
           std::vector<std::string> channels, std::shared_ptr<const Program> program,
           PlanOutputs outputs)
    : fusion_(fusion, parameters, channels),
      channels_(std::move(channels)),
      program_(std::move(program)),
      outputs_(std::move(outputs)) {
  std::vector<std::size_t> registers{outputs_.relevance, outputs_.score, outputs_.retention,
                                     outputs_.keep.value_or(outputs_.score)};
  registers.insert(registers.end(), outputs_.factors.begin(), outputs_.factors.end());
  registers.insert(registers.end(), outputs_.parts.begin(), outputs_.parts.end());
  for (const std::size_t number : registers) {
    if (number >= program_->register_count()) {
      throw std::invalid_argument("outputs: register " + std::to_string(number) +
                                  " is not one of the " +
                                  std::to_string(program_->register_count()));
    }
  }
  for (const std::string& name : program_->operand_names()) {
    bindings_.push_back(binding_of(name));
  }
}

Plan::Binding Plan::binding_of(const std::string& name) const {
  if (const std::optional<Column> column = column_named(name)) {
    return {Source::column, static_cast<std::size_t>(*column)};
  }
  if (name == "relevance") {
    return {Source::relevance, 0};
  }
  if (name == "best_relevance") {
    return {Source::best_relevance, 0};
  }
  if (name == "neighbours") {
    return {Source::neighbour_gains, 0};
  }
  if (name == "word_pairs") {
    return {Source::pair_part, 0};
  }
  for (std::size_t channel = 0; channel < channels_.size(); ++channel) {
    for (const auto& [prefix, source] : {std::pair{"score:", Source::score},
                                         {"has:", Source::has},
                                         {"rank:", Source::rank},
                                         {"part:", Source::part}}) {
      if (name == prefix + channels_[channel]) {
        return {source, channel};
      }
    }
  }
  return {Source::signal, 0};
}

// Not inlined: in a loop, compilers may repeat the look-up of a thread-local object.
__attribute__((noinline)) Plan::Run& Plan::run_of_thread() {
  thread_local Run run;
  return run;
}

// Points every operand to its values. Columns are locked only while they are gathered.
void Plan::bind(const RankRequest& request, bool is_explained, Run& run) const {
  const Candidates& candidates = request.candidates;
  const std::size_t size = run.size;
  run.gathered.resize(bindings_.size() * size);
  run.operands.assign(bindings_.size(), Operand{});
  const Columns::Reader reader(request.columns);
  require_rows(candidates.rows(), reader.size());
  for (std::size_t i = 0; i < bindings_.size(); ++i) {
    const auto [source, index] = bindings_[i];
    double* const own = run.gathered.data() + i * size;
    const auto give = [&](std::span<const double> values) {
      run.operands[i] = {ElementType::f64, values.data(), values.size()};
    };
    switch (source) {
      case Source::column:
        gather(request.columns.values(static_cast<Column>(index)), candidates.rows(), own);
        give({own, size});
        break;
      case Source::relevance:
        give(run.relevance);
        break;
      case Source::best_relevance:
        give({&run.best_relevance, 1});
        break;
      case Source::neighbour_gains:
        if (!candidates.neighbour_gains().empty()) {
          give(candidates.neighbour_gains());
        }
        break;
      case Source::score:
        give(candidates.scores(index));
        break;
      case Source::has:
        std::ranges::transform(candidates.ranks(index), own,
                               [](std::uint32_t rank) { return rank == 0 ? 0.0 : 1.0; });
        give({own, size});
        break;
      case Source::rank:
        std::ranges::copy(candidates.ranks(index), own);
        give({own, size});
        break;
      case Source::part:
        if (is_explained) {  // only explanations read it
          fusion_.part(candidates, index, {own, size});
          give({own, size});
        }
        break;
      case Source::pair_part:
        if (is_explained) {
          fusion_.pair_part(candidates, {own, size});
          give({own, size});
        }
        break;
      case Source::signal:
        if (const auto found = request.signals.find(program_->operand_names()[i]);
            found != request.signals.end()) {
          give(found->second);
        }
        break;
    }
  }
}

void Plan::require_channels(const Candidates& candidates) const {
  if (candidates.channel_count() != channels_.size()) {
    throw std::invalid_argument("candidates: expected " + std::to_string(channels_.size()) +
                                " channels, got " + std::to_string(candidates.channel_count()));
  }
}

std::vector<double> Plan::fused(const Candidates& candidates) const {
  require_channels(candidates);
  std::vector<double> relevance(candidates.size());
  fusion_.fuse(candidates, relevance);
  return relevance;
}

void Plan::evaluate(const RankRequest& request, bool is_explained, Run& run) const {
  require(std::isfinite(request.now_seconds), "now_seconds", "must be finite", request.now_seconds);
  require_channels(request.candidates);
  for (const auto& [name, values] : request.signals) {
    if (binding_of(name).source != Source::signal) {
      throw std::invalid_argument("signals: the plan gives " + name + " itself");
    }
    if (values.size() != request.candidates.size() && values.size() != 1) {
      throw std::invalid_argument("signals: " + name + ": expected one value a candidate (" +
                                  std::to_string(request.candidates.size()) + "), got " +
                                  std::to_string(values.size()));
    }
  }
  run.size = request.candidates.size();
  run.relevance.resize(run.size);
  fusion_.fuse(request.candidates, run.relevance);
  run.best_relevance = largest(run.relevance);
  bind(request, is_explained, run);
  std::vector<std::size_t> outputs{outputs_.relevance, outputs_.score, outputs_.retention};
  if (outputs_.keep) {
    outputs.push_back(*outputs_.keep);
  }
  if (is_explained) {
    outputs.insert(outputs.end(), outputs_.factors.begin(), outputs_.factors.end());
    outputs.insert(outputs.end(), outputs_.parts.begin(), outputs_.parts.end());
  }
  run.results.resize(outputs.size() * run.size);
  std::vector<double*> results;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    results.push_back(run.output(i).data());
  }
  run.future_count =
      program_->run<double>({run.operands, request.now_seconds, run.size, outputs, results, 1})
          .future_count;
  const std::span<const double> scores = run.output(Run::score_output);
  run.standing.assign(scores.begin(), scores.end());
  if (outputs_.keep) {
    const std::span<const double> keep = run.output(Run::first_other);
    for (std::size_t i = 0; i < run.size; ++i) {
      run.standing[i] = keep[i] == 0 || std::isnan(keep[i]) ? kNan : scores[i];
    }
  }
  run.kept_count = static_cast<std::size_t>(
      std::ranges::count_if(run.standing, [](double score) { return !std::isnan(score); }));
}

Ranked Plan::collect(const RankRequest& request, bool is_explained, const Run& run) const {
  const Candidates& candidates = request.candidates;
  Ranked ranked;
  ranked.candidate_count = run.size;
  ranked.kept_count = run.kept_count;
  ranked.future_count = run.future_count;
  pick(candidates.rows(), run.order, ranked.rows);
  pick(run.output(Run::score_output), run.order, ranked.scores);
  pick(run.output(Run::relevance_output), run.order, ranked.relevance);
  pick(run.output(Run::retention_output), run.order, ranked.retention);
  if (is_explained) {
    for (std::size_t channel = 0; channel < channels_.size(); ++channel) {
      pick(candidates.ranks(channel), run.order, ranked.ranks);
      pick(candidates.scores(channel), run.order, ranked.channel_scores);
    }
    const std::size_t first = Run::first_other + (outputs_.keep ? 1 : 0);
    for (std::size_t factor = 0; factor < factor_count(); ++factor) {
      pick(run.output(first + factor), run.order, ranked.factors);
    }
    for (std::size_t part = 0; part < part_count(); ++part) {
      pick(run.output(first + factor_count() + part), run.order, ranked.parts);
    }
  }
  return ranked;
}

Ranked Plan::rank(const RankRequest& request, std::size_t k, bool is_explained) const {
  Run& run = run_of_thread();
  evaluate(request, is_explained, run);
  const std::span<const std::uint32_t> rows = request.candidates.rows();
  best_first(run.standing, k, run.order,
             [&](std::uint32_t a, std::uint32_t b) { return rows[a] < rows[b]; });
  Ranked ranked = collect(request, is_explained, run);
  run.trim();
  return ranked;
}

std::optional<Placed> Plan::place_of(const RankRequest& request, std::uint32_t row) const {
  Run& run = run_of_thread();
  evaluate(request, true, run);
  const std::span<const std::uint32_t> rows = request.candidates.rows();
  const auto found = std::ranges::find(rows, row);
  if (found == rows.end()) {
    return std::nullopt;
  }
  const auto mine = static_cast<std::size_t>(found - rows.begin());
  const std::span<const double> scores = run.standing;
  run.order.assign(1, static_cast<std::uint32_t>(mine));
  Placed placed{collect(request, true, run), 0};
  if (!std::isnan(scores[mine])) {
    placed.place = 1;
    for (std::size_t i = 0; i < run.size; ++i) {
      const bool is_before =
          scores[i] > scores[mine] || (scores[i] == scores[mine] && rows[i] < row);
      placed.place += is_before ? 1 : 0;
    }
  }
  run.trim();
  return placed;
}

}  // namespace oneiros
