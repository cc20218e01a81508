// Binding of the analyzer.
//
// Texts are viewed as UTF-8 without a copy. The GIL is released during analysis and acquired again
// only to call a stemmer written in Python, once per text with all of its new words. The callable
// is released with the GIL held, wherever the analyzer is destroyed.
#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/analyzer.h"
#include "analysis/character_class.h"
#include "analysis/folded_text.h"
#include "analysis/word_breaks.h"
#include "bindings/gil.h"
#include "bindings/own_copies.h"
#include "bindings/registration.h"
#include "bindings/texts.h"
#include "lexical/query/clauses.h"
#include "lexical/query/parsed_query.h"

namespace oneiros {
namespace {

// The callable may be released by a thread without the GIL, or after the interpreter has ended.
void release(py::object* callable) {
  if (Py_IsInitialized() == 0) {
    static_cast<void>(callable->release());
    delete callable;
    return;
  }
  const HeldGil gil;
  delete callable;
}

std::string type_name(py::handle object) {
  return py::cast<std::string>(py::type::of(object).attr("__name__"));
}

// The UTF-8 bytes of a str, which must stay alive. Throws UnicodeEncodeError for lone surrogates.
std::string_view utf8_bytes(py::handle text) {
  Py_ssize_t length = 0;
  const char* utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &length);
  if (utf8 == nullptr) {
    throw py::error_already_set();
  }
  return {utf8, static_cast<std::size_t>(length)};
}

std::string_view text_of(const py::object& text) {
  if (PyBytes_Check(text.ptr())) {
    return {PyBytes_AS_STRING(text.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(text.ptr()))};
  }
  if (!PyUnicode_Check(text.ptr())) {
    throw py::type_error("text: expected str or bytes, got " + type_name(text));
  }
  return utf8_bytes(text);
}

std::vector<std::string> checked_stems(const py::object& answer, std::size_t count) {
  if (!py::isinstance<py::list>(answer)) {
    throw py::type_error("stem: must return a list of str, got " + type_name(answer));
  }
  const py::tuple list = own_copy(py::reinterpret_borrow<py::list>(answer));
  if (list.size() != count) {
    throw py::value_error("stem: must return one stem for each word, got " +
                          std::to_string(list.size()) + " for " + std::to_string(count));
  }
  std::vector<std::string> stems;
  stems.reserve(count);
  for (const py::handle stem : list) {
    if (!py::isinstance<py::str>(stem)) {
      throw py::type_error("stem: must return a list of str, one is of type " + type_name(stem));
    }
    stems.emplace_back(utf8_bytes(stem));
  }
  return stems;
}

Folding folding_of(const std::string& name) {
  if (name == "full") {
    return Folding::kFull;
  }
  if (name == "lower") {
    return Folding::kLower;
  }
  if (name == "turkish_lower") {
    return Folding::kTurkishLower;
  }
  throw py::value_error("folding: must be one of 'full', 'lower', 'turkish_lower', got '" + name +
                        "'");
}

// Adapts a Python callable: one call with the whole list; its exceptions reach the caller.
Stem stem_of(const py::object& callable) {
  if (callable.is_none()) {
    return {};
  }
  if (PyCallable_Check(callable.ptr()) == 0) {
    throw py::type_error("stem: must be callable or None");
  }
  const std::shared_ptr<py::object> shared(new py::object(callable), release);
  return [shared](const std::vector<std::string>& words) {
    const HeldGil gil;
    return checked_stems((*shared)(py::cast(words)), words.size());
  };
}

std::vector<std::pair<std::string, std::uint32_t>> tokens(Analyzer& analyzer,
                                                          const py::object& text,
                                                          bool with_singles) {
  const std::string_view utf8 = text_of(text);
  const ReleasedGil nogil;
  std::vector<std::pair<std::string, std::uint32_t>> spelt;
  for (const Occurrence& occurrence : analyzer.analyze(utf8).occurrences) {
    if (with_singles || !occurrence.is_single) {
      spelt.emplace_back(analyzer.term(occurrence.term), occurrence.position);
    }
  }
  return spelt;
}

py::str folded_text(const py::str& text) {
  FoldedText folded;
  folded.assign(utf8_of(text, "text"));
  const std::string_view bytes = folded.slice(0, folded.size());
  return {bytes.data(), bytes.size()};
}

py::str spaced_text(const py::str& text) {
  const std::string left = without_unspaced(utf8_of(text, "text"));
  return {left.data(), left.size()};
}

const char* name_of(lexical::Occur occur) {
  static constexpr std::array<const char*, 3> kNames = {"should", "must", "must_not"};
  return kNames[static_cast<std::size_t>(occur)];
}

const char* name_of(lexical::ClauseKind kind) {
  static constexpr std::array<const char*, 3> kNames = {"word", "phrase", "prefix"};
  return kNames[static_cast<std::size_t>(kind)];
}

py::str str_of(std::string_view utf8) {
  return py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(utf8.data(), static_cast<Py_ssize_t>(utf8.size()), "replace"));
}

