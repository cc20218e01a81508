// Binding of the association graph, over NumPy arrays and lists.
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "association/bridges.h"
#include "association/expansion.h"
#include "association/graph.h"
#include "association/stored_links.h"
#include "bindings/arrays.h"
#include "bindings/gil.h"
#include "bindings/instances.h"
#include "bindings/registration.h"
#include "columns/columns.h"
#include "lexical/filters/allowed_rows.h"

namespace oneiros {

namespace {

using lexical::AllowedRows;

// Copied: the caller could change the array between the check of a value and its use.
template <typename T>
std::vector<T> read_copy(const py::handle& given, const std::string& name) {
  const Numbers<T> read(given, name);
  return {read.values().begin(), read.values().end()};
}

// The bits must stay alive.
AllowedRows allowed_of(const GivenBits& allowed) {
  return allowed ? AllowedRows(read_bits(*allowed, "allowed")) : AllowedRows();
}

// All arrays are copied before they are validated, since other threads might change them.
void set_links(AssociationGraph& graph, const py::object& a, const py::object& b,
               const py::object& weight, const py::object& kind, const py::object& created_seconds,
               const py::object& last_seconds) {
  const auto first = read_copy<std::uint32_t>(a, "a");
  const auto second = read_copy<std::uint32_t>(b, "b");
  const auto weights = read_copy<double>(weight, "weight");
  const auto kinds = read_copy<std::uint8_t>(kind, "kind");
  const auto created = read_copy<double>(created_seconds, "created_seconds");
  const auto last = read_copy<double>(last_seconds, "last_seconds");
  const ReleasedGil nogil;
  graph.set({{first, second}, weights, kinds, created, last});
}

// Applies C13 to pairs. The GIL is released, as writers wait for each other.
void strengthen(AssociationGraph& graph, const py::object& a, const py::object& b,
                double now_seconds, double gain, double rest_days, double tau_days) {
  const auto first = read_copy<std::uint32_t>(a, "a");
  const auto second = read_copy<std::uint32_t>(b, "b");
  const ReleasedGil nogil;
  graph.strengthen({first, second}, {gain, rest_days}, {now_seconds, tau_days});
}

std::size_t remove_pairs(AssociationGraph& graph, const py::object& a, const py::object& b) {
  const auto first = read_copy<std::uint32_t>(a, "a");
  const auto second = read_copy<std::uint32_t>(b, "b");
  const ReleasedGil nogil;
  return graph.remove({first, second});
}

std::size_t remove_rows(AssociationGraph& graph, const py::object& rows) {
  const auto given = read_copy<std::uint32_t>(rows, "rows");
  const ReleasedGil nogil;
  return graph.remove_rows(given);
}

// The rows of the ends are returned only where they are of use, as lists take longer than the rest.
std::optional<std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>> put(
    AssociationGraph& graph, const StoredLinks& links, const Columns& columns, std::size_t end,
    const std::vector<std::int64_t>& erased, bool wants_ends) {
  LinkEnds ends;
  {
    const ReleasedGil nogil;
    const std::set<std::int64_t> gone(erased.begin(), erased.end());
    const auto rows_of = [&](std::span<const std::int64_t> sequences) {
      std::vector<std::int64_t> rows = columns.rows_of_sequences(sequences, end);
      if (!gone.empty()) {
        std::ranges::replace_if(
            rows, [&](std::int64_t row) { return gone.contains(row); }, std::int64_t{-1});
      }
      return rows;
    };
    graph.grow(end);
    ends = put_links(graph, links, rows_of(links.first), rows_of(links.second));
  }
  if (!wants_ends) {
    return std::nullopt;
  }
  return std::pair(std::move(ends.a), std::move(ends.b));
}

void grow(AssociationGraph& graph, std::size_t row_count) {
  const ReleasedGil nogil;
  graph.grow(row_count);
}

// (neighbour, decayed weight, kind, created, last), heaviest first.
py::list neighbours(const AssociationGraph& graph, std::uint32_t row, double now_seconds,
                    double tau_days) {
  const LinkClock clock{now_seconds, tau_days};
  std::vector<Neighbour> links;
  {
    const ReleasedGil nogil;
    links = graph.neighbours(row, clock);
  }
  py::list answer(links.size());
  for (std::size_t i = 0; i < links.size(); ++i) {
    const auto& [link, weight] = links[i];
    answer[i] = py::make_tuple(link.neighbour(), weight, static_cast<unsigned>(link.kind()),
                               link.created_seconds, link.last_seconds);
  }
  return answer;
}

// (weight, kind, created, last) of each pair, None without a link.
py::list find(const AssociationGraph& graph, const py::object& a, const py::object& b) {
  const auto first = read_copy<std::uint32_t>(a, "a");
  const auto second = read_copy<std::uint32_t>(b, "b");
  std::vector<std::optional<HalfLink>> links;
  {
    const ReleasedGil nogil;
    links = graph.find({first, second});
  }
  py::list answer(links.size());
  for (std::size_t i = 0; i < links.size(); ++i) {
    const std::optional<HalfLink>& link = links[i];
    answer[i] = link ? py::object(py::make_tuple(link->weight, static_cast<unsigned>(link->kind()),
                                                 link->created_seconds, link->last_seconds))
                     : py::object(py::none());
  }
  return answer;
}

// All links as columns; blocks other writers while it copies.
py::tuple links(const AssociationGraph& graph) {
  LinkList list;
  {
    const ReleasedGil nogil;
    list = graph.links();
  }
  return py::make_tuple(copied(list.a), copied(list.b), copied(list.weight), copied(list.kind),
                        copied(list.created_seconds), copied(list.last_seconds));
}

// Reached rows; arrays and tuples are created on access.
struct ReachedRows {
  std::vector<Reached> all;

