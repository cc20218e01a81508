// The extension module oneiros._core.
#include "bindings/instances.h"
#include "bindings/registration.h"

// Declared safe without the GIL: every bound class guards its own state.
PYBIND11_MODULE(_core, module, pybind11::mod_gil_not_used()) {
  // Docstrings without signatures, which _core.pyi has: building them is a tenth of the import.
  pybind11::options options;
  options.disable_function_signatures();
  module.doc() = "The C++ core of Oneiros.";
  oneiros::register_analysis(module);
  oneiros::register_encoding(module);
  oneiros::register_row_checksum(module);
  oneiros::register_json_path(module);
  oneiros::register_stored_rows(module);
  oneiros::register_columns(module);
  oneiros::register_reinforcement(module);
  oneiros::register_text_column(module);
  oneiros::register_vector_column(module);
  oneiros::register_hnsw_links(module);
  oneiros::register_association(module);
  oneiros::register_lexical(module);
  oneiros::register_programs(module);
  oneiros::register_ranking(module);
  oneiros::register_sessions(module);
  oneiros::register_question_verdicts(module);
  oneiros::register_conflicts(module);
  oneiros::register_search(module);
  oneiros::register_snapshot(module);
  oneiros::register_unused_bytes(module);
  oneiros::guard_instances(module);
}