py::list parse_query(const py::object& text, const std::string& syntax) {
  const std::string_view utf8 = text_of(text);
  const lexical::QuerySyntax chosen = lexical::syntax_of(syntax);
  lexical::ParsedQuery query;
  {
    const ReleasedGil nogil;
    query = lexical::parse_query(utf8, chosen);
  }
  py::list clauses;
  for (const lexical::ParsedClause& clause : query.clauses) {
    clauses.append(py::make_tuple(name_of(clause.occur), name_of(clause.kind), clause.fields,
                                  str_of(clause.text)));
  }
  return clauses;
}

py::tuple clauses(const Analyzer& analyzer, const py::object& text, const std::string& syntax,
                  std::size_t most_terms) {
  const std::string_view utf8 = text_of(text);
  const lexical::QuerySyntax chosen = lexical::syntax_of(syntax);
  lexical::AnalyzedClauses analyzed;
  std::vector<std::vector<std::string>> spelt;
  {
    const ReleasedGil nogil;
    analyzed = lexical::analyze_clauses(lexical::parse_query(utf8, chosen), analyzer, most_terms);
    for (const lexical::Clause& clause : analyzed.clauses) {
      std::vector<std::string>& terms = spelt.emplace_back();
      for (const TermId term : clause.terms) {
        terms.push_back(analyzer.term(term));
      }
    }
  }
  py::list answer;
  for (std::size_t i = 0; i < spelt.size(); ++i) {
    const lexical::Clause& clause = analyzed.clauses[i];
    answer.append(py::make_tuple(name_of(clause.occur), name_of(clause.kind), clause.fields,
                                 spelt[i], clause.positions, clause.matches_nothing));
  }
  return py::make_tuple(answer, analyzed.term_count);
}

}  // namespace

void register_analysis(py::module_& module) {
  module.attr("unicode_version") = character_tables.unicode_version;
  module.attr("analysis_version") = kAnalysisVersion;
  module.def("folded_text", &folded_text, py::kw_only(), py::arg("text"),
             "The text in lower case, without accents, as terms are made of it.");
  module.def("without_unspaced", &spaced_text, py::kw_only(), py::arg("text"),
             "The text with a blank for each letter of a script without spaces or of Hangul.");
  py::class_<Analyzer, std::shared_ptr<Analyzer>>(
      module, "Analyzer", "Text in, terms out; thread-safe. See oneiros.lexical.analyzers.")
      .def(py::init([](std::vector<std::string> stop_words, bool identifiers,
                       const std::string& folding, const py::object& stem,
                       std::vector<std::string> function_words,
                       std::vector<std::string> known_words) {
             return std::make_shared<Analyzer>(
                 AnalyzerOptions{std::move(stop_words), identifiers, folding_of(folding),
                                 stem_of(stem), std::move(function_words), std::move(known_words)});
           }),
           py::kw_only(), py::arg("stop_words"), py::arg("identifiers"), py::arg("folding"),
           py::arg("stem"), py::arg("function_words") = std::vector<std::string>(),
           py::arg("known_words") = std::vector<std::string>(),
           "folding, applied before stop words and stems: \"full\", \"lower\" (accents stay) "
           "or \"turkish_lower\". stem: called with a list of new words, returns a list of as "
           "many stems; None for none.")
      .def("tokens", &tokens, py::kw_only(), py::arg("text"), py::arg("with_singles") = false,
           "Terms and positions of a text; new terms enter the vocabulary. Those that count in its "
           "length, or also the single characters of pairs. Bytes that are not UTF-8 separate "
           "words; a str with lone surrogates raises UnicodeEncodeError.")
      .def(
          "clauses", &clauses, py::kw_only(), py::arg("text"), py::arg("syntax"),
          py::arg("most_terms"),
          "Clauses of a query as (occur, kind, fields, terms, positions, matches_nothing), and the "
          "number of distinct terms; above most_terms, the list of clauses is incomplete.")
      .def_property_readonly(
          "vocabulary_size",
          [](const Analyzer& analyzer) {
            const ReleasedGil nogil;
            return analyzer.vocabulary_size();
          },
          "The number of terms in the vocabulary.");
  module.def("parse_query", &parse_query, py::kw_only(), py::arg("text"), py::arg("syntax"),
             "Clauses of a query as (occur, kind, fields, text), syntax \"plain\" or \"query\": "
             "docs/query_syntax.md. fields: 1 title, 2 text, 4 tags.");
}

}  // namespace oneiros
