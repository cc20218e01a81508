#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/arrays.h"
#include "bindings/gil.h"
#include "bindings/hits.h"
#include "bindings/registration.h"
#include "lexical/lexical_index.h"

namespace oneiros {

namespace {

using lexical::AllowedRows;
using lexical::Found;
using lexical::Hit;
using lexical::WeighedQuery;

[[noreturn]] void raise(const char* exception, const std::string& message) {
  const py::object type = py::module_::import("oneiros.errors").attr(exception);
  PyErr_SetString(type.ptr(), message.c_str());
  throw py::error_already_set();
}

// The UTF-8 of a str, which must stay alive: no copy if it is ASCII, else one that Python keeps
// with it.
std::string_view utf8_of(const py::handle& object, const std::string& name) {
  if (!PyUnicode_Check(object.ptr())) {
    throw py::type_error(name + ": expected str, got " +
                         text(py::type::handle_of(object).attr("__name__")));
  }
  Py_ssize_t size = 0;
  const char* const bytes = PyUnicode_AsUTF8AndSize(object.ptr(), &size);
  if (bytes == nullptr) {
    if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError) == 0) {
      throw py::error_already_set();
    }
    PyErr_Clear();
    raise("TextEncodingError", name + ": must have no lone surrogates");
  }
  return {bytes, static_cast<std::size_t>(size)};
}

// Strings and the list's own items, kept alive whatever becomes of the list.
struct Texts {
  py::tuple items;
  std::vector<std::string_view> views;
};

Texts read_texts(const py::list& list, const std::string& name) {
  Texts texts{.items = py::tuple(list), .views = {}};
  texts.views.reserve(texts.items.size());
  for (const py::handle item : texts.items) {
    texts.views.push_back(utf8_of(item, name + "[" + std::to_string(texts.views.size()) + "]"));
  }
  return texts;
}

// The array must stay alive.
AllowedRows read_allowed(const std::optional<py::array>& allowed) {
  return allowed ? AllowedRows(read_1d<std::uint8_t>(*allowed, "allowed")) : AllowedRows();
}

// Lets Ctrl-C end a long call. Takes the GIL twenty times a second at most.
Pause interruptible() {
  using Clock = std::chrono::steady_clock;
  constexpr auto kPeriod = std::chrono::milliseconds(50);
  return [last = Clock::now(), kPeriod]() mutable {
    if (Clock::now() - last < kPeriod) {
      return;
    }
    const HeldGil gil;
    if (PyErr_CheckSignals() != 0) {
      throw py::error_already_set();
    }
    last = Clock::now();
  };
}

std::size_t add(LexicalIndex& index, std::uint32_t row, const py::object& text,
                const py::object& title, const py::object& tags) {
  const IndexedText read{.text = utf8_of(text, "text"),
                         .title = utf8_of(title, "title"),
                         .tags = utf8_of(tags, "tags")};
  const ReleasedGil nogil;
  return index.add(row, read);
}

std::size_t add_many(LexicalIndex& index, const py::array& rows, const py::list& texts,
                     const std::optional<py::list>& titles, const std::optional<py::list>& tags) {
  const auto read_rows = read_1d<std::uint32_t>(rows, "rows");
  const Texts read = read_texts(texts, "texts");
  const Texts read_titles = read_texts(titles.value_or(py::list()), "titles");
  const Texts read_tags = read_texts(tags.value_or(py::list()), "tags");
  std::vector<IndexedText> indexed(read.views.size());
  const auto check_size = [&](const Texts& field, const char* name) {
    if (field.views.size() != indexed.size()) {
      throw py::value_error(std::string(name) + ": must be as many as texts (" +
                            std::to_string(indexed.size()) + "), got " +
                            std::to_string(field.views.size()));
    }
  };
  for (std::size_t i = 0; i < indexed.size(); ++i) {
    indexed[i].text = read.views[i];
  }
  if (titles) {
    check_size(read_titles, "titles");
    for (std::size_t i = 0; i < indexed.size(); ++i) {
      indexed[i].title = read_titles.views[i];
    }
  }
  if (tags) {
    check_size(read_tags, "tags");
    for (std::size_t i = 0; i < indexed.size(); ++i) {
      indexed[i].tags = read_tags.views[i];
    }
  }
  const ReleasedGil nogil;
  return index.add_many(read_rows, indexed, interruptible());
}

QueryReading reading_of(const std::string& syntax, std::size_t minimum_should_match) {
  return {.syntax = lexical::syntax_of(syntax), .minimum_should_match = minimum_should_match};
}

// Rows and scores of hit lists, one list after the other.
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

