// Bindings of cpp/conflicts: statements of facts, and the confidence that two conflict.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "bindings/arrays.h"
#include "bindings/gil.h"
#include "bindings/instances.h"
#include "bindings/registration.h"
#include "bindings/texts.h"
#include "conflicts/conflict.h"
#include "conflicts/statement.h"
#include "conflicts/statement_column.h"

namespace oneiros {

namespace {

using conflicts::Model;
using conflicts::Statement;
using conflicts::StatementColumn;
using conflicts::StatementReader;

std::shared_ptr<Model> make_model(const std::map<std::string, double>& weights, double constant) {
  auto model = std::make_shared<Model>();
  model->constant = constant;
  if (weights.size() != conflicts::kFeatures.size()) {
    throw py::value_error("weights: expected " + std::to_string(conflicts::kFeatures.size()) +
                          ", got " + std::to_string(weights.size()));
  }
  for (std::size_t i = 0; i < conflicts::kFeatures.size(); ++i) {
    const auto found = weights.find(std::string(conflicts::kFeatures[i]));
    if (found == weights.end()) {
      throw py::value_error("weights: none for " + std::string(conflicts::kFeatures[i]));
    }
    if (!std::isfinite(found->second)) {
      throw py::value_error("weights: must be finite");
    }
    model->weights[i] = found->second;
  }
  return model;
}

void write_statements(StatementColumn& column, const py::object& rows, const py::list& texts) {
  const Numbers<std::uint32_t> where(rows, "rows");
  const Texts given = read_texts(texts, "texts");
  const ReleasedGil nogil;
  column.write(where.values(), given.views);
}

void erase_statements(StatementColumn& column, const py::object& rows) {
  const Numbers<std::uint32_t> where(rows, "rows");
  const ReleasedGil nogil;
  column.erase(where.values());
}

std::shared_ptr<Statement> statement_at(const StatementColumn& column, std::uint32_t row) {
  return std::make_shared<Statement>(column.at({&row, 1}).front());
}

py::array confidences(const StatementColumn& column, const Model& model, const py::object& older,
                      const py::object& newer) {
  const Numbers<std::uint32_t> first(older, "older");
  const Numbers<std::uint32_t> second(newer, "newer");
  const std::span<const std::uint32_t> older_rows = first.values();
  const std::span<const std::uint32_t> newer_rows = second.values();
  if (older_rows.size() != newer_rows.size()) {
    throw py::value_error("newer: expected " + std::to_string(older_rows.size()) +
                          ", one for each of older, got " + std::to_string(newer_rows.size()));
  }
  std::vector<double> found(older_rows.size());
  {
    const ReleasedGil nogil;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::vector<Statement> pair = column.at(std::array{older_rows[i], newer_rows[i]});
      found[i] = conflicts::confidence(pair[0], pair[1], model);
    }
  }
  return copied(found);
}

}  // namespace

void register_conflicts(py::module_& module) {
  py::class_<Statement, std::shared_ptr<Statement>>(
      module, "Statement", "What a text states, as hashes. Source: docs/systems/house.md H12.");
  py::class_<StatementReader, std::shared_ptr<StatementReader>>(module, "StatementReader",
                                                                "Reads statements from texts.")
      .def(
          py::init([](std::vector<std::string> stop_words, std::vector<std::string> cue_words,
                      std::vector<std::pair<double, std::vector<std::string>>> cues,
                      std::vector<std::string> additions, std::vector<std::string> past,
                      std::vector<std::string> relatives, std::vector<std::string> denials,
                      std::vector<std::string> numbers, std::vector<std::string> dates,
                      std::vector<std::vector<std::string>> topics, std::vector<std::string> states,
                      std::vector<std::string> amounts, std::vector<std::string> articles,
                      std::vector<std::string> particles, std::vector<std::string> headings,
                      std::vector<std::string> labels, std::vector<std::string> prepositions) {
            return std::make_shared<StatementReader>(conflicts::StatementWords{
                std::move(stop_words), std::move(cue_words), std::move(cues), std::move(additions),
                std::move(past), std::move(relatives), std::move(denials), std::move(numbers),
                std::move(dates), std::move(topics), std::move(states), std::move(amounts),
                std::move(articles), std::move(particles), std::move(headings), std::move(labels),
                std::move(prepositions)});
          }),
          py::kw_only(), py::arg("stop_words"), py::arg("cue_words"), py::arg("cues"),
          py::arg("additions"), py::arg("past"), py::arg("relatives"), py::arg("denials"),
          py::arg("numbers"), py::arg("dates"), py::arg("topics"), py::arg("states"),
          py::arg("amounts"), py::arg("articles"), py::arg("particles"), py::arg("headings"),
          py::arg("labels"), py::arg("prepositions"))
      .def(
          "read",
          [](const StatementReader& reader,
             const py::str&
                 text) { return std::make_shared<Statement>(reader.read(utf8_of(text, "text"))); },
          py::arg("text"), "Read what a text states.");
  py::class_<StatementColumn, std::shared_ptr<StatementColumn>>(
      module, "StatementColumn", "The statements of memories, one row per memory.")
      .def(shared_init<StatementColumn, std::shared_ptr<const StatementReader>>(), py::kw_only(),
           py::arg("reader").none(false))
      .def_property_readonly("resident_bytes", &StatementColumn::resident_bytes,
                             "Memory in use, including what is mapped.")
      .def("write", &write_statements, py::kw_only(), py::arg("rows"), py::arg("texts"),
           "Read the text of each row.")
      .def("erase", &erase_statements, py::kw_only(), py::arg("rows"),
           "Remove the statements of rows.")
      .def("at", &statement_at, py::arg("row"),
           "The statement of a row; one without words if it cannot take part in a conflict.")
      .def("confidences", &confidences, py::kw_only(), py::arg("model").none(false),
           py::arg("older"), py::arg("newer"),
           "The confidence that two rows conflict, for each place of two arrays of rows.");
  py::class_<Model, std::shared_ptr<Model>>(module, "ConflictModel",
                                            "A logistic model of the features of a pair.")
      .def(py::init(&make_model), py::kw_only(), py::arg("weights"), py::arg("constant"))
      .def(
          "confidence",
          [](const Model& model, const Statement& older, const Statement& newer) {
            return conflicts::confidence(older, newer, model);
          },
          py::kw_only(), py::arg("older"), py::arg("newer"),
          "Return the confidence that two statements conflict, 0 to 1.")
      .def_static(
          "features",
          [](const Statement& older, const Statement& newer) {
            std::map<std::string, double> named;
            if (const auto values = conflicts::features(older, newer)) {
              for (std::size_t i = 0; i < values->size(); ++i) {
                named.emplace(conflicts::kFeatures[i], (*values)[i]);
              }
            }
            return named;
          },
          py::kw_only(), py::arg("older"), py::arg("newer"),
          "Return the features of a pair by name; empty if the two cannot conflict.");
}

}  // namespace oneiros
