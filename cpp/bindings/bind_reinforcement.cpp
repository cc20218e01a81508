// Uses of memories, and the sessions that have seen them.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrays.h"
#include "bindings/gil.h"
#include "bindings/registration.h"
#include "reinforcement/reinforcer.h"

namespace oneiros {

namespace {

using RowList = std::vector<std::uint32_t>;

std::shared_ptr<UseRule> make_rule(const ReinforcementRule& found, const ReinforcementRule& linked,
                                   std::optional<double> link_gain, double link_rest_days,
                                   double link_tau_days, std::size_t most_linked,
                                   bool is_once_a_session, bool warms,
                                   std::optional<std::uint32_t> core_accesses,
                                   double core_stability, std::uint32_t core_sessions) {
  auto rule = std::make_shared<UseRule>();
  rule->found = found;
  rule->linked = linked;
  if (link_gain) {
    rule->links = LinkGain{*link_gain, link_rest_days};
  }
  rule->link_tau_days = link_tau_days;
  rule->most_linked = most_linked;
  rule->is_once_a_session = is_once_a_session;
  rule->warms = warms;
  if (core_accesses) {
    rule->core = CoreRule{*core_accesses, core_stability, core_sessions};
  }
  return rule;
}

Use make_use(RowList rows, RowList direct, RowList linked, double now_seconds,
             std::optional<std::string> session, std::shared_ptr<const UseRule> rule) {
  std::ranges::sort(linked);
  return {std::move(rows), std::move(direct),  std::move(linked),
          now_seconds,     std::move(session), std::move(rule)};
}

// The same of a method that takes rows alone.
template <void (Reinforcer::*method)(std::span<const std::uint32_t>)>
void with_rows(Reinforcer& reinforcer, const RowList& rows) {
  const ReleasedGil nogil;
  (reinforcer.*method)(rows);
}

template <auto method>
void alone(Reinforcer& reinforcer) {
  const ReleasedGil nogil;
  (reinforcer.*method)();
}

template <auto method>
auto read(Reinforcer& reinforcer) {
  const ReleasedGil nogil;
  return (reinforcer.*method)();
}

// (uses, rows, which may stand otherwise, (row, session) pairs, one end, other end)
py::tuple owed(const Reinforcer& reinforcer) {
  OwedUse owed;
  RowList a;
  RowList b;
  {
    const ReleasedGil nogil;
    owed = reinforcer.owed();
    for (const auto& [one, other] : owed.pairs) {
      a.push_back(one);
      b.push_back(other);
    }
  }
  return py::make_tuple(owed.use_count, owed.rows, owed.may_stand, owed.sessions, a, b);
}

}  // namespace

void register_reinforcement(py::module_& module) {
  py::class_<SessionSets, std::shared_ptr<SessionSets>>(
      module, "SessionSets", "The sessions that have seen each memory, by row.")
      .def(py::init<>())
      .def(
          "at", [](const SessionSets& sets, std::uint32_t row) { return sets.at(row); },
          py::kw_only(), py::arg("row"), "A row's sessions; None where none are on record.")
      .def("__len__", &SessionSets::size)
      .def("rows", &SessionSets::rows, "The rows on record, ascending.")
      .def(
          "absent", [](const SessionSets& sets, const RowList& rows) { return sets.absent(rows); },
          py::kw_only(), py::arg("rows"), "Those of the rows that have none on record.")
      .def(
          "set",
          [](SessionSets& sets, std::uint32_t row, const std::vector<std::string>& sessions) {
            const ReleasedGil nogil;
            sets.set(row, sessions);
          },
          py::kw_only(), py::arg("row"), py::arg("sessions"), "Puts a row's sessions on record.")
      .def(
          "set_if_absent",
          [](SessionSets& sets, std::uint32_t row, const std::vector<std::string>& sessions) {
            const ReleasedGil nogil;
            sets.set_if_absent(row, sessions);
          },
          py::kw_only(), py::arg("row"), py::arg("sessions"), "The same, where none are on record.")
      .def(
          "add",
          [](SessionSets& sets, const RowList& rows, const std::string& session) {
            return sets.add(rows, session);
          },
          py::kw_only(), py::arg("rows"), py::arg("session"),
          "Adds a session to each row's; returns how many each has.");

  py::class_<ReinforcementRule>(module, "ReinforcementRule",
                                "docs/systems/reverie.md R20, or cognitive.md C11.")
      .def(py::init([](double gain, double span_days, double most, double limit, bool is_additive) {
             const ReinforcementRule rule{gain, span_days, limit, most, is_additive};
             require_valid(rule);
             return rule;
           }),
           py::kw_only(), py::arg("gain"), py::arg("span_days"), py::arg("most"), py::arg("limit"),
           py::arg("is_additive"));
  py::class_<UseRule, std::shared_ptr<UseRule>>(module, "UseRule",
                                                "What a search does to what it returns.")
      .def(py::init(&make_rule), py::kw_only(), py::arg("found"), py::arg("linked"),
           py::arg("link_gain"), py::arg("link_rest_days"), py::arg("link_tau_days"),
           py::arg("most_linked"), py::arg("is_once_a_session"), py::arg("warms"),
           py::arg("core_accesses"), py::arg("core_stability"), py::arg("core_sessions"));

  py::class_<Reinforcer, std::shared_ptr<Reinforcer>>(
      module, "Reinforcer", "Applies uses, and keeps them until the store knows of them.")
      .def(py::init<std::shared_ptr<Columns>, std::shared_ptr<SessionSets>>(), py::kw_only(),
           py::arg("columns").none(false), py::arg("sessions").none(false))
      .def(
          "apply",
          [](Reinforcer& reinforcer, RowList rows, RowList direct, RowList linked,
             double now_seconds, std::optional<std::string> session, std::shared_ptr<UseRule> rule,
             std::size_t most_waiting) -> std::optional<bool> {
            const ReleasedGil nogil;
            const Reinforcer::Outcome outcome =
                reinforcer.apply(make_use(std::move(rows), std::move(direct), std::move(linked),
                                          now_seconds, std::move(session), std::move(rule)),
                                 most_waiting);
            if (outcome == Reinforcer::Outcome::refused) {
              return std::nullopt;
            }
            return outcome == Reinforcer::Outcome::due;
          },
          py::kw_only(), py::arg("rows"), py::arg("direct"), py::arg("linked"),
          py::arg("now_seconds"), py::arg("session"), py::arg("rule").none(false),
          py::arg("most_waiting"),
          "Applies one use, whole; returns whether the writer should look, None where it is "
          "closed.")
      .def(
          "apply_closed",
          [](Reinforcer& reinforcer, RowList rows, RowList direct, RowList linked,
             double now_seconds, std::optional<std::string> session,
             std::shared_ptr<UseRule> rule) {
            const ReleasedGil nogil;
            reinforcer.apply_closed(make_use(std::move(rows), std::move(direct), std::move(linked),
                                             now_seconds, std::move(session), std::move(rule)));
          },
          py::kw_only(), py::arg("rows"), py::arg("direct"), py::arg("linked"),
          py::arg("now_seconds"), py::arg("session"), py::arg("rule").none(false),
          "The same, by the writer while it is closed.")
      .def("close", &alone<&Reinforcer::close>, "Lets no use come in until open().")
      .def("open", &alone<&Reinforcer::open>)
      .def_property_readonly("changes", &Reinforcer::changes,
                             "Grows before and after every change.")
      .def("begin_change", &Reinforcer::begin_change)
      .def("end_change", &Reinforcer::end_change)
      .def(
          "use_links",
          [](Reinforcer& reinforcer, std::shared_ptr<AssociationGraph> graph) {
            const ReleasedGil nogil;
            reinforcer.use_links(std::move(graph));
          },
          py::kw_only(), py::arg("graph"), "The links that gain from now on; None: none are read.")
      .def("repeat", &with_rows<&Reinforcer::repeat>, py::kw_only(), py::arg("rows"),
           "Strengthens rows that were read anew, by all that waits.")
      .def("repeat_warming", &with_rows<&Reinforcer::repeat_warming>, py::kw_only(),
           py::arg("rows"), "The same of their tier alone.")
      .def(
          "repeat_links",
          [](Reinforcer& reinforcer, const RowList& a, const RowList& b) {
            const ReleasedGil nogil;
            reinforcer.repeat_links(a, b);
          },
          py::kw_only(), py::arg("a"), py::arg("b"), "The same of links that were read anew.")
      .def("repeat_all_links", &alone<&Reinforcer::repeat_all_links>)
      .def(
          "forget",
          [](Reinforcer& reinforcer, std::uint32_t row) {
            const ReleasedGil nogil;
            reinforcer.forget(row);
          },
          py::kw_only(), py::arg("row"), "Drops a memory that is gone from all that waits.")
      .def(
          "take_over",
          [](Reinforcer& reinforcer, Reinforcer& former, const RowList& rows,
             const RowList& to_rows) {
            if (rows.size() != to_rows.size()) {
              throw py::value_error("to_rows: must be as many as rows");
            }
            const ReleasedGil nogil;
            reinforcer.take_over(former, rows, to_rows);
          },
          py::kw_only(), py::arg("former").none(false), py::arg("rows"), py::arg("to_rows"),
          "Applies and keeps what waits at another, whose rows have other numbers here.")
      .def("stop_keeping", &alone<&Reinforcer::stop_keeping>,
           "Drops all that waits, and keeps nothing from now on.")
      .def_property_readonly("waiting_count", &Reinforcer::waiting_count, "Accesses that wait.")
      .def("notice", &read<&Reinforcer::notice>, "The same for the writer, which will come back.")
      .def_property_readonly("has_waiting_links", &read<&Reinforcer::has_waiting_links>)
      .def("waiting_rows", &read<&Reinforcer::waiting_rows>, "The rows of which something waits.")
      .def(
          "waiting_of",
          [](const Reinforcer& reinforcer, const RowList& rows) {
            const ReleasedGil nogil;
            return reinforcer.waiting_of(rows);
          },
          py::kw_only(), py::arg("rows"), "Those of the rows of which something waits.")
      .def("mentioned_rows", &read<&Reinforcer::mentioned_rows>,
           "The rows that what waits names in any way.")
      .def("owed", &owed, "What the store is to be told: (uses, rows, may_stand, sessions, a, b).")
      .def(
          "forget_written",
          [](Reinforcer& reinforcer, std::size_t use_count) {
            const ReleasedGil nogil;
            reinforcer.forget_written(use_count);
          },
          py::kw_only(), py::arg("use_count"), "Drops the oldest uses: the store holds them.");
}

}  // namespace oneiros
