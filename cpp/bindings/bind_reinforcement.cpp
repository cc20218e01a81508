// Binding of uses and session sets.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrays.h"
#include "bindings/gil.h"
#include "bindings/instances.h"
#include "bindings/registration.h"
#include "reinforcement/reinforcer.h"

namespace oneiros {

namespace {

using RowList = std::vector<std::uint32_t>;

// Builds the rule of a profile; parts that are None are not applied.
std::shared_ptr<UseRule> make_use_rule(const ReinforcementRule& found,
                                       const ReinforcementRule& linked,
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

// Builds a use from lists of rows. Rows are validated when it is applied.
Use make_use(RowList rows, RowList direct, RowList linked, double now_seconds,
             std::optional<std::string> session, std::shared_ptr<const UseRule> rule) {
  std::ranges::sort(linked);
  return {std::move(rows), std::move(direct),  std::move(linked),
          now_seconds,     std::move(session), std::move(rule)};
}

// The same for a method that takes only rows.
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

// (uses, rows, may_stand, (row, session) pairs, first ends, second ends)
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

// By row, the fields that uses change.
std::optional<py::dict> used(const Reinforcer& reinforcer, const RowList& rows,
                             const RowList& others) {
  std::optional<std::vector<UsedRow>> found;
  {
    const ReleasedGil nogil;
    found = reinforcer.used(rows, others);
  }
  if (!found) {
    return std::nullopt;
  }
  py::dict values;
  for (const UsedRow& used : *found) {
    values[py::int_(used.row)] =
        py::make_tuple(used.access_count, used.last_accessed_at, used.stability, used.core != 0,
                       used.tier, used.session_spread, used.sessions);
  }
  return values;
}

}  // namespace

void register_reinforcement(py::module_& module) {
  py::class_<SessionSets, std::shared_ptr<SessionSets>>(
      module, "SessionSets", "The sessions in which each memory was seen, by row.")
      .def(shared_init<SessionSets>())
      .def(
          "at", [](const SessionSets& sets, std::uint32_t row) { return sets.at(row); },
          py::kw_only(), py::arg("row"), "The sessions of a row; None if unknown.")
      .def("__len__", &SessionSets::size)
      .def("rows", &SessionSets::rows, "The known rows, ascending.")
      .def(
          "absent", [](const SessionSets& sets, const RowList& rows) { return sets.absent(rows); },
          py::kw_only(), py::arg("rows"), "The unknown rows among these.")
      .def(
          "set",
          [](SessionSets& sets, std::uint32_t row, const std::vector<std::string>& sessions) {
            const ReleasedGil nogil;
            sets.set(row, sessions);
          },
          py::kw_only(), py::arg("row"), py::arg("sessions"), "Set the sessions of a row.")
      .def(
          "set_if_absent",
          [](SessionSets& sets, std::uint32_t row, const std::vector<std::string>& sessions) {
            const ReleasedGil nogil;
            sets.set_if_absent(row, sessions);
          },
          py::kw_only(), py::arg("row"), py::arg("sessions"),
          "Set the sessions of a row if it is unknown.")
      .def(
          "add",
          [](SessionSets& sets, const RowList& rows, const std::string& session) {
            return sets.add(rows, session).sizes;
          },
          py::kw_only(), py::arg("rows"), py::arg("session"),
          "Add a session to each row; return the number of sessions of each.");

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
                                                "The changes a search makes to its results.")
      .def(py::init(&make_use_rule), py::kw_only(), py::arg("found"), py::arg("linked"),
           py::arg("link_gain"), py::arg("link_rest_days"), py::arg("link_tau_days"),
           py::arg("most_linked"), py::arg("is_once_a_session"), py::arg("warms"),
           py::arg("core_accesses"), py::arg("core_stability"), py::arg("core_sessions"));

  py::class_<Reinforcer, std::shared_ptr<Reinforcer>>(
      module, "Reinforcer", "Applies uses, and queues them until the store holds them.")
      .def(shared_init<Reinforcer, std::shared_ptr<Columns>, std::shared_ptr<SessionSets>>(),
           py::kw_only(), py::arg("columns").none(false), py::arg("sessions").none(false))
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
          "Apply a use; return True if the writer should look at the queue, None if "
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
          "Apply a use while closed, by the writer.")
      .def("close", &alone<&Reinforcer::close>, "Refuse uses until open().")
      .def("open", &alone<&Reinforcer::open>)
      .def("begin_change", &Reinforcer::begin_change)
      .def("end_change", &Reinforcer::end_change)
      .def(
          "use_links",
          [](Reinforcer& reinforcer, std::shared_ptr<AssociationGraph> graph) {
            const ReleasedGil nogil;
            reinforcer.use_links(std::move(graph));
          },
          py::kw_only(), py::arg("graph"), "Set the graph whose links gain; None: none is loaded.")
      .def("repeat", &with_rows<&Reinforcer::repeat>, py::kw_only(), py::arg("rows"),
           "Apply the queue again to rows loaded from the store.")
      .def("repeat_warming", &with_rows<&Reinforcer::repeat_warming>, py::kw_only(),
           py::arg("rows"), "Apply the queue again to the tier of rows.")
      .def(
          "repeat_links",
          [](Reinforcer& reinforcer, const RowList& a, const RowList& b) {
            const ReleasedGil nogil;
            reinforcer.repeat_links(a, b);
          },
          py::kw_only(), py::arg("a"), py::arg("b"),
          "Apply the queue again to links loaded from the store.")
      .def("repeat_all_links", &alone<&Reinforcer::repeat_all_links>)
      .def(
          "forget",
          [](Reinforcer& reinforcer, std::uint32_t row) {
            const ReleasedGil nogil;
            reinforcer.forget(row);
          },
          py::kw_only(), py::arg("row"), "Remove a row, whose memory is gone, from the queue.")
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
          "Take over the queue of another object, with its rows renumbered.")
      .def("stop_keeping", &alone<&Reinforcer::stop_keeping>, "Drop the queue and stop queueing.")
      .def_property_readonly("waiting_count", &Reinforcer::waiting_count,
                             "The number of queued accesses.")
      .def("notice", &read<&Reinforcer::notice>,
           "waiting_count for the writer, which will handle the queue.")
      .def_property_readonly("has_waiting_links", &read<&Reinforcer::has_waiting_links>)
      .def("waiting_rows", &read<&Reinforcer::waiting_rows>, "The rows with queued changes.")
      .def(
          "waiting_of",
          [](const Reinforcer& reinforcer, const RowList& rows) {
            const ReleasedGil nogil;
            return reinforcer.waiting_of(rows);
          },
          py::kw_only(), py::arg("rows"), "The rows with queued changes among these.")
      .def("used", &used, py::kw_only(), py::arg("rows"), py::arg("others"),
           "By row, for the rows with queued changes among these and for others: (access_count, "
           "last_accessed_at, stability, core, tier, session_spread, sessions); None while other "
           "code changes them.")
      .def("mentioned_rows", &read<&Reinforcer::mentioned_rows>,
           "The rows mentioned by any queued use.")
      .def("owed", &owed, "Changes that the store lacks: (uses, rows, may_stand, sessions, a, b).")
      .def(
          "forget_written",
          [](Reinforcer& reinforcer, std::size_t use_count) {
            const ReleasedGil nogil;
            reinforcer.forget_written(use_count);
          },
          py::kw_only(), py::arg("use_count"),
          "Drop the oldest uses after the store has written them.");
}

}  // namespace oneiros
