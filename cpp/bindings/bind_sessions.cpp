// The order of memories within their sessions, and what candidates gain from it.
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "bindings/arrays.h"
#include "bindings/candidates.h"
#include "bindings/gil.h"
#include "bindings/registration.h"
#include "columns/session_order.h"
#include "lexical/allowed_rows.h"
#include "ranking/plan.h"
#include "ranking/session_neighbours.h"

namespace oneiros {

namespace {

// What a profile says of neighbours, judged.
NeighbourRule make_rule(double share, double decay, unsigned reach, std::size_t seeds,
                        bool is_above_mean) {
  return {share, decay, reach, seeds, is_above_mean};
}

bool is_empty(const SessionOrder& order) {
  const ReleasedGil nogil;
  return SessionOrder::Reader(order).is_empty();
}

void place(SessionOrder& order, const Columns& columns, const std::vector<std::uint32_t>& rows) {
  const ReleasedGil nogil;
  order.place(columns, rows);
}

void place_all(SessionOrder& order, const Columns& columns) {
  const ReleasedGil nogil;
  order.place_all(columns);
}

std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>> bring(
    const SessionOrder& order, const Plan& plan, GuardedCandidates& guarded,
    const NeighbourRule& rule, const std::optional<py::array>& allowed) {
  const lexical::AllowedRows may =
      allowed ? lexical::AllowedRows(read_1d<std::uint8_t>(*allowed, "allowed"))
              : lexical::AllowedRows();
  const ReleasedGil nogil;
  const std::scoped_lock lock(guarded.mutex);
  Candidates& candidates = guarded.candidates;
  BroughtIn brought =
      neighbours_of_best(order, candidates.rows(), plan.fused(candidates), rule, may);
  if (!brought.rows.empty()) {
    candidates.append(brought.rows);
  }
  return {std::move(brought.rows), std::move(brought.hits)};
}

void lend(const SessionOrder& order, const Plan& plan, GuardedCandidates& guarded,
          const NeighbourRule& rule) {
  const ReleasedGil nogil;
  const std::scoped_lock lock(guarded.mutex);
  Candidates& candidates = guarded.candidates;
  candidates.lend(neighbour_shares(order, candidates.rows(), plan.fused(candidates), rule));
}

}  // namespace

void register_sessions(py::module_& module) {
  py::class_<NeighbourRule>(module, "NeighbourRule", "What neighbours in a session lend.")
      .def(py::init(&make_rule), py::kw_only(), py::arg("share"), py::arg("decay"),
           py::arg("reach"), py::arg("seeds"), py::arg("is_above_mean"));
  py::class_<SessionOrder, std::shared_ptr<SessionOrder>>(
      module, "SessionOrder", "Rows next to each other in time within one session.")
      .def(py::init<>())
      .def_property_readonly("is_empty", &is_empty, "Whether no row stands in a session.")
      .def("place", &place, py::kw_only(), py::arg("columns").none(false), py::arg("rows"),
           "Brings rows to where the columns now say they belong.")
      .def("place_all", &place_all, py::kw_only(), py::arg("columns").none(false),
           "The same for all rows there are.")
      .def(
          "remove",
          [](SessionOrder& order, std::uint32_t row) {
            const ReleasedGil nogil;
            order.remove(row);
          },
          py::kw_only(), py::arg("row"), "Takes a row out.")
      .def("bring", &bring, py::kw_only(), py::arg("plan").none(false),
           py::arg("candidates").none(false), py::arg("rule").none(false), py::arg("allowed"),
           "Makes candidates of the best ones' neighbours; these rows, and which hit brought each.")
      .def("lend", &lend, py::kw_only(), py::arg("plan").none(false),
           py::arg("candidates").none(false), py::arg("rule").none(false),
           "Gives each candidate what it gains from its neighbours.");
}

}  // namespace oneiros
