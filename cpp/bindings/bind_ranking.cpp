#include <memory>
#include <mutex>
#include <shared_mutex>

#include "bindings/arrays.h"
#include "bindings/gil.h"
#include "bindings/registration.h"
#include "columns/columns.h"
#include "ranking/candidates.h"
#include "ranking/plan.h"
#include "ranking/reciprocal_rank.h"

namespace oneiros {

namespace {

// Ranked as arrays.
struct RankedArrays {
  py::array rows;
  py::array scores;
  py::array relevance;
  py::array retention;
  std::size_t candidate_count;
  std::size_t kept_count;
  std::size_t future_count;
  py::object ranks = py::none();
  py::object channel_scores = py::none();
  py::object factors = py::none();
  py::object parts = py::none();
};

RankedArrays arrays_of(const Ranked& ranked, const Plan& plan, bool is_explained) {
  const std::size_t size = ranked.rows.size();
  RankedArrays arrays{copied(ranked.rows),      copied(ranked.scores),  copied(ranked.relevance),
                      copied(ranked.retention), ranked.candidate_count, ranked.kept_count,
                      ranked.future_count};
  if (is_explained) {
    arrays.ranks = copied(ranked.ranks, plan.channels().size(), size);
    arrays.channel_scores = copied(ranked.channel_scores, plan.channels().size(), size);
    arrays.factors = copied(ranked.factors, plan.factor_count(), size);
    arrays.parts = copied(ranked.parts, plan.part_count(), size);
  }
  return arrays;
}

// Python may fill in scores on one thread while a plan reads them on another.
struct GuardedCandidates {
  explicit GuardedCandidates(std::span<const ChannelHits> channels) : candidates(channels) {}

  std::size_t require_channel(std::size_t channel) const {
    if (channel >= candidates.channel_count()) {
      throw py::value_error("channel: must be below " + std::to_string(candidates.channel_count()) +
                            ", got " + std::to_string(channel));
    }
    return channel;
  }

