// Binding of the lexical index: indexing of texts. Its searches are bound in bind_searches.cpp.
//
// Strings are viewed as UTF-8; ASCII needs no copy. The GIL is released while texts are analysed
// and added, and Ctrl-C ends a batch between texts.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/arrays.h"
#include "bindings/gil.h"
#include "bindings/interrupts.h"
#include "bindings/registration.h"
#include "bindings/searches.h"
#include "bindings/texts.h"
#include "lexical/index/lexical_index.h"

namespace oneiros {

namespace {

using lexical::WeighedQuery;

std::size_t add(LexicalIndex& index, std::uint32_t row, const py::object& text,
                const py::object& title, const py::object& tags) {
  const IndexedText read{.text = utf8_of(text, "text"),
                         .title = utf8_of(title, "title"),
                         .tags = utf8_of(tags, "tags")};
  const ReleasedGil nogil;
  return index.add(row, read);
}

// The fields of many texts, and the objects that keep them alive.
struct GivenTexts {
  Texts texts;
  Texts titles;
  Texts tags;
  std::vector<IndexedText> indexed;
};

GivenTexts read_fields(const py::list& texts, const std::optional<py::list>& titles,
                       const std::optional<py::list>& tags) {
  GivenTexts read{.texts = read_texts(texts, "texts"),
                  .titles = read_texts(titles.value_or(py::list()), "titles"),
                  .tags = read_texts(tags.value_or(py::list()), "tags"),
                  .indexed = std::vector<IndexedText>(texts.size())};
  const auto check_size = [&](const Texts& field, const char* name) {
    if (field.views.size() != read.indexed.size()) {
      throw py::value_error(std::string(name) + ": must be as many as texts (" +
                            std::to_string(read.indexed.size()) + "), got " +
                            std::to_string(field.views.size()));
    }
  };
  check_size(read.texts, "texts");
  for (std::size_t i = 0; i < read.indexed.size(); ++i) {
    read.indexed[i].text = read.texts.views[i];
  }
  if (titles) {
    check_size(read.titles, "titles");
    for (std::size_t i = 0; i < read.indexed.size(); ++i) {
      read.indexed[i].title = read.titles.views[i];
    }
  }
  if (tags) {
    check_size(read.tags, "tags");
    for (std::size_t i = 0; i < read.indexed.size(); ++i) {
      read.indexed[i].tags = read.tags.views[i];
    }
  }
  return read;
}

std::size_t add_many(LexicalIndex& index, const py::object& rows, const py::list& texts,
                     const std::optional<py::list>& titles, const std::optional<py::list>& tags) {
  const Numbers<std::uint32_t> read_rows(rows, "rows");
  const GivenTexts read = read_fields(texts, titles, tags);
  const ReleasedGil nogil;
  return index.add_many(read_rows.values(), read.indexed, interruptible());
}

AnalyzedTexts analyze_many(const LexicalIndex& index, const py::list& texts,
                           const std::optional<py::list>& titles,
                           const std::optional<py::list>& tags) {
  const GivenTexts read = read_fields(texts, titles, tags);
  const ReleasedGil nogil;
  return index.analyze_many(read.indexed);
}

std::size_t add_analyzed(LexicalIndex& index, const py::object& rows, AnalyzedTexts& texts) {
  const Numbers<std::uint32_t> read_rows(rows, "rows");
  const ReleasedGil nogil;
  return index.add_analyzed(read_rows.values(), std::exchange(texts, {}), interruptible());
}

// Memory by part in bytes, the vocabulary included.
py::dict bytes_of_parts(const LexicalIndex& index) {
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

py::array information_of(const LexicalIndex& index, const py::object& rows) {
  const Numbers<std::uint32_t> read_rows(rows, "rows");
  std::vector<double> information(read_rows.values().size());
  {
    const ReleasedGil nogil;
    index.information_of(read_rows.values(), information);
  }
  return copied(information);
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
      "A query with the weights of one moment's statistics, made by LexicalIndex.");
  py::class_<AnalyzedTexts>(module, "AnalyzedTexts",
                            "Texts analysed by LexicalIndex.analyze_many, to be added once.")
      .def("__len__", [](const AnalyzedTexts& texts) { return texts.documents.size(); });
  register_statistics(module);
  py::class_<lexical::Bm25>(module, "Bm25", "The scoring parameters of an index.")
      .def(py::init(&lexical::make_bm25), py::kw_only(), py::arg("variant"), py::arg("k1"),
           py::arg("b"), py::arg("delta"), py::arg("half_length") = 0.0,
           py::arg("title_weight") = py::none(), py::arg("tags_weight") = py::none(),
           py::arg("title_length") = 1.0);
  LexicalIndexClass index(module, "LexicalIndex",
                          "An index of texts, ranked by BM25. Thread-safe.");
  index
      .def(py::init([](std::shared_ptr<Analyzer> analyzer, const lexical::Bm25& bm25) {
             return std::make_shared<LexicalIndex>(std::move(analyzer), bm25);
           }),
           py::kw_only(), py::arg("analyzer").none(false), py::arg("bm25"))
      .def("add", &add, py::kw_only(), py::arg("row"), py::arg("text"), py::arg("title") = "",
           py::arg("tags") = "",
           "Index a text in place of the row's former one; return the number of cut tokens. "
           "Tags: one per line.")
      .def("add_many", &add_many, py::kw_only(), py::arg("rows"), py::arg("texts"),
           py::arg("titles") = py::none(), py::arg("tags") = py::none(),
           "The same for many texts. After Ctrl-C, the texts up to some point are indexed.")
      .def("analyze_many", &analyze_many, py::kw_only(), py::arg("texts"),
           py::arg("titles") = py::none(), py::arg("tags") = py::none(),
           "Analyse texts: the first half of add_many, without an effect on searches.")
      .def("add_analyzed", &add_analyzed, py::kw_only(), py::arg("rows"), py::arg("texts"),
           "Index analysed texts: the second half. The texts are empty afterwards.")
      .def("delete", &LexicalIndex::remove, Unlocked(), py::kw_only(), py::arg("row"),
           "Remove the row's text; return False if it has none.")
      .def("contains", &LexicalIndex::contains, Unlocked(), py::kw_only(), py::arg("row"),
           "True if the row has a text.")
      .def("information_of", &information_of, py::kw_only(), py::arg("rows"),
           "The sum of the Lucene idf of the distinct terms of each row's text, title and tags.")
      .def("seal", &LexicalIndex::seal, Unlocked(),
           "Seal the growing segment, as also happens automatically. Results do not change.")
      .def_property_readonly("document_count",
                             py::cpp_function(&LexicalIndex::document_count, Unlocked()),
                             "The number of texts, including those without a term.")
      .def_property_readonly("segment_count",
                             py::cpp_function(&LexicalIndex::segment_count, Unlocked()))
      .def_property_readonly("resident_bytes",
                             py::cpp_function(&LexicalIndex::resident_bytes, Unlocked()),
                             "Memory in use, including the analyzer's vocabulary.")
      .def_property_readonly("part_bytes", &bytes_of_parts, "Memory in use by part.")
      .def_property_readonly("merge_error",
                             py::cpp_function(&LexicalIndex::merge_error, Unlocked()),
                             "The error of the last background merge; empty if it succeeded.");
  define_searches(index);
}

}  // namespace oneiros
