// One registration function per part of the core; module.cpp calls all of them.
#pragma once

#include <pybind11/pybind11.h>

namespace oneiros {

namespace py = pybind11;

// Each adds classes and functions to the module. The order in module.cpp matters: a class must be
// registered before functions that mention it in a signature.
void register_analysis(py::module_& module);
void register_lexical(py::module_& module);
void register_columns(py::module_& module);
void register_reinforcement(py::module_& module);
void register_text_column(py::module_& module);
void register_vector_column(py::module_& module);
void register_hnsw_links(py::module_& module);
void register_association(py::module_& module);
void register_ranking(py::module_& module);
void register_sessions(py::module_& module);
void register_question_verdicts(py::module_& module);
void register_conflicts(py::module_& module);
void register_search(py::module_& module);
void register_programs(py::module_& module);
void register_encoding(py::module_& module);
void register_row_checksum(py::module_& module);
void register_json_path(py::module_& module);
void register_stored_rows(py::module_& module);
void register_snapshot(py::module_& module);
void register_unused_bytes(py::module_& module);

}  // namespace oneiros