py::tuple search(const LexicalIndex& index, const py::object& query, std::size_t k,
                 const std::optional<py::array>& allowed, const std::string& syntax,
                 std::size_t minimum_should_match) {
  const QueryReading reading = reading_of(syntax, minimum_should_match);
  const std::string_view utf8 = utf8_of(query, "query");
  const AllowedRows rows = read_allowed(allowed);
  Found found;
  {
    const ReleasedGil nogil;
    found = index.search(utf8, k, rows, reading);
  }
  HitArrays arrays(found.hits.size());
  arrays.append(found.hits);
  return py::make_tuple(arrays.rows, arrays.scores, std::move(found.query));
}

py::tuple hits(const LexicalIndex& index, const py::object& query, std::size_t k,
               const std::optional<py::array>& allowed, const std::string& syntax) {
  const QueryReading reading = reading_of(syntax, 0);
  const std::string_view utf8 = utf8_of(query, "query");
  const AllowedRows rows = read_allowed(allowed);
  Found found;
  auto held = std::make_unique<Hits>();
  {
    const ReleasedGil nogil;
    found = index.search(utf8, k, rows, reading);
    held->rows.reserve(found.hits.size());
    held->scores.reserve(found.hits.size());
    for (const Hit& hit : found.hits) {
      held->rows.push_back(hit.row);
      held->scores.push_back(hit.score);
    }
  }
  return py::make_tuple(std::move(held), std::move(found.query));
}

