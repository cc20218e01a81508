#include <memory>

#include "bindings/arrays.h"
#include "bindings/gil.h"
#include "bindings/registration.h"
#include "columns/columns.h"
#include "ranking/fusion.h"
#include "ranking/plan.h"

namespace oneiros {

namespace {

// Plan::rank's answer as arrays.
struct RankedArrays {
  py::array rows;
  py::array scores;
  py::array relevance;
  py::array retention;
  std::size_t candidate_count;
  std::size_t future_count;
  py::object ranks;
  py::object factors;
};

RankedArrays arrays_of(const Ranked& ranked, std::size_t channels, std::size_t steps,
                       bool is_explained) {
  const std::size_t size = ranked.rows.size();
  RankedArrays arrays{copied(ranked.rows),
                      copied(ranked.scores),
                      copied(ranked.relevance),
                      copied(ranked.retention),
                      ranked.candidate_count,
                      ranked.future_count,
                      py::none(),
                      py::none()};
  if (is_explained) {
    arrays.ranks = copied(ranked.ranks, channels, size);
    arrays.factors = copied(ranked.factors, steps, size);
  }
  return arrays;
}

RankedArrays rank(const Plan& plan, const Columns& columns, const py::list& rankings,
                  double now_seconds, std::size_t k, bool explain) {
  const auto lists = read_list<std::uint32_t>(rankings, "rankings");
  Ranked ranked;
  {
    const ReleasedGil nogil;
    ranked = plan.rank(columns, {lists.spans, now_seconds, k, explain});
  }
  return arrays_of(ranked, lists.spans.size(), plan.step_count(), explain);
}

py::array factors(const Plan& plan, const Columns& columns, const py::array& rows,
                  double now_seconds) {
  const auto read = read_1d<std::uint32_t>(rows, "rows");
  const std::vector<std::uint32_t> where(read.begin(), read.end());  // the caller's may change
  py::array_t<double> factors({static_cast<py::ssize_t>(plan.step_count()), rows.size()});
  const std::span<double> out(factors.mutable_data(), static_cast<std::size_t>(factors.size()));
  {
    const ReleasedGil nogil;
    plan.factors(columns, where, now_seconds, out);
  }
  return factors;
}

Plan make_plan(double rrf_k, std::optional<std::vector<double>> weights,
               const std::vector<std::pair<std::string, Parameters>>& steps) {
  return {rrf_k, std::move(weights).value_or(std::vector<double>{}), steps};
}

Normalise normalise_named(const std::string& name) {
  if (name == "none") {
    return Normalise::none;
  }
  if (name == "channel") {
    return Normalise::channel;
  }
  throw py::value_error("normalise: must be \"none\" or \"channel\", got \"" + name + "\"");
}

py::tuple rrf(const py::list& rankings, double k, const std::optional<py::array>& weights,
              const std::string& normalise, std::optional<std::size_t> top) {
  const auto lists = read_list<std::int64_t>(rankings, "rankings");
  const FusionRule rule{k,
                        weights ? read_1d<double>(*weights, "weights") : std::span<const double>{},
                        normalise_named(normalise)};
  if (weights && rule.weights.size() != lists.spans.size()) {
    throw py::value_error("weights: expected one a ranking (" + std::to_string(lists.spans.size()) +
                          "), got " + std::to_string(rule.weights.size()));
  }
  std::vector<std::int64_t> ids;
  std::vector<double> scores;
  {
    const ReleasedGil nogil;
    fused_best_first(lists.spans, rule, top.value_or(SIZE_MAX), ids, scores);
  }
  return py::make_tuple(copied(ids), copied(scores));
}

}  // namespace

void register_ranking(py::module_& module) {
  py::class_<RankedArrays>(module, "Ranked", "The best candidates, best first.")
      .def_readonly("rows", &RankedArrays::rows)
      .def_readonly("scores", &RankedArrays::scores)
      .def_readonly("relevance", &RankedArrays::relevance)
      .def_readonly("retention", &RankedArrays::retention)
      .def_readonly("candidate_count", &RankedArrays::candidate_count)
      .def_readonly("future_count", &RankedArrays::future_count)
      .def_readonly("ranks", &RankedArrays::ranks)
      .def_readonly("factors", &RankedArrays::factors);
  py::class_<Plan, std::shared_ptr<Plan>>(module, "Plan",
                                          "A compiled profile: fusion, then factors in order.")
      .def(py::init(&make_plan), py::kw_only(), py::arg("rrf_k"), py::arg("weights"),
           py::arg("steps"))
      .def("rank", &rank, py::kw_only(), py::arg("columns"), py::arg("rankings"),
           py::arg("now_seconds"), py::arg("k"), py::arg("explain"),
           "Fuses ranked rows, multiplies the factors, keeps the best k.")
      .def("factors", &factors, py::kw_only(), py::arg("columns"), py::arg("rows"),
           py::arg("now_seconds"), "Each step's factor of each row, shape (steps, n).");
  module.def("rrf", &rrf, py::kw_only(), py::arg("rankings"), py::arg("k"), py::arg("weights"),
             py::arg("normalise"), py::arg("top"),
             "Reciprocal rank fusion of ids; ids and scores, ties by first appearance.");
}

}  // namespace oneiros
