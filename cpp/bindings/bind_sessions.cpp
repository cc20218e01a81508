// Binding of the temporal order within sessions, and of boosts from neighbours.
#include <cstdint>
#include <memory>
#include <vector>

#include "bindings/arrays.h"
#include "bindings/gil.h"
#include "bindings/instances.h"
#include "bindings/registration.h"
#include "columns/session_order.h"
#include "ranking/session_neighbours.h"

namespace oneiros {

namespace {

// A validated neighbour rule.
NeighbourRule make_neighbour_rule(double share, double decay, unsigned reach, std::size_t seeds,
                                  bool is_above_mean, bool is_above_session, double whole_length,
                                  bool is_from_better, double session_share) {
  return {.share = share,
          .decay = decay,
          .reach = reach,
          .seeds = seeds,
          .is_above_mean = is_above_mean,
          .is_above_session = is_above_session,
          .whole_length = whole_length,
          .is_from_better = is_from_better,
          .session_share = session_share};
}

void place(SessionOrder& order, const Columns& columns, const std::vector<std::uint32_t>& rows) {
  const ReleasedGil nogil;
  order.place(columns, rows);
}

void place_all(SessionOrder& order, const Columns& columns) {
  const ReleasedGil nogil;
  order.place_all(columns);
}

}  // namespace

void register_sessions(py::module_& module) {
  py::class_<NeighbourRule>(module, "NeighbourRule", "The rule of boosts from session neighbours.")
      .def(py::init(&make_neighbour_rule), py::kw_only(), py::arg("share"), py::arg("decay"),
           py::arg("reach"), py::arg("seeds"), py::arg("is_above_mean"),
           py::arg("is_above_session"), py::arg("whole_length"), py::arg("is_from_better"),
           py::arg("session_share"));
  py::class_<SessionOrder, std::shared_ptr<SessionOrder>>(
      module, "SessionOrder", "The temporal order of rows within their sessions.")
      .def(shared_init<SessionOrder>())
      .def("place", &place, py::kw_only(), py::arg("columns").none(false), py::arg("rows"),
           "Move rows to where the columns place them now.")
      .def("place_all", &place_all, py::kw_only(), py::arg("columns").none(false),
           "Move all rows to where the columns place them now.")
      .def(
          "remove",
          [](SessionOrder& order, std::uint32_t row) {
            const ReleasedGil nogil;
            order.remove(row);
          },
          py::kw_only(), py::arg("row"), "Remove a row.");
}

}  // namespace oneiros