  Candidates candidates;
  mutable std::shared_mutex mutex;
};

std::unique_ptr<GuardedCandidates> make_candidates(const Plan& plan, const py::list& rankings,
                                                   const py::list& scores) {
  const auto lists = read_list<std::uint32_t>(rankings, "rankings");
  const std::size_t count = plan.channels().size();
  if (lists.spans.size() != count || scores.size() != count) {
    throw py::value_error("rankings, scores: expected one each a channel (" +
                          std::to_string(count) + "), got " + std::to_string(lists.spans.size()) +
                          " and " + std::to_string(scores.size()));
  }
  std::vector<py::array> held;
  std::vector<ChannelHits> channels;
  for (std::size_t i = 0; i < count; ++i) {
    if (!py::isinstance<py::array>(scores[i])) {
      throw py::type_error("scores: expected a list of arrays, got " +
                           text(py::type::of(scores[i])));
    }
    held.push_back(py::reinterpret_borrow<py::array>(scores[i]));
    for_real(held.back(), "scores", [&](auto real) {
      channels.push_back({lists.spans[i], read_1d<decltype(real)>(held.back(), "scores")});
    });
  }
  const ReleasedGil nogil;
  return std::make_unique<GuardedCandidates>(channels);
}

py::array missing(const GuardedCandidates& guarded, std::size_t channel) {
  guarded.require_channel(channel);
  std::vector<std::uint32_t> rows;
  {
    const ReleasedGil nogil;
    const std::shared_lock lock(guarded.mutex);
    rows = guarded.candidates.missing(channel);
  }
  return copied(rows);
}

void fill(GuardedCandidates& guarded, std::size_t channel, const py::array& scores) {
  guarded.require_channel(channel);
  const auto values = read_1d<double>(scores, "scores");
  const ReleasedGil nogil;
  const std::scoped_lock lock(guarded.mutex);
  guarded.candidates.fill(channel, values);
}

py::array rows_of(const GuardedCandidates& guarded) {
  const auto rows = guarded.candidates.rows();  // the union itself never changes
  return py::array_t<std::uint32_t>(static_cast<py::ssize_t>(rows.size()), rows.data());
}

// Signals as spans, and what keeps them alive.
struct GivenSignals {
  explicit GivenSignals(const std::optional<py::dict>& given) {
    if (!given) {
      return;
    }
    for (const auto& [name, values] : *given) {
      const auto word = name.cast<std::string>();
      if (!py::isinstance<py::array>(values)) {
        throw py::type_error("signals: " + word + ": expected an array, got " +
                             text(py::type::of(values)));
      }
      arrays.push_back(py::reinterpret_borrow<py::array>(values));
      signals[word] = read_1d<double>(arrays.back(), "signals: " + word);
    }
  }
  std::vector<py::array> arrays;
  Signals signals;
};

RankedArrays rank(const Plan& plan, const Columns& columns, const GuardedCandidates& guarded,
                  double now_seconds, std::size_t k, const std::optional<py::dict>& signals,
                  bool explain) {
  const GivenSignals given(signals);
  Ranked ranked;
  {
    const ReleasedGil nogil;
    const std::shared_lock lock(guarded.mutex);
    ranked = plan.rank({columns, guarded.candidates, now_seconds, given.signals}, k, explain);
  }
  return arrays_of(ranked, plan, explain);
}

py::object place_of(const Plan& plan, const Columns& columns, const GuardedCandidates& guarded,
                    double now_seconds, std::uint32_t row, const std::optional<py::dict>& signals) {
  const GivenSignals given(signals);
  std::optional<Placed> placed;
  {
    const ReleasedGil nogil;
    const std::shared_lock lock(guarded.mutex);
    placed = plan.place_of({columns, guarded.candidates, now_seconds, given.signals}, row);
  }
  if (!placed) {
    return py::none();
  }
  const py::object place = placed->place == 0 ? py::object(py::none()) : py::int_(placed->place);
  return py::make_tuple(arrays_of(placed->explanation, plan, true), place);
}

std::shared_ptr<Plan> make_plan(const std::string& fusion, const FusionParameters& parameters,
                                std::vector<std::string> channels, std::shared_ptr<Program> program,
                                std::size_t relevance, std::size_t score, std::size_t retention,
                                std::optional<std::size_t> keep, std::vector<std::size_t> factors,
                                std::vector<std::size_t> parts) {
  return std::make_shared<Plan>(
      fusion, parameters, std::move(channels), std::move(program),
      PlanOutputs{relevance, score, retention, keep, std::move(factors), std::move(parts)});
}

bool is_normalised(const std::string& normalise) {
  if (normalise != "none" && normalise != "channel") {
    throw py::value_error("normalise: must be \"none\" or \"channel\", got \"" + normalise + "\"");
  }
  return normalise == "channel";
}

py::tuple rrf(const py::list& rankings, double k, const std::optional<py::array>& weights,
              const std::string& normalise, std::optional<std::size_t> top) {
  const auto lists = read_list<std::int64_t>(rankings, "rankings");
  ReciprocalRank rule{k, {}, is_normalised(normalise)};
  if (weights) {
    const auto given = read_1d<double>(*weights, "weights");
    if (given.size() != lists.spans.size()) {
      throw py::value_error("weights: expected one a ranking (" +
                            std::to_string(lists.spans.size()) + "), got " +
                            std::to_string(given.size()));
    }
    rule.weights.assign(given.begin(), given.end());
  }
  std::vector<std::int64_t> ids;
  std::vector<double> scores;
  {
    const ReleasedGil nogil;
    fused_best_first(lists.spans, rule, top.value_or(SIZE_MAX), ids, scores);
  }
  return py::make_tuple(copied(ids), copied(scores));
}

void register_results(py::module_& module) {
  py::class_<RankedArrays>(module, "Ranked", "Candidates in rank order.")
      .def_readonly("rows", &RankedArrays::rows)
      .def_readonly("scores", &RankedArrays::scores)
      .def_readonly("relevance", &RankedArrays::relevance)
      .def_readonly("retention", &RankedArrays::retention)
      .def_readonly("candidate_count", &RankedArrays::candidate_count)
      .def_readonly("kept_count", &RankedArrays::kept_count)
      .def_readonly("future_count", &RankedArrays::future_count)
      .def_readonly("ranks", &RankedArrays::ranks)
      .def_readonly("channel_scores", &RankedArrays::channel_scores)
      .def_readonly("factors", &RankedArrays::factors)
      .def_readonly("parts", &RankedArrays::parts);
  py::class_<GuardedCandidates>(
      module, "Candidates", "What the channels found, each row once: Plan.candidates makes one.")
      .def("__len__", [](const GuardedCandidates& guarded) { return guarded.candidates.size(); })
      .def_property_readonly("rows", &rows_of, "In order of first appearance.")
      .def("missing", &missing, py::arg("channel"), "The rows that have no raw score of a channel.")
      .def("fill", &fill, py::arg("channel"), py::arg("scores"),
           "Gives the missing rows their raw scores, in that order; NaN: it has none.");
}

}  // namespace

void register_ranking(py::module_& module) {
  register_results(module);
  py::class_<Plan, std::shared_ptr<Plan>>(
      module, "Plan", "A compiled profile: candidates fused, one program run, the best kept.")
      .def(py::init(&make_plan), py::kw_only(), py::arg("fusion"), py::arg("fusion_parameters"),
           py::arg("channels"), py::arg("program").none(false), py::arg("relevance"),
           py::arg("score"), py::arg("retention"), py::arg("keep"), py::arg("factors"),
           py::arg("parts"))
      .def("candidates", &make_candidates, py::kw_only(), py::arg("rankings"), py::arg("scores"),
           "The union of the channels' lists, one each, best first, with their raw scores.")
      .def("rank", &rank, py::kw_only(), py::arg("columns"), py::arg("candidates").none(false),
           py::arg("now_seconds"), py::arg("k"), py::arg("signals"), py::arg("explain"),
           "The best k of the candidates: higher score first, then the smaller row.")
      .def("place_of", &place_of, py::kw_only(), py::arg("columns"),
           py::arg("candidates").none(false), py::arg("now_seconds"), py::arg("row"),
           py::arg("signals"),
           "(explanation of one row, its place or None if it leaves); None for no candidate.");
  module.def("rrf", &rrf, py::kw_only(), py::arg("rankings"), py::arg("k"), py::arg("weights"),
             py::arg("normalise"), py::arg("top"),
             "Reciprocal rank fusion of ids; ids and scores, ties by first appearance.");
}

}  // namespace oneiros
