// Binding of candidates, plans and reciprocal rank fusion.
//
// Channel hits are viewed as arrays where possible; other sequences are converted. Candidates are
// guarded by a mutex, since Python may fill in scores on one thread while another ranks.
// Explanations are kept as flat arrays and become NumPy arrays on access.
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "bindings/arrays.h"
#include "bindings/candidates.h"
#include "bindings/gil.h"
#include "bindings/own_copies.h"
#include "bindings/ranked.h"
#include "bindings/registration.h"
#include "columns/columns.h"
#include "ranking/plan.h"
#include "ranking/reciprocal_rank.h"

namespace oneiros {

namespace {

py::list ranked_results(const RankedAnswer& answer) {
  const Ranked& ranked = answer.ranked;
  py::list results(ranked.rows.size());
  for (std::size_t i = 0; i < ranked.rows.size(); ++i) {
    results[i] =
        py::make_tuple(ranked.rows[i], ranked.relevance[i], ranked.retention[i], ranked.scores[i]);
  }
  return results;
}

// Channel hits as spans, and the arrays they refer to.
struct GivenLists {
  explicit GivenLists(const py::list& given) {
    for (const py::handle item : own_copy(given)) {
      if (!py::isinstance<py::tuple>(item) || py::len(item) != 2) {
        throw py::type_error("hits: expected (rows, scores), got " + text(py::type::of(item)));
      }
      const py::array rows = array_at(item, 0);
      const py::array scores = array_at(item, 1);
      for_real(scores, "scores", [&](auto real) {
        channels.push_back(
            {read_1d<std::uint32_t>(rows, "rows"), read_1d<decltype(real)>(scores, "scores")});
      });
    }
  }
  std::vector<py::object> items;
  std::vector<ChannelHits> channels;

