// Binding of the lexical index's searches. Results are NumPy arrays; batches return flat arrays
// with offsets.
#include <pybind11/stl.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/arrays.h"
#include "bindings/interrupts.h"
#include "bindings/searches.h"
#include "bindings/texts.h"

namespace oneiros {

namespace {

using lexical::AllowedRows;
using lexical::Found;
using lexical::Hit;
using lexical::WeighedQuery;

// The bits must stay alive.
AllowedRows read_allowed(const GivenBits& allowed) {
  return allowed ? AllowedRows(read_bits(*allowed, "allowed")) : AllowedRows();
}

QueryReading reading_of(const std::string& syntax, std::size_t minimum_should_match) {
  return {.syntax = lexical::syntax_of(syntax), .minimum_should_match = minimum_should_match};
}

// Rows and scores of hit lists, concatenated.
struct HitArrays {
  explicit HitArrays(std::size_t size)
      : rows(static_cast<py::ssize_t>(size)), scores(static_cast<py::ssize_t>(size)) {}

  void append(std::span<const Hit> hits) {
    for (const Hit& hit : hits) {
      rows.mutable_data()[filled] = hit.row;
      scores.mutable_data()[filled++] = hit.score;
    }
  }

  py::array_t<std::uint32_t> rows;
  py::array_t<double> scores;
  std::size_t filled = 0;
};

py::tuple search_index(const LexicalIndex& index, const py::object& query, std::size_t k,
                       const GivenBits& allowed, const std::string& syntax,
                       std::size_t minimum_should_match, const QueryStatistics* statistics) {
  const QueryReading reading = reading_of(syntax, minimum_should_match);
  const std::string_view utf8 = utf8_of(query, "query");
  const AllowedRows rows = read_allowed(allowed);
  Found found;
  {
    const LongCall call;
    found = index.search(utf8, k, rows, reading, {.rows = {}, .given = statistics});
  }
  HitArrays arrays(found.hits.size());
  arrays.append(found.hits);
  return py::make_tuple(arrays.rows, arrays.scores, std::move(found.query));
}

py::tuple search_many(const LexicalIndex& index, const py::list& queries, std::size_t k,
                      const GivenBits& allowed, std::size_t threads, const std::string& syntax,
                      std::size_t minimum_should_match, const QueryStatistics* statistics) {
  const QueryReading reading = reading_of(syntax, minimum_should_match);
  const Texts read = read_texts(queries, "queries");
  const AllowedRows rows = read_allowed(allowed);
  std::vector<Found> lists;
  std::vector<std::int64_t> offsets{0};
  {
    const ReleasedGil nogil;
    lists = index.search_many(read.views, k, rows, threads, reading,
                              {.rows = {}, .given = statistics}, interruptible());
    for (const Found& found : lists) {
      offsets.push_back(offsets.back() + static_cast<std::int64_t>(found.hits.size()));
    }
  }
  HitArrays arrays(static_cast<std::size_t>(offsets.back()));
  py::list weighed;
  for (Found& found : lists) {
    arrays.append(found.hits);
    weighed.append(std::move(found.query));
  }
  return py::make_tuple(arrays.rows, arrays.scores, copied(offsets), weighed);
}

std::optional<py::bytes> permitted(const LexicalIndex& index, const py::object& query,
                                   const GivenBits& allowed, const std::string& syntax,
                                   const QueryStatistics* statistics) {
  const QueryReading reading = reading_of(syntax, 0);
  const std::string_view utf8 = utf8_of(query, "query");
  const AllowedRows rows = read_allowed(allowed);
  std::optional<std::vector<std::uint8_t>> bits;
  {
    const LongCall call;
    bits = index.permitted(utf8, reading, rows, statistics);
  }
  if (!bits) {
    return std::nullopt;
  }
  return py::bytes(reinterpret_cast<const char*>(bits->data()), bits->size());
}

WeighedQuery weigh(const LexicalIndex& index, const py::object& query, const std::string& syntax,
                   std::size_t minimum_should_match, const QueryStatistics* statistics) {
  const QueryReading reading = reading_of(syntax, minimum_should_match);
  const std::string_view utf8 = utf8_of(query, "query");
  const LongCall call;
  return index.weigh(utf8, reading, {.rows = {}, .given = statistics});
}

QueryStatistics statistics_of(const LexicalIndex& index, const py::object& query,
                              const std::string& syntax, std::size_t minimum_should_match,
                              const GivenBits& rows, const QueryStatistics* known, bool typos) {
  const QueryReading reading = reading_of(syntax, minimum_should_match);
  const std::string_view utf8 = utf8_of(query, "query");
  const AllowedRows counted = read_allowed(rows);
  const LongCall call;
  return index.statistics(
      utf8, reading, {.rows = counted, .given = known, .shares = {.typos = typos ? 1.0 : 0.0}});
}

py::array_t<double> score_rows(const LexicalIndex& index, const WeighedQuery& query,
                               const py::array& rows) {
  const auto read = read_1d<std::uint32_t>(rows, "rows");
  py::array_t<double> scores(rows.size());
  const std::span<double> out(scores.mutable_data(), read.size());
  {
    const LongCall call;
    index.score_rows(query, read, out);
  }
  return scores;
}

}  // namespace

void register_statistics(py::module_& module) {
  using ByWord = std::map<std::string, std::uint64_t, std::less<>>;
  py::class_<QueryStatistics>(module, "QueryStatistics",
                              "Statistics of texts for the terms of a query. Immutable.")
      .def(py::init([](std::uint64_t documents, std::uint64_t length, ByWord df, ByWord prefix_df,
                       lexical::PrefixTerms prefix_terms) {
             return QueryStatistics{.counts = {.documents = documents, .length = length},
                                    .df = std::move(df),
                                    .prefix_df = std::move(prefix_df),
                                    .prefix_terms = std::move(prefix_terms)};
           }),
           py::kw_only(), py::arg("documents"), py::arg("length"), py::arg("df"),
           py::arg("prefix_df"), py::arg("prefix_terms"))
      .def_property_readonly(
          "documents", [](const QueryStatistics& one) { return one.counts.documents; },
          "The number of texts.")
      .def_property_readonly(
          "length", [](const QueryStatistics& one) { return one.counts.length; },
          "The sum of their lengths, in the index's unit.")
      .def_readonly("df", &QueryStatistics::df, "The number of texts with a term, by term.")
      .def_readonly("prefix_df", &QueryStatistics::prefix_df,
                    "The number of texts with any term of a prefix, by prefix.")
      .def_readonly("prefix_terms", &QueryStatistics::prefix_terms,
                    "The terms that a prefix finds, by prefix.");
}

void define_searches(LexicalIndexClass& index) {
  index
      .def("search", &search_index, py::kw_only(), py::arg("query"), py::arg("k"),
           py::arg("allowed"), py::arg("syntax") = "plain", py::arg("minimum_should_match") = 0,
           py::arg("statistics") = nullptr,
           "The best k rows and their scores, higher score first, then the smaller row, and the "
           "weighted query.")
      .def("search_many", &search_many, py::kw_only(), py::arg("queries"), py::arg("k"),
           py::arg("allowed"), py::arg("threads"), py::arg("syntax") = "plain",
           py::arg("minimum_should_match") = 0, py::arg("statistics") = nullptr,
           "All rows, all scores, the offsets of the queries' parts with the end, and the "
           "weighted queries.")
      .def("permitted", &permitted, py::kw_only(), py::arg("query"), py::arg("allowed"),
           py::arg("syntax"), py::arg("statistics") = nullptr,
           "The allowed rows that a query's operators permit, as packed bits; None if they exclude "
           "none. Prefixes also find the terms that `statistics` lists.")
      .def("weigh", &weigh, py::kw_only(), py::arg("query"), py::arg("syntax") = "plain",
           py::arg("minimum_should_match") = 0, py::arg("statistics") = nullptr,
           "Weigh the query with the current statistics or the given ones.")
      .def("statistics", &statistics_of, py::kw_only(), py::arg("query"),
           py::arg("syntax") = "plain", py::arg("minimum_should_match") = 0,
           py::arg("rows") = py::none(), py::arg("known") = nullptr, py::arg("typos") = false,
           "The statistics of the texts of some rows, as packed bits, or of all, that weigh the "
           "query. Prefixes also find the terms that `known` lists. typos: with the words one slip "
           "away from those that none of the texts has.")
      .def("score_rows", &score_rows, py::kw_only(), py::arg("query"), py::arg("rows"),
           "The score of each row for a weighted query, with the bits a search gives; 0 for no "
           "match.");
}

}  // namespace oneiros