py::tuple search_many(const LexicalIndex& index, const py::list& queries, std::size_t k,
                      const std::optional<py::array>& allowed, std::size_t threads,
                      const std::string& syntax, std::size_t minimum_should_match) {
  const QueryReading reading = reading_of(syntax, minimum_should_match);
  const Texts read = read_texts(queries, "queries");
  const AllowedRows rows = read_allowed(allowed);
  std::vector<Found> lists;
  std::vector<std::int64_t> offsets{0};
  {
    const ReleasedGil nogil;
    lists = index.search_many(read.views, k, rows, threads, reading, interruptible());
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

std::optional<py::array_t<std::uint8_t>> permitted(const LexicalIndex& index,
                                                   const py::object& query,
                                                   const std::optional<py::array>& allowed,
                                                   const std::string& syntax) {
  const QueryReading reading = reading_of(syntax, 0);
  const std::string_view utf8 = utf8_of(query, "query");
  const AllowedRows rows = read_allowed(allowed);
  std::optional<std::vector<std::uint8_t>> bits;
  {
    const ReleasedGil nogil;
    bits = index.permitted(utf8, reading, rows);
  }
  return bits ? std::optional(copied(*bits)) : std::nullopt;
}

WeighedQuery weigh(const LexicalIndex& index, const py::object& query, const std::string& syntax,
                   std::size_t minimum_should_match) {
  const QueryReading reading = reading_of(syntax, minimum_should_match);
  const std::string_view utf8 = utf8_of(query, "query");
  const ReleasedGil nogil;
  return index.weigh(utf8, reading);
}

py::array_t<double> score_rows(const LexicalIndex& index, const WeighedQuery& query,
                               const py::array& rows) {
  const auto read = read_1d<std::uint32_t>(rows, "rows");
  py::array_t<double> scores(rows.size());
  const std::span<double> out(scores.mutable_data(), read.size());
  {
    const ReleasedGil nogil;
    index.score_rows(query, read, out);
  }
  return scores;
}

// By part, in bytes, the vocabulary too.
py::dict bytes_of(const LexicalIndex& index) {
  lexical::IndexBytes bytes;
  std::size_t vocabulary = 0;
  {
    const ReleasedGil nogil;
    bytes = index.index_bytes();
    vocabulary = index.vocabulary_bytes();
  }
  py::dict parts;
  parts["postings"] = bytes.postings;
  parts["terms"] = bytes.terms;
  parts["occurrences"] = bytes.occurrences;
  parts["documents"] = bytes.documents;
  parts["rows"] = bytes.rows;
  parts["statistics"] = bytes.statistics;
  parts["growing"] = bytes.growing;
  parts["vocabulary"] = vocabulary;
  return parts;
}

using Unlocked = py::call_guard<ReleasedGil>;

}  // namespace

void register_lexical(py::module_& module) {
  // NOLINTNEXTLINE(performance-unnecessary-value-param): the signature is pybind11's
  py::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) {
        std::rethrow_exception(thrown);
      }
    } catch (const QueryTooLarge& error) {
      const py::object type = py::module_::import("oneiros.errors").attr("QueryTooLarge");
      PyErr_SetString(type.ptr(), error.what());
    }
  });
  py::class_<WeighedQuery>(
      module, "WeighedQuery",
      "A query as the texts of one moment weighed it: LexicalIndex makes one.");
  py::class_<Hits>(module, "Hits",
                   "Rows and their scores, best first: LexicalIndex.hits makes one.")
      .def(py::init<>(), "Of nothing found.")
      .def_property_readonly("size", [](const Hits& hits) { return hits.rows.size(); })
      .def_property_readonly(
          "rows", [](const Hits& hits) { return copied(hits.rows); }, "A new array.")
      .def_property_readonly(
          "scores", [](const Hits& hits) { return copied(hits.scores); }, "A new array.");
  py::class_<LexicalIndex, std::shared_ptr<LexicalIndex>>(
      module, "LexicalIndex", "Texts in, rows ranked by BM25 out; thread-safe.")
      .def(py::init([](std::shared_ptr<Analyzer> analyzer, const std::string& variant, double k1,
                       double b, double delta, std::optional<double> title_weight,
                       std::optional<double> tags_weight) {
             return std::make_shared<LexicalIndex>(
                 std::move(analyzer),
                 lexical::make_bm25(variant, k1, b, delta, title_weight, tags_weight));
           }),
           py::kw_only(), py::arg("analyzer").none(false), py::arg("variant"), py::arg("k1"),
           py::arg("b"), py::arg("delta"), py::arg("title_weight") = py::none(),
           py::arg("tags_weight") = py::none())
      .def("add", &add, py::kw_only(), py::arg("row"), py::arg("text"), py::arg("title") = "",
           py::arg("tags") = "",
           "Indexes a text in place of the row's former one; returns the number of cut tokens. "
           "Tags: one a line.")
      .def("add_many", &add_many, py::kw_only(), py::arg("rows"), py::arg("texts"),
           py::arg("titles") = py::none(), py::arg("tags") = py::none(),
           "The same for many. Ctrl-C leaves the texts up to some point in.")
      .def("delete", &LexicalIndex::remove, Unlocked(), py::kw_only(), py::arg("row"),
           "False if the row has no text.")
      .def("contains", &LexicalIndex::contains, Unlocked(), py::kw_only(), py::arg("row"),
           "Whether the row has a text.")
      .def("search", &search, py::kw_only(), py::arg("query"), py::arg("k"), py::arg("allowed"),
           py::arg("syntax") = "plain", py::arg("minimum_should_match") = 0,
           "The best k rows and their scores, higher score first, then the smaller row; and the "
           "query as it was weighed.")
      .def("hits", &hits, py::kw_only(), py::arg("query"), py::arg("k"), py::arg("allowed"),
           py::arg("syntax"), "search(), for a plan: no array is made unless it is asked for.")
      .def("search_many", &search_many, py::kw_only(), py::arg("queries"), py::arg("k"),
           py::arg("allowed"), py::arg("threads"), py::arg("syntax") = "plain",
           py::arg("minimum_should_match") = 0,
           "All rows, all scores, where each query's begin, with the end as the last; and the "
           "queries as they were weighed.")
      .def("permitted", &permitted, py::kw_only(), py::arg("query"), py::arg("allowed"),
           py::arg("syntax"),
           "The allowed rows that a query's signs permit, as packed bits; None if no sign forbids "
           "any.")
      .def("weigh", &weigh, py::kw_only(), py::arg("query"), py::arg("syntax") = "plain",
           py::arg("minimum_should_match") = 0, "The query as the texts now weigh it.")
      .def("score_rows", &score_rows, py::kw_only(), py::arg("query"), py::arg("rows"),
           "The score of each row for a weighed query: the bits that a search gives, 0 for no "
           "match.")
      .def("seal", &LexicalIndex::seal, Unlocked(),
           "Ends the growing segment; happens by itself too. Results do not change.")
      .def_property_readonly("document_count",
                             py::cpp_function(&LexicalIndex::document_count, Unlocked()),
                             "Texts, those without a term included.")
      .def_property_readonly("segment_count",
                             py::cpp_function(&LexicalIndex::segment_count, Unlocked()))
      .def_property_readonly("resident_bytes",
                             py::cpp_function(&LexicalIndex::resident_bytes, Unlocked()),
                             "Each allocation, the analyzer's vocabulary included.")
      .def_property_readonly("part_bytes", &bytes_of, "Of those, each part's.")
      .def_property_readonly("merge_error",
                             py::cpp_function(&LexicalIndex::merge_error, Unlocked()),
                             "Why the last merge in the background came to nothing, or empty.");
}

}  // namespace oneiros