 private:
  py::array array_at(const py::handle& pair, std::size_t place) {
    const py::object item = py::reinterpret_borrow<py::tuple>(pair)[place];
    if (!py::isinstance<py::array>(item)) {
      throw py::type_error("hits: expected arrays of rows and scores, got " +
                           text(py::type::of(item)));
    }
    items.push_back(item);
    return py::reinterpret_borrow<py::array>(item);
  }
};

// Unites the channels' hits, one list per channel, without the GIL.
std::unique_ptr<GuardedCandidates> make_candidates(const Plan& plan, const py::list& hits) {
  const GivenLists given(hits);
  if (given.channels.size() != plan.channels().size()) {
    throw py::value_error("hits: expected one list a channel (" +
                          std::to_string(plan.channels().size()) + "), got " +
                          std::to_string(given.channels.size()));
  }
  const ReleasedGil nogil;
  return std::make_unique<GuardedCandidates>(given.channels);
}

// A copy: the set may grow afterwards.
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

void append_candidates(GuardedCandidates& guarded, const std::vector<std::uint32_t>& rows) {
  const ReleasedGil nogil;
  const std::scoped_lock lock(guarded.mutex);
  guarded.candidates.append(rows);
}

py::array candidate_rows(const GuardedCandidates& guarded) {
  std::vector<std::uint32_t> rows;
  {
    const ReleasedGil nogil;
    const std::shared_lock lock(guarded.mutex);
    rows.assign(guarded.candidates.rows().begin(), guarded.candidates.rows().end());
  }
  return copied(rows);
}

std::size_t size_of(const GuardedCandidates& guarded) {
  const ReleasedGil nogil;
  const std::shared_lock lock(guarded.mutex);
  return guarded.candidates.size();
}

// Signals as spans, and the objects that keep them alive.
struct GivenSignals {
  explicit GivenSignals(const std::optional<py::dict>& given) {
    if (!given) {
      return;
    }
    for (const auto& [name, values] : own_copy(*given)) {
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

// Ranks under the candidates' shared lock, without the GIL.
RankedAnswer rank(const Plan& plan, const Columns& columns, const GuardedCandidates& guarded,
                  double now_seconds, std::size_t k, const std::optional<py::dict>& signals,
                  bool explain) {
  const GivenSignals given(signals);
  Ranked ranked;
  {
    const ReleasedGil nogil;
    const std::shared_lock lock(guarded.mutex);
    ranked = plan.rank({columns, guarded.candidates, now_seconds, given.signals}, k, explain);
  }
  return answer_of(std::move(ranked), plan, explain);
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
  return py::make_tuple(answer_of(std::move(placed->explanation), plan, true), place);
}

// Builds a plan; the fusion and the outputs are validated by the core.
std::shared_ptr<Plan> make_fusion_plan(
    const std::string& fusion, const FusionParameters& parameters,
    std::vector<std::string> channels, std::shared_ptr<Program> program, std::size_t relevance,
    std::size_t score, std::size_t retention, std::optional<std::size_t> keep,
    std::vector<std::size_t> factors, std::vector<std::size_t> parts) {
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

// The int64 arrays in `rankings`; empty unless all are contiguous int64 arrays. Throws as read_1d.
std::vector<std::span<const std::int64_t>> plain_lists(const py::tuple& rankings) {
  std::vector<std::span<const std::int64_t>> lists;
  lists.reserve(rankings.size());
  for (const py::handle item : rankings) {
    if (!py::isinstance<py::array_t<std::int64_t>>(item)) {
      return {};
    }
    const auto array = py::reinterpret_borrow<py::array>(item);
    if (array.ndim() == 1 && (array.flags() & py::array::c_style) == 0) {
      return {};
    }
    lists.push_back(read_1d<std::int64_t>(array, "rankings"));
  }
  return lists;
}

// Fuses contiguous int64 arrays; None if there is no ranking or one is of another kind.
std::optional<py::tuple> rrf(const py::list& rankings, double k,
                             const std::optional<py::array>& weights, const std::string& normalise,
                             std::optional<std::size_t> top) {
  constexpr std::size_t kFewEntries = 500;  // takes a few microseconds
  ReciprocalRank rule{k, {}, is_normalised(normalise)};
  const py::tuple kept = own_copy(rankings);  // keeps the spans below alive
  const auto lists = plain_lists(kept);
  if (lists.empty()) {
    return std::nullopt;
  }
  if (weights) {
    const auto given = read_1d<double>(*weights, "weights");
    rule.weights.assign(given.begin(), given.end());
  }
  std::vector<std::int64_t> ids;
  std::vector<double> scores;
  {
    std::optional<ReleasedGil> nogil;
    if (entry_count<std::int64_t>(lists) > kFewEntries) {
      nogil.emplace();
    }
    fused_best_first(lists, rule, top.value_or(SIZE_MAX), ids, scores);
  }
  return py::make_tuple(copied(ids), copied(scores));
}

void register_results(py::module_& module) {
  using Answer = RankedAnswer;
  py::class_<Answer>(module, "Ranked", "Candidates in rank order. Each array is made on access.")
      .def("__len__", [](const Answer& answer) { return answer.ranked.rows.size(); })
      .def("results", &ranked_results, "Return (row, relevance, retention, score) of each.")
      .def_property_readonly("rows",
                             [](const Answer& answer) { return copied(answer.ranked.rows); })
      .def_property_readonly("scores",
                             [](const Answer& answer) { return copied(answer.ranked.scores); })
      .def_property_readonly("relevance",
                             [](const Answer& answer) { return copied(answer.ranked.relevance); })
      .def_property_readonly("retention",
                             [](const Answer& answer) { return copied(answer.ranked.retention); })
      .def_property_readonly("candidate_count",
                             [](const Answer& answer) { return answer.ranked.candidate_count; })
      .def_property_readonly("kept_count",
                             [](const Answer& answer) { return answer.ranked.kept_count; })
      .def_property_readonly("future_count",
                             [](const Answer& answer) { return answer.ranked.future_count; })
      .def_property_readonly("ranks",
                             [](const Answer& answer) {
                               return answer.explained(answer.ranked.ranks, answer.channel_count);
                             })
      .def_property_readonly("channel_scores",
                             [](const Answer& answer) {
                               return answer.explained(answer.ranked.channel_scores,
                                                       answer.channel_count);
                             })
      .def_property_readonly("factors",
                             [](const Answer& answer) {
                               return answer.explained(answer.ranked.factors, answer.factor_count);
                             })
      .def_property_readonly("parts", [](const Answer& answer) {
        return answer.explained(answer.ranked.parts, answer.part_count);
      });
  py::class_<GuardedCandidates>(module, "Candidates",
                                "The union of the channels' hits, made by Plan.candidates.")
      .def("__len__", &size_of)
      .def_property_readonly("rows", &candidate_rows, "The rows in order of first appearance.")
      .def("missing", &missing, py::arg("channel"), "The rows without a raw score of a channel.")
      .def("fill", &fill, py::arg("channel"), py::arg("scores"),
           "Set the raw scores of the missing rows, in that order; NaN for none.")
      .def("append", &append_candidates, py::arg("rows"),
           "Append rows that no channel returned and that are not present.");
}

}  // namespace

void register_ranking(py::module_& module) {
  register_results(module);
  py::class_<Plan, std::shared_ptr<Plan>>(
      module, "Plan", "A compiled profile: fuses candidates, runs one program, keeps the best.")
      .def(py::init(&make_fusion_plan), py::kw_only(), py::arg("fusion"),
           py::arg("fusion_parameters"), py::arg("channels"), py::arg("program").none(false),
           py::arg("relevance"), py::arg("score"), py::arg("retention"), py::arg("keep"),
           py::arg("factors"), py::arg("parts"))
      .def("candidates", &make_candidates, py::kw_only(), py::arg("hits"),
           "The union of one list per channel, best first, with raw scores: arrays "
           "of "
           "rows and scores.")
      .def("rank", &rank, py::kw_only(), py::arg("columns"), py::arg("candidates").none(false),
           py::arg("now_seconds"), py::arg("k"), py::arg("signals"), py::arg("explain"),
           "The best k of the candidates: higher score first, then the smaller row.")
      .def("place_of", &place_of, py::kw_only(), py::arg("columns"),
           py::arg("candidates").none(false), py::arg("now_seconds"), py::arg("row"),
           py::arg("signals"),
           "(explanation of a row, its place or None if removed); None if it is no candidate.");
  module.def("rrf", &rrf, py::arg("rankings"), py::arg("k"), py::arg("weights"),
             py::arg("normalise"), py::arg("top"), py::pos_only(),
             "Reciprocal rank fusion: ids and scores, ties by first appearance. None if "
             "there is no ranking, or one is not a contiguous int64 array.");
}

}  // namespace oneiros