  template <typename T, typename Field>
  py::array_t<T> each(Field field) const {
    py::array_t<T> array(static_cast<py::ssize_t>(all.size()));
    std::transform(all.begin(), all.end(), array.mutable_data(), field);
    return array;
  }
};

py::tuple path_of(const Reached& reached) {
  py::tuple path(reached.path_size);
  for (std::size_t i = 0; i < path.size(); ++i) {
    path[i] = reached.path[i];
  }
  return path;
}

// Results as tuples, for callers without NumPy.
py::list reached_results(const ReachedRows& reached) {
  py::list results(reached.all.size());
  for (std::size_t i = 0; i < reached.all.size(); ++i) {
    const Reached& each = reached.all[i];
    results[i] = py::make_tuple(each.row, each.value, path_of(each));
  }
  return results;
}

py::tuple path_at(const ReachedRows& reached, std::size_t place) {
  if (place >= reached.all.size()) {
    throw py::index_error("place: must be below " + std::to_string(reached.all.size()) + ", got " +
                          std::to_string(place));
  }
  return path_of(reached.all[place]);
}

// Expansion from rows with optional values; the filter is viewed as packed bits.
ReachedRows bound_expand(const AssociationGraph& graph, const py::object& seeds,
                         const py::object& seed_values, double now_seconds, double tau_days,
                         double least_link, double least, double hop_decay, unsigned most_hops,
                         const GivenBits& allowed, std::size_t top) {
  const auto rows = read_copy<std::uint32_t>(seeds, "seeds");
  const auto values =
      seed_values.is_none() ? std::vector<double>() : read_copy<double>(seed_values, "seed_values");
  const AllowedRows may = allowed_of(allowed);
  const ReleasedGil nogil;
  const ExpansionRule rule{{now_seconds, tau_days}, least_link, least, hop_decay, most_hops};
  return {graph.expand({rows, values}, rule, may, top)};
}

ReachedRows bridges(const AssociationGraph& graph, const py::object& ends, double now_seconds,
                    double tau_days, double least_link, const GivenBits& allowed, std::size_t top) {
  const auto rows = read_copy<std::uint32_t>(ends, "ends");
  const AllowedRows may = allowed_of(allowed);
  const ReleasedGil nogil;
  return {graph.bridges(rows, {{now_seconds, tau_days}, least_link}, may, top)};
}

void register_reached(py::module_& module) {
  py::class_<ReachedRows>(module, "Reached",
                          "Rows reached by links, best first. Each array is made on access.")
      .def("__len__", [](const ReachedRows& reached) { return reached.all.size(); })
      .def("results", &reached_results, "Return (row, value, path) of each.")
      .def_property_readonly(
          "rows",
          [](const ReachedRows& reached) {
            return reached.each<std::uint32_t>([](const Reached& each) { return each.row; });
          })
      .def_property_readonly(
          "values",
          [](const ReachedRows& reached) {
            return reached.each<double>([](const Reached& each) { return each.value; });
          })
      .def("path", &path_at, py::arg("place"), "The rows of the path at a place.");
}

}  // namespace

void register_association(py::module_& module) {
  register_reached(module);
  py::list kinds;
  for (const std::string_view name : kLinkKindNames) {
    kinds.append(py::str(std::string(name)));
  }
  py::class_<AssociationGraph, std::shared_ptr<AssociationGraph>> graph(
      module, "AssociationGraph",
      "Undirected links between rows with decaying weights: docs/systems/cognitive.md C13, C16.");
  graph.attr("KINDS") = py::tuple(kinds);
  graph.def(shared_init<AssociationGraph>())
      .def("__len__", &AssociationGraph::link_count)
      .def_property_readonly("row_count", &AssociationGraph::row_count)
      .def_property_readonly("resident_bytes",
                             [](const AssociationGraph& links) {
                               const ReleasedGil nogil;  // waits for writers
                               return links.resident_bytes();
                             })
      .def("grow", &grow, py::kw_only(), py::arg("row_count"),
           "Add rows without links up to row_count.")
      .def("set", &set_links, py::kw_only(), py::arg("a"), py::arg("b"), py::arg("weight"),
           py::arg("kind"), py::arg("created_seconds"), py::arg("last_seconds"),
           "Create or replace links; a last co-retrieval of NaN means no decay.")
      .def("put", &put, py::kw_only(), py::arg("links"), py::arg("columns"), py::arg("end"),
           py::arg("erased"), py::arg("wants_ends"),
           "Set or remove links of the store whose ends have rows below `end` that are not erased; "
           "return the rows of their ends if wanted.")
      .def("strengthen", &strengthen, py::kw_only(), py::arg("a"), py::arg("b"),
           py::arg("now_seconds"), py::arg("gain"), py::arg("rest_days"), py::arg("tau_days"),
           "Apply C13 to each pair; the gain grows linearly over rest_days.")
      .def("remove", &remove_pairs, py::kw_only(), py::arg("a"), py::arg("b"),
           "Remove the links of pairs; return their number.")
      .def("remove_rows", &remove_rows, py::kw_only(), py::arg("rows"),
           "Remove all links of these rows; return their number.")
      .def("neighbours", &neighbours, py::kw_only(), py::arg("row"), py::arg("now_seconds"),
           py::arg("tau_days"),
           "(row, decayed weight, kind, created, last co-retrieval) of each link, heaviest first.")
      .def("find", &find, py::kw_only(), py::arg("a"), py::arg("b"),
           "(weight, kind, created, last co-retrieval) of each pair as stored, or None.")
      .def("links", &links, "Each link once, as columns: a, b, weight, kind, created, last.")
      .def("expand", &bound_expand, py::kw_only(), py::arg("seeds"), py::arg("seed_values"),
           py::arg("now_seconds"), py::arg("tau_days"), py::arg("least_link"), py::arg("least"),
           py::arg("hop_decay"), py::arg("most_hops"), py::arg("allowed"), py::arg("top"),
           "The best rows reached by links from the seeds.")
      .def("bridges", &bridges, py::kw_only(), py::arg("ends"), py::arg("now_seconds"),
           py::arg("tau_days"), py::arg("least_link"), py::arg("allowed"), py::arg("top"),
           "The best rows on paths between two ends that are not linked.");
}

}  // namespace oneiros
